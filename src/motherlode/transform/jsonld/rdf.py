"""From expanded JSON-LD to statements (JSON-LD 1.1 API, sections 7 and 8).

The node map of the specification gathers what is said of a node in several places. Statements are a set, so they can
be given out where they are met: only two things need a memory, the `@index` of each node and the blank node labels.
"""

from __future__ import annotations

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, XSD, literal
from motherlode.transform.blank import BlankNames
from motherlode.transform.jsonld.canonical import as_double, canonical_double, canonical_json, long_integer
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded
from motherlode.transform.jsonld.iris import iri_of, is_language_tag
from motherlode.transform.jsonld.notes import Notes, shorten
from motherlode.transform.jsonld.settings import Json, ProcessorOptions, RdfDirection
from motherlode.www.iri import repair_message

Node = dict[str, Json]
_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
_VALUE, _LANGUAGE, _DIRECTION = f"<{RDF}value>", f"<{RDF}language>", f"<{RDF}direction>"
_BOOLEAN, _DOUBLE, _INTEGER, _JSON = XSD + "boolean", XSD + "double", XSD + "integer", RDF + "JSON"
_IN_A_LANGUAGE = frozenset({RDF + "langString", RDF + "dirLangString"})
"""Datatypes that a literal has by its language alone (RDF 1.1 Concepts, section 3.3): no typed value can have them."""
_I18N = "https://www.w3.org/ns/i18n#"
_NOWHERE = "<>"
"""Marks the statements of a graph whose name is not usable; no graph is called so."""
_LARGE = 10**21
"""From here on numbers are doubles even without a fraction."""


