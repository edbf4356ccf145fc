"""RDF/XML that a parser refused, mended on its way to a second one; and where to go on when that refuses it as well.

What is mended leaves no doubt about what was meant: a bare ampersand or less-than, an entity of HTML, an attribute that
forgot its `rdf:`, an identifier that is no XML name. What has no meaning is left out, and costs itself only: an
attribute without namespace, text between nodes, names with a prefix that nobody declared, a datatype that is no IRI.
After anything else, reading goes on with the next child of `rdf:RDF`, behind the root's start tag once more, so that
its namespaces, base and language hold.

Nothing is wrong with comments and CDATA sections in text; but the parser takes no text in more than one piece.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

from motherlode.model import Problem, Statement, Syntax
from motherlode.transform.documents.guarded import GuardedFeed, document_type
from motherlode.transform.documents.source import Feed, Source
from motherlode.transform.documents.xmltags import (
    OpenElements,
    StartTag,
    cdata,
    end_tag,
    is_silent,
    is_tag,
    last_boundary,
    start_tag,
    token_end,
)
from motherlode.www.media import RDF_NAMESPACE
from motherlode.www.xmlhead import XmlHead

_FIRST_LOOK = 1 << 12
_LONGEST = 1 << 24
"""Bytes of a tag with the text before it."""
_MOST_SKIPPED = 200_000
"""Tags between an error and the end of its node."""
_LONGEST_ROOT = 1 << 16
"""Bytes of a root's start tag that is worth to be read again."""
_MOST_TOLD = 1000
"""Kinds of mending that are told of only once."""
_MOST_UNDECLARED = 100
"""Prefixes that nobody declared."""
_PROPERTY_DEPTH = 3
"""Open elements, where the last one is a property of a child of `rdf:RDF`."""

_HTML_ENTITIES = {name: chr(code) for name, code in name2codepoint.items() if name not in ("lt", "gt", "amp", "quot")}
_UNQUALIFIED = frozenset({b"ID", b"about", b"parseType", b"resource", b"type"})
"""Attributes of RDF that may do without a namespace (RDF 1.1 XML Syntax, section 6.1.4)."""
_UNDECLARED = "urn:x-undeclared-prefix:"
"""Namespace of names that have none. No statement with such a name is given."""
_RENAMED = "x-mended-"
_RENAMED_IRI = re.compile(rf"#{_RENAMED}([0-9a-f]*)>")
_OWN_PREFIX = b"x-mended-rdf"

_AMPERSAND = re.compile(rb"""&(?!\#[0-9]{1,7};|\#x[0-9A-Fa-f]{1,6};|[^\s;&<>\#"'=/?]{1,64};)""")
_REFERENCE = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")
_NAME_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NC_NAME = re.compile(f"[{_NAME_START}][{_NAME_START}\\-.0-9\xb7\u0300-\u036f\u203f\u2040]*")
_FRAGMENT = re.compile(r'[^\x00-\x20<>"{}|^`\\#%&\ufffd]+')
"""What may follow the # of an IRI as it is."""
_NO_IRI = re.compile(rb'[\x00-\x20<>"{}|^`\\]')
_LANGUAGE = re.compile(rb"[A-Za-z]{1,8}(?:_[A-Za-z0-9]{1,8})+")
"""A locale, which is a language tag but for its underscores."""


