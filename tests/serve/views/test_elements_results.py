"""Answers as pages show them."""

from __future__ import annotations

from motherlode.serve.views.elements import Term, grouped, read, shown, solutions


def test_terms_for_people() -> None:
    assert shown(None) == ""
    assert "/entity?iri=http%3A%2F%2Fschema.org%2Fname" in shown(Term("uri", "http://schema.org/name"))
    assert "schema:name" in shown(Term("uri", "http://schema.org/name"))
    assert "&lt;b&gt;" in shown(Term("literal", "<b>", language="en"))
    assert ">en<" in shown(Term("literal", "x", language="en"))
    assert ">integer<" in shown(Term("literal", "1", datatype="http://www.w3.org/2001/XMLSchema#integer"))
    assert "node=_%3Ab1" in shown(Term("bnode", "_:b1"), page="http://a.test/")
    assert "href" not in shown(Term("bnode", "_:b1")), "without its page a blank node cannot be asked for"
    assert len(shown(Term("literal", "x" * 100_000))) < 2_000


def test_tables_truth_and_nothing() -> None:
    rows = read(b'{"head":{"vars":["a","b"]},"results":{"bindings":[{"a":{"type":"literal","value":"1"}},{}]}}')
    assert solutions(rows, 10).count("<tr>") == 3
    assert solutions(rows, 1).count("<tr>") == 2
    assert "yes" in solutions(read(b'{"head":{},"boolean":true}'), 10)
    assert "nothing" in solutions(read(b'{"head":{"vars":[]},"results":{"bindings":[]}}'), 10)
    assert list(grouped(rows.rows, "a")) == ["1", ""]
