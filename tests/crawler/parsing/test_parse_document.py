"""`parse_document` for plain documents, archives, and pages with fetched contexts or service responses."""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import partial

import pytest

from motherlode.crawler.parsing import page_parser
from motherlode.crawler.parsing.messages import ServiceResponse, SubrequestResults
from motherlode.crawler.parsing.page_parser import parse_document
from motherlode.links.collect import collect_links
from motherlode.links.href import LinkOptions
from motherlode.model import ContentKind, Problem, Syntax, TransformResult
from motherlode.transform import TransformOptions
from motherlode.transform.options import Service
from motherlode.www.document import Document

URL = "http://ex.org/a"
TURTLE = b"@prefix s: <http://schema.org/> .\n<#it> s:name 'Ann' ; s:knows [ s:name 'Bo' ] ."
PDF = Service(media_type="application/pdf", url="http://s.example/pdf")


def parse(
    body: bytes, content_type: str, *, services: tuple[Service, ...] = (), supplies: SubrequestResults | None = None
) -> tuple[Document, TransformResult]:
    options = TransformOptions(services=services)
    found = parse_document(
        body, url=URL, content_type=content_type, options=options, supplies=supplies or SubrequestResults()
    )
    return found.document, found.result


def parse_links(body: bytes, content_type: str) -> tuple[list[str], list[Problem]]:
    """Return the URLs of the links of a body, and its problems."""
    gather = partial(collect_links, options=LinkOptions())
    found = parse_document(body, url=URL, content_type=content_type, options=TransformOptions(), collect_links=gather)
    return [link.url for link in found.links], list(found.result.all_problems())


def sitemap(*addresses: str, outer: str = "urlset", inner: str = "url") -> bytes:
    entries = "".join(f"<{inner}><loc>{address}</loc></{inner}>" for address in addresses)
    return f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'.encode()


