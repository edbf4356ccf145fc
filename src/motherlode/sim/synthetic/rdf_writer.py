"""RDF documents about a thing, written in six syntaxes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape

from motherlode.model import ContentKind
from motherlode.model.terms import RDF_TYPE, XSD, literal
from motherlode.sim.synthetic import word_lists as words
from motherlode.sim.synthetic.entities import SCHEMA, Thing, statements, thing
from motherlode.sim.synthetic.entity_kinds import EntityKind, Form

Triple = tuple[str, str, str]
"""Subject, predicate and object as N-Triples."""

FOAF = "http://xmlns.com/foaf/0.1/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DCTERMS = "http://purl.org/dc/terms/"
OWL = "http://www.w3.org/2002/07/owl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DATATYPES = {Form.DATE: XSD + "date", Form.NUMBER: XSD + "decimal", Form.DURATION: XSD + "duration"}
PREFIXES = {"rdf": _RDF, "rdfs": RDFS, "foaf": FOAF, "dcterms": DCTERMS, "owl": OWL, "schema": SCHEMA}


class Voice(Enum):
    """The kind of description in a document."""

    THING = "thing"
    """A thing in the schema.org vocabulary, related to others."""
    FRIEND = "friend"
    """A person in the FOAF vocabulary who knows others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A statement whose object is a URL."""

    predicate: str
    target: str
    label: str = ""
    """Name of a friend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RdfDocument:
    """An RDF document before serialization."""

    voice: Voice
    subject: str
    """The main subject of the document."""
    kind: EntityKind
    bits: int
    edges: tuple[Edge, ...]

    def count(self) -> int:
        if self.voice is Voice.FRIEND:
            return 3 + sum(4 if edge.label else 1 for edge in self.edges)
        return statements(self.kind, self.bits) + 1 + len(self.edges)

    def triples(self) -> list[Triple]:
        subject = f"<{self.subject}>"
        return _friend(self, subject) if self.voice is Voice.FRIEND else _described(self, subject)


def _friend(document: RdfDocument, subject: str) -> list[Triple]:
    name = words.person(document.bits)
    person = f"<{FOAF}Person>"
    said = [
        (subject, RDF_TYPE, person),
        (subject, f"<{FOAF}name>", literal(name)),
        (subject, f"<{FOAF}nick>", literal(name.split()[0].lower())),
    ]
    for number, edge in enumerate(document.edges):
        if not edge.label:
            said.append((subject, f"<{edge.predicate}>", f"<{edge.target}>"))
            continue
        known = f"_:friend{number}"
        said += [
            (subject, f"<{FOAF}knows>", known),
            (known, RDF_TYPE, person),
            (known, f"<{FOAF}name>", literal(edge.label)),
            (known, f"<{edge.predicate}>", f"<{edge.target}>"),
        ]
    return said


def _described(document: RdfDocument, subject: str) -> list[Triple]:
    one = thing(document.kind, document.bits)
    said = list(_triples_of(one, subject, iter(range(1000))))
    label = next(value for field, values in one.values if field.name for value in values)
    said.append((subject, f"<{RDFS}label>", literal(str(label), language="en")))
    said += [(subject, f"<{edge.predicate}>", f"<{edge.target}>") for edge in document.edges]
    return said


def _triples_of(one: Thing, subject: str, numbers: Iterator[int]) -> Iterator[Triple]:
    yield subject, RDF_TYPE, f"<{SCHEMA}{one.type}>"
    for field, values in one.values:
        for value in values:
            predicate = f"<{SCHEMA}{field.name}>"
            if isinstance(value, Thing):
                node = f"_:n{next(numbers)}"
                yield subject, predicate, node
                yield from _triples_of(value, node, numbers)
            else:
                yield subject, predicate, literal(value, datatype=_DATATYPES.get(field.form, ""))


def _by_subject(triples: Sequence[Triple]) -> dict[str, list[tuple[str, str]]]:
    grouped: dict[str, list[tuple[str, str]]] = {}
    for subject, predicate, value in triples:
        grouped.setdefault(subject, []).append((predicate, value))
    return grouped


def _shrunk(term: str) -> str:
    """Return the term as a prefixed name if a prefix for its namespace is known."""
    for prefix, namespace in PREFIXES.items():
        if term.startswith(f"<{namespace}"):
            return f"{prefix}:{term[len(namespace) + 1 : -1]}"
    return term


