"""Turtle and TriG: what is good stays, and reading goes on after the statement that is bad.

The parser is strict as long as it can be. Where it stops, the statement that stopped it is read once more by a lenient
parser, so that an invalid IRI is repaired, or costs its own triple only; then a strict one goes on behind the
statement's end, with the prefixes, the base and the graph that held there. Reading ends for good where that end cannot
be told safely.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pyoxigraph as ox
from msgspec.structs import replace

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.bounds import OutOfTime
from motherlode.transform.documents.boundaries import Boundary, boundary_after
from motherlode.transform.documents.lines import reason as reason_of
from motherlode.transform.documents.source import Feed, Source
from motherlode.transform.documents.spelling import (
    Batches,
    Names,
    Repair,
    Repairs,
    catch_up,
    fault,
    statement_of,
    take,
    valid_base,
    without_literals,
)
from motherlode.www.iri import check

_HOPELESS = 1000
"""Problems after which a document that gave fewer statements than that is not what it seems to be."""
_RECENT = 1000
"""Statements that may share a nameless node with the one that was bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A part of the document that one strict parser reads, and what holds at its start."""

    start: int = 0
    line: int = 1
    column: int = 1
    base: str | None = None
    prefixes: str = ""
    graph: str = ""
    """Text from a graph's name to its brace, where the segment begins inside of one."""

    @property
    def header(self) -> str:
        return self.prefixes + self.graph

    def place(self, error: SyntaxError) -> tuple[int, int]:
        """Line and column in the document of an error whose place was counted from the header on."""
        line, column = error.lineno or 1, error.offset or 1
        if line > 1:
            return self.line + line - 1, column
        return self.line, self.column + max(0, column - 1 - len(self.header))


Found = Generator[list[Statement] | Problem, None, _Segment | None]


class TurtleReader:
    def __init__(self, source: Source, syntax: Syntax, rdf_format: ox.RdfFormat, names: Names) -> None:
        self._source = source
        self._syntax = syntax
        self._format = rdf_format
        self._names = names
        self._repairs = Repairs(syntax)
        self._problems = 0
        self._statements = 0

    def read(self, base: str | None) -> Batches:
        segment: _Segment | None = _Segment(base=base)
        while segment is not None:
            segment = yield from self._read_segment(segment)

    def _parse(self, segment: _Segment) -> ox.QuadParser:
        feed = Feed(self._source, start=segment.start, header=segment.header.encode())
        return ox.parse(feed.file(), self._format, base_iri=segment.base)

    def _parse_leniently(self, segment: _Segment, end: Boundary) -> ox.QuadParser:
        """A parser that minds no invalid IRI. If the part ends inside a graph, the graph is closed."""
        footer = b" }" if end.graph else b""
        header = segment.header.encode()
        feed = Feed(self._source, start=segment.start, end=end.offset, header=header, footer=footer)
        return ox.parse(feed.file(), self._format, base_iri=segment.base, lenient=True)

    def _read_segment(self, segment: _Segment) -> Found:
        """Reads up to the first error, and says where to go on after it."""
        parser = self._parse(segment)
        recent: deque[Statement] = deque(maxlen=_RECENT)
        count = 0
        batch: list[Statement] = []
        try:
            while take(parser, self._names, batch):
                ready, batch = batch, []
                recent.extend(without_literals(ready))
                count += len(ready)
                yield ready
        except OutOfTime:
            yield batch
            raise
        except MemoryError as error:  # the parser's own limit on the length of a token
            yield batch
            yield Problem(syntax=self._syntax, message=str(error))
        except SyntaxError as error:
            recent.extend(without_literals(batch))
            yield batch
            return (yield from self._go_on(segment, parser, error, recent, count + len(batch)))
        return None

    def _go_on(
        self, segment: _Segment, parser: ox.QuadParser, error: SyntaxError, recent: Sequence[Statement], count: int
    ) -> Found:
        self._problems += 1
        self._statements += count
        line, column = segment.place(error)
        problem = Problem(syntax=self._syntax, message=reason_of(error), line=line, column=column)
        if self._problems >= _HOPELESS and self._statements < self._problems:
            yield problem
            self._leave_out("too many problems", line)
            return None
        is_near = segment.start >= self._source.start
        may_be_inside = self._syntax is Syntax.TRIG or "escape" in error.msg  # of a graph, or of a string
        if may_be_inside and not is_near:
            yield problem
            self._leave_out("no safe place to go on", line)
            return None
        offset = self._source.offset_of(line, column)
        end = boundary_after(
            self._source,
            segment.start if is_near else offset,
            offset,
            graph=segment.graph,
            named_graphs=self._syntax is Syntax.TRIG,
        )
        if end is None or not is_near:
            yield problem
        if end is None:
            return None
        if is_near:
            parser = self._parse_leniently(segment, end)
            yield from self._salvage(parser, recent, count, problem)
        base = None if parser.base_iri is None else valid_base(check(parser.base_iri).value)
        return self._segment(end, base or segment.base, parser.prefixes)

    def _leave_out(self, reason: str, line: int) -> None:
        """Tells it at the end, since of many problems in between not all are told."""
        message = f"{reason}; the rest was left out"
        self._source.problems.append(Problem(syntax=self._syntax, message=message, line=line))

    def _segment(self, start: Boundary, base: str | None, prefixes: dict[str, str]) -> _Segment:
        line, column = self._source.place(start.offset)
        checked = ((name, check(iri)) for name, iri in prefixes.items())
        declared = "".join(f"PREFIX {name}: {iri.term} " for name, iri in checked if iri.is_valid)
        return _Segment(start=start.offset, line=line, column=column, base=base, prefixes=declared, graph=start.graph)

    def _salvage(self, lenient: ox.QuadParser, recent: Sequence[Statement], count: int, problem: Problem) -> Batches:
        """What the statement says that stopped the strict parser with a problem, but for its invalid terms."""
        bad = 0
        is_mended, is_told = True, False
        try:
            catch_up(lenient, recent, count, self._names)
            for quad in lenient:
                repaired: list[Repair] = []
                statement = statement_of(quad, self._names, repaired)
                reason = fault(statement)
                if not reason:
                    is_told |= bool(repaired)
                    yield from self._repairs.problems(repaired, line=problem.line, column=problem.column)
                    self._statements += 1
                    yield [statement]
                    continue
                is_mended = False
                if (bad := bad + 1) > 1:  # the first is the one that the strict parser told of
                    yield Problem(syntax=self._syntax, message=reason, line=problem.line)
        except SyntaxError:  # it stopped at the same place
            is_mended = False
        self._problems -= is_mended
        if not is_mended or not is_told:
            yield replace(problem, mended=is_mended)
