"""RDF documents inside HTML, SVG and other XML."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Syntax
from motherlode.transform import TransformOptions, transform
from motherlode.www.document import Document

URL = "http://example.org/page"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
DC = "http://purl.org/dc/elements/1.1/"
TITLE = f"<{DC}title>"
BLOCK = '<rdf:RDF><rdf:Description rdf:about=""><dc:title>Ore</dc:title></rdf:Description></rdf:RDF>'


def extraction(
    body: str,
    syntax: Syntax,
    kind: ContentKind = ContentKind.HTML,
    charset: str = "utf-8",
    options: TransformOptions = TransformOptions(),  # noqa: B008 - it is frozen
) -> Extraction:
    detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset=charset)
    result = transform(Document(url=URL, body=body.encode(charset), detected=detected), options)
    return next((it for it in result.extractions if it.syntax is syntax), Extraction(syntax=syntax))


@pytest.mark.parametrize(
    ("media_type", "content", "syntax", "graph"),
    [
        ("text/turtle", "<a> <b> <c> .", Syntax.TURTLE, ""),
        ("Text/Turtle; charset=utf-8", "<a> <b> <c> .", Syntax.TURTLE, ""),
        ("text/turtle", "# <![CDATA[\n<a> <b> <c> .\n# ]]>", Syntax.TURTLE, ""),
        ("text/turtle", "<![CDATA[\n<a> <b> <c> .\n]]>", Syntax.TURTLE, ""),
        ("application/trig", "<g> { <a> <b> <c> }", Syntax.TRIG, "<http://example.org/g>"),
        ("text/n3", "<a> <b> <c> .", Syntax.N3, ""),
    ],
)
def test_script_extractor_reads_script_as_document(media_type: str, content: str, syntax: Syntax, graph: str) -> None:
    found = extraction(f'<html><p>1<script type="{media_type}">{content}</script>', syntax)
    terms = ("<http://example.org/a>", "<http://example.org/b>", "<http://example.org/c>")
    assert found.statements == ((*terms, graph),)
    assert found.problems == ()


def test_script_extractor_reads_ntriples_and_rdfxml_scripts() -> None:
    line = "<urn:a> <urn:b> <urn:c>"
    assert extraction(f"<script type=application/n-triples>{line} .</script>", Syntax.N_TRIPLES).statements
    assert extraction(f"<script type=application/n-quads>{line} <urn:g> .</script>", Syntax.N_QUADS).statements
    block = BLOCK.replace("<rdf:RDF", f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:dc="{DC}"', 1)
    found = extraction(f"<script type=application/rdf+xml>{block}</script>", Syntax.RDF_XML)
    assert found.statements == ((f"<{URL}>", TITLE, '"Ore"', ""),)


def test_script_extractor_scripts_are_independent_and_use_page_base() -> None:
    script = "<script type=text/turtle>PREFIX e: <urn:> <a> e:b _:c .</script>"
    other = "<script type=text/turtle><a> e:b _:c .</script>"
    found = extraction(f"<base href=/folder/>{script}{script}{other}", Syntax.TURTLE)
    assert [subject for subject, *_ in found.statements] == ["<http://example.org/folder/a>"] * 2
    assert len({value for _, _, value, _ in found.statements}) == 2
    assert len(found.problems) == 1


def test_script_extractor_problem_position_refers_to_page() -> None:
    page = (
        "<html>\r\n<p><script type=text/turtle><a> <b> ?? .</script>\r\n<script type=text/turtle>\r\n<a> <b> .</script>"
    )
    problems = extraction(page, Syntax.TURTLE).problems
    assert [(problem.line, problem.column) for problem in problems] == [(2, 37), (4, 9)]


def test_script_extractor_empty_script_gives_nothing() -> None:
    page = "<script type=text/turtle src=x.ttl></script><script type=text/turtle> </script><script type=text/plain>x"
    assert extraction(page, Syntax.TURTLE) == Extraction(syntax=Syntax.TURTLE)


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize(
    ("kind", "root", "inside"),
    [
        (ContentKind.SVG, 'svg xmlns="http://www.w3.org/2000/svg"', "metadata"),
        (ContentKind.XML, "catalogue", "about"),
        (ContentKind.XHTML, 'html xmlns="http://www.w3.org/1999/xhtml"', "head"),
    ],
)
def test_extract_rdfxml_reads_rdf_elements_in_other_xml(
    kind: ContentKind, root: str, inside: str, charset: str
) -> None:
    name = root.partition(" ")[0]
    body = f'<{root} xmlns:rdf="{RDF}" xmlns:dc="{DC}"><{inside}>{BLOCK}</{inside}></{name}>'
    found = extraction(body, Syntax.RDF_XML, kind, charset)
    assert found.statements == ((f"<{URL}>", TITLE, '"Ore"', ""),)


def test_extract_rdfxml_block_inherits_base_and_language() -> None:
    inner = '<g xml:base="b/">' + BLOCK.replace("<rdf:RDF", '<rdf:RDF xml:lang="de"') + "</g>"
    body = f'<x xmlns:rdf="{RDF}" xmlns:dc="{DC}" xml:lang="en" xml:base="http://e.org/a/">{BLOCK}{inner}</x>'
    found = extraction(body, Syntax.RDF_XML, ContentKind.XML)
    assert found.statements == (
        ("<http://e.org/a/>", TITLE, '"Ore"@en', ""),
        ("<http://e.org/a/b/>", TITLE, '"Ore"@de', ""),
    )


def test_extract_rdfxml_broken_block_does_not_affect_others() -> None:
    broken = '<rdf:RDF><rdf:Description rdf:ID="1 2"/></rdf:RDF>'
    found = extraction(f'<x xmlns:rdf="{RDF}" xmlns:dc="{DC}">\n{broken}\n{BLOCK}</x>', Syntax.RDF_XML, ContentKind.XML)
    assert len(found.statements) == 1
    assert [problem.line for problem in found.problems] == [2]


@pytest.mark.parametrize("rest", ["<rdf:", "<dc:crea", "<dc:creator>An", "<dc:creator", "<dc:creator>Ann</dc:crea"])
def test_extract_rdfxml_truncated_document_drops_last_element(rest: str) -> None:
    start = f'<x xmlns:rdf="{RDF}" xmlns:dc="{DC}"><rdf:RDF><rdf:Description rdf:about="#a"><dc:title>Ore</dc:title>'
    found = extraction(start + rest, Syntax.RDF_XML, ContentKind.XML)
    assert [statement[2] for statement in found.statements] == ['"Ore"']
    assert found.problems[0].repaired
    assert found.problems[0].message.startswith("not well-formed")


def test_extract_rdfxml_nested_rdf_element_is_a_literal() -> None:
    inner = f'<dc:title rdf:parseType="Literal">{BLOCK}</dc:title>'
    body = f'<x xmlns:rdf="{RDF}" xmlns:dc="{DC}"><rdf:RDF><rdf:Description>{inner}</rdf:Description></rdf:RDF></x>'
    found = extraction(body, Syntax.RDF_XML, ContentKind.XML)
    assert len(found.statements) == 1
    assert found.statements[0][2].endswith("XMLLiteral>")


def test_script_extractor_limits_apply_to_all_blocks_together() -> None:
    script = "<script type=text/turtle><a> <b> 1, 2 .</script>"
    found = extraction(script * 3, Syntax.TURTLE, options=TransformOptions(statements=3))
    assert len(found.statements) == 3
    assert "more than 3 statements" in found.problems[-1].message
    found = extraction(script * 1_001, Syntax.TURTLE)
    assert len(found.statements) == 2_000
    assert [problem.message for problem in found.problems] == ["more than 1000 blocks; the rest was left out"]


def test_script_extractor_xhtml_scripts_are_parsed_as_xml() -> None:
    turtle = "&lt;urn:a&gt; &lt;urn:b&gt; &quot;x &amp;amp; y&quot; ."
    json = '{"@id": "urn:a", "urn:b": "x &amp; y"}'
    page = (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><body><script type="text/turtle">{turtle}</script>'
        f'<script type="application/ld+json">{json}</script></body></html>'
    )
    found = {s: extraction(page, s, ContentKind.XHTML) for s in (Syntax.TURTLE, Syntax.JSON_LD)}
    assert found[Syntax.TURTLE].statements == (("<urn:a>", "<urn:b>", '"x &amp; y"', ""),)
    assert found[Syntax.JSON_LD].statements == (("<urn:a>", "<urn:b>", '"x & y"', ""),)
    assert extraction(page, Syntax.JSON_LD).statements == (("<urn:a>", "<urn:b>", '"x &amp; y"', ""),)
