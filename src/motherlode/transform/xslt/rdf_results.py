"""Statements from the RDF that a stylesheet, a Python transformer or a transformation service returns."""

import pyoxigraph as ox

from motherlode.model import Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents.parser_terms import IriRepair, convert_quad, find_fault
from motherlode.transform.rdf_documents.rdfxml_input import canonicalize_literals
from motherlode.www.iri import repair_message

_MAX_PROBLEMS = 20
"""Maximum number of reported problems of each kind."""


def read_rdf(
    body: bytes, rdf_format: ox.RdfFormat, *, base: str, names: BlankNames, syntax: Syntax, most: int
) -> Extraction:
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
            repairs: list[IriRepair] = []
            statement = convert_quad(quad, names.for_label, repairs)
            if rdf_format == ox.RdfFormat.RDF_XML and "XMLLiteral>" in statement[2]:
                subject, predicate, obj, graph = statement
                statement = subject, predicate, canonicalize_literals(obj), graph
            if not find_fault(statement):
                repaired |= dict.fromkeys(repair_message(repair.iri) for repair in repairs)
                statements[statement] = None
            elif len(problems) < _MAX_PROBLEMS:
                message = f"a statement with an invalid IRI was left out: {str(quad)[:300]}"
                problems.append(Problem(syntax=syntax, message=message))
            if len(statements) >= most:
                problems.append(Problem(syntax=syntax, message=f"statements after the first {most} were left out"))
                break
    except (SyntaxError, ValueError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        column = error.offset if isinstance(error, SyntaxError) else None
        problems.append(Problem(syntax=syntax, message=f"the RDF made from it: {error}", line=line, column=column))
    reported = (Problem(syntax=syntax, message=message, repaired=True) for message in [*repaired][:_MAX_PROBLEMS])
    return Extraction(syntax=syntax, statements=tuple(statements), problems=(*problems, *reported))
