"""Read RDF/XML: limit entities, locate errors, and recover as much as possible from invalid documents.

The parser expands entities without limit and reports no positions. It gets a document type whose entities are already
expanded and counted. If it stops, the part is read again with repairs and one tag at a time, so that the last tag read
is the position of the error. An error that cannot be repaired loses the rest of its node, a child of `rdf:RDF`.
"""

from collections import deque
from collections.abc import Generator, Sequence

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.rdf_documents import parser_terms
from motherlode.transform.rdf_documents.parser_terms import Batches, BlankNodeRenamer, IriRepair, RepairReporter
from motherlode.transform.rdf_documents.rdfxml_input import canonicalize_literals, restore_statement
from motherlode.transform.rdf_documents.rdfxml_repair import RepairingFeed
from motherlode.transform.rdf_documents.source import Feed, Source
from motherlode.transform.timeouts import ExtractorTimeout
from motherlode.www.xml import XmlHead, read_head

_PROLOG_BYTES = 1 << 20
"""The root element must start within these bytes."""
_RECENT_STATEMENTS = 20_000
"""Statements remembered to identify their anonymous nodes."""
_MAX_ERRORS = 1000
"""After this many errors, a document with fewer statements than errors is given up."""
_REPAIR_BYTES = 1 << 14
"""Bytes to repair after an error, because errors often occur close together."""
_LEFT_OUT = "cannot continue after the error; the rest was left out"

BatchesAndIsMore = Generator[list[Statement] | Problem, None, bool]


def read_rdfxml(source: Source, base: str | None, names: BlankNodeRenamer) -> Batches:
    """Yield the statements and problems of an RDF/XML document."""
    head = read_head(source.get(0, _PROLOG_BYTES))
    if head is not None and head.refused_entities:
        message = f"{head.refused_entities} entities were refused: too long, too deep, or not declared"
        yield Problem(syntax=Syntax.RDF_XML, message=message)
    reader = _RdfXmlReader(source, head, base, names)
    yield from reader.read()
    if head is not None:
        yield from reader.check_end()
    elif reader.found_nothing:
        yield Problem(syntax=Syntax.RDF_XML, message="no element was found")