class Emitter:
    """Writes the statements of one document."""

    def __init__(self, options: ProcessorOptions, notes: Notes, names: BlankNames) -> None:
        self._notes = notes
        self._names = names
        self._strict = options.strict
        self._repairs_iris = not (options.strict or options.strict_iris)
        self._direction = options.rdf_direction
        self._generalized = options.produce_generalized
        self._limit = options.limits.statements
        self._indexes: dict[tuple[str, str], str] = {}
        self.statements: list[Statement] = []

    def emit(self, nodes: list[Json], graph: str = "") -> None:
        """Everything that a list of expanded nodes says."""
        for node in nodes:
            self._node(node, graph)
            if len(self.statements) > self._limit:
                del self.statements[self._limit :]
                raise LimitExceeded(ErrorCode.LOADING_DOCUMENT_FAILED, f"more than {self._limit} statements")

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _node(self, node: Node, graph: str) -> str | None:
        """The term of a node, after everything that it says. None where the node has no usable identifier."""
        subject = self._subject(node)
        for name, values in node.items():
            if name[0] != "@":
                self._property(subject, name, values, graph)
            elif name == "@type":
                self._types(subject, values, graph)
            elif name == "@graph":
                self._graph(subject, values)
            elif name == "@included":
                for value in values:
                    self._node(value, graph)
            elif name == "@reverse":
                self._reverse(subject, values, graph)
            elif name == "@list":  # in a graph container: the list is dropped, but not the nodes in it
                self._nested(values, graph)
            elif name == "@index" and subject is not None:
                self._check_index(subject, values, graph)
        return subject

    def _subject(self, node: Node) -> str | None:
        identifier = node.get("@id")
        return self._names.fresh() if identifier is None else self._resource(identifier)

    def _resource(self, identifier: str) -> str | None:
        term = self._iri(identifier)
        if term is None:
            if identifier.startswith("_:"):
                return self._names.named(identifier)
            self._lose("IRI", identifier)
        return term

    def _iri(self, value: str) -> str | None:
        """The term of an IRI; None if it is none, or must be repaired and may not be."""
        found = iri_of(value)
        if found is None or not found.is_repaired:
            return None if found is None else found.term
        if not self._repairs_iris:
            return None
        self._notes.add(repair_message(found), value, mended=True)
        return found.term

    def _lose(self, what: str, value: str) -> None:
        self._notes.add(f"bad {what}, its statements are lost: {shorten(value)}", value)

    def _graph(self, name: str | None, nodes: list[Json]) -> None:
        if name is not None:
            self.emit(nodes, name)
            return
        start = len(self.statements)
        self.emit(nodes, _NOWHERE)
        self.statements[start:] = [statement for statement in self.statements[start:] if statement[3] != _NOWHERE]

    def _property(self, subject: str | None, name: str, values: list[Json], graph: str) -> None:
        predicate = self._predicate(name)
        if subject is None or predicate is None:
            self._nested(values, graph)
            return
        for value in values:
            if len(value) == 1 and type(text := value.get("@value")) is str:
                found: str | None = literal(text)  # most values of most documents
            else:
                found = self._object(value, graph)
            if found is not None:
                self.statements.append((subject, predicate, found, graph))

    def _nested(self, values: list[Json], graph: str) -> None:
        """What nodes say that hang on a lost statement: it stays."""
        for value in values:
            if "@list" in value:
                self._nested(value["@list"], graph)
            elif "@value" not in value:
                self._node(value, graph)

    def _predicate(self, name: str) -> str | None:
        term = self._iri(name)
        if term is None:
            if name.startswith("_:"):
                return self._names.named(name) if self._generalized else None
            self._lose("IRI", name)
        return term

    def _types(self, subject: str | None, types: list[str | None], graph: str) -> None:
        if subject is None:
            return
        for type_ in types:
            found = None if type_ is None else self._resource(type_)
            if found is not None:
                self.statements.append((subject, RDF_TYPE, found, graph))

    def _reverse(self, subject: str | None, properties: Node, graph: str) -> None:
        for name, values in properties.items():
            predicate = self._predicate(name)
            for value in values:
                found = self._node(value, graph)
                if found is not None and subject is not None and predicate is not None:
                    self.statements.append((found, predicate, subject, graph))

    def _check_index(self, subject: str, index: str, graph: str) -> None:
        """Node map generation, step 6.10."""
        if self._indexes.setdefault((graph, subject), index) != index:
            if self._strict:
                raise JsonLdError(ErrorCode.CONFLICTING_INDEXES, index)
            self._notes.add(f"{ErrorCode.CONFLICTING_INDEXES.value}: {shorten(index)}", index)

    # Values -----------------------------------------------------------------------------------------------------------

    def _object(self, value: Node, graph: str) -> str | None:
        """Object to RDF Conversion (section 8.3)."""
        if "@value" in value:
            return self._literal(value, graph)
        if "@list" in value:
            return self._list(value["@list"], graph)
        if len(value) == 1 and value.get("@id", "") is None:  # a reference to something that looks like a keyword
            return None
        return self._node(value, graph)

    def _list(self, items: list[Json], graph: str) -> str:
        """List Conversion (section 8.4). An item that is lost leaves its place in the list empty."""
        if not items:
            return _NIL
        nodes = [self._names.fresh() for _ in items]
        for node, item, rest in zip(nodes, items, [*nodes[1:], _NIL], strict=True):
            found = self._object(item, graph)
            if found is not None:
                self.statements.append((node, _FIRST, found, graph))
            self.statements.append((node, _REST, rest, graph))
        return nodes[0]

    def _literal(self, item: Node, graph: str) -> str | None:
        value = item["@value"]
        datatype = item.get("@type")
        if datatype == "@json":
            return literal(canonical_json(value), datatype=_JSON)
        if datatype is not None:
            term = self._iri(datatype)
            if term is None:
                self._lose("datatype", datatype)
                return None
            datatype = None if datatype in _IN_A_LANGUAGE else term[1:-1]
        language = item.get("@language", "")
        if language and not is_language_tag(language):
            self._lose("language tag", language)
            return None
        if not isinstance(value, str):
            value, datatype = _native(value, datatype)
        if "@direction" in item and self._direction is not None:
            return self._directed(value, language.lower(), item["@direction"], graph)
        return literal(value, language=language, datatype=datatype or "")

    def _directed(self, value: str, language: str, direction: str, graph: str) -> str:
        """Section 8.3, step 13."""
        if self._direction is RdfDirection.I18N_DATATYPE:
            return literal(value, datatype=f"{_I18N}{language}_{direction}")
        node = self._names.fresh()
        self.statements.append((node, _VALUE, literal(value), graph))
        if language:
            self.statements.append((node, _LANGUAGE, literal(language), graph))
        self.statements.append((node, _DIRECTION, literal(direction), graph))
        return node


def _native(value: Json, datatype: str | None) -> tuple[str, str]:
    """Section 8.3, steps 9 to 11: booleans and numbers in their canonical spelling, with a datatype.

    An integer that no double can hold stays an integer: as a double it would be infinite.
    """
    if isinstance(value, bool):
        return ("true" if value else "false"), datatype or _BOOLEAN
    if (digits := long_integer(value)) and datatype != _DOUBLE:
        return digits, datatype or _INTEGER
    fractional = isinstance(value, float) and not value.is_integer()
    if fractional or abs(value) >= _LARGE or datatype == _DOUBLE:
        return canonical_double(as_double(value)), datatype or _DOUBLE
    return str(int(value)), datatype or _INTEGER
