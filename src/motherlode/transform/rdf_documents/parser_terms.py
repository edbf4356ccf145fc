"""From the parser's terms to ours: spelling, checks, and blank nodes that stay the same from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyoxigraph as ox
import xxhash

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import IRI_START, RDF, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents.rdfxml_attributes import UNDECLARED_ENTITY
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.iri import Iri, check, repair_message

Batches = Iterator[list[Statement] | Problem]
BATCH_STATEMENTS = 512
BATCH_CHARACTERS = 1 << 20
"""A batch ends behind the object that makes its objects longer than this."""

_MAX_REPORTED_REPAIRS = 10_000
"""Repaired IRIs of one document that are remembered, so that each is told once."""
_DEFAULT_GRAPH = ox.DefaultGraph()
_MAX_LABELS = 50_000
"""Blank nodes that are remembered one by one; a dump with more must not fill the memory."""

_IRI = re.compile(f"<{IRI_START}" r'[^\x00-\x20<>"{}|^`\\�]*>')
_LITERAL_SUFFIX = re.compile(r"|@[a-z]{1,8}(-[a-z0-9]{1,8})*(--(ltr|rtl))?|\^\^" + _IRI.pattern)
_NO_LANGUAGE = (f'"^^<{RDF}langString>', f'"^^<{RDF}dirLangString>')
"""What a lenient parser makes of a string whose language is not valid."""
_GENERATED_LABEL = re.compile(r"_:[a-f][0-9a-f]{31}")


class IriRepair(NamedTuple):
    """An IRI that had characters that none may have."""

    original: str
    """The IRI as the document has it, resolved."""
    iri: Iri


class RepairReporter:
    """Tells of each IRI that was repaired in a document once."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._reported: set[str] = set()

    def problems(self, repairs: Sequence[IriRepair], *, line: int | None, column: int | None) -> list[Problem]:
        found = []
        for _, iri in repairs:
            if iri.term not in self._reported:
                if len(self._reported) < _MAX_REPORTED_REPAIRS:
                    self._reported.add(iri.term)
                found.append(
                    Problem(syntax=self._syntax, message=repair_message(iri), line=line, column=column, repaired=True)
                )
        return found


class BlankNodeRenamer:
    """Our blank node for each one of the parser's.

    The first ones are numbered as they come. Past `_MAX_LABELS` a label is hashed, which needs no memory. What a document
    left nameless has a random label from the parser: such a node lives in one statement, so only the last ones are
    remembered.
    """

    def __init__(self, names: BlankNames, source: Source) -> None:
        self._names = names
        self._source = source
        self._stem = names.fresh()
        self._labels: dict[str, str] = {}
        self._recent_anonymous: dict[str, str] = {}
        self._older_anonymous: dict[str, str] = {}

    def rename(self, label: str) -> str:
        name = self._labels.get(label)
        if name is not None:
            return name
        if len(self._labels) < _MAX_LABELS:
            name = self._labels[label] = self._names.fresh()
            return name
        if self._source.has_generated_labels or not _GENERATED_LABEL.fullmatch(label):
            return f"{self._stem}x{xxhash.xxh3_64_hexdigest(label.encode())}"
        return self._rename_anonymous(label)

    def _rename_anonymous(self, label: str) -> str:
        name = self._recent_anonymous.get(label) or self._older_anonymous.get(label) or self._names.fresh()
        self._recent_anonymous[label] = name
        if len(self._recent_anonymous) >= _MAX_LABELS:
            self._older_anonymous, self._recent_anonymous = self._recent_anonymous, {}
        return name

    def bind(self, label: str, name: str) -> None:
        """From now on the parser's `label` means a node that was named before."""
        self._labels[label] = name


