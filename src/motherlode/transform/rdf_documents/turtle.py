"""Read Turtle, TriG, Notation3, N-Triples and N-Quads, and continue after invalid statements.

After an error, a lenient parser reads the statement again and its IRIs are repaired. The end of the statement is found
without parsing (`find_boundary`), and a strict parser continues there. Notation3 is read as far as it is RDF.
"""

import re
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import pyoxigraph as ox
from msgspec.structs import replace

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.rdf_documents import parser_terms
from motherlode.transform.rdf_documents.parser_terms import Batches, BlankNodeRenamer, IriRepair, RepairReporter
from motherlode.transform.rdf_documents.source import CHUNK_BYTES, Feed, Source
from motherlode.transform.timeouts import ExtractorTimeout
from motherlode.www.iri import check

_MAX_SCAN_BYTES = 1 << 24
"""Maximum distance between an error and the end of its statement."""

_TOKEN = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*"""'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    rb"|(?P<open>\"\"\"|''')"
    rb'|"(?:[^"\\\n\r]|\\.)*"'
    rb"|'(?:[^'\\\n\r]|\\.)*'"
    rb"|<[^<>\n\r]*>"  # also with characters that are invalid in IRIs, because these are repaired
    rb"|(?P<comment>\#[^\n\r]*)"
    rb"|(?P<dot>\.(?=[\s<\"'\[(_@}#]|\Z))"
    rb"|(?P<brace>[{}])",
    re.DOTALL,
)


def count_open_braces(text: bytes, before: int = 0) -> tuple[int, int]:
    """Return the open braces at the end of a text (`before` at its start), and the end of its last token."""
    depth, end = before, 0
    for token in _TOKEN.finditer(text):
        end = token.end()
        if token.lastgroup == "brace":
            depth = depth + 1 if token[0] == b"{" else max(0, depth - 1)
    return depth, end


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """The end of a statement."""

    offset: int
    graph: str
    """Text from the graph name to the opening brace if the boundary lies inside a graph, else ""."""


def find_boundary(source: Source, start: int, error: int, *, graph: str, named_graphs: bool) -> Boundary | None:
    """Return the end of the statement with the error at offset `error`; None if none is found or a string is open.

    The search begins at `start`, an earlier end of a statement, because strings must be recognized from their
    beginning.
    """
    size = error - start + CHUNK_BYTES
    while True:
        text = source.get(start, size)
        found = _find_boundary_in(text, error - start, graph=graph, named_graphs=named_graphs)
        is_whole = len(text) < size
        if found is not None and (is_whole or found.offset < len(text)):
            return Boundary(offset=start + found.offset, graph=found.graph)
        if is_whole or size > error - start + _MAX_SCAN_BYTES:
            return None
        size += max(CHUNK_BYTES, size // 2)


def _find_boundary_in(text: bytes, error: int, *, graph: str, named_graphs: bool) -> Boundary | None:
    last = Boundary(offset=0, graph=graph)
    label: list[bytes] = []
    label_start = 0
    is_known = True  # whether the name of the current graph was read
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            return None
        if kind == "comment":
            label.append(text[label_start : token.start()])
            label_start = token.end()
            continue
        if kind is None or (kind == "brace" and not named_graphs):
            continue
        if token[0] == b"{":
            is_known = token.start() < error
            name = b"".join([*label, text[label_start : token.start()]]).decode(errors="replace").split()
            graph = " ".join([*name, "{ "])
        elif token[0] == b"}":
            graph, is_known = "", True
        label, label_start = [], token.end()
        if token.end() > error and is_known and token[0] != b"{":
            return last if _ends_at(text, last.offset, error) else Boundary(offset=token.end(), graph=graph)
        last = Boundary(offset=token.end(), graph=graph)
    return last if _ends_at(text, last.offset, error) else None


def _ends_at(text: bytes, boundary: int, error: int) -> bool:
    """Return whether the error lies at a line break directly after the boundary, as in an unterminated string."""
    return 0 < boundary <= error and text[error : error + 1] in b"\r\n" and not text[boundary:error].strip()


# Turtle and TriG

_MAX_PROBLEMS = 1000
"""After this many problems, a document with fewer statements than problems is given up."""
_RECENT_STATEMENTS = 1000
"""Number of latest statements that are kept, because an invalid statement may share an anonymous node with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A part of the document that one strict parser reads, with the state at its start."""

    start: int = 0
    line: int = 1
    column: int = 1
    base: str | None = None
    prefixes: str = ""
    graph: str = ""
    """Text from the graph name to the opening brace if the segment starts inside a graph."""

    @property
    def header(self) -> str:
        """Text inserted before the segment: prefixes, and the graph in which it starts."""
        return self.prefixes + self.graph

    def locate(self, error: SyntaxError) -> tuple[int, int]:
        """Return line and column in the document for an error position that counts from the header."""
        line, column = error.lineno or 1, error.offset or 1
        if line > 1:
            return self.line + line - 1, column
        return self.line, self.column + max(0, column - 1 - len(self.header))


BatchesAndNextSegment = Generator[list[Statement] | Problem, None, _Segment | None]


class TurtleReader:
    """Reads a Turtle or TriG document segment by segment. A new segment starts after each error."""

    def __init__(self, source: Source, syntax: Syntax, rdf_format: ox.RdfFormat, names: BlankNodeRenamer) -> None:
        self._source = source
        self._syntax = syntax
        self._format = rdf_format
        self._names = names
        self._repairs = RepairReporter(syntax)
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
        """Return a parser that accepts invalid IRIs. If the part ends inside a graph, the footer closes the graph."""
        footer = b" }" if end.graph else b""
        header = segment.header.encode()
        feed = Feed(self._source, start=segment.start, end=end.offset, header=header, footer=footer)
        return ox.parse(feed.file(), self._format, base_iri=segment.base, lenient=True)

    def _read_segment(self, segment: _Segment) -> BatchesAndNextSegment:
        """Read up to the first error. Return the segment to continue with, or None at the end."""
        parser = self._parse(segment)
        recent: deque[Statement] = deque(maxlen=_RECENT_STATEMENTS)
        count = 0
        batch: list[Statement] = []
        try:
            while parser_terms.read_batch(parser, self._names, batch):
                ready, batch = batch, []
                recent.extend(parser_terms.strip_literals(ready))
                count += len(ready)
                yield ready
        except ExtractorTimeout:
            yield batch
            raise
        except MemoryError as error:  # the parser limits the length of a token
            yield batch
            yield Problem(syntax=self._syntax, message=str(error))
        except SyntaxError as error:
            recent.extend(parser_terms.strip_literals(batch))
            yield batch
            return (yield from self._recover(segment, parser, error, recent, count + len(batch)))
        return None

    def _recover(
        self, segment: _Segment, parser: ox.QuadParser, error: SyntaxError, recent: Sequence[Statement], count: int
    ) -> BatchesAndNextSegment:
        """Report an error, read the valid part of its statement, and return the segment after it, or None."""
        self._problems += 1
        self._statements += count
        line, column = segment.locate(error)
        problem = Problem(syntax=self._syntax, message=parser_terms.parser_message(error), line=line, column=column)
        is_in_window = segment.start >= self._source.start
        if why := self._reason_to_stop(error, is_in_window=is_in_window):
            yield problem
            message = f"{why}; the rest was left out"  # the source reports it last, outside the limit on problems
            self._source.problems.append(Problem(syntax=self._syntax, message=message, line=line))
            return None
        offset = self._source.offset_of(line, column)
        end = find_boundary(
            self._source,
            segment.start if is_in_window else offset,
            offset,
            graph=segment.graph,
            named_graphs=self._syntax is Syntax.TRIG,
        )
        if end is None or not is_in_window:
            yield problem
        if end is None:
            return None
        if is_in_window:
            parser = self._parse_leniently(segment, end)
            yield from self._read_bad_statement(parser, recent, count, problem)
        base = None if parser.base_iri is None else parser_terms.valid_base(check(parser.base_iri).value)
        return self._make_segment(end, base or segment.base, parser.prefixes)

    def _reason_to_stop(self, error: SyntaxError, *, is_in_window: bool) -> str:
        """Return why reading cannot continue after an error; "" if it can."""
        if self._problems >= _MAX_PROBLEMS and self._statements < self._problems:
            return "too many problems"
        may_be_inside = self._syntax is Syntax.TRIG or "escape" in error.msg  # inside a graph or a string
        return "cannot continue after the error" if may_be_inside and not is_in_window else ""

    def _make_segment(self, start: Boundary, base: str | None, prefixes: dict[str, str]) -> _Segment:
        line, column = self._source.position_of(start.offset)
        checked = ((name, check(iri)) for name, iri in prefixes.items())
        declared = "".join(f"PREFIX {name}: {iri.term} " for name, iri in checked if iri.is_valid)
        return _Segment(start=start.offset, line=line, column=column, base=base, prefixes=declared, graph=start.graph)

    def _read_bad_statement(
        self, lenient: ox.QuadParser, recent: Sequence[Statement], count: int, problem: Problem
    ) -> Batches:
        """Yield the valid triples of the statement that stopped the strict parser, and its problems."""
        bad = 0
        is_repaired, is_reported = True, False
        try:
            parser_terms.skip_known_statements(lenient, recent, count, self._names)
            for quad in lenient:
                repaired: list[IriRepair] = []
                statement = parser_terms.convert_quad(quad, self._names.rename, repaired)
                reason = parser_terms.find_fault(statement)
                if not reason:
                    is_reported |= bool(repaired)
                    yield from self._repairs.problems(repaired, line=problem.line, column=problem.column)
                    self._statements += 1
                    yield [statement]
                    continue
                is_repaired = False
                if (bad := bad + 1) > 1:  # the strict parser has reported the first one
                    yield Problem(syntax=self._syntax, message=reason, line=problem.line)
        except SyntaxError:  # the lenient parser stopped at the same position
            is_repaired = False
        self._problems -= is_repaired
        if not is_repaired or not is_reported:
            yield replace(problem, repaired=is_repaired)


# N-Triples and N-Quads

_BLOCK_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 24
"""Maximum length of a line. The parser accepts no longer ones."""


_VERSION_LINE = re.compile(rb'[ \t]*VERSION[ \t]+"[^"\\]*"[ \t]*(?:#.*)?')
"""A version directive of RDF 1.2, which the parser does not know in these formats."""


_LOCALE = re.compile(rb'(?<=[^\\]")@[A-Za-z]{1,8}(?:_[A-Za-z0-9]{1,8})+')
"""A language tag with underscores, such as `@en_US`."""


def read_lines(source: Source, syntax: Syntax, rdf_format: ox.RdfFormat, names: BlankNodeRenamer) -> Batches:
    """Parse blocks of lines at once, and line by line only if a block has an error."""
    repairs = RepairReporter(syntax)
    for offset, block in _read_blocks(source, syntax):
        if isinstance(block, Problem):
            yield block
            continue
        try:
            yield _parse_block(block, rdf_format, names)
        except SyntaxError:
            line, _ = source.position_of(offset)
            for number, text in enumerate(block.splitlines(), line):
                if _VERSION_LINE.fullmatch(text):
                    continue
                try:
                    yield _parse_block(text, rdf_format, names)
                except SyntaxError as error:
                    statements, repaired = _parse_line_leniently(text, rdf_format, names)
                    if repaired:
                        yield from repairs.problems(repaired, line=number, column=error.offset)
                    else:
                        yield Problem(
                            syntax=syntax,
                            message=parser_terms.parser_message(error),
                            line=number,
                            column=error.offset,
                            repaired=bool(statements),
                        )
                    yield statements


def _parse_block(text: bytes, rdf_format: ox.RdfFormat, names: BlankNodeRenamer) -> list[Statement]:
    parser = ox.parse(text, rdf_format)
    found: list[Statement] = []
    while parser_terms.read_batch(parser, names, found):
        pass
    return found


def _parse_line_leniently(
    line: bytes, rdf_format: ox.RdfFormat, names: BlankNodeRenamer
) -> tuple[list[Statement], list[IriRepair]]:
    """Return the statements of a line and its repaired IRIs; two empty lists if the line has other errors."""
    repaired: list[IriRepair] = []
    line = _LOCALE.sub(lambda tag: tag[0].replace(b"_", b"-"), line)
    try:
        statements = [
            parser_terms.convert_quad(quad, names.rename, repaired) for quad in ox.parse(line, rdf_format, lenient=True)
        ]
    except SyntaxError:
        return [], []
    return ([], []) if any(map(parser_terms.find_fault, statements)) else (statements, repaired)


def _read_blocks(source: Source, syntax: Syntax) -> Iterator[tuple[int, bytes | Problem]]:
    """Yield blocks of whole lines of about `_BLOCK_BYTES` bytes, each with its offset."""
    offset = 0
    while block := source.get(offset, _BLOCK_BYTES):
        end = block.rfind(b"\n") + 1
        if not end and len(block) == _BLOCK_BYTES:
            end = _find_line_end(source, offset)
            if end - offset > _MAX_LINE_BYTES:
                line, _ = source.position_of(offset)
                message = f"a line longer than {_MAX_LINE_BYTES} bytes was left out"
                yield offset, Problem(syntax=syntax, message=message, line=line, column=1)
                offset = end
                continue
            block = source.get(offset, end - offset)
        elif end:
            block = block[:end]
        yield offset, block
        offset += len(block)


def _find_line_end(source: Source, offset: int) -> int:
    """Return the offset after the next line break, or the end of the document."""
    while block := source.get(offset, _BLOCK_BYTES):
        end = block.find(b"\n") + 1
        if end:
            return offset + end
        offset += len(block)
    return offset


# Notation3

_MAX_N3_ERRORS = 100
"""Reading stops after this many errors."""
_LOG_NAMESPACE = "<http://www.w3.org/2000/10/swap/log#"


def read_n3(source: Source, base: str | None, names: BlankNodeRenamer) -> Batches:
    """Read the RDF statements of an N3 document, up to an error inside a formula, where the parser loses track."""
    parser = ox.parse(Feed(source).file(), ox.RdfFormat.N3, base_iri=base, lenient=True)
    outside, formulas = _FormulaFilter(source), _FormulaTracker(source)
    while True:
        batch: list[Statement] = []
        repaired: list[IriRepair] = []
        try:
            more = _read_lenient_batch(parser, names, batch, repaired)
            yield from outside.check(batch, repaired)
            if not more:
                break
        except ExtractorTimeout:
            yield from outside.check(batch, repaired)
            raise
        except MemoryError as error:  # the parser limits the length of a token
            yield from outside.check(batch, repaired)
            yield Problem(syntax=Syntax.N3, message=str(error))
            break
        except SyntaxError as error:
            yield from outside.check(batch, repaired)
            if error.lineno is None:  # valid N3, but not RDF
                outside.left_out += 1
                continue
            yield Problem(
                syntax=Syntax.N3, message=parser_terms.parser_message(error), line=error.lineno, column=error.offset
            )
            if why := formulas.reason_to_stop(error.lineno, error.offset or 1):
                message = f"{why}; the rest was left out"
                source.problems.append(Problem(syntax=Syntax.N3, message=message, line=error.lineno))
                break
    if outside.left_out:
        message = f"{outside.left_out} statements with formulas or variables were left out"
        yield Problem(syntax=Syntax.N3, message=message)


def _read_lenient_batch(
    parser: ox.QuadParser, names: BlankNodeRenamer, found: list[Statement], repaired: list[IriRepair]
) -> bool:
    """Append the next statements of a lenient parser to `found`. Return False at the end."""
    size = len(found)
    for quad in islice(parser, parser_terms.BATCH_STATEMENTS):
        found.append(parser_terms.convert_quad(quad, names.rename, repaired))
    return len(found) > size


class _FormulaTracker:
    """Decides whether reading can continue after an error. Errors must be given in document order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0
        self._open = 0
        self._errors = 0

    def reason_to_stop(self, line: int, column: int) -> str:
        """Count an error at this position. Return why reading cannot continue after it; "" if it can."""
        self._errors += 1
        if self._errors >= _MAX_N3_ERRORS:
            return "too many problems"
        if self._position < self._source.start:
            return "cannot continue after the error"
        offset = self._source.offset_of(line, column)
        text = self._source.get(self._position, offset - self._position)
        self._open, passed = count_open_braces(text, self._open)
        self._position += passed
        return "an error inside a formula" if self._open else ""


