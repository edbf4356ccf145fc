"""Runs conformance suites and counts the cases that pass.

A suite is a module `suite_<name>.py` in this folder with three names:

- `cases() -> Iterable[Case]`: every case, read from the shared suites (`shared("microdata-rdf")` gives the folder).
  A case's `row` says under which line of the table it is counted; one module may fill several rows.
- `run(case) -> bool | str | float`: True passes; False fails; a string fails and says why; a number from 0 to 1 is a
  score, for suites that measure agreement. An exception fails its case and is shown by name.
- `FLOORS: dict[str, float]`: the least share of passes (or mean score) for each row that is guarded. Rows without a
  floor are only reported.

A suite that can be run through the command `extract` has two more names:

- `run_whole(case) -> bool | str | float | None`: like `run`, but by `whole_path.extract`; None if the case needs an
  option that the command does not have. Such a case is not counted.
- `WHOLE_FLOORS: dict[str, float]`: the floors of these rows, whose names get the suffix `WHOLE`.

`suites()` finds the modules without registration. `python -m tests.conformance [NAME]...` prints the table and the
failures; `test_floors.py` asserts the floors.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pyoxigraph as ox
import pytest

from motherlode.model import Statement

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
CaseResult = bool | str | float
WHOLE = " by extract"
"""Suffix of the rows of the whole path: detection, prefilter, transform and command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a suite."""

    id: str
    row: str
    """The row of the table in which the case is counted."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The input of `run`, usually the case's object in the index of the suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table."""

    name: str
    cases: int
    passes: int
    score: float
    """Mean of the results. It is the share of passes if all results are True or False."""
    failures: tuple[tuple[str, str], ...]
    """Id and reason of each case that did not pass."""


def shared(*parts: str) -> Path:
    """Return a folder or file of the shared suites. If it is missing, skip the test, or fail under CI."""
    path = SHARED.joinpath("conformance", *parts)
    if not path.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"the shared conformance suite {path.name} is missing")
        pytest.skip(f"the shared conformance suite {path.name} is missing")
    return path


def load_cases(folder: str) -> list[dict[str, Any]]:
    """Return the objects of a suite's cases.json."""
    found: list[dict[str, Any]] = json.loads((shared(folder) / "cases.json").read_bytes())
    return found


def suites() -> dict[str, ModuleType]:
    """Return the suite modules in this folder by name."""
    package = __name__.rpartition(".")[0]
    names = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name.startswith("suite_"))
    return {name.removeprefix("suite_"): importlib.import_module(f"{package}.{name}") for name in names}


def run_suite(suite: ModuleType) -> list[Row]:
    """Run all cases on the extractor of the suite."""
    return _build_rows((case.row, case.id, _run_case(suite.run, case)) for case in suite.cases())


def run_suite_whole(suite: ModuleType) -> list[Row]:
    """Run all cases through the command `extract`, if the suite supports it."""
    run = getattr(suite, "run_whole", None)
    if run is None:
        return []
    return _build_rows((case.row + WHOLE, case.id, _run_case(run, case)) for case in suite.cases())


def floors_of(suite: ModuleType) -> dict[str, float]:
    """Return all floors of a suite by the names of their rows."""
    whole = getattr(suite, "WHOLE_FLOORS", {})
    return {**suite.FLOORS, **{row + WHOLE: floor for row, floor in whole.items()}}


def _build_rows(results: Iterable[tuple[str, str, CaseResult | None]]) -> list[Row]:
    by_row: dict[str, list[tuple[str, CaseResult]]] = {}
    for row, case, result in results:
        if result is not None:
            by_row.setdefault(row, []).append((case, result))
    return [_build_row(name, found) for name, found in by_row.items()]


def _run_case(run: Callable[[Case], CaseResult | None], case: Case) -> CaseResult | None:
    try:
        return run(case)
    except Exception as error:  # noqa: BLE001 - any exception is a failure of the case
        return f"{type(error).__name__}: {error}"


def _build_row(name: str, found: list[tuple[str, CaseResult]]) -> Row:
    scores = [0.0 if isinstance(result, str) else float(result) for _, result in found]
    failures = [
        (case, result if isinstance(result, str) else f"{score:.2f}" if score else "")
        for (case, result), score in zip(found, scores, strict=True)
        if score < 1.0
    ]
    return Row(
        name=name,
        cases=len(found),
        passes=len(found) - len(failures),
        score=sum(scores) / len(scores),
        failures=tuple(failures),
    )


def table(rows: Iterable[Row], floors: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'suite':44} {'cases':>6} {'passes':>7} {'score':>8} {'floor':>8}"
    for row in rows:
        floor = f"{floors[row.name]:8.1%}" if row.name in floors else " " * 8
        yield f"{row.name:44} {row.cases:6} {row.passes:7} {row.score:8.1%} {floor}"


# Comparison of graphs


def read_expected(path: Path, *, base: str, rdf_format: ox.RdfFormat | None = None) -> list[Statement]:
    """Return the statements of a file of expected results, parsed by pyoxigraph in the format of its extension."""
    chosen = rdf_format or ox.RdfFormat.from_extension(path.suffix[1:])
    quads = ox.parse(path.read_bytes(), chosen, base_iri=base, lenient=True)
    return statements_of(quads)


def statements_of(quads: Iterable[ox.Quad]) -> list[Statement]:
    """Convert quads of pyoxigraph to statements."""
    return [(_term(q.subject), _term(q.predicate), _term(q.object), _term(q.graph_name)) for q in quads]


def _term(term: Any) -> str:
    if isinstance(term, ox.DefaultGraph):
        return ""
    if isinstance(term, ox.Triple):
        return f"<<( {_term(term.subject)} {_term(term.predicate)} {_term(term.object)} )>>"
    return str(term)


def isomorphic(left: Iterable[Statement], right: Iterable[Statement]) -> bool:
    """Whether two datasets differ only in the names of blank nodes (RDF 1.1 Concepts, section 3.6)."""
    return _canonical(left) == _canonical(right)


def _canonical(statements: Iterable[Statement]) -> ox.Dataset:
    lines = "".join(line for number, s in enumerate(statements) for line in _lines(number, s))
    dataset = ox.Dataset(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def _lines(number: int, statement: Statement) -> Iterator[str]:
    subject, predicate, obj, graph = statement
    if predicate.startswith("_:") or subject.startswith('"'):
        # generalized RDF cannot be written in N-Quads, so a node with three properties represents the statement
        node = f"_:generalised{number}"
        for part, term in (("s", subject), ("p", predicate), ("o", obj)):
            yield f"{node} <urn:generalised:{part}> {term} {graph} .\n"
    else:
        yield f"{subject} {predicate} {obj} {graph} .\n"
