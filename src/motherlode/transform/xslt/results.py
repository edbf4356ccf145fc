"""RDF that somebody else wrote (a stylesheet, a transformer, a service), read into statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ada_url
import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import iri, literal
from motherlode.transform.blank import BlankNames

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
    try:
        for quad in ox.parse(body, rdf_format, base_iri=base, lenient=True):
            statement = tuple(_terms(quad, names))
            if len(statement) == 4:
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
    return Result(statements=tuple(statements), problems=tuple(problems))


def _terms(quad: Any, names: BlankNames) -> Iterator[str]:
    """The four terms of a quad; fewer where one of them cannot be written."""
    for node in (quad.subject, quad.predicate, quad.object):
        term = _term(node, names)
        if term is not None:
            yield term
    graph = quad.graph_name
    if isinstance(graph, ox.DefaultGraph):
        yield ""
    else:
        term = _term(graph, names)
        if term is not None:
            yield term


def _term(node: object, names: BlankNames) -> str | None:
    if isinstance(node, ox.NamedNode):
        return iri(node.value) or _escaped(node.value)
    if isinstance(node, ox.BlankNode):
        return names.named(node.value)
    if isinstance(node, ox.Literal):
        datatype = "" if node.language else node.datatype.value
        if datatype and iri(datatype) is None:
            return None
        return literal(node.value, language=node.language or "", datatype=datatype)
    return None


def _escaped(value: str) -> str | None:
    """An IRI with characters that none may have, escaped as browsers do it; None where that does not help."""
    try:
        return iri(ada_url.normalize_url(value))
    except ValueError:
        return None
