"""One document from end to end."""

from __future__ import annotations

from motherlode.transform.jsonld.processor_options import ProcessorLimits

from .helpers import TYPE, objects, process, statements

P = "http://p/"
EX = "http://example.com/"


def test_one_bad_property_does_not_cost_its_neighbours() -> None:
    document = {"@id": "http://s/", "@type": ["http://T/", 7], "http://a/": {"@id": 1, P: "in"}, "http://b/": "out"}
    found = process(document, strict=False)
    assert {s[1:3] for s in found.statements} >= {(TYPE, "<http://T/>"), (f"<{P}>", '"in"'), ("<http://b/>", '"out"')}
    assert len(found.notes) == 2


def test_a_graph_at_the_top_is_the_default_graph() -> None:
    assert {s[3] for s in statements({"@graph": [{"@id": "x", P: "y"}]})} == {""}
    assert {s[3] for s in statements([{"@graph": [{"@id": "x", P: "y"}]}])} != {""}


def test_statements_are_bounded_and_what_was_found_stays() -> None:
    document = [{"@id": f"http://s/{number}", P: "x"} for number in range(100)]
    found = process(document, strict=False, limits=ProcessorLimits(statements=10))
    assert len(found.statements) == 10
    assert [note.message for note in found.notes] == ["loading document failed: more than 10 statements"]


def test_every_statement_once() -> None:
    assert len(statements([{"@id": "x", P: ["y", "y"]}, {"@id": "x", P: "y"}])) == 1


def test_the_expand_context_comes_first() -> None:
    document = {"@id": "x", "a": "1"}
    assert objects(document, expand_context={"a": EX + "a"}) == ['"1"']
    assert objects(document, expand_context={"@context": {"a": EX + "a"}}) == ['"1"']
