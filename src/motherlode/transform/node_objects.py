"""Statements as node objects of expanded JSON-LD (JSON-LD 1.1 API, section 8): one dict per subject."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, XSD

NodeObject = dict[str, Any]
_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
_ESCAPE = re.compile(r'\\(?:([tbnrf"\'\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))')
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def native_value(lexical: str, datatype: str) -> str | int | float | bool:
    """Return the Python value of an integer, a double or a boolean; the text itself if it has another form."""
    if datatype == XSD + "integer" and _INTEGER.fullmatch(lexical):
        return int(lexical)
    if datatype == XSD + "double" and _DOUBLE.fullmatch(lexical):
        return float(lexical)
    if datatype == XSD + "boolean":
        return _BOOLEANS.get(lexical, lexical)
    return lexical


def split_literal(term: str) -> tuple[str, str, str]:
    r"""Return text, language and datatype of a literal term.

    >>> split_literal('"say \\"hi\\""@en'), split_literal('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    (('say "hi"', 'en', ''), ('1', '', 'http://www.w3.org/2001/XMLSchema#integer'))
    """
    end = term.rfind('"')
    text, rest = term[1:end], term[end + 1 :]
    if "\\" in text:
        text = _ESCAPE.sub(_unescape, text)
    if not rest:
        return text, "", ""
    return (text, rest[1:], "") if rest[0] == "@" else (text, "", rest[3:-1])


def _unescape(match: re.Match[str]) -> str:
    return _ESCAPED[match[1]] if match[1] else chr(int(match[2] or match[3], 16))


def value_object(term: str) -> dict[str, Any]:
    """Return the JSON-LD object of a term: a reference or a value object."""
    if term[0] == "<":
        return {"@id": term[1:-1]}
    if term[0] == "_":
        return {"@id": term}
    text, language, datatype = split_literal(term)
    if language:
        return {"@language": language, "@value": text}
    if datatype:
        return {"@type": datatype, "@value": native_value(text, datatype)}
    return {"@value": text}


def build_node_objects(
    statements: Iterable[Statement],
    *,
    rename: Callable[[str], str] | None = None,
    read_term: Callable[[str], Any] = value_object,
) -> list[NodeObject]:
    """Return one node object per subject, in the order of the statements.

    `rename` may change predicate IRIs. `read_term` returns the value for an object that is no collection.
    """
    known = statements if isinstance(statements, Sequence) else list(statements)
    lists = _CollectionReader(known, read_term) if any(it[1] == _FIRST for it in known) else None
    nodes: dict[str, NodeObject] = {}
    for subject, predicate, object_, _graph in known:
        if lists is not None and subject in lists.cells:
            continue
        node = nodes.get(subject)
        if node is None:
            node = nodes[subject] = {"@id": subject[1:-1] if subject[0] == "<" else subject}
        if predicate == RDF_TYPE:
            node.setdefault("@type", []).append(object_[1:-1] if object_[0] == "<" else {"@id": object_})
            continue
        key = predicate[1:-1] if rename is None else rename(predicate[1:-1])
        value = read_term(object_) if lists is None else lists.read(object_)
        if key in node:
            node[key].append(value)
        else:
            node[key] = [value]
    return list(nodes.values())


class _CollectionReader:
    """Finds the well-formed collections of some statements and returns them as list objects."""

    def __init__(self, statements: Sequence[Statement], read_term: Callable[[str], Any]) -> None:
        self._read_term = read_term
        cells: dict[str, dict[str, list[str]]] = {}
        references: dict[str, int] = {}
        for subject, predicate, object_, _graph in statements:
            if subject[0] == "_":
                cells.setdefault(subject, {}).setdefault(predicate, []).append(object_)
            if object_[0] == "_":
                references[object_] = references.get(object_, 0) + 1
        self._items = {
            name: (values[_FIRST][0], values[_REST][0])
            for name, values in cells.items()
            if _is_cell(values) and references.get(name, 0) == 1
        }
        self.cells = {cell for name in self._items for cell in self._chain(name)}
        """Blank nodes that are part of a well-formed collection."""

    def _chain(self, name: str) -> list[str]:
        """Return the cells of a collection from this one on; none if it does not end with rdf:nil."""
        chain: list[str] = []
        seen: set[str] = set()
        while name in self._items and name not in seen:
            seen.add(name)
            chain.append(name)
            name = self._items[name][1]
        return chain if name == _NIL else []

    def read(self, term: str) -> Any:
        """Return the list object of a collection, or the JSON-LD object of another term."""
        if term == _NIL:
            return {"@list": []}
        if term not in self.cells:
            return self._read_term(term)
        return {"@list": [self._read_term(self._items[cell][0]) for cell in self._chain(term)]}


def _is_cell(values: Mapping[str, list[str]]) -> bool:
    return values.keys() == {_FIRST, _REST} and all(len(it) == 1 for it in values.values())