def make_zip(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def subjects(result: TransformResult) -> set[str]:
    return {statement[0] for one in result.extractions for statement in one.statements}


def test_document_is_parsed_by_its_media_type() -> None:
    document, result = parse(TURTLE, "text/turtle")
    assert document.kind is ContentKind.TURTLE
    assert result.counts == {Syntax.TURTLE: 3}


def test_statements_of_archive_members_belong_to_the_archive() -> None:
    body = make_zip(one__ttl=TURTLE, two__ttl=TURTLE, readme__txt=b"no data")
    document, result = parse(body, "application/zip")
    assert document.url == URL
    assert result.counts == {Syntax.TURTLE: 6}
    nodes = {name for name in subjects(result) if name.startswith("_:")}
    assert len(nodes) == 2, "each member has its own blank nodes"
    assert subjects(result) - nodes == {f"<{URL}#it>"}, "the base of relative URLs is the archive"


def test_compressed_document_has_the_statements_of_the_original() -> None:
    _, plain = parse(TURTLE, "text/turtle")
    _, packed = parse(gzip.compress(TURTLE), "application/gzip")
    assert packed.counts == plain.counts


def test_broken_archive_member_is_a_problem_and_others_are_parsed() -> None:
    _, result = parse(make_zip(good__ttl=TURTLE, bad__ttl=b"<#it> s:name 'never declared' ."), "application/zip")
    assert result.counts == {Syntax.TURTLE: 3}
    assert result.all_problems()
    _, result = parse(make_zip(good__ttl=TURTLE)[:-30], "application/zip")
    assert result.all_problems()


def test_fetched_contexts_are_used() -> None:
    body = b'{"@context": "http://c.example/", "@id": "http://x.example/", "name": "Ann"}'
    _, result = parse(body, "application/ld+json")
    assert [url for one in result.extractions for url in one.wanted] == ["http://c.example/"]
    context = b'{"@context": {"name": "http://v.example/name"}}'
    _, result = parse(body, "application/ld+json", supplies=SubrequestResults(contexts={"http://c.example/": context}))
    assert result.counts == {Syntax.JSON_LD: 1}


def test_statements_of_a_service_are_added_to_those_of_the_page() -> None:
    answer = ServiceResponse(content_type="text/turtle", body=b"<> <http://purl.org/dc/terms/title> 'On ore' .")
    _, result = parse(b"%PDF-1.4 x", "application/pdf", services=(PDF,), supplies=SubrequestResults(service=answer))
    assert result.counts == {Syntax.OTHER: 1}
    assert subjects(result) == {f"<{URL}>"}


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml", "application/xml"])
def test_html_of_a_service_replaces_the_page(content_type: str) -> None:
    tidy = Service(media_type="text/html", url="http://s.example/tidy")
    html = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body><p itemscope="" '
    html += b'itemtype="http://schema.org/Person"><b itemprop="name">Ann</b></p><a href="/next">n</a></body></html>'
    answer = ServiceResponse(content_type=content_type, body=html)
    found = parse_document(
        b"<p itemscope itemtype=http://schema.org/Thing>",
        url=URL,
        content_type="text/html",
        options=TransformOptions(services=(tidy,)),
        supplies=SubrequestResults(service=answer),
        collect_links=partial(collect_links, options=LinkOptions()),
    )
    assert found.result.counts[Syntax.MICRODATA] == 2
    assert [link.url for link in found.links] == ["http://ex.org/next"]
    assert not found.result.all_problems()


def test_xml_of_a_service_is_transformed_by_a_stylesheet() -> None:
    answer = ServiceResponse(
        content_type="application/xml",
        body=b"<rss version='2.0'><channel><title>T</title><item><link>http://ex.org/i</link></item></channel></rss>",
    )
    _, result = parse(b"%PDF-1.4 x", "application/pdf", services=(PDF,), supplies=SubrequestResults(service=answer))
    assert result.counts[Syntax.FEED] > 0


def test_rdf_xml_of_a_service_is_added_whatever_its_xml_type() -> None:
    rdf = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/terms/">'
    rdf += b'<rdf:Description rdf:about=""><d:title>On ore</d:title></rdf:Description></rdf:RDF>'
    answer = ServiceResponse(content_type="application/xml", body=rdf)
    _, result = parse(b"%PDF-1.4 x", "application/pdf", services=(PDF,), supplies=SubrequestResults(service=answer))
    assert result.counts == {Syntax.OTHER: 1}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ServiceResponse(failure="timeout: 60 s"), "timeout"),
        (ServiceResponse(content_type="image/png", body=b"x"), "image/png"),
        (ServiceResponse(content_type="text/turtle", body=b"<> <"), ""),
    ],
)
def test_failed_service_is_a_problem_and_the_page_is_parsed(answer: ServiceResponse, said: str) -> None:
    page = Service(media_type="text/turtle", url="http://s.example/")
    _, result = parse(TURTLE, "text/turtle", services=(page,), supplies=SubrequestResults(service=answer))
    assert result.counts == {Syntax.TURTLE: 3}
    assert any(said in problem.message for problem in result.all_problems())
    assert result.all_problems()


def test_service_response_without_matching_service_is_ignored() -> None:
    answer = ServiceResponse(content_type="text/turtle", body=TURTLE)
    _, result = parse(b"plain", "text/plain", services=(PDF,), supplies=SubrequestResults(service=answer))
    assert (result.counts, result.all_problems()) == ({}, ())


@pytest.mark.parametrize("content_type", ["application/gzip", "application/x-gzip", "application/octet-stream", ""])
@pytest.mark.parametrize(("outer", "inner"), [("urlset", "url"), ("sitemapindex", "sitemap")])
def test_compressed_sitemap_has_the_links_of_the_original(content_type: str, outer: str, inner: str) -> None:
    body = sitemap("http://ex.org/1", "http://ex.org/2", outer=outer, inner=inner)
    assert parse_links(gzip.compress(body), content_type) == (["http://ex.org/1", "http://ex.org/2"], [])


