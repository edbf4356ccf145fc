"""The W3C suites of Turtle, TriG, N-Triples, N-Quads and RDF/XML: RDF 1.1 and the additions of RDF 1.2.

A negative case passes if the reader records a problem. A positive case must have no problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents import read

from . import whole_path
from .runner import Case, CaseResult, isomorphic, load_cases, read_expected, shared

_SYNTAXES = {
    "rdf-turtle": Syntax.TURTLE,
    "rdf-trig": Syntax.TRIG,
    "rdf-n-triples": Syntax.N_TRIPLES,
    "rdf-n-quads": Syntax.N_QUADS,
    "rdf-xml": Syntax.RDF_XML,
}

FLOORS = {
    "rdf-turtle (RDF 1.1)": 1.0,
    "rdf-trig (RDF 1.1)": 1.0,
    "rdf-n-triples (RDF 1.1)": 1.0,
    "rdf-n-quads (RDF 1.1)": 1.0,
    "rdf-xml (RDF 1.1)": 1.0,
    "rdf-turtle (RDF 1.2)": 1.0,
    "rdf-trig (RDF 1.2)": 1.0,
    "rdf-n-triples (RDF 1.2)": 1.0,
    "rdf-n-quads (RDF 1.2)": 1.0,
    "rdf-xml (RDF 1.2)": 1.0,
}
WHOLE_FLOORS = FLOORS


def cases() -> Iterable[Case]:
    for folder in _SYNTAXES:
        for data in load_cases(folder):
            yield Case(id=data["id"], row=f"{folder} (RDF {data['rdf']})", data={**data, "folder": folder})


def run(case: Case) -> CaseResult:
    data = case.data
    syntax = _SYNTAXES[data["folder"]]
    body = shared(data["folder"], data["input"]).read_bytes()
    names = BlankNames(data["base"], syntax)
    found = list(read(body, syntax=syntax, base=data["base"], names=names))
    problems = [one.message for one in found if isinstance(one, Problem)]
    return _evaluate(case, [one for one in found if not isinstance(one, Problem)], problems)


def run_whole(case: Case) -> CaseResult:
    """Run the command on the file without a media type, so that its kind is detected."""
    found = whole_path.extract(shared(case.data["folder"], case.data["input"]), base=case.data["base"])
    return _evaluate(case, found.statements, found.problems)


def _evaluate(case: Case, statements: Sequence[Statement], problems: Sequence[str]) -> CaseResult:
    data = case.data
    if not data["positive"]:
        return bool(problems) or "invalid input was accepted"
    if problems:
        return problems[0]
    if data["expect"] is None:
        return True
    path = shared(data["folder"], data["expect"])
    expected = path.read_bytes()
    if data["type"].endswith("C14N") and b"_:" not in expected:  # blank nodes get other names
        return _canonical(statements) == expected or "not in canonical form"
    same = isomorphic(statements, read_expected(path, base=data["base"]))
    return same or "not the expected graph"


def _canonical(statements: Iterable[Statement]) -> bytes:
    """Return the statements as canonical N-Quads."""
    lines = "".join(f"{' '.join(term for term in statement if term)} .\n" for statement in statements)
    quads = ox.parse(lines.encode(), ox.RdfFormat.N_QUADS)
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""
