"""Things with their values, as markup in HTML (JSON-LD, Microdata, RDFa, microformats2) and as RDF documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape
from itertools import count
from typing import Any, NamedTuple

from motherlode.model import ContentKind, Syntax
from motherlode.model.terms import RDF, RDF_TYPE, XSD, literal
from motherlode.sim.synthetic.entity_kinds import KINDS, EntityField, EntityKind, EntityKindFacts, Form, person
from motherlode.sim.synthetic.host_profiles import Voice

SCHEMA = "http://schema.org/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A generated thing: its type, and the values of its properties (texts or nested things)."""

    type: str
    values: tuple[tuple[EntityField, tuple[str | Entity, ...]], ...]


def make_entity(kind: EntityKind, bits: int) -> Entity:
    """Generate the thing of a kind that belongs to a random number (`bits`)."""
    return _make_entity(KINDS[kind].type, KINDS[kind].fields, bits)


def _make_entity(type_: str, fields: tuple[EntityField, ...], bits: int) -> Entity:
    values = ((one, (_make_entity(one.type, one.parts, bits),) if one.parts else one.values(bits)) for one in fields)
    return Entity(type=type_, values=tuple(values))


def statements(kind: EntityKind, bits: int, *, microformat: bool = False) -> int:
    """Return the number of statements of a thing. microformats2 has fewer properties than the other syntaxes."""
    repeated = _REPEATED[kind]
    return _FIXED[microformat][kind] + (repeated.repeats(bits) - repeated.least if repeated is not None else 0)


def _fixed(fields: tuple[EntityField, ...], *, microformat: bool) -> int:
    """Return the least number of statements of a thing with these properties, including its type."""
    known = [one for one in fields if one.microformat or not microformat]
    return 1 + sum(1 + _fixed(one.parts, microformat=microformat) if one.parts else one.least for one in known)


_FIXED = {
    microformat: {kind: _fixed(facts.fields, microformat=microformat) for kind, facts in KINDS.items()}
    for microformat in (False, True)
}
_REPEATED = {kind: facts.repeated for kind, facts in KINDS.items()}


def _types(type_: str, fields: tuple[EntityField, ...]) -> tuple[str, ...]:
    nested = (name for one in fields if one.parts for name in _types(one.type, one.parts))
    return tuple(dict.fromkeys((SCHEMA + type_, *nested)))


TYPES = {kind: _types(facts.type, facts.fields) for kind, facts in KINDS.items()}
"""IRIs of the types that a thing of a kind mentions, its own first."""


# Markup in HTML


class Flaw(Enum):
    """A deliberate error in a generated JSON-LD block."""

    NONE = "none"
    TRAILING_COMMA = "trailing comma"
    """A fault that every lenient parser repairs."""
    TEMPLATE = "template left unfilled"
    """A fault that no parser can repair."""


class _Attributes(NamedTuple):
    """Functions that return the HTML attributes that mark up a thing, a nested thing and a value in one syntax."""

    entity: Callable[[EntityKindFacts], str]
    nested_entity: Callable[[EntityField], str]
    value: Callable[[EntityField], str]


