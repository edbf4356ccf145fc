"""The processor graph."""

from __future__ import annotations

from motherlode.model import Syntax
from motherlode.transform.blank import BlankNames
from motherlode.transform.rdfa.report import Report, Trouble


def test_errors_are_errors_and_warnings_are_warnings() -> None:
    report = Report()
    report.add(Trouble.DOCUMENT_ERROR, "broken")
    report.add(Trouble.UNRESOLVED_TERM, "unknown")
    report.add(Trouble.UNRESOLVED_TERM, "unknown")
    found = list(report.statements("http://example.org/", BlankNames("http://example.org/", Syntax.RDFA)))
    types = [o.rpartition("#")[2] for _, p, o, _ in found if p.endswith("type>")]
    assert types == ["DocumentError>", "Error>", "UnresolvedTerm>", "Warning>"]


def test_it_is_bounded() -> None:
    report = Report()
    for number in range(5_000):
        report.add(Trouble.UNRESOLVED_TERM, str(number))
    assert len(report.entries) == 1_000
