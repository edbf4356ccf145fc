"""Convert JSON-LD to statements (JSON-LD 1.1 API, sections 7, 8, 9.1), with canonical numbers and JSON (RFC 8785)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, XSD, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.active_context import ActiveContext
from motherlode.transform.jsonld.context_processor import ContextProcessor
from motherlode.transform.jsonld.expansion import Expander
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, LimitExceeded, Note, Notes, shorten
from motherlode.transform.jsonld.processor_options import Json, Node, ProcessorOptions, RdfDirection, parse_iri
from motherlode.www.iri import repair_message


def canonical_double(value: float) -> str:
    """Return the canonical form of an xsd:double with at most 15 decimals (JSON-LD 1.1 API, section 8.6)."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    mantissa, _, exponent = f"{value:.15E}".partition("E")
    mantissa = mantissa.rstrip("0")
    if mantissa.endswith("."):
        mantissa += "0"
    return f"{mantissa}E{int(exponent)}"


class LongInteger(float):
    """An integer with more digits than Python converts. Its numeric value is infinite; `digits` is exact."""

    __slots__ = ("digits",)

    def __new__(cls, digits: str) -> LongInteger:
        found = super().__new__(cls, "-inf" if digits.startswith("-") else "inf")
        found.digits = digits
        return found

    digits: str


def long_integer(value: int | float) -> str:
    """Return the digits of an integer that is too large for a double; "" for all other numbers."""
    if isinstance(value, LongInteger):
        return value.digits
    if not isinstance(value, int) or math.isfinite(as_double(value)):
        return ""
    try:
        return str(value)
    except ValueError:  # more digits than Python converts; the decoder creates no such integers
        return ""


