"""The RDFa 1.1 test suite of the RDFa community, for every host language."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as ox

from motherlode.model import ContentKind, Detected, DetectionEvidence, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa import extract, processor_graph
from motherlode.www.document import Document

from . import whole_path
from .rdfa_vocabulary import expand_vocabulary
from .runner import Case, CaseResult, load_cases, shared

_HOSTS = ("html4", "html5", "html5-invalid", "svg", "xhtml1", "xhtml5", "xhtml5-invalid", "xml")
_OPTIONAL = ("rdfa1.1-proc", "rdfa1.1-role", "rdfa1.1-vocab")
FLOORS = {**{f"rdfa1.1/{host}": 1.0 for host in _HOSTS}, **dict.fromkeys(_OPTIONAL, 1.0)}
WHOLE_FLOORS = {row: floor for row, floor in FLOORS.items() if row.startswith("rdfa1.1/")}
_KINDS = {
    "text/html": ContentKind.HTML,
    "application/xhtml+xml": ContentKind.XHTML,
    "image/svg+xml": ContentKind.SVG,
    "application/xml": ContentKind.XML,
}
_VOCABULARY = ("http://rdfa.info/vocabs/rdfa-test#", "vocabs/rdfa-test.html")


def cases() -> Iterable[Case]:
    for data in load_cases("rdfa"):
        optional = data["version"] != "rdfa1.1"
        row = data["version"] if optional else f"{data['version']}/{data['host']}"
        yield Case(id=data["id"], row=row, data=data)


def run(case: Case) -> CaseResult:
    """Run the case's own query on the extracted graph."""
    document = _document(case.data["base"], case.data["input"], _KINDS[case.data["media_type"]])
    return _evaluate(case, _statements(document, case))


def run_whole(case: Case) -> CaseResult | None:
    """Run the command with the case's media type; None for the optional parts of RDFa, which the command lacks."""
    data = case.data
    if data["version"] in _OPTIONAL:
        return None
    path = shared("rdfa", data["input"])
    found = whole_path.extract(path, base=data["base"], media_type=data["media_type"], syntax="rdfa")
    return _evaluate(case, found.statements)


def _evaluate(case: Case, statements: Iterable[Statement]) -> bool:
    query = shared("rdfa", case.data["query"]).read_text()
    store = ox.Store()
    store.extend(_quads(statements, base=case.data["base"]))
    return bool(store.query(query, base_iri=case.data["base"])) is case.data["ask"]


def _statements(document: Document, case: Case) -> tuple[Statement, ...]:
    names = BlankNames(document.url, Syntax.RDFA)
    if case.data["options"] == "rdfagraph=processor":
        return processor_graph(document, names)
    found = extract(document, names, roles=case.data["version"] == "rdfa1.1-role").statements
    if case.data["options"] != "vocab_expansion=true":
        return found
    vocabulary = _document(*_VOCABULARY, ContentKind.HTML)
    return expand_vocabulary(found, extract(vocabulary, BlankNames(vocabulary.url, Syntax.RDFA)).statements)


def _document(url: str, path: str, kind: ContentKind) -> Document:
    detected = Detected(kind=kind, evidence=DetectionEvidence.HEADER)
    return Document(url=url, body=(shared("rdfa") / path).read_bytes(), detected=detected)


def _quads(statements: Iterable[Statement], *, base: str) -> Iterable[ox.Quad]:
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o, _ in statements)
    return ox.parse(lines.encode(), ox.RdfFormat.TURTLE, base_iri=base)