class MendingFeed(GuardedFeed):
    """Hands out a document as it is, or mended and tag by tag, so that its position tells where the parser is."""

    def __init__(self, source: Source, head: XmlHead | None) -> None:
        super().__init__(source, head)
        entities = head.entities if head else {}
        self.left_out = False
        """Something of the document is left that nobody will read."""
        self.is_paused = False
        """The document goes on behind the part that was to be mended."""
        self._head = head
        self._plain_type = self._header
        self._mending_type = document_type(head.name if head else "RDF", {**_HTML_ENTITIES, **entities})
        self._declared = frozenset(name.encode() for name in entities)
        self._open = OpenElements(entities)
        self._literal_depth: int | None = None
        """How many elements are open around the content of an XML literal."""
        self._root_offset = self.position
        self._root: StartTag | None = None
        """The root's start tag, mended, where it is `rdf:RDF`."""
        self._until: int | None = None
        """From where on mending may end; None where nothing is mended."""
        self._token = self._markup = self.position
        """Offsets of what was handed out last, and of the tag in it."""
        self._node_depth = 0
        """How deep a tag for a node was found last; 0 where the last tag is none."""
        self._pending = memoryview(b"")
        self._is_broken = False
        """What was handed out last is no tag; the parser must not look for its end in what follows."""
        self._told: set[str] = set()
        self._undeclared: set[bytes] = set()
        self._problems: list[Problem] = []

    def boundary(self, start: int) -> int:
        """The end of the last node that a parser got through, which was fed from `start` on; else `start`."""
        if self._root is None:
            self._learn_root()
        if self._root is None:
            return start
        text = self._source.get(start, self._token - start)
        return start + last_boundary(text, depth=0 if start == self._root_offset else 1)

    def before(self, start: int, end: int) -> Feed:
        """The document between two boundaries, as it is; without the end of its root."""
        root = b"" if self._root is None or start == self._root_offset else self._root.markup
        return Feed(self._source, start=start, end=end, header=self._plain_type + root)

    def mend(self, start: int, until: int) -> None:
        """Goes back to a boundary, and mends from there to the first boundary that is not before `until`."""
        self.position = self._token = start
        self._until = until
        self.is_paused = False
        self._literal_depth = None
        self._open.close_to(0)
        self._header = self._mending_type
        if self._root is not None and start > self._root_offset:
            self._open.open(self._root)
            self._header += self._root.markup

    def go_on(self) -> None:
        """Hands out the rest as it is, behind the root's start tag."""
        self._until = None
        self._header = self._plain_type + (self._root.markup if self._root else b"")

    def twin(self) -> MendingFeed:
        """Another one for the same document."""
        twin = MendingFeed(self._source, self._head)
        twin._root = self._root
        return twin

    def place(self) -> tuple[int, int]:
        """Line and column of the tag that was handed out last, or of the text before it."""
        text = self._source.get(self._token, self.position - self._token)
        return self._source.place(self._token + len(text) - len(text.lstrip()))

    def take_problems(self) -> list[Problem]:
        """Those since the last time."""
        taken, self._problems = self._problems, []
        return taken

    def resume(self) -> bool:
        """Moves behind the node that a parser stopped in, ready for another one; False where that cannot be done."""
        self._pending = memoryview(b"")
        self._is_broken = False
        error = self.position
        if self.is_stopped or self.is_paused or not len(self._open):
            return False
        if self._node_depth == _PROPERTY_DEPTH:  # no node may be there: the one before has no end
            self.position = self._markup
            self._open.close_to(1)
        skipped = 0
        while self._root and len(self._open) > 1 and skipped < _MOST_SKIPPED and not self._is_at_end():
            self._next_token()
            skipped += 1
        self._is_broken = False
        self._problems.clear()  # nobody reads what was skipped
        self._literal_depth = None
        if self._root:
            self._expanded += len(self._root.markup)
        if not self._root or len(self._open) > 1 or self._is_too_long():
            self.left_out = self.position > error or bool(self._source.get(error, _FIRST_LOOK).strip())
            return False
        self._header = self._mending_type + self._root.markup
        return len(self._open) == 1

    def _piece(self, size: int) -> bytes:
        if self._until is None:
            self._token = self.position
            return super()._piece(size)
        while not self._pending and not self._is_broken and not self.is_paused and not self._is_at_end():
            if self._root and len(self._open) == 1 and self.position >= self._until:
                self.is_paused = True
                self._pending = memoryview(self._root.closing)
            else:
                self._pending = memoryview(self._next_token())
        given, self._pending = bytes(self._pending[:size]), self._pending[size:]
        return given

    def _learn_root(self) -> None:
        position, token = self.position, self._token
        self.position = self._root_offset
        self._next_token()
        self._problems.clear()
        self._told.clear()
        self.position, self._token = position, token

    def _is_at_end(self) -> bool:
        return self.is_stopped or not self._source.get(self.position, 1)

    def _next_token(self) -> bytes:
        """The next tag with the text before it, mended; b"" where nothing is left of them."""
        size = _FIRST_LOOK
        while True:
            text = self._source.get(self.position, size)
            end = token_end(text, is_all=len(text) < size)
            if end is not None:
                break
            if size >= _LONGEST:
                return self._stop("a tag or a text is too long; the rest was left out")
            size *= 4
        start = text.find(b"<", 0, end)
        start = end if start == -1 else start
        self._token, self._markup = self.position, self.position + start
        self.position += end
        return self._mended_text(text[:start]) + self._mended_markup(text[start:end])

    def _mended_text(self, text: bytes) -> bytes:
        if len(self._open) == 1 and text.strip():
            self._tell("text between nodes was left out")
            return b""
        return self._escaped(text)

    def _mended_markup(self, markup: bytes) -> bytes:
        self._node_depth = 0
        if markup.startswith((b"<!", b"<?")):
            if self._literal_depth is None:
                return b"" if is_silent(markup) else cdata(markup)
            return markup
        self._is_broken = bool(markup) and not is_tag(markup)
        name = end_tag(markup)
        if name is not None:
            self._close(name)
            return markup
        tag = start_tag(self._escaped(markup))
        if tag is not None:
            return self._start_tag(tag)
        if self._is_broken:
            self._is_broken = False
            self._tell_mended("a bare < was read as &lt;")
            return self._escaped(markup).replace(b"<", b"&lt;")
        return markup

    def _close(self, name: bytes) -> None:
        self._open.close(name)
        if self._literal_depth is not None and len(self._open) < self._literal_depth:
            self._literal_depth = None

    def _escaped(self, text: bytes) -> bytes:
        if b"&" not in text:
            return text
        names = dict.fromkeys(name for name in _REFERENCE.findall(text) if name not in self._declared)
        html = [f"&{name.decode()};" for name in names if name.decode() in _HTML_ENTITIES]
        if html:
            self._tell_mended(f"entities of HTML that were not declared: {', '.join(html[:20])}")
        mended = _AMPERSAND.sub(b"&amp;", text)
        if mended != text:
            self._tell_mended("a bare & was read as &amp;")
        return mended

    def _start_tag(self, tag: StartTag) -> bytes:
        """Notes that an element begins, and what its start tag should have been."""
        is_root = not len(self._open)
        self._open.open(tag)
        if tag.is_whole:  # else it is beyond us
            tag = tag.with_attributes(self._attributes(tag))
        is_rdf = self._open.is_rdf(tag.name, b"RDF", is_element=True)
        if is_root and is_rdf and not tag.is_empty and len(tag.markup) <= _LONGEST_ROOT:
            self._root = tag
        if self._literal_depth is None:
            self._look_at(tag)
        if tag.is_empty:
            self._close(tag.name)
        return tag.markup

    def _look_at(self, tag: StartTag) -> None:
        """Remembers what an error in this tag, or what comes inside of it, depends on."""
        if self._open.is_rdf(tag.name, b"Description", is_element=True):
            self._node_depth = len(self._open)
        for name, value in tag.attributes:
            if self._open.is_rdf(name, b"about"):
                self._node_depth = len(self._open)
            elif self._open.is_rdf(name, b"parseType") and value not in (b"Resource", b"Collection"):
                self._literal_depth = len(self._open)

    def _attributes(self, tag: StartTag) -> list[tuple[bytes, bytes]]:
        found = list(tag.attributes)
        if self._literal_depth is None:
            found = [one for name, value in found for one in self._attribute(tag, name, value)]
        for prefix in self._without_namespace(tag):
            shown = (
                f"the prefix {prefix.decode(errors='replace')}:" if prefix else "the namespace of names without prefix"
            )
            self._tell(f"{shown} is not declared; what is said with it was left out")
            namespace = f"{_UNDECLARED}{prefix.hex()}:"
            self._undeclared.add(prefix)
            self._open.declare(prefix, namespace)
            found.append((b"xmlns:" + prefix if prefix else b"xmlns", namespace.encode()))
        return found

    def _attribute(self, tag: StartTag, name: bytes, value: bytes) -> list[tuple[bytes, bytes]]:
        """What an attribute outside of XML literals should have been."""
        added = []
        if b":" not in name and name != b"xmlns":
            shown = name.decode(errors="replace")
            prefix = self._open.rdf_prefix()
            if name not in _UNQUALIFIED or tag.value(prefix + b":" + name) is not None:
                self._tell(f"the attribute {shown} has no namespace; it was left out")
                return []
            if not prefix:
                prefix = _OWN_PREFIX
                self._open.declare(prefix, RDF_NAMESPACE)
                added.append((b"xmlns:" + prefix, RDF_NAMESPACE.encode()))
            self._tell_mended(f"the attribute {shown} was read as rdf:{shown}", once=True)
            name = prefix + b":" + name
        if self._open.is_rdf(name, b"ID") or self._open.is_rdf(name, b"nodeID"):
            value = self._identifier(name, value)
        elif self._open.is_rdf(name, b"datatype") and _NO_IRI.search(value):
            self._tell(f"the datatype {value[:100].decode(errors='replace')!r} is no IRI")
            value = _UNDECLARED.encode()
        elif name == b"xml:lang" and _LANGUAGE.fullmatch(value):
            self._tell_mended(f"xml:lang={value.decode()!r} should have hyphens", once=True)
            value = value.replace(b"_", b"-")
        return [*added, (name, value)]

    def _identifier(self, name: bytes, value: bytes) -> bytes:
        text = value.decode(errors="replace")
        if _NC_NAME.fullmatch(text) or not _FRAGMENT.fullmatch(text):
            return value
        self._tell_mended(f"{name.decode(errors='replace')}={text[:100]!r} is no XML name")
        return (_RENAMED + value.hex()).encode()

    def _without_namespace(self, tag: StartTag) -> list[bytes]:
        """The prefixes of a tag that nobody declared. Where there are many, it is no mistake that we could mend."""
        prefixes = dict.fromkeys(name.rpartition(b":")[0] for name, _ in tag.attributes if b":" in name)
        prefix, colon, _ = tag.name.rpartition(b":")
        if colon or self._literal_depth is None:
            prefixes[prefix] = None
        missing = [one for one in prefixes if one != b"xmlns" and not self._open.namespace(one)]
        return missing if len(self._undeclared) < _MOST_UNDECLARED else []

    def _tell_mended(self, message: str, *, once: bool = False) -> None:
        """`once` is for what a whole document may be full of."""
        if message in self._told:
            return
        if once and len(self._told) < _MOST_TOLD:
            self._told.add(message)
        self._tell(message, mended=True)

    def _tell(self, message: str, *, mended: bool = False) -> None:
        line, column = self.place()
        self._problems.append(Problem(syntax=Syntax.RDF_XML, message=message, line=line, column=column, mended=mended))


def restored(statement: Statement) -> Statement | None:
    """A statement of a mended document with the identifiers that were renamed; None where it has a name of no meaning.

    >>> restored(("<http://example.org/#x-mended-3162>", "<urn:p>", "<urn:o>", ""))
    ('<http://example.org/#1b>', '<urn:p>', '<urn:o>', '')
    """
    subject, predicate, obj, graph = statement
    if _UNDECLARED in predicate or (obj[-1] == ">" and _UNDECLARED in obj):
        return None
    if _RENAMED in subject or _RENAMED in obj:
        subject, obj = _renamed_back(subject), _renamed_back(obj)
    return subject, predicate, obj, graph


def _renamed_back(term: str) -> str:
    if term[0] != "<":
        return term
    return _RENAMED_IRI.sub(lambda match: f"#{bytes.fromhex(match[1]).decode(errors='replace')}>", term)
