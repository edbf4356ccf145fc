"""Repair RDF/XML that a parser rejected, and skip the nodes that cannot be repaired.

Only faults with a single possible meaning are repaired, such as a bare `&`. Parts without a meaning are dropped alone,
such as an attribute without a namespace. After any other error, reading continues with the next child of `rdf:RDF`,
after the start tag of the root. Comments and CDATA sections are removed or escaped, because the parser does not join
text that comes in several pieces.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

from motherlode.model import Problem, Syntax
from motherlode.transform.rdf_documents import rdfxml_input, xml_scanner
from motherlode.transform.rdf_documents.source import Feed, Source
from motherlode.www.xml import XmlHead

_FIRST_READ_BYTES = 1 << 12
_MAX_TOKEN_BYTES = 1 << 24
"""Maximum length of a tag together with the text before it."""
_MAX_SKIPPED_TAGS = 200_000
"""Maximum number of tags between an error and the end of its node."""
_MAX_ROOT_BYTES = 1 << 16
"""A longer start tag of the root is not inserted again, so reading ends at the first error."""
_MAX_REPORTED_ONCE = 1000
"""Maximum number of messages remembered so that each is reported once."""
_LOOKAHEAD_BYTES = 1 << 18
"""Bytes searched for the end of a node."""
_NEXT_NODE_BYTES = 1 << 15
"""Bytes searched for the start of the next node."""
_PROPERTY_DEPTH = 3
"""Depth of a property of a child of `rdf:RDF`: the root, the node and the property are open."""

_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF
_XML_ENTITIES = frozenset({b"lt", b"gt", b"amp", b"quot", b"apos"})
_HTML_ENTITIES = {name: chr(code) for name, code in name2codepoint.items() if name.encode() not in _XML_ENTITIES}

_NAME = rb"""\#[0-9]{1,20}|\#x[0-9A-Fa-f]{1,20}|[^\s;&<>\#"'=/?]{1,64}"""
_AMPERSAND = re.compile(rb"&(?!(?:%s);)" % _NAME)
_REFERENCE = re.compile(rb"&(%s);" % _NAME)


_OTHER_PARSE_TYPE = re.compile(
    rb"""parseType\s*+=\s*+(["'])(?!(?:%s)\1)""" % b"|".join(sorted(rdfxml_input.PARSE_TYPES))
)