def _turtle_body(triples: Sequence[Triple]) -> str:
    parts = []
    for subject, said in _by_subject(triples).items():
        lines = " ;\n    ".join(f"{_shrunk(predicate)} {_shrunk(value)}" for predicate, value in said)
        parts.append(f"{subject} {lines} .\n")
    return "\n".join(parts)


def _prefix_lines() -> str:
    return "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in PREFIXES.items()) + "\n"


def _turtle(triples: Sequence[Triple], url: str) -> str:
    return _prefix_lines() + _turtle_body(triples)


def _trig(triples: Sequence[Triple], url: str) -> str:
    return f"{_prefix_lines()}<{url}#graph> {{\n{_turtle_body(triples)}}}\n"


def _ntriples(triples: Sequence[Triple], url: str) -> str:
    return "".join(f"{subject} {predicate} {value} .\n" for subject, predicate, value in triples)


def _nquads(triples: Sequence[Triple], url: str) -> str:
    return "".join(f"{subject} {predicate} {value} <{url}#graph> .\n" for subject, predicate, value in triples)


def _parts_of(value: str) -> tuple[str, str, str]:
    """Return text, language and datatype of a literal. The generated texts need no escapes."""
    if value.endswith(">"):
        text, _, datatype = value.rpartition("^^<")
        return text[1:-1], "", datatype[:-1]
    text, _, language = value.rpartition('"')
    return text[1:], language[1:], ""


def _about(subject: str) -> str:
    return f'rdf:nodeID="{subject[2:]}"' if subject.startswith("_:") else f'rdf:about="{escape(subject[1:-1])}"'


def _property_element(predicate: str, value: str) -> str:
    name = _shrunk(predicate)
    if value.startswith("<"):
        return f'    <{name} rdf:resource="{escape(value[1:-1])}"/>\n'
    if value.startswith("_:"):
        return f'    <{name} rdf:nodeID="{value[2:]}"/>\n'
    text, language, datatype = _parts_of(value)
    mark = f' xml:lang="{language}"' if language else f' rdf:datatype="{datatype}"' if datatype else ""
    return f"    <{name}{mark}>{escape(text, quote=False)}</{name}>\n"


def _rdfxml(triples: Sequence[Triple], url: str) -> str:
    names = "".join(f'\n    xmlns:{prefix}="{namespace}"' for prefix, namespace in PREFIXES.items())
    parts = [f'<?xml version="1.0" encoding="utf-8"?>\n<rdf:RDF{names}>\n']
    for subject, said in _by_subject(triples).items():
        parts.append(f"  <rdf:Description {_about(subject)}>\n")
        parts += [_property_element(predicate, value) for predicate, value in said]
        parts.append("  </rdf:Description>\n")
    return "".join((*parts, "</rdf:RDF>\n"))


def _json_term(value: str) -> object:
    if value.startswith("<"):
        return {"@id": value[1:-1]}
    if value.startswith("_:"):
        return {"@id": value}
    text, language, datatype = _parts_of(value)
    if datatype:
        return {"@value": text, "@type": datatype}
    return {"@value": text, "@language": language} if language else text


def _jsonld(triples: Sequence[Triple], url: str) -> str:
    nodes = []
    for subject, said in _by_subject(triples).items():
        node: dict[str, object] = {"@id": subject.removeprefix("<").removesuffix(">")}
        for predicate, value in said:
            if predicate == RDF_TYPE:
                node["@type"] = _shrunk(value)
            else:
                values = node.setdefault(_shrunk(predicate), [])
                assert isinstance(values, list)
                values.append(_json_term(value))
        nodes.append(node)
    return json.dumps({"@context": PREFIXES, "@graph": nodes}, indent=1)


WRITERS: dict[ContentKind, Callable[[Sequence[Triple], str], str]] = {
    ContentKind.TURTLE: _turtle,
    ContentKind.RDF_XML: _rdfxml,
    ContentKind.N_TRIPLES: _ntriples,
    ContentKind.JSON_LD: _jsonld,
    ContentKind.TRIG: _trig,
    ContentKind.N_QUADS: _nquads,
}
"""Serializers by syntax. All write the same statements. The URL names the graph if the syntax has graphs."""
