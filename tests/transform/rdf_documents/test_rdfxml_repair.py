"""Repair of RDF/XML input."""

from __future__ import annotations

import io

from motherlode.model import Problem, Syntax
from motherlode.transform.rdf_documents.rdfxml_input import UNDECLARED_ENTITY, restore_statement
from motherlode.transform.rdf_documents.rdfxml_repair import RepairingFeed, _is_predefined
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.media_types import RDF_NAMESPACE
from motherlode.www.xml import read_head

START = f'<r:RDF xmlns:r="{RDF_NAMESPACE}">'.encode()


def _feed(text: bytes) -> RepairingFeed:
    return RepairingFeed(Source(io.BytesIO(text), syntax=Syntax.RDF_XML), read_head(text))


def _repair(text: bytes) -> tuple[bytes, list[Problem]]:
    feed = _feed(text)
    feed.start_repair(0, len(text))
    given = b"".join(iter(lambda: feed.read(1000), b""))
    return given[given.index(START) :], feed.take_problems()


def test_repairing_feed_is_unchanged_until_repair_starts() -> None:
    text = START + b"<r:a b='&'/></r:RDF>"
    assert _feed(text).read(1000) == text


def test_repairing_feed_well_formed_text_is_unchanged() -> None:
    text = START + b"<r:Description r:about='x>y'>\n <r:value>1 &amp; &#50;</r:value></r:Description></r:RDF>"
    assert _repair(text) == (text, [])


def test_repairing_feed_reports_repairs() -> None:
    given, problems = _repair(START + b"<r:Description about='a&b'/></r:RDF>")
    assert given == START + b'<r:Description r:about="a&amp;b"/></r:RDF>'
    assert [(problem.line, problem.repaired) for problem in problems] == [(1, True)] * 2


def test_repairing_feed_undeclared_prefix_gives_marker_namespace() -> None:
    given, problems = _repair(START + b"<g:A/></r:RDF>")
    namespace = given.partition(b'xmlns:g="')[2].partition(b'"')[0].decode()
    assert restore_statement(("<urn:a>", f"<{namespace}A>", "<urn:b>", "")) is None
    assert [problem.repaired for problem in problems] == [False]


def test_repairing_feed_undeclared_entities_are_marked_and_reported() -> None:
    given, problems = _repair(START + b"<r:Description r:about='&a;b'>&c.d; &amp; &lt;&nbsp;</r:Description></r:RDF>")
    mark = UNDECLARED_ENTITY.encode()
    assert given.endswith(b"about='%sb'>%s &amp; &lt;&nbsp;</r:Description></r:RDF>" % (mark, mark))
    assert [problem.repaired for problem in problems] == [False, True, False]


def test_repairing_feed_pauses_between_nodes() -> None:
    text = START + b"<r:Description>1</r:Description><r:Description/></r:RDF>"
    feed = _feed(text)
    feed.start_repair(0, len(START) + 1)
    assert b"".join(iter(lambda: feed.read(1000), b"")).endswith(b"1</r:Description></r:RDF>")
    assert feed.is_paused
    feed.start_plain()
    assert feed.read(1000) + feed.read(1000) == START + b"<r:Description/></r:RDF>"


def test_is_predefined_on_examples_gives_expected_values() -> None:
    assert [_is_predefined(name) for name in (b"amp", b"#233", b"#xE9", b"#xD800", b"#0", b"#x110000", b"eacute")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