class _RdfXmlReader:
    """Alternates between a strict parser and, from each error to the end of its node, a lenient parser with repairs."""

    def __init__(self, source: Source, head: XmlHead | None, base: str | None, names: BlankNodeRenamer) -> None:
        self._source = source
        self._entities = head.entities if head else {}
        self._base = base
        self._names = names
        self._repairs = RepairReporter(Syntax.RDF_XML)
        self._feed = RepairingFeed(source, head, base or "")
        self._errors = 0
        self._statements = 0
        self._has_reported = False
        """Whether a problem was reported for the part being repaired."""

    @property
    def found_nothing(self) -> bool:
        """Whether there were neither statements nor errors."""
        return not self._statements and not self._errors

    def read(self) -> Batches:
        is_left = True
        while is_left:
            is_left = yield from self._read_strictly()

    def check_end(self) -> Batches:
        """Yield a problem if the document is truncated, because the parser does not report it."""
        if self._feed.is_truncated():
            line, column = self._source.position_of(self._feed.position)
            message = "the document ends before its root element does"
            yield Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column)

    def _make_parser(self, feed: RepairingFeed, *, lenient: bool) -> ox.QuadParser:
        return ox.parse(feed.file(), ox.RdfFormat.RDF_XML, base_iri=self._base, lenient=lenient)

    def _read_strictly(self) -> BatchesAndIsMore:
        """Read up to the first error and repair the part after it. Return whether more input follows."""
        self._feed.start_plain()
        start = self._feed.position
        parser = self._make_parser(self._feed, lenient=False)
        recent: deque[Statement] = deque(maxlen=_RECENT_STATEMENTS)
        batch: list[Statement] = []
        count = 0
        try:
            while parser_terms.read_batch(parser, self._names, batch):
                ready, batch = self._canonicalize(batch), []
                recent.extend(parser_terms.strip_literals(ready))
                count += len(ready)
                self._statements += len(ready)
                yield ready
        except ExtractorTimeout:
            yield self._canonicalize(batch)
            raise
        except SyntaxError as error:
            self._errors += 1
            self._statements += len(batch)
            recent.extend(parser_terms.strip_literals(self._canonicalize(batch)))
            yield batch
            if start >= self._source.start:
                return (yield from self._read_repaired(start, recent, count + len(batch)))
            line, _ = self._source.position_of(self._feed.position)
            message = f"{error.msg}, shortly before line {line}; the rest was left out"
            self._source.problems.append(Problem(syntax=Syntax.RDF_XML, message=message, line=line))
            return False
        return self._feed.is_paused

    def _read_repaired(self, start: int, recent: deque[Statement], count: int) -> BatchesAndIsMore:
        """Read again the part that stopped the strict parser, which started at `start` and gave `count` statements."""
        feed = self._feed
        until = feed.position + _REPAIR_BYTES
        boundary = feed.find_node_boundary(start)
        count -= self._count_statements(feed.feed_between(start, boundary))
        feed.start_repair(boundary, until)
        self._has_reported = False
        yield from self._read_leniently([*recent][max(0, len(recent) - count) :], count, (boundary, until))
        if not self._has_reported and (refusal := self._find_strict_error(boundary, until)):
            yield refusal
        if not feed.is_paused:
            return False
        if self._errors >= _MAX_ERRORS and self._statements < self._errors:
            self._source.problems.append(self._make_problem(_LEFT_OUT))
            return False
        return True

    def _count_statements(self, feed: Feed) -> int:
        """Count the statements of an unfinished document, whose root is still open at its end."""
        count = 0
        try:
            for _ in ox.parse(feed.file(), ox.RdfFormat.RDF_XML, base_iri=self._base):
                count += 1
        except SyntaxError:
            pass
        return count

    def _read_leniently(self, known: Sequence[Statement], count: int, part: tuple[int, int]) -> Batches:
        """Read a part with a lenient parser, skip the statements that the strict parser gave, and yield the others."""
        parser = self._make_parser(self._feed, lenient=True)
        parser_terms.skip_known_statements(parser, known, count, self._names)
        while True:
            try:
                for quad in parser:
                    yield from self._report_repairs()
                    yield from self._convert_lenient_quad(quad, part)
                yield from self._report_repairs()
                return
            except SyntaxError as error:
                yield from self._report_repairs()
                yield self._make_problem(error.msg)
                self._errors += 1
            if not self._feed.skip_node():
                if self._feed.has_unread_rest:
                    self._source.problems.append(self._make_problem(_LEFT_OUT))
                return
            parser = self._make_parser(self._feed, lenient=True)

    def _report_repairs(self) -> Batches:
        problems = self._feed.take_problems()
        self._has_reported |= bool(problems)
        yield from problems

    def _convert_lenient_quad(self, quad: ox.Quad, part: tuple[int, int]) -> Batches:
        repaired: list[IriRepair] = []
        statement = restore_statement(parser_terms.convert_quad(quad, self._names.rename, repaired))
        if statement is None:
            return
        reason = parser_terms.find_fault(statement)
        if reason:
            refusal = None if self._has_reported else self._find_strict_error(*part)
            yield refusal or self._make_problem(reason)
        else:
            self._statements += 1
            if repaired:
                self._has_reported = True
                line, column = self._feed.tag_position()
                yield from self._repairs.problems(repaired, line=line, column=column)
            yield self._canonicalize([statement])

    def _make_problem(self, message: str, feed: RepairingFeed | None = None) -> Problem:
        self._has_reported = True
        line, column = (feed or self._feed).tag_position()
        return Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column)

    def _find_strict_error(self, boundary: int, until: int) -> Problem | None:
        """Return the error that a strict parser reports for a part, or None. It rejects more than a lenient one."""
        feed = self._feed.copy()
        feed.start_repair(boundary, until)
        try:
            for _ in self._make_parser(feed, lenient=False):
                pass
        except SyntaxError as error:
            return self._make_problem(error.msg, feed)
        return None

    def _canonicalize(self, batch: list[Statement]) -> list[Statement]:
        """Convert XML literals to exclusive canonical form (RDF/XML, 7.2.17). The parser adds every namespace."""
        for number, (subject, predicate, obj, graph) in enumerate(batch):
            if "XMLLiteral>" in obj:
                batch[number] = (subject, predicate, canonicalize_literals(obj, self._entities), graph)
        return batch
