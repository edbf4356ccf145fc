"""Detection of whole bodies with right and wrong headers and extensions."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile

import pytest

from motherlode.detect import detect
from motherlode.model import ContentKind, DetectionEvidence
from motherlode.www.media_types import MEDIA, by_extension

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TURTLE = b'# about us\n@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n<#me> a foaf:Person ; foaf:name "Ann" .\n'
BARE_TURTLE = b'<http://example.org/a>\n  a <http://example.org/B> ;\n  <http://example.org/p> "x" .\n'
N_TRIPLES = b'<http://example.org/a> <http://example.org/p> "a \\"b\\" c"@en .\n_:b <http://example.org/p> _:c .\n'
N_QUADS = b'# dump\n<http://example.org/a> <http://example.org/p> "x" <http://example.org/g> .\n'
TRIG = b"PREFIX ex: <http://example.org/>\nex:g {\n  ex:a ex:b ex:c .\n}\n"
N3 = b"@prefix ex: <http://example.org/> .\n{ ?x a ex:A } => { ?x a ex:B } .\n"
RDF_XML = f'<?xml version="1.0"?>\n<!-- x -->\n<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="urn:e:"><e:A/></rdf:RDF>'.encode()
OWL = (
    f'<?xml version="1.0"?><!DOCTYPE rdf:RDF [ <!ENTITY rdf "{RDF}" > ]>'
    '<r:RDF xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:r="&rdf;"><owl:Ontology r:about=""/></r:RDF>'
).encode()
OWL_XML = (
    '<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#"'
    f' xmlns:rdf="{RDF}" ontologyIRI="urn:o"></Ontology>'
).encode()
RSS_1 = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns="http://purl.org/rss/1.0/"><channel/></rdf:RDF>'.encode()
RSS_2 = b'<?xml version="1.0"?><rss version="2.0"><channel><title>x</title></channel></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="1"><metadata/></svg>'
SITEMAP = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url/></urlset>'
SITEMAPS = b'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>'
HTML = b"<!DOCTYPE html>\n<html><head><title>x</title></head><body>y</body></html>"
XHTML = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head/><body/></html>'
XML = b'<?xml version="1.0"?><catalogue><book/></catalogue>'
JSON_LD = b'{"@context": "https://schema.org", "@type": "Person"}'
EXPANDED = b' [ {"@id": "http://example.org/a", "http://example.org/p": [{"@value": "x"}]} ]'
JSON = b'{"name": "Ann", "@": 1}'
TEXT = b"Dear all,\n\nthe tag <html> opens a page and <p> a paragraph.\n"

BODIES = {
    ContentKind.TURTLE: [TURTLE, BARE_TURTLE, b'<> a <http://example.org/B> ; <http://example.org/p> "x" .'],
    ContentKind.N_TRIPLES: [N_TRIPLES, b"<a:b> <c:d> <e:f> ."],
    ContentKind.N_QUADS: [N_QUADS],
    ContentKind.TRIG: [TRIG, b"<http://example.org/g> { <http://example.org/a> a <http://example.org/B> }"],
    ContentKind.N3: [N3, b"@keywords a. @prefix : <#> ."],
    ContentKind.RDF_XML: [RDF_XML, OWL, RSS_1],
    ContentKind.RSS: [RSS_2],
    ContentKind.ATOM: [ATOM],
    ContentKind.SVG: [SVG],
    ContentKind.SITEMAP: [SITEMAP, SITEMAPS],
    ContentKind.JSON_LD: [JSON_LD, EXPANDED, b'{\n "@graph" : []}'],
}


@pytest.mark.parametrize("content_type", ["", "text/plain", "text/html", "application/xml", "application/octet-stream"])
@pytest.mark.parametrize(("kind", "body"), [(kind, body) for kind, bodies in BODIES.items() for body in bodies])
def test_rdf_and_feeds_with_any_content_type_are_detected_by_content(
    kind: ContentKind, body: bytes, content_type: str
) -> None:
    found = detect(body, url="http://example.org/x", content_type=content_type)
    assert (found.kind, found.evidence) == (kind, DetectionEvidence.CONTENT)


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/octet-stream", "text/html", "text/turtle"])
@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"\xef\xbb\xbf" + HTML,
        b"<HTML>x",
        b"\n\n <!-- c --> <!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>\n<title>x</title>",
        b"<head><title>x</title>",
        b"<title>404</title>",
        b" " * 5000 + HTML,
        b"<!-- " + b"x" * 9000 + b" -->" + HTML,
    ],
)
@pytest.mark.parametrize("url", ["http://example.org/x.ttl", "http://example.org/x.rdf", "http://example.org/"])
def test_html_with_any_content_type_and_extension_is_html(body: bytes, content_type: str, url: str) -> None:
    assert detect(body, url=url, content_type=content_type).kind is ContentKind.HTML


@pytest.mark.parametrize("body", [TEXT, b"a < b", b"<3", b"1. <script>", b"PREFIX x: <urn:x:> SELECT * { ?s ?p ?o }"])
def test_text_that_mentions_tags_is_text(body: bytes) -> None:
    assert detect(body, url="http://example.org/x", content_type="text/plain").kind is ContentKind.TEXT
    assert detect(body, url="http://example.org/x", content_type="").kind is ContentKind.TEXT


@pytest.mark.parametrize(
    ("content_type", "url", "kind"),
    [
        ("application/xhtml+xml", "http://example.org/", ContentKind.XHTML),
        ("application/xml", "http://example.org/", ContentKind.XHTML),
        ("text/html", "http://example.org/x.xhtml", ContentKind.HTML),
        ("", "http://example.org/x.xhtml", ContentKind.XHTML),
    ],
)
def test_xhtml_is_html_or_xhtml_by_media_type_and_extension(content_type: str, url: str, kind: ContentKind) -> None:
    assert detect(XHTML, url=url, content_type=content_type).kind is kind


def test_owl_xml_is_not_rdf_xml() -> None:
    assert detect(OWL_XML, url="http://example.org/o.owl", content_type="application/rdf+xml").kind is ContentKind.XML


def test_single_node_element_is_rdf_xml_only_if_declared() -> None:
    body = f'<e:A xmlns:e="urn:e:" xmlns:rdf="{RDF}" rdf:about=""/>'.encode()
    assert detect(body, url="http://example.org/x.rdf", content_type="").kind is ContentKind.RDF_XML
    assert detect(body, url="http://example.org/x", content_type="text/xml").kind is ContentKind.XML


def test_node_element_without_rdf_namespace_is_rdf_xml_only_if_declared() -> None:
    body = b'<?xml version="1.0"?>\n<!-- a book -->\n<Book xmlns="http://example.org/terms#"><title>Dogs</title></Book>'
    url = "http://example.org/x"
    assert detect(body, url=url, content_type="application/rdf+xml").kind is ContentKind.RDF_XML
    assert detect(body, url=url + ".rdf", content_type="").kind is ContentKind.RDF_XML
    assert detect(body, url=url + ".rdf", content_type="text/xml").kind is ContentKind.XML
    assert detect(body, url=url, content_type="application/xml").kind is ContentKind.XML
    no_namespace = b"<Error><Code>NoSuchKey</Code></Error>"
    assert detect(no_namespace, url=url, content_type="application/rdf+xml").kind is ContentKind.XML


def test_plain_xml_and_json_are_detected_by_content() -> None:
    assert detect(XML, url="http://example.org/x", content_type="").kind is ContentKind.XML
    assert detect(JSON, url="http://example.org/x", content_type="text/html").kind is ContentKind.JSON
    assert detect(JSON, url="http://example.org/x", content_type="application/ld+json").kind is ContentKind.JSON_LD
    assert detect(b"[1, 2]", url="http://example.org/x", content_type="").kind is ContentKind.JSON


def test_turtle_like_text_has_the_declared_kind_if_its_syntax_allows() -> None:
    url = "http://example.org/x"
    assert detect(TURTLE, url=url, content_type="text/n3").kind is ContentKind.N3
    assert detect(TURTLE, url=url, content_type="application/trig").kind is ContentKind.TRIG
    assert detect(TURTLE, url=url, content_type="application/n-triples").kind is ContentKind.TURTLE
    assert detect(TRIG, url=url, content_type="text/turtle").kind is ContentKind.TRIG
    assert detect(N_TRIPLES, url=url, content_type="text/turtle").kind is ContentKind.TURTLE
    assert detect(N_QUADS, url=url, content_type="text/turtle").kind is ContentKind.N_QUADS
    annotated = b"@prefix : <urn:> . :a :b :c {| :d :e |} ."
    assert detect(annotated, url=url, content_type="text/turtle").kind is ContentKind.TURTLE
    assert detect(annotated + b" :g { :a :b :c }", url=url, content_type="text/turtle").kind is ContentKind.TRIG
    assert detect(b'<urn:a> <urn:b> """{""" ; <urn:c> "{" .', url=url, content_type="").kind is ContentKind.TURTLE


def test_content_without_evidence_has_the_kind_of_header_then_extension() -> None:
    vague = b"ex:a ex:b ex:c ."
    by_header = detect(vague, url="http://example.org/x", content_type="text/turtle")
    assert (by_header.kind, by_header.evidence) == (ContentKind.TURTLE, DetectionEvidence.HEADER)
    by_name = detect(vague, url="http://example.org/x.ttl", content_type="text/plain")
    assert (by_name.kind, by_name.evidence) == (ContentKind.TURTLE, DetectionEvidence.EXTENSION)
    assert detect(b"<p>x", url="http://example.org/x", content_type="text/html").kind is ContentKind.HTML
    assert detect(b"no xml", url="http://example.org/x.rdf", content_type="text/xml").kind is ContentKind.TEXT


@pytest.mark.parametrize(
    ("body", "url", "kind"),
    [
        (b"http://example.org/a\n", "http://example.org/sitemap.txt", ContentKind.TEXT),
        (b"a text with <b>tags</b>", "http://example.org/x.txt", ContentKind.HTML),
        (b"http://example.org/a\n", "http://example.org/sitemap", ContentKind.HTML),
    ],
)
def test_txt_file_without_tags_declared_as_html_is_text(body: bytes, url: str, kind: ContentKind) -> None:
    assert detect(body, url=url, content_type="text/html; charset=utf-8").kind is kind


def _tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.nt"))
    return stream.getvalue()


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.nt", b"x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(TURTLE), ContentKind.GZIP),
        (bz2.compress(TURTLE), ContentKind.BZIP2),
        (bz2.compress(b""), ContentKind.BZIP2),
        (_tar(), ContentKind.TAR),
        (_zip(), ContentKind.ZIP),
        (b"\x89PNG\r\n\x1a\n....", ContentKind.BINARY),
        (b"%PDF-1.4 <html>", ContentKind.BINARY),
        (b"\x00\x01\x02 <html>", ContentKind.BINARY),
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "application/octet-stream", "text/turtle", ""])
def test_magic_number_counts_before_header(body: bytes, kind: ContentKind, content_type: str) -> None:
    if body.startswith(b"\x00") and content_type == "text/html":
        kind = ContentKind.HTML  # as in a browser
    assert detect(body, url="http://example.org/x", content_type=content_type).kind is kind


def test_zip_based_format_is_binary() -> None:
    assert detect(_zip(), url="http://example.org/a.docx", content_type="").kind is ContentKind.BINARY
    assert (
        detect(_zip(), url="http://example.org/a.zip", content_type="application/octet-stream").kind is ContentKind.ZIP
    )


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (RDF_XML, ContentKind.RDF_XML),
        (XML, ContentKind.XML),
        (HTML, ContentKind.HTML),
        (b"<html><p>1", ContentKind.HTML),
        (b" <html>", ContentKind.HTML),
        (TURTLE, ContentKind.TURTLE),
        (JSON_LD, ContentKind.JSON_LD),
    ],
)
def test_body_in_utf16_or_with_bom_is_detected(codec: str, body: bytes, kind: ContentKind) -> None:
    found = detect(body.decode().encode(codec), url="http://example.org/x", content_type="")
    assert (found.kind, found.charset.lower()) == (kind, codec)


def test_robots_txt_and_empty_bodies_have_their_kinds() -> None:
    robots = detect(b"User-agent: *\nDisallow: /", url="http://example.org/robots.txt", content_type="text/plain")
    assert robots.kind is ContentKind.ROBOTS
    assert detect(HTML, url="http://example.org/robots.txt", content_type="text/plain").kind is ContentKind.HTML
    assert detect(b"x", url="http://example.org/a/robots.txt", content_type="text/plain").kind is ContentKind.TEXT
    for body in (b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\n"):
        assert detect(body, url="http://example.org/x.ttl", content_type="text/turtle").kind is ContentKind.EMPTY


def test_html_with_a_nul_byte_is_html() -> None:
    assert detect(b"<html>\x00<p>", url="http://example.org/x", content_type="").kind is ContentKind.HTML


@pytest.mark.parametrize("kind", [ContentKind.N_QUADS, ContentKind.N_TRIPLES])
@pytest.mark.parametrize("before", [b"", b'<http://a> <http://b> "c" .\n'])
@pytest.mark.parametrize(
    "bad",
    [
        b"garbage",
        b'<rel> <http://b> "c" .',
        b'<http://a b/> <http://b> "c" .',
        b'<http://a> <http://b> "x"@ .',
        b'<http://a> <http://b> "x',
        b"<http://a> <http://b>",
        b"_:1 <http://b> .",
    ],
)
def test_invalid_line_in_declared_n_triples_keeps_the_declared_kind(
    bad: bytes, before: bytes, kind: ContentKind
) -> None:
    body = before + bad + b'\n<http://a> <http://b> "d" .\n'
    media_type, extension = MEDIA[kind].media_types[0], MEDIA[kind].extensions[0]
    assert detect(body, url="http://example.org/x", content_type=media_type).kind is kind
    assert detect(body, url=f"http://example.org/x.{extension}", content_type="").kind is kind


@pytest.mark.parametrize(
    "body",
    [
        TURTLE,
        BARE_TURTLE,
        b"<http://a> <http://b> <http://c> .\n<http://a> <http://b> 1 .\n",
        b"<http://a> <http://b> <http://c> ;\n  <http://d> <http://e> .\n",
        b"<http://a> a <http://c> .\n",
    ],
)
def test_turtle_declared_as_n_triples_is_turtle(body: bytes) -> None:
    found = detect(body, url="http://example.org/x.nt", content_type="application/n-triples")
    assert found.kind is ContentKind.TURTLE


@pytest.mark.parametrize(
    "body",
    [
        b"<div itemscope><p>x</p></div>",
        b" \n<P>x",
        b"<section class=x>",
        b"<span>x</span>",
        b"<a href='x'>y</a>",
        b"<TABLE><tr>",
        b"<h1>x</h1>",
        b"<!-- x --><div>",
        b"<!-- x -->\ntext",
        b"<div xmlns:v='http://rdf.data-vocabulary.org/#' typeof='v:Person'>",
    ],
)
def test_html_fragment_without_header_is_html(body: bytes) -> None:
    assert detect(body, url="http://example.org/noct", content_type="").kind is ContentKind.HTML


@pytest.mark.parametrize(
    ("body", "url", "content_type"),
    [
        (b"<p>x</p>", "http://example.org/x", "text/plain"),
        (b"<p>x</p>", "http://example.org/x", "application/xml"),
        (b"<p>x</p>", "http://example.org/readme.md", ""),
        (b"<?xml version='1.0'?><section><p/></section>", "http://example.org/x", ""),
        (b"<section xmlns='urn:x'/>", "http://example.org/x", ""),
        (b"<division/>", "http://example.org/x", ""),
        (b"<svg><a/></svg>", "http://example.org/x", ""),
    ],
)
def test_markup_similar_to_an_html_fragment_is_not_html(body: bytes, url: str, content_type: str) -> None:
    assert detect(body, url=url, content_type=content_type).kind is not ContentKind.HTML


@pytest.mark.parametrize("extension", ["ttl", "nt", "nq", "rdf", "jsonld", "n3", "trig"])
def test_text_with_rdf_extension_has_the_kind_of_its_extension(extension: str) -> None:
    kind = detect(b"hello", url=f"http://example.org/x.{extension}", content_type="").kind
    assert kind is by_extension(f"x.{extension}")
