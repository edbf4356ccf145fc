"""XHTML for an HTML parser: `<script src="x"/>` is an empty element in XML, and in HTML one that never ends."""

from __future__ import annotations

import re

_EMPTY = re.compile(rb"<([A-Za-z][^\s/>\"']*+)((?:[^>\"'/]++|/(?!>)|\"[^\"]*+\"|'[^']*+')*+)/>")
_VOID = frozenset(
    (
        *(b"area", b"base", b"br", b"col", b"embed", b"frame", b"hr", b"img", b"input", b"link", b"meta", b"param"),
        *(b"source", b"track", b"wbr"),
    )
)


def with_end_tags(markup: bytes) -> bytes:
    """The markup with an end tag for every element that a slash has closed.

    >>> with_end_tags(b'<p id="a/>b"/><br/><a href=x></a>')
    b'<p id="a/>b"></p><br/><a href=x></a>'
    """
    return _EMPTY.sub(_spelt_out, markup) if b"/>" in markup else markup


def _spelt_out(match: re.Match[bytes]) -> bytes:
    name, attributes = match[1], match[2]
    return match[0] if name.lower() in _VOID else b"<" + name + attributes + b"></" + name + b">"
