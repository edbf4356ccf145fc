"""Notation3, as far as it is RDF: formulas and variables are left out, what stands outside of them is kept."""

from __future__ import annotations

from itertools import islice

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.bounds import OutOfTime
from motherlode.transform.documents.boundaries import open_braces
from motherlode.transform.documents.lines import reason
from motherlode.transform.documents.source import Feed, Source
from motherlode.transform.documents.spelling import BATCH, Batches, Names, Repair, Repairs, fault, statement_of

_HOPELESS = 100
"""Errors after which the rest is not worth the time."""
_LOG = "<http://www.w3.org/2000/10/swap/log#"


def read_n3(source: Source, base: str | None, names: Names) -> Batches:
    """A parser that meets an error inside a formula forgets the formula, so nothing after it can be believed."""
    parser = ox.parse(Feed(source).file(), ox.RdfFormat.N3, base_iri=base, lenient=True)
    outside, formulas = _Outside(source), _Formulas(source)
    errors = 0
    while True:
        batch: list[Statement] = []
        repaired: list[Repair] = []
        try:
            more = _take(parser, names, batch, repaired)
            yield from outside.of(batch, repaired)
            if not more:
                break
        except OutOfTime:
            yield from outside.of(batch, repaired)
            raise
        except MemoryError as error:  # the parser's own limit on the length of a token
            yield from outside.of(batch, repaired)
            yield Problem(syntax=Syntax.N3, message=str(error))
            break
        except SyntaxError as error:
            yield from outside.of(batch, repaired)
            if error.lineno is None:  # a statement that is N3, but not RDF
                outside.left_out += 1
                continue
            errors += 1
            yield Problem(syntax=Syntax.N3, message=reason(error), line=error.lineno, column=error.offset)
            why = "too many problems" if errors >= _HOPELESS else formulas.trouble(error.lineno, error.offset or 1)
            if why:
                message = f"{why}; the rest was left out"
                source.problems.append(Problem(syntax=Syntax.N3, message=message, line=error.lineno))
                break
    if outside.left_out:
        message = f"{outside.left_out} statements with formulas or variables were left out"
        yield Problem(syntax=Syntax.N3, message=message)


def _take(parser: ox.QuadParser, names: Names, found: list[Statement], repaired: list[Repair]) -> bool:
    """Appends the next statements of a lenient parser to `found`; what came before an error stays. False at the end."""
    size = len(found)
    for quad in islice(parser, BATCH):
        found.append(statement_of(quad, names, repaired))
    return len(found) > size


class _Formulas:
    """Tells whether a place is inside of a formula; places are asked for in the order of the document."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0
        self._open = 0

    def trouble(self, line: int, column: int) -> str:
        """Why one cannot go on after an error at this place; "" where one can."""
        if self._position < self._source.start:
            return "no safe place to go on"
        offset = self._source.offset_of(line, column)
        text = self._source.get(self._position, offset - self._position)
        self._open, passed = open_braces(text, self._open)
        self._position += passed
        return "an error inside of a formula" if self._open else ""


class _Outside:
    """Tells statements that stand on their own from those in formulas, or about them."""

    def __init__(self, source: Source) -> None:
        self.left_out = 0
        self._source = source
        self._formulas: set[str] = set()
        self._repairs = Repairs(Syntax.N3)

    def of(self, batch: list[Statement], repaired: list[Repair]) -> Batches:
        """The statements that are kept, after the problems of all. The parser does not tell where these are."""
        for repair in repaired:
            offset = self._source.find(f"<{repair.written}>".encode(errors="replace"))
            line, column = (None, None) if offset == -1 else self._source.place(offset)
            yield from self._repairs.problems([repair], line=line, column=column)
        faults = {statement: reason for statement in batch if (reason := fault(statement))}
        for message in dict.fromkeys(faults.values()):
            yield Problem(syntax=Syntax.N3, message=message)
        yield self._kept([statement for statement in batch if statement not in faults])

    def _kept(self, batch: list[Statement]) -> list[Statement]:
        kept = []
        for statement in batch:
            subject, predicate, obj, graph = statement
            if graph:
                self._formulas.add(graph)
            if graph or subject in self._formulas or obj in self._formulas or predicate.startswith(_LOG):
                self.left_out += 1
            else:
                kept.append(statement)
        return kept
