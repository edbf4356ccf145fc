"""The W3C suites of Turtle, TriG, N-Triples, N-Quads and RDF/XML: RDF 1.1 and the additions of RDF 1.2.

A negative case passes where our reader records any problem; a positive one must have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents import read

from . import whole_path
from .runner import Case, Outcome, isomorphic, load_cases, read_expected, shared

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


def run(case: Case) -> Outcome:
    data = case.data
    syntax = _SYNTAXES[data["folder"]]
    body = shared(data["folder"], data["input"]).read_bytes()
    names = BlankNames(data["base"], syntax)
    found = list(read(body, syntax=syntax, base=data["base"], names=names))
    problems = [one.message for one in found if isinstance(one, Problem)]
    return _judge(case, [one for one in found if not isinstance(one, Problem)], problems)


def run_whole(case: Case) -> Outcome:
    """The file by its name alone: what it is, is detected."""
    found = whole_path.extract(shared(case.data["folder"], case.data["input"]), base=case.data["base"])
    return _judge(case, found.statements, found.problems)


def _judge(case: Case, statements: Sequence[Statement], problems: Sequence[str]) -> Outcome:
    data = case.data
    if not data["positive"]:
        return bool(problems) or "bad input was accepted"
    if problems:
        return problems[0]
    if data["expect"] is None:
        return True
    path = shared(data["folder"], data["expect"])
    expected = path.read_bytes()
    if data["type"].endswith("C14N") and b"_:" not in expected:  # blank nodes get other names
        return _canonical(statements) == expected or "not in canonical form"
    same = isomorphic(statements, read_expected(path, base=data["base"]))
    return same or "another graph than expected"


def _canonical(statements: Iterable[Statement]) -> bytes:
    """Statements as the store writes them."""
    lines = "".join(f"{' '.join(term for term in statement if term)} .\n" for statement in statements)
    quads = ox.parse(lines.encode(), ox.RdfFormat.N_QUADS)
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""
