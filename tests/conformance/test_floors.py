"""The floors of every conformance suite. `python -m tests.conformance` prints the failures."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import pytest

from .runner import WHOLE, Row, floors_of, run_suite, run_suite_whole, suites

SUITES = suites()
WHOLE_SUITES = {name: suite for name, suite in SUITES.items() if hasattr(suite, "run_whole")}


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES.keys())
def test_suite_rows_reach_their_floors(suite: ModuleType) -> None:
    _check(run_suite(suite), suite.FLOORS)


@pytest.mark.parametrize("suite", WHOLE_SUITES.values(), ids=WHOLE_SUITES.keys())
def test_suite_rows_by_extract_reach_their_floors(suite: ModuleType) -> None:
    floors = {row: floor for row, floor in floors_of(suite).items() if row.endswith(WHOLE)}
    assert floors
    _check(run_suite_whole(suite), floors)


def _check(found: list[Row], floors: Mapping[str, float]) -> None:
    rows = {row.name: row for row in found}
    for name, floor in floors.items():
        row = rows[name]
        failures = ", ".join(case for case, _ in row.failures)
        assert row.score >= floor, f"{name}: {row.score:.1%} of {row.cases} is below {floor:.1%}; failed: {failures}"
