"""Tests of the functions that build markup, and of query results in pages."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from motherlode.serve.views.elements import (
    Term,
    element,
    entity,
    field,
    grouped,
    inside,
    outside,
    page,
    read,
    shown,
    solutions,
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
        element("p", text, entity(text, text), inside("/x", {"q": text}, text), field("n", text, text), title=text)
    )
    assert parser.tags == ["p", "a", "a", "label", "span", "input"]
    assert {name for name, _ in parser.attributes} <= {"title", "href", "name", "value"}


@given(HOSTILE)
def test_outside_links_only_to_http(text: str) -> None:
    parser = _Names()
    parser.feed(outside(text, "x") + outside(f" {text}", "x"))
    for name, value in parser.attributes:
        if name == "href":
            assert value is not None
            assert value.lower().startswith(("http://", "https://"))


def test_page_loads_nothing_from_other_hosts() -> None:
    parser = _Names()
    parser.feed(page("<title>", "text"))
    assert {value for name, value in parser.attributes if name == "src"} == {"/script.js"}


def test_term_is_shown_by_kind() -> None:
    assert shown(None) == ""
    assert "/entity?iri=http%3A%2F%2Fschema.org%2Fname" in shown(Term("uri", "http://schema.org/name"))
    assert "schema:name" in shown(Term("uri", "http://schema.org/name"))
    assert "&lt;b&gt;" in shown(Term("literal", "<b>", language="en"))
    assert ">en<" in shown(Term("literal", "x", language="en"))
    assert ">integer<" in shown(Term("literal", "1", datatype="http://www.w3.org/2001/XMLSchema#integer"))
    assert "node=_%3Ab1" in shown(Term("bnode", "_:b1"), page="http://a.test/")
    assert "href" not in shown(Term("bnode", "_:b1")), "a blank node without its page has no link"
    assert len(shown(Term("literal", "x" * 100_000))) < 2_000


def test_solutions_show_table_boolean_and_empty_result() -> None:
    rows = read(b'{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"}},{}]}}')
    assert solutions(rows, 10).count("<tr>") == 3
    assert solutions(rows, 1).count("<tr>") == 2
    assert "yes" in solutions(read(b'{"head":{},"boolean":true}'), 10)
    assert "nothing" in solutions(read(b'{"head":{"vars":[]},"results":{"bindings":[]}}'), 10)
    assert list(grouped(rows.rows, "a")) == ["1", ""]
