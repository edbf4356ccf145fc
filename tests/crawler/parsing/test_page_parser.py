"""Parsing of one page in this process: kind, statements, links, directives and target."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec
import pytest

from motherlode.crawler.engine.pipeline import syntaxes
from motherlode.crawler.parsing.messages import PageBody, ParsedPage, ParseOptions, SubrequestResults
from motherlode.crawler.parsing.page_parser import MAX_PROBLEMS, PageParser
from motherlode.crawler.recrawl.revisits import content_hash
from motherlode.transform.options import Service, TransformOptions
from motherlode.www.urls import scope_rule

URL = "http://ex.org/a/page"
HTML = '<title>T</title><a href="/next">n</a><p itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b>'
TURTLE = "<#it> <http://schema.org/name> 'Ann' ; <http://schema.org/url> <http://ex.org/next> ."
CONTEXT = "http://contexts.example/c.jsonld"
NEEDS_CONTEXT = f'<script type="application/ld+json">{{"@context": "{CONTEXT}", "name": "Ann"}}</script>'


def parse(
    text: str,
    content_type: str = "text/html",
    *,
    options: ParseOptions | None = None,
    headers: Mapping[str, str] | None = None,
    supplies: SubrequestResults | None = None,
) -> ParsedPage:
    parser = PageParser(options or ParseOptions(target="any"))
    return parser.read(
        PageBody(
            url=URL,
            content_type=content_type,
            body=text.encode(),
            headers=dict(headers or {}),
            supplies=supplies or SubrequestResults(),
        )
    )


@pytest.mark.parametrize(
    ("text", "content_type", "kind", "syntax"),
    [(HTML, "text/html", "html", "microdata"), (TURTLE, "text/turtle", "turtle", "turtle")],
)
def test_parsed_page_has_kind_statements_and_links(text: str, content_type: str, kind: str, syntax: str) -> None:
    parsed = parse(text, content_type)
    assert (parsed.kind, parsed.relevant) == (kind, True)
    assert parsed.counts[syntax] == 2
    assert parsed.quads == sum(parsed.counts.values())
    assert parsed.graph_quads.count(b"\n") == parsed.quads
    assert "http://ex.org/next" in [link.url for link in parsed.links]
    assert syntaxes(parsed) == (syntax,), "page metadata is not counted as a syntax"


def test_page_without_data_is_not_relevant_and_has_links() -> None:
    parsed = parse('<title>T</title><a href="/next">n</a>')
    assert not parsed.relevant
    assert syntaxes(parsed) == ()
    assert [link.url for link in parsed.links] == ["http://ex.org/next"]


@pytest.mark.parametrize("body", ["", "\x00\x01\x02", "<", "{", "�" * 10])
def test_body_without_content_gives_an_empty_parsed_page(body: str) -> None:
    parsed = parse(body, "")
    assert (parsed.relevant, parsed.links) == (False, [])


@pytest.mark.parametrize(
    ("text", "content_type", "headers", "kept", "followed"),
    [
        (HTML, "text/html", {}, True, True),
        (f'<meta name="robots" content="none">{HTML}', "text/html", {}, False, False),
        (f'<meta name="robots" content="noindex, nofollow">{HTML}', "text/html", {}, False, False),
        (f'<meta name="robots" content="nofollow">{HTML}', "text/html", {"x-robots-tag": "noindex"}, False, False),
        (TURTLE, "text/turtle", {"x-robots-tag": "noindex"}, False, True),
        (TURTLE, "text/turtle", {"x-robots-tag": "nofollow"}, True, False),
        (TURTLE, "text/turtle", {"x-robots-tag": "noarchive"}, True, True),
    ],
)
def test_robots_directives_are_obeyed(
    text: str, content_type: str, headers: dict[str, str], *, kept: bool, followed: bool
) -> None:
    parsed = parse(text, content_type, headers=headers)
    assert (parsed.relevant, bool(parsed.quads), bool(parsed.graph_quads)) == (kept, kept, kept)
    assert bool(parsed.links) == followed
    assert bool(parsed.not_followed) != followed
    assert any("noindex" in problem.message for problem in parsed.problems) != kept, (
        "a problem reports the omitted statements"
    )


THEN = "2031-06-25T15:00:00Z"


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        (f'<meta name="robots" content="unavailable_after: {THEN}">{HTML}', {}),
        (HTML, {"x-robots-tag": f"unavailable_after: {THEN}"}),
    ],
)
def test_page_after_its_unavailable_after_date_has_no_statements(text: str, headers: dict[str, str]) -> None:
    end = datetime.fromisoformat(THEN).timestamp()
    before, after, recorded = (
        PageParser(ParseOptions(target="any")).read(_page(text, headers=headers, at=at)) for at in (end - 1, end, 0.0)
    )
    assert (before.relevant, bool(before.quads), before.problems) == (True, True, ())
    assert (after.relevant, after.quads, after.graph_quads) == (False, 0, b"")
    assert bool(after.links), "links are followed"
    (problem,) = after.problems
    assert problem.message.startswith("unavailable_after: the page asks not to be kept after 2031-06-25 15:00; ")
    assert bool(recorded.quads), "dates are ignored in a recorded web"
    in_its_head = not headers
    assert (before.ends_at, recorded.ends_at) == (end if in_its_head else None, None)


def test_header_links_are_returned_unless_nofollow() -> None:
    headers = {"link": '<data.ttl>; rel="alternate"; type="text/turtle"'}
    assert "http://ex.org/a/data.ttl" in [link.url for link in parse(HTML, headers=headers).links]
    assert parse(HTML, headers={**headers, "x-robots-tag": "nofollow"}).not_followed == 2


def test_problems_over_the_limit_are_counted() -> None:
    broken = '<script type="application/ld+json"></script>'
    few, many = parse(broken * MAX_PROBLEMS), parse(broken * (MAX_PROBLEMS + 7))
    assert len(few.problems) == MAX_PROBLEMS
    assert len(many.problems) == MAX_PROBLEMS + 1
    assert many.problems[:-1] == few.problems
    assert many.problems[-1].message == "7 further problems are not listed"


def test_content_hash_is_that_of_revisits() -> None:
    assert parse(HTML).content_hash == content_hash(HTML.encode())
    assert parse(HTML, "text/plain").content_hash == parse(HTML).content_hash != parse(HTML + " ").content_hash


def test_ntriples_and_hashes_are_returned_only_if_requested() -> None:
    plain = parse(HTML)
    assert (plain.ntriples, plain.hashes) == (b"", b"")
    more = parse(HTML, options=ParseOptions(target="any", keep_ntriples=True, hashed="statements"))
    assert b"Ann" in more.ntriples
    assert b"<title>" not in more.ntriples
    assert len(more.hashes) == 8 * 2


def test_missing_context_is_wanted_and_used_once_fetched() -> None:
    without = parse(NEEDS_CONTEXT * 2)
    assert without.wanted == (CONTEXT,)
    assert "jsonld" not in without.counts
    context = b'{"@context": {"name": "http://vocab.example/name"}}'
    supplied = parse(NEEDS_CONTEXT, supplies=SubrequestResults(contexts={CONTEXT: context}))
    assert supplied.wanted == ()
    assert b"<http://vocab.example/name>" in supplied.graph_quads


def test_context_in_link_header_is_used_and_is_not_a_link() -> None:
    headers = {"link": f'<{CONTEXT}>; rel="http://www.w3.org/ns/json-ld#context"'}
    first = parse('{"name": "Ann"}', "application/json", headers=headers)
    assert (first.wanted, first.links) == ((CONTEXT,), [])
    supplies = SubrequestResults(contexts={CONTEXT: b'{"@context": {"name": "http://schema.org/name"}}'})
    second = parse('{"name": "Ann"}', "application/json", headers=headers, supplies=supplies)
    assert (second.kind, second.counts, second.wanted) == ("jsonld", {"jsonld": 1}, ())


def test_broken_sitemap_is_a_problem() -> None:
    parsed = parse("<urlset><url><loc>http://ex.org/1</loc></url><url>", "text/xml")
    assert [link.url for link in parsed.links] == ["http://ex.org/1"]
    assert "not well-formed" in parsed.problems[0].message


def test_files_for_a_service_are_links() -> None:
    service = Service(media_type="application/pdf", url="http://s.example/")
    page = '<a href="/paper.pdf">p</a>'
    assert parse(page).links == []
    wanted = parse(page, options=ParseOptions(target="any", transform=TransformOptions(services=(service,))))
    assert [link.url for link in wanted.links] == ["http://ex.org/paper.pdf"]


def test_parsed_page_is_unchanged_by_serialization() -> None:
    parsed = parse(HTML + NEEDS_CONTEXT, headers={"link": "</x>; rel=next"})
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(parsed), type=ParsedPage) == parsed


def test_unknown_target_is_refused_at_construction() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        PageParser(ParseOptions(target="nonsense"))


LINKED = '<main><p>before <a href="/next" title="T">the next</a> after</p><a href="/paid" rel=nofollow>paid</a></main>'


def _page(text: str, **fields: object) -> PageBody:
    return PageBody(url=URL, content_type="text/html", body=text.encode(), **fields)  # type: ignore[arg-type]


def test_brief_parser_describes_each_link_only_once() -> None:
    parser = PageParser(ParseOptions(target="any", is_brief=True))
    first, second = parser.read(_page(LINKED)).links, parser.read(_page(LINKED)).links
    assert [(link.url, link.anchor, link.nofollow) for link in first] == [
        ("http://ex.org/next", "the next", False),
        ("http://ex.org/paid", "paid", True),
    ]
    assert [(link.url, link.source) for link in second] == [(link.url, link.source) for link in first]
    assert (second[0].anchor, second[0].context, second[0].tag_path) == ("", "", "")
    assert second[1] == first[1], "a nofollow link does not count as returned"


def test_brief_parser_describes_links_again_if_they_were_not_returned() -> None:
    parser = PageParser(ParseOptions(target="any", is_brief=True))
    asks_not_to = parser.read(_page(LINKED, headers={"x-robots-tag": "nofollow"}))
    assert asks_not_to.links == []
    assert parser.read(_page(NEEDS_CONTEXT + LINKED)).wanted == (CONTEXT,)
    supplied = SubrequestResults(contexts={CONTEXT: b"{}"})
    assert parser.read(_page(NEEDS_CONTEXT + LINKED, supplies=supplied)).links[0].anchor == "the next"


def test_usual_parser_describes_each_link_every_time() -> None:
    parser = PageParser(ParseOptions(target="any"))
    assert parser.read(_page(LINKED)) == parser.read(_page(LINKED))


LINKED_FAR = (
    '<a href="/next">n</a><a href="http://far.example/">f</a><a href="http://far.example/">again</a>'
    '<a href="http://far.example/2" rel="nofollow">2</a>'
    '<p itemscope><a itemprop="http://p.example/" href="http://far.example/">f</a>'
    '<link itemprop="http://p.example/" href="http://far.example/3">'
)


def test_links_out_of_scope_are_counted_per_page_and_not_returned() -> None:
    parser = PageParser(ParseOptions(target="any", scope=scope_rule("host", [URL])))
    for _ in range(2):
        parsed = parser.read(PageBody(url=URL, content_type="text/html", body=LINKED_FAR.encode()))
        assert [link.url for link in parsed.links] == ["http://ex.org/next"]
        assert parsed.out_of_scope == 3
    parsed = parser.read(PageBody(url=URL, content_type="text/html", body=b'<a href="/x">x</a>'))
    assert (len(parsed.links), parsed.out_of_scope) == (1, 0)


def test_parser_without_scope_returns_all_links() -> None:
    parsed = parse(LINKED_FAR)
    assert len(parsed.links) == 4
    assert parsed.out_of_scope == 0


def test_directives_of_the_header_are_returned_without_dates_in_a_recorded_web() -> None:
    headers = {"x-robots-tag": "nofollow, unavailable_after: 1970-01-02"}
    page = PageBody(url=URL, content_type="text/html", body=HTML.encode(), headers=headers, at=5.0)
    parser = PageParser(ParseOptions(target="any"))
    assert parser.read(page).directives == "nofollow ends=86400"
    assert parser.read(msgspec.structs.replace(page, at=0.0)).directives == "nofollow"
    assert parser.read(msgspec.structs.replace(page, headers={})).directives == ""


def test_empty_page_of_a_script_is_a_script_application_unless_it_has_data() -> None:
    page = '<div id="root"></div><script src="/app.js"></script>'
    data = '{"a": {"@context": "https://schema.org", "@type": "X"}}'
    state = f'<script id="__NEXT_DATA__" type="application/json">{data}</script>'
    assert parse(page).is_script_application
    assert not parse(page + state).is_script_application
    assert not parse(HTML).is_script_application