def read_batch(quads: Iterator[ox.Quad], names: BlankNodeRenamer, found: list[Statement]) -> bool:
    """Appends the next statements of a strict parser to `found`; what came before an error stays. False at the end.

    Statements travel in batches, and are cut out of the parser's own line: handing each one through five generators,
    and asking for its terms one by one, would cost more than to parse it.
    """
    rename = names.rename
    size = len(found)
    left = BATCH_CHARACTERS
    for quad in islice(quads, BATCH_STATEMENTS):
        subject, predicate, obj = str(quad).split(" ", 2)
        graph = ""
        if quad.graph_name != _DEFAULT_GRAPH:
            graph = str(quad.graph_name)
            obj = obj[: -len(graph) - 1]
            if graph[0] == "_":
                graph = rename(graph)
        if subject[0] == "_":
            subject = rename(subject)
        if obj[0] == "_":
            obj = rename(obj)
        elif "\\" in obj or obj[:3] == "<<(":  # an escape, which we write another way, or a triple term
            obj = _serialize_term(quad.object, names, [])
        found.append((subject, predicate, obj, graph))
        left -= len(obj)
        if left < 0:
            break
    return len(found) > size


def convert_quad(quad: ox.Quad, names: BlankNodeRenamer, repairs: list[IriRepair]) -> Statement:
    """A quad of a lenient parser, term by term: in its line, a space need not be the end of a term.

    IRIs that had to be repaired are added to `repairs`. Those that no repair helps stay as they are: see `find_fault`.
    """
    graph = "" if quad.graph_name == _DEFAULT_GRAPH else _serialize_term(quad.graph_name, names, repairs)
    subject, predicate, obj = (
        _serialize_term(it, names, repairs) for it in (quad.subject, quad.predicate, quad.object)
    )
    return subject, predicate, obj, graph


def find_fault(statement: Statement) -> str:
    """What is wrong with a statement that a lenient parser gave, or "".

    >>> find_fault(("<urn:a b>", "<urn:c>", '"d"@en', ""))
    'not a valid IRI: <urn:a b>'
    """
    for term in statement:
        if term[:1] == "<" and term[:3] != "<<(" and not _IRI.fullmatch(term):
            return f"not a valid IRI: {term[:200]}"
    obj = statement[2]
    if obj.endswith(_NO_LANGUAGE):
        return "a language that is not valid"
    if obj[0] == '"' and not _LITERAL_SUFFIX.fullmatch(obj, obj.rindex('"') + 1):
        return f"not a valid language tag or datatype: {obj[obj.rindex(chr(34)) + 1 :][:200]}"
    return ""


def valid_base(iri: str | None) -> str | None:
    """The IRI if a parser takes it for a base, else None."""
    try:
        ox.parse(b"", ox.RdfFormat.TURTLE, base_iri=iri)
    except ValueError:
        return None
    return iri


def strip_literals(batch: Sequence[Statement]) -> list[Statement]:
    """Return statements with as much as `skip_known_statements` needs of them: long literals would fill the memory."""
    return [(subject, "", obj if obj[0] == "_" else "", graph) for subject, _, obj, graph in batch]


def skip_known_statements(
    parser: ox.QuadParser, recent: Sequence[Statement], count: int, names: BlankNodeRenamer
) -> None:
    """Moves a second parser behind the `count` statements that a first one gave, and learns its names for nodes."""
    for _ in islice(parser, count - len(recent)):
        pass
    for quad, known in zip(islice(parser, len(recent)), recent, strict=False):
        for term, name in ((quad.subject, known[0]), (quad.object, known[2]), (quad.graph_name, known[3])):
            if isinstance(term, ox.BlankNode):
                names.bind(str(term), name)


def _serialize_term(term: Any, names: BlankNodeRenamer, repairs: list[IriRepair]) -> str:
    if isinstance(term, ox.Triple):  # as N-Triples 1.2 spells it
        parts = (_serialize_term(part, names, repairs) for part in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(parts)} )>>"
    if isinstance(term, ox.BlankNode):
        return names.rename(str(term))
    if isinstance(term, ox.NamedNode):
        return f"<{_repair_iri(term.value, repairs)}>"
    if term.direction is not None:
        return f"{literal(term.value)}@{term.language}--{term.direction}"
    datatype = "" if term.language else _repair_iri(term.datatype.value, repairs)
    if datatype and not check(datatype).is_valid:
        return f"{literal(term.value)}^^<{datatype}>"
    spelled: str = literal(term.value, language=term.language or "", datatype=datatype)
    return spelled


def _repair_iri(value: str, repairs: list[IriRepair]) -> str:
    found = check(value)
    if not found.is_repaired or UNDECLARED_ENTITY in value:
        return value
    if found.is_valid:
        repairs.append(IriRepair(value, found))
        return found.value
    return value
