"""Tests of the functions that build markup, and of query results in pages."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from motherlode.serve.views.elements import (
    Term,
    element,
    entity_link,
    group_rows,
    labelled_input,
    own_link,
    parse_results,
    render_page,
    render_solutions,
    render_term,
    web_link,
)


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


HOSTILE = st.text(alphabet="<>\"'&/= \x00\u202eabonclickjavascript:", max_size=60)


@given(HOSTILE)
def test_element_escapes_text(text: str) -> None:
    parser = _Names()
    parser.feed(
        element(
            "p",
            text,
            entity_link(text, text),
            own_link("/x", {"q": text}, text),
            labelled_input("n", text, text),
            title=text,
        )
    )
    assert parser.tags == ["p", "a", "a", "label", "span", "input"]
    assert {name for name, _ in parser.attributes} <= {"title", "href", "name", "value"}


@given(HOSTILE)
def test_outside_links_only_to_http(text: str) -> None:
    parser = _Names()
    parser.feed(web_link(text, "x") + web_link(f" {text}", "x"))
    for name, value in parser.attributes:
        if name == "href":
            assert value is not None
            assert value.lower().startswith(("http://", "https://"))


def test_page_loads_nothing_from_other_hosts() -> None:
    parser = _Names()
    parser.feed(render_page("<title>", "text"))
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


def test_solutions_show_table_boolean_and_empty_result() -> None:
    rows = parse_results(
        b'{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"}},{}]}}'
    )
    assert render_solutions(rows, 10).count("<tr>") == 3
    assert render_solutions(rows, 1).count("<tr>") == 2
    assert "yes" in render_solutions(parse_results(b'{"head":{},"boolean":true}'), 10)
    assert "No results" in render_solutions(parse_results(b'{"head":{"vars":[]},"results":{"bindings":[]}}'), 10)
    assert list(group_rows(rows.rows, "a")) == ["1", ""]
