"""Scan the tags of XML that may not be well-formed, and track the open elements and namespaces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from motherlode.www.iri import resolve_and_check
from motherlode.www.media_types import RDF_NAMESPACE

_ENCLOSED = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))
_OPENING = re.compile(rb"<!--|<!\[CDATA\[|<\?")
_LONGEST_OPENING = 9
_VALUES = rb"""\"[^"]*+"(?=[\s/>])|'[^']*+'(?=[\s/>])"""
_TAG = re.compile(rb"""<(?:[^<>"']++|%s)*+""" % _VALUES)
_BROKEN = re.compile(rb"<++[^<>]*+>?")
_START = re.compile(rb"""<([^\s<>/=!?&"']++)""")
_END = re.compile(rb"""</\s*+([^\s<>/=!?&"']++)""")
_ATTRIBUTE = re.compile(rb"""\s*+([^\s<>/="']++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_WHOLE = re.compile(
    rb"""[^<]*+<(?:(!--.*?--|!\[CDATA\[.*?\]\]|\?.*?\?)|(/)?[^\s<>/=!?&"'](?:[^<>"'/]++|/(?!>)|%s)*+(/)?)>""" % _VALUES,
    re.DOTALL,
)
_NODE = re.compile(rb"<(?:[^\s<>/:]+:)?Description[\s/>]|<[^/!?][^<>]*[\s:]about\s*=")
"""A start tag that must be that of a node."""
_STEPS = {None: 1, 2: -1}
"""Change of depth by the last matching group: None for a start tag, 1 comment, 2 end tag, 3 empty element."""
_XML = "http://www.w3.org/XML/1998/namespace"
_MAX_SEARCHED_ELEMENTS = 64
"""Maximum number of innermost open elements that are compared with an end tag."""


def find_last_boundary(text: bytes, *, depth: int) -> int:
    """Return the end of the last child of the root in well-formed text, or 0. `depth` elements are open at first."""
    last = position = 0
    while token := _WHOLE.match(text, position):
        position = token.end()
        depth += _STEPS.get(token.lastindex, 0)
        if depth == 1:
            last = position
    return last


def count_depth(text: bytes, *, depth: int) -> tuple[int, int]:
    """Return the depth after the last complete tag of well-formed text, and the end of that tag."""
    end = text.rfind(b">") + 1
    is_plain = text.count(b"<", 0, end) == text.count(b">") and b"<!" not in text and b"<?" not in text
    if is_plain:  # every < starts a tag and every > ends one
        return depth + text.count(b"<", 0, end) - 2 * text.count(b"</", 0, end) - text.count(b"/>"), end
    position = 0
    while token := _WHOLE.match(text, position):
        position = token.end()
        depth += _STEPS.get(token.lastindex, 0)
    return depth, position


def ends_before_root(text: bytes, names: Sequence[bytes]) -> bool:
    """Return whether the innermost of the open elements `names` ends in the text before an outer one does."""
    opened = list(names)
    position = 0
    while token := _WHOLE.match(text, position):
        position = token.end()
        markup = token[0][token[0].index(b"<") :]
        if token.lastindex is None:
            found = _START.match(markup)
            opened.append(found[1] if found else b"")
        elif _STEPS.get(token.lastindex) == -1:
            if opened.pop() != parse_end_tag(markup):
                return False
            if len(opened) < len(names):
                return True
    return False


def find_next_node(text: bytes, root: bytes) -> int:
    """Return the start of the root's next child. An unmatched end tag shows that the text began inside an element."""
    found = depth = position = 0
    while token := _WHOLE.match(text, position):
        position = token.end()
        markup = token[0][token[0].index(b"<") :]
        if depth == 0 and _NODE.match(markup):
            break
        depth += _STEPS.get(token.lastindex, 0)
        if depth < 0:
            if parse_end_tag(markup) == root:
                break
            found, depth = position, 0
    return found


def find_token_end(text: bytes, *, is_all: bool) -> int | None:
    """Return the end of the first tag, comment or the like; None if more text is needed (never if `is_all`)."""
    start = text.find(b"<")
    if not is_all and (start == -1 or len(text) - start < _LONGEST_OPENING):
        return None
    if start == -1:
        return len(text)
    for opening, closing in _ENCLOSED:
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            return end + len(closing) if end != -1 else (len(text) if is_all else None)
    end = _end_of(_TAG, text, start)
    stopper = text[end : end + 1]
    if stopper == b">":
        return end + 1
    is_open = not stopper or (stopper != b"<" and text.find(stopper, end + 1) in (-1, len(text) - 1))
    return None if is_open and not is_all else _end_of(_BROKEN, text, start)


def is_tag(markup: bytes) -> bool:
    """Return whether markup that starts like a tag is a complete tag."""
    return _end_of(_TAG, markup, 0) == len(markup) - 1


def has_unclosed_section(text: bytes) -> bool:
    """Return whether a comment, CDATA section or processing instruction is not closed."""
    closings = dict(_ENCLOSED)
    opening = _OPENING.search(text)
    while opening is not None:
        end = text.find(closings[opening[0]], opening.end())
        if end == -1:
            return True
        opening = _OPENING.search(text, end)
    return False


def convert_cdata(markup: bytes) -> bytes:
    """Return a CDATA section as escaped text; other markup unchanged."""
    if not (markup.startswith(b"<![CDATA[") and markup.endswith(b"]]>")):
        return markup
    return markup[9:-3].replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _end_of(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTag:
    """A start tag with its names and values as written."""

    markup: bytes
    name: bytes
    attributes: tuple[tuple[bytes, bytes], ...]
    rest: bytes
    """The part after the last attribute that could be parsed."""

    @property
    def is_whole(self) -> bool:
        return self.rest.strip() in (b">", b"/>")

    @property
    def is_empty(self) -> bool:
        return self.rest.endswith(b"/>")

    @property
    def end_tag(self) -> bytes:
        return b"</" + self.name + b">"

    def value(self, name: bytes) -> bytes | None:
        return next((value for known, value in self.attributes if known == name), None)

    def with_attributes(self, attributes: tuple[tuple[bytes, bytes], ...]) -> StartTag:
        """Return the tag with these attributes, and a space before each."""
        spelled = (b' %s="%s"' % (name, value.replace(b'"', b"&quot;")) for name, value in attributes)
        markup = b"<" + self.name + b"".join(spelled) + self.rest
        return StartTag(markup=markup, name=self.name, attributes=attributes, rest=self.rest)


def parse_start_tag(markup: bytes) -> StartTag | None:
    """Parse a start tag. Return None if the markup is not one."""
    found = _START.match(markup)
    if found is None:
        return None
    attributes = []
    position = found.end()
    while attribute := _ATTRIBUTE.match(markup, position):
        attributes.append((attribute[1], attribute[2] if attribute[2] is not None else attribute[3]))
        position = attribute.end()
    return StartTag(markup=markup, name=found[1], attributes=tuple(attributes), rest=markup[position:])


def parse_end_tag(markup: bytes) -> bytes | None:
    """Return the name in an end tag; None if the markup is not an end tag."""
    found = _END.match(markup)
    return found[1] if found else None


class OpenElements:
    """The open elements and the namespaces in scope, with a stack per prefix so that depth costs nothing."""

    def __init__(self, entities: Mapping[str, str], base: str = "") -> None:
        self._entities = {f"&{name};".encode(): value.encode() for name, value in entities.items()}
        self._names: list[bytes] = []
        self._bases = [base]
        self._declared: list[tuple[bytes, ...]] = []
        self._namespaces: dict[bytes, list[str]] = {b"xml": [_XML]}

    def __len__(self) -> int:
        return len(self._names)

    @property
    def base(self) -> str:
        """Base IRI inside the innermost element (XML Base, section 3)."""
        return self._bases[-1]

    def names(self) -> list[bytes]:
        """Return the names of the open elements, root first."""
        return list(self._names)

    def open(self, tag: StartTag) -> None:
        """Open an element with its namespace declarations and base."""
        declared = []
        base = tag.value(b"xml:base")
        self._bases.append(
            self.base if base is None else resolve_and_check(self.base, self._expand_entities(base)).value
        )
        for name, value in tag.attributes:
            if name == b"xmlns" or name.startswith(b"xmlns:"):
                prefix = name[6:]
                self._namespaces.setdefault(prefix, []).append(self._expand_entities(value))
                declared.append(prefix)
        self._names.append(tag.name)
        self._declared.append(tuple(declared))

    def declare(self, prefix: bytes, namespace: str) -> None:
        """Add a namespace declaration to the innermost element."""
        self._namespaces.setdefault(prefix, []).append(namespace)
        self._declared[-1] += (prefix,)

    def close(self, name: bytes) -> None:
        """Close the innermost element of that name with its descendants, or else the innermost element."""
        nearest = self._names[: -_MAX_SEARCHED_ELEMENTS - 1 : -1]
        self.close_to(len(self._names) - (nearest.index(name) + 1 if name in nearest else 1))

    def close_to(self, depth: int) -> None:
        """Close the innermost elements until `depth` are open."""
        while len(self._names) > max(depth, 0):
            self._names.pop()
            self._bases.pop()
            for prefix in self._declared.pop():
                self._namespaces[prefix].pop()

    def namespace(self, prefix: bytes) -> str:
        """Return the namespace of a prefix, or ""."""
        held = self._namespaces.get(prefix)
        return held[-1] if held else ""

    def rdf_prefix(self) -> bytes:
        """Return a non-empty prefix for the RDF namespace, or b""."""
        return next(
            (prefix for prefix, held in self._namespaces.items() if prefix and held[-1:] == [RDF_NAMESPACE]), b""
        )

    def is_rdf(self, name: bytes, local: bytes, *, is_element: bool = False) -> bool:
        """Return whether a qualified name is the name `local` in the RDF namespace."""
        prefix, colon, rest = name.rpartition(b":")
        return rest == local and bool(colon or is_element) and self.namespace(prefix) == RDF_NAMESPACE

    def _expand_entities(self, value: bytes) -> str:
        if b"&" in value:
            for reference, text in self._entities.items():
                value = value.replace(reference, text)
        return unescape(value.decode(errors="replace"))