class _FormulaFilter:
    """Drops the statements that are inside a formula or refer to one."""

    def __init__(self, source: Source) -> None:
        self.left_out = 0
        self._source = source
        self._formulas: set[str] = set()
        self._repairs = RepairReporter(Syntax.N3)

    def check(self, batch: list[Statement], repaired: list[IriRepair]) -> Batches:
        """Yield the problems of a batch, which have no positions, then the statements to keep."""
        for repair in repaired:
            offset = self._source.find(f"<{repair.original}>".encode(errors="replace"))
            line, column = (None, None) if offset == -1 else self._source.position_of(offset)
            yield from self._repairs.problems([repair], line=line, column=column)
        faults = {statement: reason for statement in batch if (reason := parser_terms.find_fault(statement))}
        for message in dict.fromkeys(faults.values()):
            yield Problem(syntax=Syntax.N3, message=message)
        yield self._keep_rdf([statement for statement in batch if statement not in faults])

    def _keep_rdf(self, batch: list[Statement]) -> list[Statement]:
        kept = []
        for statement in batch:
            subject, predicate, obj, graph = statement
            if graph:
                self._formulas.add(graph)
            if graph or subject in self._formulas or obj in self._formulas or predicate.startswith(_LOG_NAMESPACE):
                self.left_out += 1
            else:
                kept.append(statement)
        return kept
