"""Turtle and TriG: what is good stays, and reading goes on after the statement that is bad.

The parser is strict as long as it can be. Where it stops, the statement that stopped it is read once more by a lenient
parser, so that an invalid IRI costs its own triple only; then a strict one goes on behind the statement's end, with the
prefixes, the base and the graph that held there. Reading ends for good where that end cannot be told safely.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.documents.boundaries import boundary_after
from motherlode.transform.documents.lines import reason as reason_of
from motherlode.transform.documents.source import Feed, Source
from motherlode.transform.documents.spelling import Batches, Names, catch_up, fault, statement_of, take

_HOPELESS = 1000
"""Problems after which a document that gave fewer statements than that is not what it seems to be."""
_RECENT = 1000
"""Statements that may share a nameless node with the one that was bad."""

_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A part of the document that one strict parser reads, and what holds at its start."""

    start: int = 0
    base: str | None = None
    prefixes: str = ""
    graph: str = ""
    """Text from a graph's name to its brace, where the segment begins inside of one."""

    @property
    def header(self) -> str:
        return self.prefixes + self.graph


Found = Generator[list[Statement] | Problem, None, _Segment | None]


class TurtleReader:
    def __init__(self, source: Source, syntax: Syntax, rdf_format: ox.RdfFormat, names: Names) -> None:
        self._source = source
        self._syntax = syntax
        self._format = rdf_format
        self._names = names
        self._problems = 0
        self._statements = 0

    def read(self, base: str | None) -> Batches:
        segment: _Segment | None = _Segment(base=base)
        while segment is not None:
            segment = yield from self._read_segment(segment)

    def _parse(self, segment: _Segment, *, end: int | None = None, lenient: bool = False) -> ox.QuadParser:
        feed = Feed(self._source, start=segment.start, end=end, header=segment.header.encode())
        return ox.parse(feed.file(), self._format, base_iri=segment.base, lenient=lenient)

    def _read_segment(self, segment: _Segment) -> Found:
        """Reads up to the first error, and says where to go on after it."""
        parser = self._parse(segment)
        recent: deque[Statement] = deque(maxlen=_RECENT)
        count = 0
        batch: list[Statement] = []
        try:
            while take(parser, self._names, batch):
                recent.extend(batch)
                count += len(batch)
                yield batch
                batch = []
        except MemoryError as error:  # the parser's own limit on the length of a token
            yield batch
            yield Problem(syntax=self._syntax, message=str(error))
        except SyntaxError as error:
            recent.extend(batch)
            yield batch
            return (yield from self._go_on(segment, error, recent, count + len(batch)))
        return None

    def _go_on(self, segment: _Segment, error: SyntaxError, recent: Sequence[Statement], count: int) -> Found:
        self._problems += 1
        self._statements += count
        offset = self._offset_of(segment, error)
        line, column = self._source.place(offset)
        yield Problem(syntax=self._syntax, message=reason_of(error), line=line, column=column)
        if self._problems >= _HOPELESS and self._statements < self._problems:
            yield Problem(syntax=self._syntax, message="too many problems; the rest was left out", line=line)
            return None
        if segment.start < self._source.start:
            yield Problem(syntax=self._syntax, message="too far from a known place; the rest was left out", line=line)
            return None
        named_graphs = self._syntax is Syntax.TRIG
        end = boundary_after(self._source, segment.start, offset, graph=segment.graph, named_graphs=named_graphs)
        if end is None:
            return None
        lenient = self._parse(segment, end=end.offset, lenient=True)
        yield from self._salvage(lenient, recent, count, line)
        return _Segment(
            start=end.offset, base=lenient.base_iri, prefixes=_declarations(lenient.prefixes), graph=end.graph
        )

    def _offset_of(self, segment: _Segment, error: SyntaxError) -> int:
        line, column = error.lineno or 1, error.offset or 1
        if line == 1:
            column = max(1, column - len(segment.header))
        return self._source.offset(segment.start, line, column)

    def _salvage(self, lenient: ox.QuadParser, recent: Sequence[Statement], count: int, line: int) -> Batches:
        """What the statement that stopped the strict parser has beside its invalid terms."""
        bad = 0
        try:
            catch_up(lenient, recent, count, self._names)
            for quad in lenient:
                statement = statement_of(quad, self._names)
                reason = fault(statement)
                if not reason:
                    yield [statement]
                elif (bad := bad + 1) > 1:  # the first is the one that the strict parser told of
                    yield Problem(syntax=self._syntax, message=reason, line=line)
        except SyntaxError:
            pass  # it stopped at the same place, which is on record


def _declarations(prefixes: dict[str, str]) -> str:
    return "".join(f"PREFIX {prefix}: <{_NOT_IN_IRI.sub(_escape, iri)}> " for prefix, iri in prefixes.items())


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"
