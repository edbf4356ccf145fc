"""RDF/XML on its way to a parser that trusts it: entities expanded and counted before, and an end put to harm."""

from __future__ import annotations

import re
from collections.abc import Mapping

from motherlode.model import Problem, Syntax
from motherlode.transform.documents.source import Feed, Source
from motherlode.www.xmlhead import XmlHead

_MOST_ATTRIBUTES = 20_000
"""Of one element; the parser's time grows with their square."""
_EXPANSION = 20
_FREE_EXPANSION = 1 << 24
"""What we add may make a document so many times longer, and so much may come for free."""

_DECLARATION = b"<!ENTITY"
_REFERENCE = re.compile(rb"&([^\s;&#]{1,64});")


class GuardedFeed(Feed):
    """Ends the document where it would harm the parser: too many attributes, or too much that entities add."""

    def __init__(self, source: Source, head: XmlHead | None) -> None:
        entities = head.entities if head else {}
        start, name = (head.root_offset, head.name) if head else (0, "RDF")
        super().__init__(source, start=start, header=document_type(name, entities))
        self.is_stopped = False
        self._entities = {name.encode(): len(value) for name, value in entities.items()}
        self._expanded = 0
        self._equals = 0
        self._tail = b""

    def read(self, size: int) -> bytes:
        if self._header:
            return super().read(size)
        given = b"" if self.is_stopped else self._piece(size)
        last = given.rfind(b">") + 1
        self._equals = given.count(b"=", last) + (0 if last else self._equals)
        if self._entities and b"&" in given:
            self._expanded += sum(self._entities.get(name, 0) for name in _REFERENCE.findall(given))
        declared = (self._tail + given).find(_DECLARATION)
        if declared != -1:  # the parser would take it from anywhere, and expand it without limit
            before = given[: max(declared - len(self._tail), 0)]
            return self._stop("an entity is declared where none may be; the rest was left out", before)
        self._tail = (self._tail + given)[1 - len(_DECLARATION) :]
        if self._equals > _MOST_ATTRIBUTES:
            return self._stop("an element with too many attributes; the rest was left out")
        if self._is_too_long():
            return self._stop("entities that make the document too long; the rest was left out")
        return given

    def _piece(self, size: int) -> bytes:
        """The next bytes for the parser; `position` moves behind what they stand for."""
        given = self._source.get(self.position, size)
        self.position += len(given)
        return given

    def _is_too_long(self) -> bool:
        return self._expanded > _FREE_EXPANSION + _EXPANSION * self.position

    def _stop(self, message: str, before: bytes = b"") -> bytes:
        self.is_stopped = True
        self._equals = self._expanded = 0
        self._tail = b""
        line, column = self._source.place(self.position)
        self._source.problems.append(Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column))
        return before


def document_type(name: str, entities: Mapping[str, str]) -> bytes:
    """A document type that declares entities whose text is already expanded.

    >>> document_type("a", {"x": "1 & 2"}), document_type("a", {})
    (b'<!DOCTYPE a [<!ENTITY x "1 &amp; 2">]>', b'')
    """
    declared = "".join(f'<!ENTITY {entity} "{escaped(value)}">' for entity, value in entities.items())
    return f"<!DOCTYPE {name} [{declared}]>".encode() if declared else b""


def escaped(value: str) -> str:
    """Text as it may stand anywhere in XML."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
