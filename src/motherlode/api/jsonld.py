"""The statements of a page as one JSON-LD document: nodes merged by their IRI, nested, and compacted.

The context is that of schema.org if the page uses its terms, and the prefixes of other vocabularies that occur. Reading
the document gives the same statements again, with one exception: `https://schema.org/name` and `http://schema.org/name`
are the same term, as schema.org says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from motherlode.model import Statement
from motherlode.model.terms import PREFIXES, RDF_TYPE, XSD
from motherlode.transform.jsonld.active_context import TermDefinition
from motherlode.transform.jsonld.context_tables import find_bundled_context
from motherlode.transform.jsonld.to_rdf import canonical_double
from motherlode.transform.node_objects import build_node_objects, split_literal

JsonObject = dict[str, Any]
_CONTEXT_URL = "https://schema.org"
_SCHEMA, _HTTPS_SCHEMA = "http://schema.org/", "https://schema.org/"
_SIMPLE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_NATIVE_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}")
"""Integers that every reader of JSON keeps exactly."""
_MAX_NESTED = 60
"""Maximum number of levels of nested nodes. Deeper nodes are listed at the top level."""


def build_jsonld(statements: Iterable[Statement]) -> tuple[JsonObject, int]:
    """Return the document of some statements, and the number of statements that JSON-LD cannot express."""
    distinct = dict.fromkeys(map(_unify_schema, statements))
    known = [it for it in distinct if not it[2].startswith("<<") and not it[0].startswith("<<")]
    compactor = _Compactor(known)
    graphs: dict[str, list[Statement]] = {"": []}
    for statement in known:
        graphs.setdefault(statement[3], []).append(statement)
    blank_names: dict[str, str] = {}
    nodes: list[JsonObject] = []
    for graph, members in graphs.items():
        found = _Nester(members, compactor, blank_names).nest()
        nodes.extend(found if not graph else [{"@id": _identifier(graph, blank_names), "@graph": found}])
    body = nodes[0] if len(nodes) == 1 else {"@graph": nodes} if nodes else {}
    context = compactor.context
    return ({"@context": context, **body} if context and body else body), len(distinct) - len(known)


def _unify_schema(statement: Statement) -> Statement:
    """Return a statement with `http://schema.org/` instead of `https://schema.org/` in its predicate or type."""
    subject, predicate, object_, graph = statement
    if predicate == RDF_TYPE and object_.startswith(f"<{_HTTPS_SCHEMA}"):
        return subject, predicate, f"<{_SCHEMA}{object_[len(_HTTPS_SCHEMA) + 1 :]}", graph
    if predicate.startswith(f"<{_HTTPS_SCHEMA}"):
        return subject, f"<{_SCHEMA}{predicate[len(_HTTPS_SCHEMA) + 1 :]}", object_, graph
    return statement


def _identifier(term: str, blank_names: dict[str, str]) -> str:
    """Return the IRI of a term, or a short name for a blank node."""
    return term[1:-1] if term[0] == "<" else blank_names.setdefault(term, f"_:b{len(blank_names)}")


class _Nester:
    """Nests the nodes of one graph: a node is written at the first reference to it; others have only its @id."""

    def __init__(self, statements: list[Statement], compactor: _Compactor, blank_names: dict[str, str]) -> None:
        self._compactor = compactor
        self._blank_names = blank_names
        self._waiting = {
            node["@id"] if node["@id"][0] == "_" else f"<{node['@id']}>": node
            for node in build_node_objects(statements, read_term=lambda term: term)
        }
        self._referenced = {it[2] for it in statements if it[1] != RDF_TYPE and it[2] != it[0]}
        self._written: dict[str, JsonObject] = {}
        """The blank nodes that were written, by term."""
        self._named: set[str] = set()
        """Blank nodes to which a reference was written, so that they need an @id."""

    def nest(self) -> list[JsonObject]:
        """Return the nodes that are not nested in others, in the order of the statements."""
        roots = [term for term in self._waiting if term not in self._referenced]
        found = [self._write(term, 0) for term in roots if term in self._waiting]
        while self._waiting:  # only nodes that refer to each other in a circle, or are nested too deep
            found.append(self._write(next(iter(self._waiting)), 0))
        for term, node in self._written.items():
            if term not in self._named:
                del node["@id"]
        return found

    def _write(self, term: str, depth: int) -> JsonObject:
        node = self._waiting.pop(term)
        written: JsonObject = {"@id": _identifier(term, self._blank_names)}
        if term[0] == "_":
            self._written[term] = written
        if types := node.pop("@type", None):
            names = [self._compactor.name(it) if isinstance(it, str) else self._refer(it["@id"]) for it in types]
            written["@type"] = names[0] if len(names) == 1 else names
        del node["@id"]
        for iri, values in node.items():
            coercion = self._compactor.coercion(iri)
            found = [self._value(value, coercion, depth) for value in values]
            written[self._compactor.name(iri)] = found[0] if len(found) == 1 else found
        return written

    def _refer(self, term: str) -> str:
        if term[0] == "_":
            self._named.add(term)
        return _identifier(term, self._blank_names)

    def _value(self, value: Any, coercion: str, depth: int) -> Any:
        if isinstance(value, dict):
            return {"@list": [self._value(it, coercion, depth) for it in value["@list"]]}
        if value[0] == '"':
            return self._compactor.literal(value, coercion)
        if value in self._waiting and depth < _MAX_NESTED:
            return self._write(value, depth + 1)
        return self._refer(value) if coercion == "@id" else {"@id": self._refer(value)}


class _Compactor:
    """Shortens IRIs and literals by the context that it chooses for some statements."""

    def __init__(self, statements: list[Statement]) -> None:
        iris = {it[1][1:-1] for it in statements} | {it[2][1:-1] for it in statements if it[1] == RDF_TYPE}
        self._schema = find_bundled_context(_CONTEXT_URL) if any(it.startswith(_SCHEMA) for it in iris) else None
        self._prefixes: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._language = self._choose_language(statements)

    def _choose_language(self, statements: list[Statement]) -> str:
        """Return the language of most strings, or "" if most have none or need their type from the context."""
        literals = ((it[1][1:-1], split_literal(it[2])) for it in statements if it[2][0] == '"')
        strings = (found for iri, found in literals if not found[2] and not self.coercion(iri))
        counts = Counter(language for _, language, _ in strings)
        language = counts.most_common(1)[0][0] if counts else ""
        return "" if "--" in language else language

    @property
    def context(self) -> Any:
        """The context for all names that were given, or None."""
        local = {**self._prefixes, **({"@language": self._language} if self._language else {})}
        if self._schema is None:
            return local or None
        return [_CONTEXT_URL, local] if local else _CONTEXT_URL

    def coercion(self, iri: str) -> str:
        """Return the type that the context gives to the values of a property, or ""."""
        definition = self._define(self._schema_name(iri))
        return (definition.type or "") if definition is not None and definition.iri == iri else ""

    def _define(self, name: str) -> TermDefinition | None:
        return self._schema.define(name) if self._schema is not None and name in self._schema else None

    def name(self, iri: str) -> str:
        """Return a term or a prefixed name for the IRI of a property, a type or a datatype, or the IRI itself."""
        if iri not in self._names:
            self._names[iri] = self._find_name(iri)
        return self._names[iri]

    def _find_name(self, iri: str) -> str:
        name = self._schema_name(iri)
        if self._schema is not None and name:
            definition = self._define(name)
            if definition is None or definition.iri == iri:
                return name
        for prefix, namespace in PREFIXES.items():
            if iri.startswith(namespace) and not iri.startswith("//", len(namespace)):
                self._prefixes[prefix] = namespace
                return f"{prefix}:{iri[len(namespace) :]}"
        return iri

    @staticmethod
    def _schema_name(iri: str) -> str:
        name = iri[len(_SCHEMA) :] if iri.startswith(_SCHEMA) else ""
        return name if _SIMPLE_NAME.fullmatch(name) else ""

    def literal(self, term: str, coercion: str) -> Any:
        """Return the shortest JSON that the context reads as this literal."""
        text, language, datatype = split_literal(term)
        if datatype:
            if datatype == coercion:
                return text
            native = _read_native(text, datatype)
            if native is None:
                return {"@type": self.name(datatype), "@value": text}
            return {"@value": native} if coercion and coercion != "@id" else native
        if language == self._language and not coercion:
            return text
        tag, _, direction = language.partition("--")
        found = {"@language": tag} if tag else {}
        return {**found, **({"@direction": direction} if direction else {}), "@value": text}


def _read_native(text: str, datatype: str) -> bool | int | float | None:
    """Return the number or boolean that JSON-LD reads as this literal, or None."""
    if datatype == XSD + "boolean":
        return {"true": True, "false": False}.get(text)
    if datatype == XSD + "integer":
        return int(text) if _NATIVE_INTEGER.fullmatch(text) else None
    if datatype != XSD + "double":
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return (
        number if not number.is_integer() and abs(number) != float("inf") and canonical_double(number) == text else None
    )
