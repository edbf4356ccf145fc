"""Statements from the RDF that a stylesheet, a Python transformer or a transformation service returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import literal
from motherlode.transform.bnodes import BlankNames
from motherlode.www.iri import check, repair_message

_MAX_PROBLEMS = 20
"""Problems of each kind that are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RdfResult:
    """The statements of an RDF document, and problems."""

    statements: tuple[Statement, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_rdf(
    body: bytes, rdf_format: ox.RdfFormat, *, base: str, names: BlankNames, syntax: Syntax, most: int
) -> RdfResult:
    """Return the statements of an RDF document up to its first syntax error, at most `most` of them.

    Blank nodes are renamed to names of the page.

    >>> names = BlankNames("http://e.org/", Syntax.GRDDL)
    >>> found = read_rdf(b"<#a> <#b> 'c', <", ox.RdfFormat.TURTLE, base="http://e.org/", names=names,
    ...                  syntax=Syntax.GRDDL, most=10)
    >>> found.statements, len(found.problems)
    ((('<http://e.org/#a>', '<http://e.org/#b>', '"c"', ''),), 1)
    """
    statements: dict[Statement, None] = {}
    problems: list[Problem] = []
    repaired: dict[str, None] = {}
    try:
        for quad in ox.parse(body, rdf_format, base_iri=base, lenient=True):
            repairs: dict[str, None] = {}
            statement = tuple(_terms(quad, names, repairs))
            if len(statement) == 4:
                repaired |= repairs
                statements[statement] = None
            elif len(problems) < _MAX_PROBLEMS:
                problems.append(
                    Problem(syntax=syntax, message=f"a statement with an invalid IRI was left out: {str(quad)[:300]}")
                )
            if len(statements) >= most:
                problems.append(Problem(syntax=syntax, message=f"statements after the first {most} were left out"))
                break
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        column = error.offset if isinstance(error, SyntaxError) else None
        problems.append(Problem(syntax=syntax, message=f"the RDF made from it: {error}", line=line, column=column))
    reported = (Problem(syntax=syntax, message=message, repaired=True) for message in [*repaired][:_MAX_PROBLEMS])
    return RdfResult(statements=tuple(statements), problems=(*problems, *reported))


def _terms(quad: Any, names: BlankNames, repairs: dict[str, None]) -> Iterator[str]:
    """Yield the four terms of a quad, without those that are invalid."""
    for node in (quad.subject, quad.predicate, quad.object):
        term = _term(node, names, repairs)
        if term is not None:
            yield term
    graph = quad.graph_name
    if isinstance(graph, ox.DefaultGraph):
        yield ""
    else:
        term = _term(graph, names, repairs)
        if term is not None:
            yield term


def _term(node: object, names: BlankNames, repairs: dict[str, None]) -> str | None:
    """Return the term of a node, or None if it is invalid."""
    if isinstance(node, ox.NamedNode):
        return _iri_term(node.value, repairs)
    if isinstance(node, ox.BlankNode):
        return names.for_label(node.value)
    if isinstance(node, ox.Literal):
        if node.language:
            return literal(node.value, language=node.language)
        datatype = _iri_term(node.datatype.value, repairs)
        return None if datatype is None else literal(node.value, datatype=datatype[1:-1])
    return None


def _iri_term(value: str, repairs: dict[str, None]) -> str | None:
    """Return the term of an IRI, repaired if necessary, or None if it cannot be repaired."""
    found = check(value)
    if found.is_valid and found.is_repaired:
        repairs[repair_message(found)] = None
    return found.term if found.is_valid else None
