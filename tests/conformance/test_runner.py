"""The comparison of graphs is exact: checked against every renaming of the blank nodes of small graphs."""

from __future__ import annotations

from itertools import permutations
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import Statement

from .runner import Case, isomorphic, run_suite

NODES = ("_:a", "_:b", "_:c", "_:d")
PREDICATES = ("<urn:p>", "<urn:q>")
_statement = st.tuples(
    st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from(NODES), st.sampled_from(("", "_:a", "<urn:g>"))
)
_graphs = st.lists(_statement, max_size=6)


def _renamed(graph: list[Statement], names: tuple[str, ...]) -> set[Statement]:
    table = dict(zip(NODES, names, strict=True))
    return {tuple(table.get(term, term) for term in statement) for statement in graph}  # type: ignore[misc]


@given(left=_graphs, right=_graphs)
def test_isomorphic_agrees_with_trying_every_renaming(left: list[Statement], right: list[Statement]) -> None:
    expected = any(_renamed(left, names) == set(right) for names in permutations(NODES))
    assert isomorphic(left, right) is expected


@given(graph=_graphs, names=st.permutations(NODES))
def test_a_renamed_graph_is_isomorphic(graph: list[Statement], names: list[str]) -> None:
    assert isomorphic(graph, _renamed(graph, tuple(names)))


def _cycles(*sizes: int) -> list[Statement]:
    return [
        (f"_:n{number}x{i}", "<urn:next>", f"_:n{number}x{(i + 1) % size}", "")
        for number, size in enumerate(sizes)
        for i in range(size)
    ]


def test_two_small_cycles_are_not_one_large_one() -> None:
    assert not isomorphic(_cycles(3, 3), _cycles(6))
    assert isomorphic(_cycles(3, 4), _cycles(4, 3))


def test_generalised_statements_are_compared_too() -> None:
    assert isomorphic([("_:a", "_:p", "_:a", "")], [("_:x", "_:y", "_:x", "")])
    assert not isomorphic([("_:a", "_:p", "_:a", "")], [("_:x", "_:x", "_:x", "")])


@pytest.mark.parametrize(
    ("outcome", "passes", "score"), [(True, 1, 1.0), (False, 0, 0.0), ("why", 0, 0.0), (0.25, 0, 0.25)]
)
def test_outcomes_are_counted(outcome: bool | str | float, passes: int, score: float) -> None:  # noqa: FBT001 - a case
    suite = ModuleType("suite")
    suite.cases = lambda: [Case(id="one", row="row")]  # type: ignore[attr-defined]
    suite.run = lambda case: outcome  # type: ignore[attr-defined]
    (row,) = run_suite(suite)
    assert (row.cases, row.passes, row.score) == (1, passes, score)


def test_a_case_that_raises_has_failed() -> None:
    suite = ModuleType("suite")
    suite.cases = lambda: [Case(id="one", row="row")]  # type: ignore[attr-defined]
    suite.run = lambda case: [][1]  # type: ignore[attr-defined]
    (row,) = run_suite(suite)
    assert row.passes == 0
    assert row.failures[0][1].startswith("IndexError")
