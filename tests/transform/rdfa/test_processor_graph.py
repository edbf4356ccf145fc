"""The processor graph."""

from __future__ import annotations

from motherlode.model import Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.processor_graph import ProcessorGraph, ProcessorMessage
from tests.transform.rdfa.pages import rdfa


def test_errors_are_errors_and_warnings_are_warnings() -> None:
    report = ProcessorGraph()
    report.add(ProcessorMessage.DOCUMENT_ERROR, "broken")
    report.add(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    report.add(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    found = list(report.statements("http://example.org/", BlankNames("http://example.org/", Syntax.RDFA)))
    types = [o.rpartition("#")[2] for _, p, o, _ in found if p.endswith("type>")]
    assert types == ["DocumentError>", "Error>", "UnresolvedTerm>", "Warning>"]


def test_it_is_bounded() -> None:
    report = ProcessorGraph()
    for number in range(5_000):
        report.add(ProcessorMessage.UNRESOLVED_TERM, str(number))
    assert len(report.entries) == 1_000


def test_invalid_iris_cost_their_own_statements_on_every_page() -> None:
    markup = (
        "<div about=#s vocab='http://v/'><a property=a href='http://[bad'>x</a><b property='http://[p c'>y</b>"
        "<a rel=d href='http://e.org:port/'>z</a></div><p about='http://[s' property=dc:title>w"
    )
    for _ in range(2):
        found = rdfa(markup)
        assert [statement[1:3] for statement in found.statements[1:]] == [("<http://v/c>", '"y"')]
        assert [problem.message for problem in found.problems] == [
            *("not a valid IRI: <http://[bad>", "not a valid IRI: <http://[p>"),
            *("not a valid IRI: <http://e.org:port/>", "not a valid IRI: <http://[s>"),
        ]
