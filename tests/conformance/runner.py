"""Runs conformance suites and says how many cases pass.

A suite is a module `suite_<name>.py` in this folder with three names:

- `cases() -> Iterable[Case]`: every case, read from the shared suites (`shared("microdata-rdf")` gives the folder).
  A case's `row` says under which line of the table it is counted; one module may fill several rows.
- `run(case) -> bool | str | float`: True passes; False fails; a string fails and says why; a number from 0 to 1 is a
  score, for suites that measure agreement. An exception fails its case and is shown by name.
- `FLOORS: dict[str, float]`: the least share of passes (or mean score) for each row that is guarded. Rows without a
  floor are only reported.

A suite whose cases can pass through the command `extract` has two more names:

- `run_whole(case) -> bool | str | float | None`: as `run`, by `whole_path.extract`; None if the case needs an option
  that the command does not have, and then it is not counted.
- `WHOLE_FLOORS: dict[str, float]`: the floors of these outcomes. Their rows have the suffix `WHOLE`.

Nothing is registered: `suites()` finds the modules. `python -m tests.conformance [NAME]...` prints the table and the
names of the failures; `test_floors.py` asserts the floors.
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
Outcome = bool | str | float
WHOLE = " by extract"
"""Suffix of the rows whose cases pass through the whole path: detection, prefilter, transform and command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case of a suite."""

    id: str
    row: str
    """The line of the table in which the case counts."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Whatever `run` needs: usually the case's object in the suite's own index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a row of the table says."""

    name: str
    cases: int
    passes: int
    score: float
    """Mean of the outcomes: the share of passes, where every outcome is yes or no."""
    failures: tuple[tuple[str, str], ...]
    """Id and reason of each case that did not pass."""


def shared(*parts: str) -> Path:
    """A folder or file of the shared suites; the test is skipped without them, and fails under CI."""
    path = SHARED.joinpath("conformance", *parts)
    if not path.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"the shared conformance suite {path.name} is not there")
        pytest.skip(f"the shared conformance suite {path.name} is not there")
    return path


def load_cases(folder: str) -> list[dict[str, Any]]:
    """The objects of a suite's cases.json."""
    found: list[dict[str, Any]] = json.loads((shared(folder) / "cases.json").read_bytes())
    return found


def suites() -> dict[str, ModuleType]:
    """The suite modules in this folder, by name."""
    package = __name__.rpartition(".")[0]
    names = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name.startswith("suite_"))
    return {name.removeprefix("suite_"): importlib.import_module(f"{package}.{name}") for name in names}


def run_suite(suite: ModuleType) -> list[Row]:
    """Run each case on the suite's own extractor."""
    return _rows((case.row, case.id, _outcome(suite.run, case)) for case in suite.cases())


def run_suite_whole(suite: ModuleType) -> list[Row]:
    """Run each case through the whole path, if the suite can be run so."""
    run = getattr(suite, "run_whole", None)
    if run is None:
        return []
    return _rows((case.row + WHOLE, case.id, _outcome(run, case)) for case in suite.cases())


def floors_of(suite: ModuleType) -> dict[str, float]:
    """All floors of a suite by the names of their rows."""
    whole = getattr(suite, "WHOLE_FLOORS", {})
    return {**suite.FLOORS, **{row + WHOLE: floor for row, floor in whole.items()}}


def _rows(outcomes: Iterable[tuple[str, str, Outcome | None]]) -> list[Row]:
    by_row: dict[str, list[tuple[str, Outcome]]] = {}
    for row, case, outcome in outcomes:
        if outcome is not None:
            by_row.setdefault(row, []).append((case, outcome))
    return [_row(name, found) for name, found in by_row.items()]


def _outcome(run: Callable[[Case], Outcome | None], case: Case) -> Outcome | None:
    try:
        return run(case)
    except Exception as error:  # noqa: BLE001 - a crash is a failed case, whatever it was
        return f"{type(error).__name__}: {error}"


def _row(name: str, found: list[tuple[str, Outcome]]) -> Row:
    scores = [0.0 if isinstance(outcome, str) else float(outcome) for _, outcome in found]
    failures = [
        (case, outcome if isinstance(outcome, str) else f"{score:.2f}" if score else "")
        for (case, outcome), score in zip(found, scores, strict=True)
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
    yield f"{'suite':44} {'cases':>6} {'passes':>7} {'score':>8} {'floor':>8}"
    for row in rows:
        floor = f"{floors[row.name]:8.1%}" if row.name in floors else " " * 8
        yield f"{row.name:44} {row.cases:6} {row.passes:7} {row.score:8.1%} {floor}"


# Comparing graphs -----------------------------------------------------------------------------------------------------


def read_expected(path: Path, *, base: str, rdf_format: ox.RdfFormat | None = None) -> list[Statement]:
    """The statements of a file of expected results, read without our code; the format goes by the extension."""
    chosen = rdf_format or ox.RdfFormat.from_extension(path.suffix[1:])
    quads = ox.parse(path.read_bytes(), chosen, base_iri=base, lenient=True)
    return statements_of(quads)


def statements_of(quads: Iterable[ox.Quad]) -> list[Statement]:
    """Quads of pyoxigraph as our statements."""
    return [(_term(q.subject), _term(q.predicate), _term(q.object), _term(q.graph_name)) for q in quads]


def _term(term: Any) -> str:
    if isinstance(term, ox.DefaultGraph):
        return ""
    if isinstance(term, ox.Triple):
        return f"<<( {_term(term.subject)} {_term(term.predicate)} {_term(term.object)} )>>"
    return str(term)


def isomorphic(left: Iterable[Statement], right: Iterable[Statement]) -> bool:
    """Whether two datasets are the same but for the names of blank nodes (RDF 1.1 Concepts, section 3.6)."""
    return _canonical(left) == _canonical(right)


def _canonical(statements: Iterable[Statement]) -> ox.Dataset:
    lines = "".join(line for number, s in enumerate(statements) for line in _lines(number, s))
    dataset = ox.Dataset(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def _lines(number: int, statement: Statement) -> Iterator[str]:
    subject, predicate, obj, graph = statement
    if predicate.startswith("_:") or subject.startswith('"'):
        # generalised RDF: N-Quads has no line for it, so the statement is spelled out as a node of its own
        node = f"_:generalised{number}"
        for part, term in (("s", subject), ("p", predicate), ("o", obj)):
            yield f"{node} <urn:generalised:{part}> {term} {graph} .\n"
    else:
        yield f"{subject} {predicate} {obj} {graph} .\n"
