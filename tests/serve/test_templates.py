"""Tests of the templates that all pages share."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode

import aiohttp
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext import Search
from motherlode.index.query.query_pool import Term
from motherlode.serve.pages import render_error, render_search, templates
from tests.serve.site import HOME, INJECTIONS, SCRIPT_IRI, page_url

macros = templates.get_template("macros.html").module


def render_term(term: Term | None, page: str = "") -> str:
    return str(macros.term(term, page))  # type: ignore[attr-defined]


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


HOSTILE = st.text(alphabet="<>\"'&/= \x00\u202eabonclickjavascript:", max_size=60)


@settings(deadline=None)  # the first use of a template compiles it
@given(HOSTILE)
def test_macros_escape_text(text: str) -> None:
    parser = _Names()
    parser.feed(macros.entity_link(text, text) + macros.page_link(text) + macros.error(text))  # type: ignore[attr-defined]
    assert parser.tags == ["a", "a", "bdi", "section", "h2", "pre"]
    assert {name for name, _ in parser.attributes} <= {"title", "href", "class"}


@settings(deadline=None)  # the first use of a template compiles it
@given(HOSTILE)
def test_search_form_escapes_values(text: str) -> None:
    parser, plain = _Names(), _Names()
    parser.feed(render_search(Search(words=text, type=text, host=text), None))
    plain.feed(render_search(Search(words="x", type="x", host="x"), None))
    assert parser.tags == plain.tags
    assert {name for name, _ in parser.attributes} <= {name for name, _ in plain.attributes} | {"open"}


@settings(deadline=None)  # the first use of a template compiles it
@given(HOSTILE)
def test_outside_links_only_to_http(text: str) -> None:
    parser = _Names()
    parser.feed(macros.web_link(text) + macros.web_link(f" {text}"))  # type: ignore[attr-defined]
    for name, value in parser.attributes:
        if name == "href":
            assert value is not None
            assert value.lower().startswith(("http://", "https://"))


def test_page_loads_nothing_from_other_hosts() -> None:
    parser = _Names()
    parser.feed(render_error("<title>", "text"))
    assert {value for name, value in parser.attributes if name == "src"} == {"/script.js"}


def test_term_is_shown_by_kind() -> None:
    assert render_term(None) == ""
    assert "/entity?iri=http%3A%2F%2Fschema.org%2Fname" in render_term(Term("uri", "http://schema.org/name"))
    assert "schema:name" in render_term(Term("uri", "http://schema.org/name"))
    assert "&lt;b&gt;" in render_term(Term("literal", "<b>", language="en"))
    assert ">en<" in render_term(Term("literal", "x", language="en"))
    assert ">integer<" in render_term(Term("literal", "1", datatype="http://www.w3.org/2001/XMLSchema#integer"))
    assert "node=_%3Ab1" in render_term(Term("bnode", "_:b1"), page="http://a.test/")
    assert "href" not in render_term(Term("bnode", "_:b1")), "a blank node without its page has no link"
    assert len(render_term(Term("literal", "x" * 100_000))) < 2_000


def _addresses() -> list[str]:
    queries = ["SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }", f"</textarea>{INJECTIONS[0]}"]
    return [
        "/",
        *("/pages", "/pages?relevant=1&host=evil.test", "/hosts", "/host?name=evil.test"),
        *(f"/explain?{urlencode({'url': url})}" for url in (HOME, page_url(1), INJECTIONS[2], SCRIPT_IRI)),
        *(f"/search?{urlencode({'q': words})}" for words in ("tomato", "nameless", INJECTIONS[4])),
        *(f"/query?{urlencode({'q': query})}" for query in queries),
        *(f"/entity?{urlencode({'iri': f'{HOME}thing/{number}'})}" for number in range(len(INJECTIONS))),
        *(f"/entity?{urlencode({'iri': name})}" for name in (SCRIPT_IRI, f"{HOME}same", "http://schema.org/Recipe")),
        *(f"/page?{urlencode({'url': page_url(number)})}" for number in (1, 2, 3)),
        f"/{INJECTIONS[2]}",
    ]


async def test_pages_of_hostile_crawl_have_no_foreign_scripts_or_links(site: str) -> None:
    async with aiohttp.ClientSession(site) as session:
        for address in _addresses():
            async with session.get(address) as response:
                parser = _Names()
                parser.feed(await response.text())
            scripts = [value for name, value in parser.attributes if name == "src"]
            assert scripts == ["/script.js"], address
            assert not {"iframe", "img", "math", "object", "embed", "base"} & set(parser.tags), address
            assert not [name for name, _ in parser.attributes if name.startswith("on") or name == "srcdoc"], address
            targets = [value or "" for name, value in parser.attributes if name in ("href", "action")]
            assert all(target.startswith(("/", "#", "http://", "https://")) for target in targets), address
