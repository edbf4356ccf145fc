"""The processor graph."""

from __future__ import annotations

from motherlode.model import Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.processor_graph import ProcessorGraph, ProcessorMessage
from tests.transform.rdfa.pages import rdfa


def test_message_has_its_class_and_error_or_warning_once() -> None:
    graph = ProcessorGraph()
    graph.add_message(ProcessorMessage.DOCUMENT_ERROR, "broken")
    graph.add_message(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    graph.add_message(ProcessorMessage.UNRESOLVED_TERM, "unknown")
    found = list(graph.statements("http://example.org/", BlankNames("http://example.org/", Syntax.RDFA)))
    types = [o.rpartition("#")[2] for _, p, o, _ in found if p.endswith("type>")]
    assert types == ["DocumentError>", "Error>", "UnresolvedTerm>", "Warning>"]


def test_messages_are_bounded() -> None:
    graph = ProcessorGraph()
    for number in range(5_000):
        graph.add_message(ProcessorMessage.UNRESOLVED_TERM, str(number))
    assert len(graph.messages) == 1_000


def test_invalid_iri_removes_only_its_statements_and_is_reported_on_every_page() -> None:
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
