"""RDF/XML: entities made harmless, errors given a place, and everything before the first broken tag kept.

The parser would expand entities without limit and knows no place for its errors. So it is handed a document type with
entities that are already expanded and counted, and one tag at a time: where it stops is where it stopped.
After broken XML there is no telling what belongs to what, so reading ends there; an invalid IRI costs its triple only,
and an entity of HTML that nobody declared costs nothing but the mention.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from html.entities import name2codepoint
from types import MappingProxyType

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax
from motherlode.model.terms import RDF
from motherlode.transform.bounds import OutOfTime
from motherlode.transform.documents.source import Feed, Source
from motherlode.transform.documents.spelling import Batches, Names, catch_up, fault, statement_of, take
from motherlode.transform.documents.xmlliteral import canonical_literal
from motherlode.www.xmlhead import XmlHead, read_head

_HEAD = 1 << 20
"""Bytes in which the root element must start."""
_RECENT = 20_000
"""Statements that are remembered, for their nameless nodes."""
_MOST_ATTRIBUTES = 20_000
"""Of one element; the parser's time grows with their square."""
_EXPANSION = 20
_FREE_EXPANSION = 1 << 24
"""Entities may make a document so many times longer, and so much may come for free."""

_HTML_ENTITIES = {name: chr(code) for name, code in name2codepoint.items() if name not in ("lt", "gt", "amp", "quot")}
_NONE: Mapping[str, str] = MappingProxyType({})
_DECLARATION = b"<!ENTITY"
_XML_LITERAL = re.compile(rf'"(?:[^"\\]|\\.)*<(?:[^"\\]|\\.)*"\^\^<{re.escape(RDF)}XMLLiteral>')
_REFERENCE = re.compile(rb"&([^\s;&#]{1,64});")


class _GuardedFeed(Feed):
    """Ends the document where it would harm the parser: too many attributes, or too much that entities add."""

    def __init__(
        self, source: Source, head: XmlHead | None, *, known: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        entities = {**known, **(head.entities if head else {})}
        start, name = (head.root_offset, head.name) if head else (0, "RDF")
        super().__init__(source, start=start, header=_document_type(name, entities))
        self._entities = {name.encode(): len(value) for name, value in entities.items()}
        self._expanded = 0
        self._equals = 0
        self._tail = b""
        self._stopped = False

    def read(self, size: int) -> bytes:
        if self._header:
            return super().read(size)
        given = b"" if self._stopped else self._piece(size)
        self.position += len(given)
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
        if self._expanded > _FREE_EXPANSION + _EXPANSION * self.position:
            return self._stop("entities that make the document too long; the rest was left out")
        return given

    def _piece(self, size: int) -> bytes:
        return self._source.get(self.position, size)

    def _stop(self, message: str, before: bytes = b"") -> bytes:
        self._stopped = True
        self._equals = self._expanded = 0
        self._tail = b""
        line, column = self._source.place(self.position)
        self._source.problems.append(Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column))
        return before


class _TagFeed(_GuardedFeed):
    """Hands out one tag at a time, so that its position tells where the parser is."""

    def _piece(self, size: int) -> bytes:
        self._tag = self.position
        return self._source.get_through(b">", self.position, size)

    def place(self) -> tuple[int, int]:
        """Line and column of the tag that was handed out last, or of the text before it."""
        text = self._source.get(self._tag, self.position - self._tag)
        return self._source.place(self._tag + len(text) - len(text.lstrip()))


def _document_type(name: str, entities: Mapping[str, str]) -> bytes:
    declared = "".join(f'<!ENTITY {entity} "{_escaped(value)}">' for entity, value in entities.items())
    return f"<!DOCTYPE {name} [{declared}]>".encode() if declared else b""


def _escaped(value: str) -> str:
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def read_rdfxml(source: Source, base: str | None, names: Names) -> Batches:
    head = read_head(source.get(0, _HEAD))
    if head is not None and head.refused_entities:
        message = f"{head.refused_entities} entities were refused: too long, too deep, or not declared"
        yield Problem(syntax=Syntax.RDF_XML, message=message)
    parser = ox.parse(_GuardedFeed(source, head).file(), ox.RdfFormat.RDF_XML, base_iri=base)
    recent: deque[Statement] = deque(maxlen=_RECENT)
    batch: list[Statement] = []
    count = 0
    try:
        while take(parser, names, batch):
            ready, batch = _canonicalise(batch), []
            recent.extend(ready)
            count += len(ready)
            yield ready
        if head is None and not count:
            yield Problem(syntax=Syntax.RDF_XML, message="no element was found")
    except OutOfTime:
        yield _canonicalise(batch)
        raise
    except SyntaxError as error:
        recent.extend(_canonicalise(batch))
        yield batch
        if source.start:  # it cannot be read again
            yield Problem(syntax=Syntax.RDF_XML, message=error.msg)
        else:
            yield _located(source, head, base, error)
            yield from _salvage(source, head, base, names, recent, count + len(batch))


def _located(source: Source, head: XmlHead | None, base: str | None, error: SyntaxError) -> Problem:
    """The error as a problem with its place, which is where a parser that is fed tag by tag meets it again."""
    feed = _TagFeed(source, head)
    parser = ox.parse(feed.file(), ox.RdfFormat.RDF_XML, base_iri=base)
    try:
        for _ in parser:
            pass
    except SyntaxError:
        line, column = feed.place()
        return Problem(syntax=Syntax.RDF_XML, message=error.msg, line=line, column=column)
    return Problem(syntax=Syntax.RDF_XML, message=error.msg)


def _salvage(
    source: Source, head: XmlHead | None, base: str | None, names: Names, recent: Sequence[Statement], count: int
) -> Batches:
    """What a lenient parser, which also knows the entities of HTML, finds after the statements that are known.

    The first trouble is on record already.
    """
    feed = _TagFeed(source, head, known=_HTML_ENTITIES)
    parser = ox.parse(feed.file(), ox.RdfFormat.RDF_XML, base_iri=base, lenient=True)
    bad = 0
    try:
        catch_up(parser, recent, count, names)
        for quad in parser:
            statement = statement_of(quad, names)
            reason = fault(statement)
            if not reason:
                yield _canonicalise([statement])
            elif (bad := bad + 1) > 1:
                line, column = feed.place()
                yield Problem(syntax=Syntax.RDF_XML, message=reason, line=line, column=column)
    except SyntaxError as error:
        if bad:
            line, column = feed.place()
            yield Problem(syntax=Syntax.RDF_XML, message=error.msg, line=line, column=column)


def _canonicalise(batch: list[Statement]) -> list[Statement]:
    """XML literals in exclusive canonical form, as RDF/XML asks (section 7.2.17); the parser writes every namespace."""
    for number, (subject, predicate, obj, graph) in enumerate(batch):
        if "XMLLiteral>" in obj:
            batch[number] = (subject, predicate, _XML_LITERAL.sub(lambda term: canonical_literal(term[0]), obj), graph)
    return batch
