"""The pinned floors of every conformance suite. `python -m tests.conformance` names the failures."""

from __future__ import annotations

from types import ModuleType

import pytest

from .runner import run_suite, suites

SUITES = suites()


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES.keys())
def test_no_row_falls_below_its_floor(suite: ModuleType) -> None:
    rows = {row.name: row for row in run_suite(suite)}
    for name, floor in suite.FLOORS.items():
        row = rows[name]
        failures = ", ".join(case for case, _ in row.failures)
        assert row.score >= floor, f"{name}: {row.score:.1%} of {row.cases} is below {floor:.1%}; failed: {failures}"
