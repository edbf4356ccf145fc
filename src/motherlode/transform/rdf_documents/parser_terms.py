"""Convert the parser's quads to statements: term syntax, validation, IRI repair and stable blank node names."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyoxigraph as ox
import xxhash

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import IRI_START, RDF, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents.rdfxml_input import UNDECLARED_ENTITY
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.iri import Iri, check, repair_message

Batches = Iterator[list[Statement] | Problem]
Rename = Callable[[str], str]
"""Returns our blank node for a label of the parser."""
BATCH_STATEMENTS = 512
BATCH_CHARACTERS = 1 << 20
"""A batch ends after the object with which the total length of its objects exceeds this."""

_MAX_REPORTED_REPAIRS = 10_000
"""Maximum number of repaired IRIs remembered per document, so that each is reported once."""
_DEFAULT_GRAPH = ox.DefaultGraph()
_MAX_LABELS = 50_000
"""Blank node labels remembered individually. The limit bounds the memory for large dumps."""

_IRI = re.compile(f"<{IRI_START}" r'[^\x00-\x20<>"{}|^`\\�]*>')
_LITERAL_SUFFIX = re.compile(r"|@[a-z]{1,8}(-[a-z0-9]{1,8})*(--(ltr|rtl))?|\^\^" + _IRI.pattern)
_NO_LANGUAGE = (f'"^^<{RDF}langString>', f'"^^<{RDF}dirLangString>')
"""Endings of the literal that a lenient parser returns for a string with an invalid language tag."""
_GENERATED_LABEL = re.compile(r"_:[a-f][0-9a-f]{31}")


class IriRepair(NamedTuple):
    """An IRI with invalid characters and its repaired form."""

    original: str
    """The resolved IRI as the document has it."""
    iri: Iri


class RepairReporter:
    """Reports each repaired IRI of a document once."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._reported: set[str] = set()

    def problems(self, repairs: Sequence[IriRepair], *, line: int | None, column: int | None) -> list[Problem]:
        """Return problems for the repaired IRIs that were not yet reported."""
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
    """Maps the parser's blank nodes to ours.

    The first `_MAX_LABELS` labels are numbered in document order. Further labels are hashed, which needs no memory.
    Anonymous nodes have random labels from the parser. Their occurrences are close together in a document, so only
    the most recent of these labels are remembered.
    """

    def __init__(self, names: BlankNames, source: Source) -> None:
        self._names = names
        self._source = source
        self._stem = names.fresh()
        self._labels: dict[str, str] = {}
        self._recent_anonymous: dict[str, str] = {}
        self._older_anonymous: dict[str, str] = {}

    def rename(self, label: str) -> str:
        """Return our blank node for a label of the parser."""
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
        """Map the parser's `label` to a blank node that already has a name."""
        self._labels[label] = name


def read_batch(quads: Iterator[ox.Quad], names: BlankNodeRenamer, found: list[Statement]) -> bool:
    """Append a batch of statements of a strict parser to `found`, also those before an error. False at the end."""
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
        elif "\\" in obj or obj[:3] == "<<(":  # an escape, which we write in another form, or a triple term
            obj = _serialize_term(quad.object, rename, [])
        found.append((subject, predicate, obj, graph))
        left -= len(obj)
        if left < 0:
            break
    return len(found) > size


def convert_quad(quad: ox.Quad, rename: Rename, repairs: list[IriRepair]) -> Statement:
    """Convert a quad of a lenient parser, whose terms may contain spaces. Repaired IRIs are added to `repairs`."""
    graph = "" if quad.graph_name == _DEFAULT_GRAPH else _serialize_term(quad.graph_name, rename, repairs)
    subject, predicate, obj = (
        _serialize_term(it, rename, repairs) for it in (quad.subject, quad.predicate, quad.object)
    )
    return subject, predicate, obj, graph


def find_fault(statement: Statement) -> str:
    """Return what is wrong with a statement that a lenient parser has read, or ""."""
    for term in statement:
        if term[:1] == "<" and term[:3] != "<<(" and not _IRI.fullmatch(term):
            return f"not a valid IRI: {term[:200]}"
    obj = statement[2]
    if obj.endswith(_NO_LANGUAGE):
        return "not a valid language tag"
    if obj[0] == '"' and not _LITERAL_SUFFIX.fullmatch(obj, obj.rindex('"') + 1):
        return f"not a valid language tag or datatype: {obj[obj.rindex(chr(34)) + 1 :][:200]}"
    return ""


def parser_message(error: SyntaxError) -> str:
    """Return the message of a parser error without its position."""
    message = error.msg
    return message.partition(": ")[2] if message.startswith("Parser error ") else message


def valid_base(iri: str | None) -> str | None:
    """Return the IRI if the parser accepts it as a base, else None."""
    try:
        ox.parse(b"", ox.RdfFormat.TURTLE, base_iri=iri)
    except ValueError:
        return None
    return iri


def strip_literals(batch: Sequence[Statement]) -> list[Statement]:
    """Return the parts of statements that `skip_known_statements` needs. Long literals would use too much memory."""
    return [(subject, "", obj if obj[0] == "_" else "", graph) for subject, _, obj, graph in batch]


def skip_known_statements(
    parser: ox.QuadParser, recent: Sequence[Statement], count: int, names: BlankNodeRenamer
) -> None:
    """Skip `count` statements that a first parser returned, and learn the labels of their blank nodes."""
    for _ in islice(parser, count - len(recent)):
        pass
    for quad, known in zip(islice(parser, len(recent)), recent, strict=False):
        for term, name in ((quad.subject, known[0]), (quad.object, known[2]), (quad.graph_name, known[3])):
            if isinstance(term, ox.BlankNode):
                names.bind(str(term), name)


def _serialize_term(term: Any, rename: Rename, repairs: list[IriRepair]) -> str:
    if isinstance(term, ox.Triple):  # syntax of N-Triples 1.2
        parts = (_serialize_term(part, rename, repairs) for part in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(parts)} )>>"
    if isinstance(term, ox.BlankNode):
        return rename(str(term))
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
    if found.is_valid and found.is_repaired and UNDECLARED_ENTITY not in value:
        repairs.append(IriRepair(value, found))
        return found.value
    return value
