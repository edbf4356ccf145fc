"""The runner of conformance suites, and the comparison of graphs against all renamings of blank nodes."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import Statement

from . import whole_path
from .runner import Case, isomorphic, run_suite, run_suite_whole

NODES = ("_:a", "_:b", "_:c", "_:d")
PREDICATES = ("<urn:p>", "<urn:q>")
_statement = st.tuples(
    st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from(NODES), st.sampled_from(("", "_:a", "<urn:g>"))
)
_graphs = st.lists(_statement, max_size=6)


def _rename(graph: list[Statement], names: tuple[str, ...]) -> set[Statement]:
    table = dict(zip(NODES, names, strict=True))
    return {tuple(table.get(term, term) for term in statement) for statement in graph}  # type: ignore[misc]


@given(left=_graphs, right=_graphs)
def test_isomorphic_agrees_with_brute_force(left: list[Statement], right: list[Statement]) -> None:
    expected = any(_rename(left, names) == set(right) for names in permutations(NODES))
    assert isomorphic(left, right) is expected


@given(graph=_graphs, names=st.permutations(NODES))
def test_isomorphic_of_renamed_graph_is_true(graph: list[Statement], names: list[str]) -> None:
    assert isomorphic(graph, _rename(graph, tuple(names)))


def _cycles(*sizes: int) -> list[Statement]:
    return [
        (f"_:n{number}x{i}", "<urn:next>", f"_:n{number}x{(i + 1) % size}", "")
        for number, size in enumerate(sizes)
        for i in range(size)
    ]


def test_isomorphic_distinguishes_two_small_cycles_from_a_large_one() -> None:
    assert not isomorphic(_cycles(3, 3), _cycles(6))
    assert isomorphic(_cycles(3, 4), _cycles(4, 3))


def test_isomorphic_compares_generalized_statements() -> None:
    assert isomorphic([("_:a", "_:p", "_:a", "")], [("_:x", "_:y", "_:x", "")])
    assert not isomorphic([("_:a", "_:p", "_:a", "")], [("_:x", "_:x", "_:x", "")])


@pytest.mark.parametrize(
    ("result", "passes", "score"), [(True, 1, 1.0), (False, 0, 0.0), ("why", 0, 0.0), (0.25, 0, 0.25)]
)
def test_run_suite_counts_passes_and_scores(result: bool | str | float, passes: int, score: float) -> None:  # noqa: FBT001 - a case
    suite = ModuleType("suite")
    suite.cases = lambda: [Case(id="one", row="row")]  # type: ignore[attr-defined]
    suite.run = lambda case: result  # type: ignore[attr-defined]
    (row,) = run_suite(suite)
    assert (row.cases, row.passes, row.score) == (1, passes, score)


def test_run_suite_counts_an_exception_as_failure() -> None:
    suite = ModuleType("suite")
    suite.cases = lambda: [Case(id="one", row="row")]  # type: ignore[attr-defined]
    suite.run = lambda case: [][1]  # type: ignore[attr-defined]
    (row,) = run_suite(suite)
    assert row.passes == 0
    assert row.failures[0][1].startswith("IndexError")


def test_run_suite_whole_omits_cases_without_result() -> None:
    suite = ModuleType("suite")
    suite.cases = lambda: [Case(id="one", row="row"), Case(id="two", row="row")]  # type: ignore[attr-defined]
    assert run_suite_whole(suite) == []
    suite.run_whole = lambda case: None if case.id == "one" else True  # type: ignore[attr-defined]
    (row,) = run_suite_whole(suite)
    assert (row.name, row.cases, row.passes) == ("row by extract", 1, 1)


def test_whole_path_returns_statements_problems_and_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<> <urn:p> <b> . <> <urn:p> ?? .")
    found = whole_path.extract(path, base="http://e.example/a")
    assert found.statements == (("<http://e.example/a>", "<urn:p>", "<http://e.example/b>", ""),)
    assert len(found.problems) == 1
    assert not found.failed
    path.write_bytes(bytes(100))
    assert whole_path.extract(path, base="http://e.example/a").failed


def test_whole_path_reads_contexts_of_the_suite_instead_of_the_network(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text('{"@context": "http://c.example/", "@id": "http://e.example/", "p": "x"}')
    context = b'{"@context": {"p": "urn:p"}}'
    found = whole_path.extract(path, base="http://e.example/a", contexts={"http://c.example/": context})
    assert found.statements == (("<http://e.example/>", "<urn:p>", '"x"', ""),)
    assert whole_path.extract(path, base="http://e.example/a").statements == ()