_ATTRIBUTES = {
    Syntax.MICRODATA: _Attributes(
        entity=lambda kind: f'class="item" itemscope itemtype="{SCHEMA}{kind.type}"',
        nested_entity=lambda one: f'class="item" itemprop="{one.name}" itemscope itemtype="{SCHEMA}{one.type}"',
        value=lambda one: f'itemprop="{one.name}"',
    ),
    Syntax.RDFA: _Attributes(
        entity=lambda kind: f'class="item" vocab="{SCHEMA}" typeof="{kind.type}"',
        nested_entity=lambda one: f'class="item" property="{one.name}" typeof="{one.type}"',
        value=lambda one: f'property="{one.name}"',
    ),
    Syntax.MICROFORMATS: _Attributes(
        entity=lambda kind: f'class="item {kind.microformat}"',
        nested_entity=lambda one: f'class="{one.microformat} h-card"',
        value=lambda one: f'class="{one.microformat}"' if one.microformat else "",
    ),
}
EMBEDDED = frozenset({Syntax.JSON_LD, *_ATTRIBUTES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Structured data on an HTML page: the thing and its syntax."""

    syntax: Syntax
    kind: EntityKind
    bits: int
    flaw: Flaw = Flaw.NONE

    def count(self) -> int:
        """Return the number of statements that a parser extracts from the block."""
        if self.flaw is Flaw.TEMPLATE:
            return 0
        # RDFa 1.1 Core, 10.1: a vocab attribute adds a statement of its own
        vocab = self.syntax is Syntax.RDFA
        return statements(self.kind, self.bits, microformat=self.syntax is Syntax.MICROFORMATS) + vocab

    def write(self) -> str:
        one = make_entity(self.kind, self.bits)
        if self.syntax is Syntax.JSON_LD:
            return _jsonld_script(one, self.flaw)
        return "".join(_markup(one, _ATTRIBUTES[self.syntax].entity(KINDS[self.kind]), self.syntax))


def _markup(one: Entity, opening: str, syntax: Syntax) -> Iterator[str]:
    """Yield the HTML elements of a thing. `opening` has the attributes of the outermost."""
    yield f"<div {opening}>\n"
    for field, values in one.values:
        attribute = _ATTRIBUTES[syntax].value(field)
        for value in values:
            if not attribute:  # the vocabulary has no such property
                yield f"<p>{field.name} {'' if isinstance(value, Entity) else escape(value)}</p>\n"
            elif isinstance(value, Entity):
                yield from _markup(value, _ATTRIBUTES[syntax].nested_entity(field), syntax)
            elif field.form is Form.DATE:
                yield f'<p>{field.name}: <time {attribute} datetime="{value}">{value}</time></p>\n'
            elif field.form is Form.DURATION and syntax is Syntax.MICRODATA:
                yield f'<meta {attribute} content="{value}">\n'
            else:
                yield f"<p>{field.name}: <span {attribute}>{escape(value)}</span></p>\n"
    yield "</div>\n"


def _jsonld_script(one: Entity, flaw: Flaw) -> str:
    text = json.dumps({"@context": "https://schema.org", **_json_object(one)}, indent=1).replace("</", "<\\/")
    if flaw is Flaw.TRAILING_COMMA:
        text = text[:-2] + ",\n}"
    elif flaw is Flaw.TEMPLATE:
        text = "{{ page.structured_data | jsonify }}"
    return f'<script type="application/ld+json">\n{text}\n</script>\n'


def _json_object(one: Entity) -> dict[str, object]:
    written: dict[str, object] = {"@type": one.type}
    for field, values in one.values:
        spelled = [_json_value(field, value) for value in values]
        written[field.name] = spelled[0] if len(spelled) == 1 else spelled
    return written


def _json_value(field: EntityField, value: str | Entity) -> object:
    if isinstance(value, Entity):
        return _json_object(value)
    if field.form is not Form.NUMBER:
        return value
    return float(value) if "." in value else int(value)


# RDF documents

Triple = tuple[str, str, str]
"""Subject, predicate and object as N-Triples."""

FOAF = "http://xmlns.com/foaf/0.1/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DCTERMS = "http://purl.org/dc/terms/"
OWL = "http://www.w3.org/2002/07/owl#"
_DATATYPES = {Form.DATE: XSD + "date", Form.NUMBER: XSD + "decimal", Form.DURATION: XSD + "duration"}
PREFIXES = {"rdf": RDF, "rdfs": RDFS, "foaf": FOAF, "dcterms": DCTERMS, "owl": OWL, "schema": SCHEMA}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A statement whose object is a URL."""

    predicate: str
    target: str
    label: str = ""
    """If the object is a friend (foaf:knows), the name of the friend; otherwise ""."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RdfDocument:
    """An RDF document before serialization."""

    voice: Voice
    subject: str
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
    name = person(document.bits)
    class_ = f"<{FOAF}Person>"
    said = [
        (subject, RDF_TYPE, class_),
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
            (known, RDF_TYPE, class_),
            (known, f"<{FOAF}name>", literal(edge.label)),
            (known, f"<{edge.predicate}>", f"<{edge.target}>"),
        ]
    return said


def _described(document: RdfDocument, subject: str) -> list[Triple]:
    one = make_entity(document.kind, document.bits)
    said = list(_triples_of(one, subject, count()))
    said.append((subject, f"<{RDFS}label>", literal(str(one.values[0][1][0]), language="en")))
    said += [(subject, f"<{edge.predicate}>", f"<{edge.target}>") for edge in document.edges]
    return said


def _triples_of(one: Entity, subject: str, numbers: Iterator[int]) -> Iterator[Triple]:
    yield subject, RDF_TYPE, f"<{SCHEMA}{one.type}>"
    for field, values in one.values:
        for value in values:
            predicate = f"<{SCHEMA}{field.name}>"
            if isinstance(value, Entity):
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


def _turtle(triples: Sequence[Triple], *, graph: str = "") -> str:
    """Return Turtle, or TriG with one graph."""
    prefixes = "".join(f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in PREFIXES.items())
    parts = []
    for subject, said in _by_subject(triples).items():
        lines = " ;\n    ".join(f"{_shrunk(predicate)} {_shrunk(value)}" for predicate, value in said)
        parts.append(f"{subject} {lines} .\n")
    body = "\n".join(parts)
    return f"{prefixes}\n<{graph}> {{\n{body}}}\n" if graph else f"{prefixes}\n{body}"


def _lines(triples: Sequence[Triple], *, graph: str = "") -> str:
    """Return N-Triples, or N-Quads of one graph."""
    end = f" <{graph}> .\n" if graph else " .\n"
    return "".join(f"{subject} {predicate} {value}{end}" for subject, predicate, value in triples)


def _parts_of(value: str) -> tuple[str, str, str]:
    """Return text, language and datatype of a literal. The generated texts need no escapes."""
    if value.endswith(">"):
        text, _, datatype = value.rpartition("^^<")
        return text[1:-1], "", datatype[:-1]
    text, _, language = value.rpartition('"')
    return text[1:], language[1:], ""


def _property_element(predicate: str, value: str) -> str:
    name = _shrunk(predicate)
    if value.startswith("<"):
        return f'    <{name} rdf:resource="{escape(value[1:-1])}"/>\n'
    if value.startswith("_:"):
        return f'    <{name} rdf:nodeID="{value[2:]}"/>\n'
    text, language, datatype = _parts_of(value)
    mark = f' xml:lang="{language}"' if language else f' rdf:datatype="{datatype}"' if datatype else ""
    return f"    <{name}{mark}>{escape(text, quote=False)}</{name}>\n"


def _rdfxml(triples: Sequence[Triple]) -> str:
    names = "".join(f'\n    xmlns:{prefix}="{namespace}"' for prefix, namespace in PREFIXES.items())
    parts = [f'<?xml version="1.0" encoding="utf-8"?>\n<rdf:RDF{names}>\n']
    for subject, said in _by_subject(triples).items():
        about = f'nodeID="{subject[2:]}"' if subject.startswith("_:") else f'about="{escape(subject[1:-1])}"'
        parts.append(f"  <rdf:Description rdf:{about}>\n")
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


def _jsonld(triples: Sequence[Triple]) -> str:
    nodes = []
    for subject, said in _by_subject(triples).items():
        node: dict[str, Any] = {"@id": subject.removeprefix("<").removesuffix(">")}
        for predicate, value in said:
            if predicate == RDF_TYPE:
                node["@type"] = _shrunk(value)
            else:
                node.setdefault(_shrunk(predicate), []).append(_json_term(value))
        nodes.append(node)
    return json.dumps({"@context": PREFIXES, "@graph": nodes}, indent=1)


WRITERS: dict[ContentKind, Callable[[Sequence[Triple], str], str]] = {
    ContentKind.TURTLE: lambda triples, _url: _turtle(triples),
    ContentKind.RDF_XML: lambda triples, _url: _rdfxml(triples),
    ContentKind.N_TRIPLES: lambda triples, _url: _lines(triples),
    ContentKind.JSON_LD: lambda triples, _url: _jsonld(triples),
    ContentKind.TRIG: lambda triples, url: _turtle(triples, graph=f"{url}#graph"),
    ContentKind.N_QUADS: lambda triples, url: _lines(triples, graph=f"{url}#graph"),
}
"""Serializers by syntax. All write the same statements. The URL names the graph if the syntax has graphs."""
