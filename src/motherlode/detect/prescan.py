"""What a document says of its own charset: `meta` elements and the XML declaration.

It is read as browsers do (HTML standard, 13.2.3.2, "prescan a byte stream to determine its encoding"): tag by tag and
attribute by attribute, so that neither a comment nor a description is taken for a declaration. Like Chromium, and
unlike the standard's first look at 1,024 bytes, it passes over what scripts and styles contain, and goes on as long as
the head of the page does: parsers heed a `meta` that comes late, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from motherlode.detect.labels import codec_of

_ANYWHERE = 1024
"""Bytes in which a `meta` counts, whatever element it stands in."""
_FARTHEST = 1 << 18
"""Bytes after which no head is read any further."""
_FIRST_TAGS = 4096
"""Bytes in which an XML declaration ends, and the first element begins."""

_OPENING = re.compile(rb"<(?:(?P<comment>!--)|(?P<name>/?[A-Za-z][^\s/>]*+)|[!/?])")
_COMMENT_END = re.compile(rb"--!?>")
_ATTRIBUTE = re.compile(rb"""[\s/]*+([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]*+)))?+""")
_ATTRIBUTES = re.compile(rb"(?:%s)*+" % _ATTRIBUTE.pattern)
_IN_CONTENT = re.compile(rb"""charset\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s;"'][^\s;]*+))""", re.IGNORECASE)
_XML = re.compile(rb"""\s*+<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']""")
_HTML = re.compile(rb"<html[\s>]", re.IGNORECASE)

_TEXT_ONLY = frozenset({b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"})
"""Elements in which tags are but text."""
_IN_HEAD = frozenset(
    (b"html", b"head", b"meta", b"link", b"base", b"title", b"script", b"style", b"noscript", b"template", b"object")
)


def claims_in(body: bytes) -> Iterator[str]:
    """The codecs that a document names for itself, what counts most first. Labels that nobody knows are passed over.

    >>> list(claims_in(b"<title>charset</title><meta name=description content='charset=koi8-r'><meta charset=latin1>"))
    ['cp1252']
    """
    xml = _XML.match(body, 0, _FIRST_TAGS)
    if xml is None or _HTML.search(body, 0, _FIRST_TAGS):
        for attributes in _metas(body[:_FARTHEST]):
            for label in _labels_in(attributes):
                yield from _readable(label)
    if xml is not None:
        yield from _readable(xml[1])


def _readable(label: bytes) -> Iterator[str]:
    codec = codec_of(label.decode("ascii", "replace"))
    if codec is not None:  # and what could be read so far is not in UTF-16, whatever it says of itself
        yield "utf-8" if codec.startswith("utf-16") else codec


def _metas(markup: bytes) -> Iterator[dict[bytes, bytes]]:
    """The attributes of each `meta` element of the head."""
    place = 0
    while (opening := _OPENING.search(markup, place)) is not None:
        name = (opening["name"] or b"").lower()
        if not name:
            place = _after_comment(markup, opening)
        elif name == b"meta":
            attributes, place = _attributes(markup, opening.end())
            yield attributes
        else:
            place = _after_tag(markup, opening.end(), name)
            if place > _ANYWHERE and name.removeprefix(b"/") not in _IN_HEAD:
                return


def _after_comment(markup: bytes, opening: re.Match[bytes]) -> int:
    """Where a comment ends, or what is read like one: a document type, a processing instruction."""
    if not opening["comment"]:
        return _or_end(markup, markup.find(b">", opening.end()))
    end = _COMMENT_END.search(markup, opening.end() - 2)  # <!--> is a whole one
    return end.end() if end else len(markup)


def _after_tag(markup: bytes, place: int, name: bytes) -> int:
    """Where a tag ends; for elements of text alone, where their end tag begins."""
    rest = _ATTRIBUTES.match(markup, place)
    place = rest.end() if rest else place
    if name not in _TEXT_ONLY:
        return place
    end = re.compile(rb"</%s[\s/>]" % name, re.IGNORECASE).search(markup, place)
    return end.start() if end else len(markup)


def _or_end(markup: bytes, place: int) -> int:
    return len(markup) if place == -1 else place


def _attributes(markup: bytes, place: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag in which a place is, the first of each name, and where they end."""
    found: dict[bytes, bytes] = {}
    while (attribute := _ATTRIBUTE.match(markup, place)) is not None:
        name, *values = attribute.groups()
        found.setdefault(name.lower(), next((value for value in values if value is not None), b""))
        place = attribute.end()
    return found, place


def _labels_in(meta: dict[bytes, bytes]) -> Iterator[bytes]:
    """The labels that a `meta` element declares: by `charset`, and in the place of a header."""
    yield meta.get(b"charset", b"").rstrip(b"/")  # the slash of XHTML, behind a value without quotes
    if meta.get(b"http-equiv", b"").lower() == b"content-type":
        found = _IN_CONTENT.search(meta.get(b"content", b""))
        yield found[found.lastindex or 0] if found else b""