class RepairingFeed(rdfxml_input.LimitedFeed):
    """Feeds a document to a parser, either unchanged in large parts, or repaired and tag by tag.

    The second way is slower and locates an error, because the parser stops at the faulty tag.
    """

    def __init__(self, source: Source, head: XmlHead | None, base: str = "") -> None:
        super().__init__(source, head)
        entities = head.entities if head else {}
        self.has_unread_rest = False
        """Whether the rest of the document will not be read."""
        self.is_paused = False
        """Whether the current part has ended and the document continues."""
        self._head = head
        self._base = base
        self._plain_doctype = self._header
        self._repairing_doctype = rdfxml_input.document_type(
            head.name if head else "RDF", {**_HTML_ENTITIES, **entities}
        )
        self._declared = frozenset(name.encode() for name in entities)
        self._open = xml_scanner.OpenElements(entities, base)
        self._attributes = rdfxml_input.AttributeRepairer(self._open, self._report)
        self._literal_depth: int | None = None
        """Number of open elements at the start of an XML literal; None outside literals."""
        self._root_offset = self.position
        self._root: xml_scanner.StartTag | None = None
        """The repaired start tag of the root, if the root is `rdf:RDF`."""
        self._repair_until: int | None = None
        """Offset after which repair may end; None if nothing is repaired."""
        self._end: int | None = None
        """Offset where an unchanged part ends; None if not yet known."""
        self._splitter: rdfxml_input.DocumentSplitter | None = None
        self._token = self._markup = self.position
        """Byte offsets of the last token read (a tag with the text before it), and of the tag in it."""
        self._node_depth = 0
        """Depth of the last tag if it starts a node, else 0."""
        self._pending = memoryview(b"")
        self._skipped_to = -1
        """Offset at which the last skipped node ended; -1 if none was skipped."""
        self._is_broken = False
        """Whether the last token is not a complete tag. The parser must not look for the end of the tag in the text
        after it."""
        self._reported: set[str] = set()
        self._problems: list[Problem] = []

    def find_node_boundary(self, start: int) -> int:
        """Return the end of the last node completed by a parser that started at `start`; `start` if there is none."""
        self._read_root()
        if self._root is None:
            return start
        text = self._source.get(start, self._token - start)
        return start + xml_scanner.find_last_boundary(text, depth=0 if start == self._root_offset else 1)

    def feed_between(self, start: int, end: int) -> Feed:
        """Return a feed of the unchanged document between two boundaries. It does not close the root."""
        root = b"" if self._root is None or start == self._root_offset else self._root.markup
        return Feed(self._source, start=start, end=end, header=self._plain_doctype + root)

    def start_repair(self, start: int, until: int) -> None:
        """Go back to the boundary `start` and repair up to the first boundary at or after `until`."""
        self.position = self._token = start
        self._repair_until = until
        self._skipped_to = -1
        self.is_paused = False
        self._literal_depth = None
        self._open.close_to(0)
        self._header = self._repairing_doctype
        if self._root is not None and start > self._root_offset:
            self._open.open(self._root)
            self._header += self._root.markup

    def start_plain(self) -> None:
        """Feed the rest of the document unchanged, as several parts.

        A part that begins inside the root element gets a copy of its start tag, so that a parser can read it alone. If
        a part has an error, it is read again and repaired.
        """
        self._repair_until = self._end = None
        self.is_paused = False
        is_at_root = self.position == self._root_offset
        self._splitter = rdfxml_input.DocumentSplitter(self._source, self.position, depth=0 if is_at_root else 1)
        self._header = self._plain_doctype + (self._root.markup if self._root and not is_at_root else b"")

    def copy(self) -> RepairingFeed:
        copied = RepairingFeed(self._source, self._head, self._base)
        copied._root = self._root
        return copied

    def is_truncated(self) -> bool:
        """Return whether the document was read to its end without an end tag of the root."""
        root = self._root or xml_scanner.parse_start_tag(self._source.get(self._root_offset, _FIRST_READ_BYTES))
        if self._source.get(self.position, 1) or self.is_stopped or root is None:
            return False
        start = max(self._source.start, self._root_offset, self.position - _LOOKAHEAD_BYTES)
        text = self._source.get(start, self.position - start)
        if xml_scanner.has_unclosed_section(text):
            return True
        return root.end_tag[:-1] not in text and (
            start > self._root_offset or xml_scanner.count_depth(text, depth=0)[0] > 0
        )

    def tag_position(self) -> tuple[int, int]:
        """Return line and column of the last tag read, or of the text before it."""
        text = self._source.get(self._token, self.position - self._token)
        return self._source.position_of(self._token + len(text) - len(text.lstrip()))

    def take_problems(self) -> list[Problem]:
        """Return the problems recorded since the last call."""
        taken, self._problems = self._problems, []
        return taken

    def skip_node(self) -> bool:
        """Move to the end of the node in which a parser stopped. Return False if reading cannot continue."""
        self._pending = memoryview(b"")
        self._is_broken = False
        error = self.position
        if self.is_stopped or self.is_paused or not len(self._open):
            return False
        if error == self._skipped_to:  # the parser has read nothing since: it fails at the start tag of the root
            self.has_unread_rest = True
            return False
        if self._node_depth == _PROPERTY_DEPTH and not self._node_has_end():  # a node instead of a property
            self.position = self._markup
            self._open.close_to(1)
        skipped = 0
        while self._root and len(self._open) > 1 and skipped < _MAX_SKIPPED_TAGS and not self._is_at_end():
            self._repair_next_token()
            skipped += 1
        if len(self._open) == 1:
            self.position = self._find_next_node(self.position)
        self._skipped_to = self.position
        self._is_broken = False
        self._problems.clear()  # problems of skipped input
        self._literal_depth = None
        if self._root:
            self._expanded += len(self._root.markup)
        if not self._root or len(self._open) > 1 or self._is_too_long():
            self.has_unread_rest = self.position > error or bool(self._source.get(error, _FIRST_READ_BYTES).strip())
            return False
        self._header = self._repairing_doctype + self._root.markup
        return len(self._open) == 1

    def _node_has_end(self) -> bool:
        """Return whether the open child of the root has an end tag before the end tag of the root."""
        return xml_scanner.ends_before_root(self._source.get(self._markup, _LOOKAHEAD_BYTES), self._open.names()[:2])

    def _read_piece(self, size: int) -> bytes:
        if self._repair_until is None:
            return self._read_plain_piece(size)
        while not self._pending and not self._is_broken and not self.is_paused and not self._is_at_end():
            if self._root and len(self._open) == 1 and self.position >= self._repair_until:
                self.is_paused = True
                self._pending = memoryview(self._root.end_tag)
            else:
                self._pending = memoryview(self._repair_next_token())
        return self._read_pending(size)

    def _read_plain_piece(self, size: int) -> bytes:
        if self._end is None and self._splitter is not None:
            self._end = self._splitter.find_end(self.position, size)
            if self._end is not None:
                self._read_root()
                if self._root is None:  # the root is itself a node, so its content cannot be read on its own
                    self._splitter = self._end = None
        if self._end is None:
            return self._read_source(size)
        if self.position < self._end:
            return self._read_source(min(size, self._end - self.position))
        if self._root and not self.is_paused:
            self.is_paused = True
            self._pending = memoryview(self._root.end_tag)
        return self._read_pending(size)

    def _read_source(self, size: int) -> bytes:
        self._token = self.position
        given = super()._read_piece(size)
        if b"parseType" in given and _OTHER_PARSE_TYPE.search(given):
            self.position = self._token  # the reader catches the error and starts to repair here
            raise SyntaxError("an unknown parse type")
        return given

    def _read_pending(self, size: int) -> bytes:
        given, self._pending = bytes(self._pending[:size]), self._pending[size:]
        return given

    def _read_root(self) -> None:
        if self._root is not None:
            return
        position, token = self.position, self._token
        self.position = self._root_offset
        self._repair_next_token()
        self._problems.clear()
        self._reported.clear()
        self.position, self._token = position, token

    def _is_at_end(self) -> bool:
        return self.is_stopped or not self._source.get(self.position, 1)

    def _repair_next_token(self) -> bytes:
        """Return the next tag together with the text before it, both repaired; b"" if neither can be kept."""
        size = _FIRST_READ_BYTES
        while True:
            text = self._source.get(self.position, size)
            end = xml_scanner.find_token_end(text, is_all=len(text) < size)
            if end is not None:
                break
            if size >= _MAX_TOKEN_BYTES:
                return self._stop("a tag or a text is too long; the rest was left out")
            size *= 4
        start = text.find(b"<", 0, end)
        start = end if start == -1 else start
        self._token, self._markup = self.position, self.position + start
        self.position += end
        if len(self._open) == 1 and text[:start].strip():
            self._report("text between nodes was left out")
            self.position = self._find_next_node(self._markup)
            return b""
        return self._repair_references(text[:start]) + self._repair_markup(text[start:end])

    def _find_next_node(self, position: int) -> int:
        """Return the start of the next node after `position`, which seems to lie between two nodes."""
        name = self._open.names()[0]
        return position + xml_scanner.find_next_node(self._source.get(position, _NEXT_NODE_BYTES), name)

    def _repair_markup(self, markup: bytes) -> bytes:
        self._node_depth = 0
        if markup.startswith((b"<!", b"<?")):
            if self._literal_depth is None:
                return b"" if markup.startswith((b"<!--", b"<?")) else xml_scanner.convert_cdata(markup)
            return markup
        self._is_broken = bool(markup) and not xml_scanner.is_tag(markup)
        name = xml_scanner.parse_end_tag(markup)
        if name is not None:
            self._close(name)
            return markup
        tag = xml_scanner.parse_start_tag(self._repair_references(markup))
        if tag is not None and self._is_broken and tag.is_whole:
            self._is_broken = False
            self._report("missing space between attributes", repaired=True)
            tag = tag.with_attributes(tag.attributes)
        if tag is not None:
            return self._repair_start_tag(tag)
        if self._is_broken:
            self._is_broken = False
            self._report("a bare < was read as &lt;", repaired=True)
            return self._repair_references(markup).replace(b"<", b"&lt;")
        return markup

    def _close(self, name: bytes) -> None:
        self._open.close(name)
        if self._literal_depth is not None and len(self._open) < self._literal_depth:
            self._literal_depth = None

    def _repair_references(self, text: bytes) -> bytes:
        if b"&" not in text:
            return text
        repaired = _AMPERSAND.sub(b"&amp;", text)
        if repaired != text:
            self._report("a bare & was read as &amp;", repaired=True)
        references = dict.fromkeys(_REFERENCE.findall(repaired))
        names = {name.decode(errors="replace"): name for name in references if name not in self._declared}
        if html := [f"&{name};" for name in names if name in _HTML_ENTITIES]:
            self._report(f"HTML entities that are not declared: {', '.join(html[:20])}", repaired=True)
        for shown, name in names.items():
            if shown not in _HTML_ENTITIES and not _is_predefined(name):
                why = "is not a character" if name.startswith(b"#") else "is not declared"
                self._report(f"&{shown}; {why}; statements that use it were left out")
                repaired = repaired.replace(b"&%s;" % name, rdfxml_input.UNDECLARED_ENTITY.encode())
        return repaired

    def _repair_start_tag(self, tag: xml_scanner.StartTag) -> bytes:
        """Open the element and return its repaired start tag."""
        is_root = not len(self._open)
        self._open.open(tag)
        if tag.is_whole and self._literal_depth is None:  # other tags cannot be repaired or are part of a literal
            attributes = tuple(self._attributes.repair_attributes(tag))
            tag = tag if attributes == tag.attributes else tag.with_attributes(attributes)
        is_rdf = self._open.is_rdf(tag.name, b"RDF", is_element=True)
        if is_root and is_rdf and not tag.is_empty and len(tag.markup) <= _MAX_ROOT_BYTES:
            self._root = tag
        if self._literal_depth is None:
            self._note_position(tag)
        if tag.is_empty:
            self._close(tag.name)
        return tag.markup

    def _note_position(self, tag: xml_scanner.StartTag) -> None:
        """Record whether the tag starts a node or an XML literal."""
        if self._open.is_rdf(tag.name, b"Description", is_element=True):
            self._node_depth = len(self._open)
        for name, value in tag.attributes:
            if self._open.is_rdf(name, b"about"):
                self._node_depth = len(self._open)
            elif self._open.is_rdf(name, b"parseType") and value == rdfxml_input.LITERAL:
                self._literal_depth = len(self._open)

    def _report(self, message: str, *, repaired: bool = False, once: bool = False) -> None:
        if once:
            if message in self._reported:
                return
            if len(self._reported) < _MAX_REPORTED_ONCE:
                self._reported.add(message)
        line, column = self.tag_position()
        self._problems.append(
            Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column, repaired=repaired)
        )


def _is_predefined(name: bytes) -> bool:
    """Return whether a reference is valid without a declaration."""
    if not name.startswith(b"#"):
        return name in _XML_ENTITIES
    code = int(name[2:], 16) if name[1:2] == b"x" else int(name[1:])
    return 0 < code < _SURROGATES.start or _SURROGATES.stop <= code <= _LAST_CHARACTER