def test_archive_links_are_distinct_and_exclude_the_archive() -> None:
    feed = b"<rss><channel><item><title>T</title><link>http://ex.org/item</link></item></channel></rss>"
    body = make_zip(
        map__xml=sitemap("http://ex.org/1", "http://ex.org/item", URL),
        feed__rss=feed,
        page__html=b'<a href="next">n</a><a href="http://ex.org/1">again</a>',
        data__ttl=b"<> <http://ex.org/p> <http://ex.org/o> .",
        list__txt=b"http://ex.org/line\n",
    )
    found, problems = parse_links(body, "application/zip")
    assert found == [f"http://ex.org/{name}" for name in ("1", "item", "next", "o", "line")]
    assert problems == []


def test_truncated_compressed_sitemap_gives_a_problem_and_the_complete_links() -> None:
    addresses = [f"http://ex.org/{number * 7919 % 10007}/page" for number in range(300)]
    packed = gzip.compress(sitemap(*addresses))
    found, problems = parse_links(packed[: len(packed) // 2], "application/gzip")
    assert 50 < len(found) < 250
    assert found == addresses[: len(found)], "no URL is cut"
    assert any("end-of-stream" in problem.message for problem in problems)
    assert any("not well-formed" in problem.message for problem in problems)


def test_archive_links_over_the_limit_are_omitted_with_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_parser, "MAX_ARCHIVE_LINKS", 25)
    pages = {f"{number}__xml": sitemap(*(f"http://ex.org/{number}/{i}" for i in range(10))) for number in range(9)}
    found, problems = parse_links(make_zip(**pages), "application/zip")
    assert len(found) == 25
    said = "an archive gives 25 links at most: 5 more of them and all those of 6 members were left out"
    assert [problem.message for problem in problems] == [said]


def test_archive_links_at_the_limit_are_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_parser, "MAX_ARCHIVE_LINKS", 20)
    pages = {f"{number}__xml": sitemap(*(f"http://ex.org/{number}/{i}" for i in range(10))) for number in range(2)}
    found, problems = parse_links(make_zip(**pages, empty__txt=b"no links"), "application/zip")
    assert (len(found), problems) == (20, [])


CONTEXT = "http://contexts.example/person.jsonld"
PERSON = b'{"name": "Ann"}'


def parse_json(
    content_type: str, *contexts: str, body: bytes = PERSON, supplies: SubrequestResults | None = None
) -> tuple[Document, TransformResult]:
    """Parse JSON whose Link headers name contexts."""
    supplies = supplies or SubrequestResults(contexts={CONTEXT: b'{"@context": {"name": "http://schema.org/name"}}'})
    options = TransformOptions()
    found = parse_document(
        body, url=URL, content_type=content_type, options=options, supplies=supplies, contexts=contexts
    )
    return found.document, found.result


@pytest.mark.parametrize("content_type", ["application/json", "application/vnd.x+json; charset=utf-8"])
def test_json_with_context_in_link_header_is_json_ld(content_type: str) -> None:
    document, result = parse_json(content_type, CONTEXT)
    assert document.kind is ContentKind.JSON_LD
    assert [statement[1:3] for one in result.extractions for statement in one.statements] == [
        ("<http://schema.org/name>", '"Ann"')
    ]
    own = b'{"@context": {"label": "http://schema.org/alternateName"}, "name": "Ann", "label": "A."}'
    assert parse_json(content_type, CONTEXT, body=own)[1].counts == {Syntax.JSON_LD: 2}, (
        "the context in the document is added"
    )
    assert parse_json(content_type, "https://schema.org/")[1].counts == {Syntax.JSON_LD: 1}, "bundled"


def test_missing_context_of_a_link_header_is_wanted() -> None:
    _, result = parse_json("application/json", CONTEXT, supplies=SubrequestResults())
    assert [one.wanted for one in result.extractions] == [(CONTEXT,)]


def test_link_header_context_is_ignored_for_json_ld_html_and_two_contexts() -> None:
    assert parse_json("application/ld+json", CONTEXT)[1].counts == {}
    assert parse_json("text/html", CONTEXT)[0].kind is ContentKind.JSON
    document, result = parse_json("application/json", CONTEXT, "http://contexts.example/other")
    assert document.kind is ContentKind.JSON
    assert "none was used" in result.problems[0].message
