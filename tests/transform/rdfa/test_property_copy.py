"""Property copying."""

from __future__ import annotations

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.rdfa.property_copy import copy_patterns

COPY = "<http://www.w3.org/ns/rdfa#copy>"
PATTERN = "<http://www.w3.org/ns/rdfa#Pattern>"


def run(*triples: tuple[str, str, str], limit: int = 1_000) -> set[tuple[str, str, str]]:
    statements: list[Statement] = [(s, p, o, "") for s, p, o in triples]
    return {(s, p, o) for s, p, o, _ in copy_patterns(statements, limit=limit)}


def test_pattern_that_copies_a_pattern_is_copied_as_a_whole() -> None:
    assert run(
        ("a", COPY, "b"), ("b", RDF_TYPE, PATTERN), ("b", COPY, "c"), ("c", RDF_TYPE, PATTERN), ("c", "p", "x")
    ) == {("a", "p", "x")}


def test_patterns_that_copy_each_other_end() -> None:
    found = run(("a", COPY, "b"), ("b", COPY, "a"), ("a", RDF_TYPE, PATTERN), ("b", RDF_TYPE, PATTERN), ("a", "p", "x"))
    assert found == set()


def test_resource_without_pattern_type_and_unused_pattern_are_kept() -> None:
    statements = (("a", COPY, "b"), ("b", "p", "x"), ("c", RDF_TYPE, PATTERN), ("c", "p", "y"))
    assert run(*statements) == set(statements)


def test_copies_end_near_the_limit() -> None:
    many = [(f"a{i}", COPY, "b") for i in range(100)] + [("b", f"p{i}", "x") for i in range(100)]
    assert len(run(("b", RDF_TYPE, PATTERN), *many, limit=500)) < 1_000
