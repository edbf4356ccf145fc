"""RDF that somebody else wrote (a stylesheet, a transformer, a service), read into statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import literal
from motherlode.transform.bnodes import BlankNames
from motherlode.www.iri import check, repair_message

_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Statements, and what was wrong."""

    statements: tuple[Statement, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_rdf(
    body: bytes, rdf_format: ox.RdfFormat, *, base: str, names: BlankNames, syntax: Syntax, most: int
) -> Result:
    """The statements of an RDF document up to its first error; blank nodes get names of the page's own.

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
            elif len(problems) < _MOST_PROBLEMS:
                problems.append(Problem(syntax=syntax, message=f"left out for an invalid IRI: {str(quad)[:300]}"))
            if len(statements) >= most:
                problems.append(Problem(syntax=syntax, message=f"statements after the first {most} were left out"))
                break
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        column = error.offset if isinstance(error, SyntaxError) else None
        problems.append(Problem(syntax=syntax, message=f"the RDF made from it: {error}", line=line, column=column))
    told = (Problem(syntax=syntax, message=message, repaired=True) for message in [*repaired][:_MOST_PROBLEMS])
    return Result(statements=tuple(statements), problems=(*problems, *told))


def _terms(quad: Any, names: BlankNames, repairs: dict[str, None]) -> Iterator[str]:
    """The four terms of a quad; fewer where one of them cannot be written."""
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
    if isinstance(node, ox.NamedNode):
        return _iri(node.value, repairs)
    if isinstance(node, ox.BlankNode):
        return names.for_label(node.value)
    if isinstance(node, ox.Literal):
        if node.language:
            return literal(node.value, language=node.language)
        datatype = _iri(node.datatype.value, repairs)
        return None if datatype is None else literal(node.value, datatype=datatype[1:-1])
    return None


def _iri(value: str, repairs: dict[str, None]) -> str | None:
    """The term of an IRI, repaired if it must be; None if no repair helps."""
    found = check(value)
    if found.is_valid and found.is_repaired:
        repairs[repair_message(found)] = None
    return found.term if found.is_valid else None