def as_double(value: int | float) -> float:
    """Convert a number to a double; infinity if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def canonical_json(value: Json) -> str:
    """Return the canonical form of a JSON value (RFC 8785)."""
    if isinstance(value, dict):
        members = (
            f"{_serialize_string(key)}:{canonical_json(value[key])}" for key in sorted(value, key=_utf16_sort_key)
        )
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, str):
        return _serialize_string(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return _serialize_number(value)


def _utf16_sort_key(key: str) -> bytes:
    """Return the UTF-16 code units of a key. RFC 8785 sorts keys by them."""
    return key.encode("utf-16-be", "surrogatepass")


def _serialize_string(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _serialize_number(value: int | float) -> str:
    """Serialize a number as ECMAScript does (Number::toString). All its numbers are doubles."""
    double = as_double(value)
    if double == 0 or not math.isfinite(double):
        return "0" if double == 0 else long_integer(value) or "null"
    is_negative, digit_tuple, exponent = Decimal(repr(double)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)  # digits before the decimal point
    if -6 < point <= 0:
        text = "0." + "0" * -point + digits
    elif 0 < point <= 21:
        fraction = digits[point:]
        text = digits[:point].ljust(point, "0") + (f".{fraction}" if fraction else "")
    else:
        text = digits[0] + (f".{digits[1:]}" if digits[1:] else "") + f"e{point - 1:+}"
    return f"-{text}" if is_negative else text


# Statements

_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
_VALUE, _LANGUAGE, _DIRECTION = f"<{RDF}value>", f"<{RDF}language>", f"<{RDF}direction>"
_BOOLEAN, _DOUBLE, _INTEGER, _JSON = XSD + "boolean", XSD + "double", XSD + "integer", RDF + "JSON"
_LANGUAGE_DATATYPES = frozenset({RDF + "langString", RDF + "dirLangString"})
"""Datatypes of literals with a language (RDF 1.1 Concepts, section 3.3). They cannot be given explicitly."""
_LANGUAGE_TAG = re.compile("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
"""The general form of a language tag (BCP 47, section 2.2.9)."""
_I18N = "https://www.w3.org/ns/i18n#"
_UNUSABLE_GRAPH = "<>"
"""Temporary name for a graph with an invalid name. Its statements are dropped."""
_MIN_DOUBLE_INTEGER = 10**21
"""Integers from here on become doubles."""


class StatementEmitter:
    """Creates the statements of one document."""

    def __init__(self, options: ProcessorOptions, notes: Notes, names: BlankNames) -> None:
        self._notes = notes
        self._names = names
        self._repairs_iris = options.repairs_iris
        self._direction = options.rdf_direction
        self._generalized = options.produce_generalized
        self._limit = options.max_statements
        self._node_indexes: dict[tuple[str, str], str] = {}
        self.statements: list[Statement] = []

    def emit(self, nodes: list[Json], graph: str = "") -> None:
        """Add the statements of expanded nodes."""
        for node in nodes:
            self._emit_node(node, graph)
            if len(self.statements) > self._limit:
                del self.statements[self._limit :]
                raise LimitExceeded("loading document failed", f"more than {self._limit} statements")

    def _emit_node(self, node: Node, graph: str) -> str | None:
        """Add the statements of a node and return its term; None if the node has an invalid identifier."""
        identifier = node.get("@id")
        subject = self._names.fresh() if identifier is None else self._convert_resource(identifier)
        for name, values in node.items():
            if name[0] != "@":
                self._emit_property(subject, name, values, graph)
            elif name == "@type":
                self._emit_types(subject, values, graph)
            elif name == "@graph":
                self._emit_graph(subject, values)
            elif name == "@included":
                for value in values:
                    self._emit_node(value, graph)
            elif name == "@reverse":
                self._emit_reverse(subject, values, graph)
            elif name == "@list":  # in a graph container: the list is dropped, the nodes in it are kept
                self._emit_nested(values, graph)
            elif name == "@index" and subject is not None:
                self._check_index(subject, values, graph)
        return subject

    def _convert_resource(self, identifier: str, *, allows_blank: bool = True) -> str | None:
        """Return the term of an IRI or blank node identifier; None if it is invalid or not allowed."""
        term = self._convert_iri(identifier)
        if term is None:
            if identifier.startswith("_:"):
                return self._names.for_label(identifier) if allows_blank else None
            self._report_lost("IRI", identifier)
        return term

    def _convert_iri(self, value: str) -> str | None:
        """Return the term of an IRI; None if it is invalid and repair fails or is not allowed."""
        found = parse_iri(value)
        if found is None or not found.is_repaired:
            return None if found is None else found.term
        if not self._repairs_iris:
            return None
        self._notes.add(repair_message(found), value, repaired=True)
        return found.term

    def _report_lost(self, what: str, value: str) -> None:
        self._notes.add(f"invalid {what}, its statements are lost: {shorten(value)}", value)

    def _emit_graph(self, name: str | None, nodes: list[Json]) -> None:
        if name is not None:
            self.emit(nodes, name)
            return
        start = len(self.statements)
        self.emit(nodes, _UNUSABLE_GRAPH)
        self.statements[start:] = [it for it in self.statements[start:] if it[3] != _UNUSABLE_GRAPH]

    def _emit_property(self, subject: str | None, name: str, values: list[Json], graph: str) -> None:
        predicate = self._convert_resource(name, allows_blank=self._generalized)
        if subject is None or predicate is None:
            self._emit_nested(values, graph)
            return
        for value in values:
            if len(value) == 1 and type(text := value.get("@value")) is str:
                found: str | None = literal(text)  # the most common case
            else:
                found = self._convert_object(value, graph)
            if found is not None:
                self.statements.append((subject, predicate, found, graph))

    def _emit_nested(self, values: list[Json], graph: str) -> None:
        """Add the statements of nodes inside a statement that is dropped."""
        for value in values:
            if "@list" in value:
                self._emit_nested(value["@list"], graph)
            elif "@value" not in value:
                self._emit_node(value, graph)

    def _emit_types(self, subject: str | None, types: list[str | None], graph: str) -> None:
        if subject is None:
            return
        for type_ in types:
            found = None if type_ is None else self._convert_resource(type_)
            if found is not None:
                self.statements.append((subject, RDF_TYPE, found, graph))

    def _emit_reverse(self, subject: str | None, properties: Node, graph: str) -> None:
        for name, values in properties.items():
            predicate = self._convert_resource(name, allows_blank=self._generalized)
            for value in values:
                found = self._emit_node(value, graph)
                if found is not None and subject is not None and predicate is not None:
                    self.statements.append((found, predicate, subject, graph))

    def _check_index(self, subject: str, index: str, graph: str) -> None:
        """Check that a node has only one index (Node Map Generation, step 6.10)."""
        if self._node_indexes.setdefault((graph, subject), index) != index:
            self._notes.tolerate(JsonLdError("conflicting indexes", index))

    def _convert_object(self, value: Node, graph: str) -> str | None:
        """Return the term of a value and add its statements (Object to RDF Conversion, section 8.3)."""
        if "@value" in value:
            return self._convert_literal(value, graph)
        if "@list" in value:
            return self._emit_list(value["@list"], graph)
        if len(value) == 1 and value.get("@id", "") is None:  # the reference has the form of a keyword
            return None
        return self._emit_node(value, graph)

    def _emit_list(self, items: list[Json], graph: str) -> str:
        """Add the statements of a list and return its first node (section 8.4). Invalid items have no `rdf:first`."""
        if not items:
            return _NIL
        nodes = [self._names.fresh() for _ in items]
        for node, item, rest in zip(nodes, items, [*nodes[1:], _NIL], strict=True):
            found = self._convert_object(item, graph)
            if found is not None:
                self.statements.append((node, _FIRST, found, graph))
            self.statements.append((node, _REST, rest, graph))
        return nodes[0]

    def _convert_literal(self, item: Node, graph: str) -> str | None:
        value = item["@value"]
        datatype = item.get("@type")
        if datatype == "@json":
            return literal(canonical_json(value), datatype=_JSON)
        if datatype is not None:
            term = self._convert_iri(datatype)
            if term is None:
                self._report_lost("datatype", datatype)
                return None
            datatype = None if datatype in _LANGUAGE_DATATYPES else term[1:-1]
        language = item.get("@language", "")
        if language and not _LANGUAGE_TAG.fullmatch(language):
            if not self._repairs_iris:
                self._report_lost("language tag", language)
                return None
            self._notes.add(f"invalid language tag: {shorten(language)}", language, repaired=True)
        if not isinstance(value, str):
            value, datatype = _convert_native_value(value, datatype)
        if "@direction" in item and self._direction is not None:
            return self._convert_directed(value, language.lower(), item["@direction"], graph)
        return literal(value, language=language, datatype=datatype or "")

    def _convert_directed(self, value: str, language: str, direction: str, graph: str) -> str:
        """Return the term of a string with a base direction (section 8.3, step 13)."""
        if self._direction is RdfDirection.I18N_DATATYPE:
            return literal(value, datatype=f"{_I18N}{language}_{direction}")
        node = self._names.fresh()
        self.statements.append((node, _VALUE, literal(value), graph))
        if language:
            self.statements.append((node, _LANGUAGE, literal(language), graph))
        self.statements.append((node, _DIRECTION, literal(direction), graph))
        return node


def _convert_native_value(value: Json, datatype: str | None) -> tuple[str, str]:
    """Return the canonical form and datatype of a boolean or number (section 8.3, steps 9 to 11)."""
    if isinstance(value, bool):
        return ("true" if value else "false"), datatype or _BOOLEAN
    if (digits := long_integer(value)) and datatype != _DOUBLE:
        return digits, datatype or _INTEGER
    fractional = isinstance(value, float) and not value.is_integer()
    if fractional or abs(value) >= _MIN_DOUBLE_INTEGER or datatype == _DOUBLE:
        return canonical_double(as_double(value)), datatype or _DOUBLE
    return str(int(value)), datatype or _INTEGER


# The processor


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessedDocument:
    """The statements of one document and its problems."""

    statements: tuple[Statement, ...]
    notes: tuple[Note, ...] = ()
    wanted: tuple[str, ...] = ()


def to_rdf(document: Json, names: BlankNames, options: ProcessorOptions) -> ProcessedDocument:
    """Return the statements of a decoded document. Raise `JsonLdError` only in strict mode.

    >>> from motherlode.model import Syntax
    >>> names = BlankNames("http://example.org/", Syntax.JSON_LD)
    >>> document = {"@context": {"name": "http://xmlns.com/foaf/0.1/name"}, "@id": "#me", "name": "Ann"}
    >>> to_rdf(document, names, ProcessorOptions(base="http://example.org/")).statements
    (('<http://example.org/#me>', '<http://xmlns.com/foaf/0.1/name>', '"Ann"', ''),)
    """
    notes = Notes(strict=options.strict)
    emitter = StatementEmitter(options, notes, names)
    try:
        _process(document, options, notes, emitter)
    except (JsonLdError, RecursionError) as found:
        too_deep = LimitExceeded("loading document failed", "nested too deep")
        error = found if isinstance(found, JsonLdError) else too_deep
        if options.strict:
            raise error from None
        notes.add(str(error), error.detail)
    return ProcessedDocument(
        statements=tuple(dict.fromkeys(emitter.statements)), notes=notes.all(), wanted=tuple(notes.wanted)
    )


def _process(document: Json, options: ProcessorOptions, notes: Notes, emitter: StatementEmitter) -> None:
    contexts = ContextProcessor(options, notes)
    expander = Expander(options, notes, contexts)
    active = _make_initial_context(contexts, options.expand_context)
    # The items of a long array are processed one by one: results before an error are kept, and memory stays low.
    alone = not isinstance(document, list)
    for item in [document] if alone else document:
        try:
            expanded = expander.expand(active, None, item)
        except JsonLdError as error:
            notes.tolerate(error)
            continue
        if alone and isinstance(expanded, dict) and expanded.keys() == {"@graph"}:
            expanded = expanded["@graph"]
        if expanded is not None:
            emitter.emit(expanded if isinstance(expanded, list) else [expanded])


def _make_initial_context(contexts: ContextProcessor, expand_context: Json) -> ActiveContext:
    if expand_context is None:
        return contexts.initial
    if isinstance(expand_context, dict) and "@context" in expand_context:
        expand_context = expand_context["@context"]
    return contexts.apply_embedded(contexts.initial, expand_context)
