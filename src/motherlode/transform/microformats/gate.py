"""Whether a body can hold microformats at all: a byte search for root classes inside class attributes."""

from __future__ import annotations

import re

from motherlode.transform.microformats.classic import CLASSIC_ROOTS
from motherlode.transform.microformats.names import LAYOUT_NAMES

_VALUE = rb"""\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)"""
_CLASS = re.compile(b"lass" + _VALUE)  # of "class": the engine finds a rarer first letter sooner

_LAYOUT = "|".join(sorted(name.removeprefix("h-") for name in LAYOUT_NAMES))
_CLASSIC = "|".join(sorted(CLASSIC_ROOTS, key=len, reverse=True))
_END = r"""(?=[\s"']|$)"""
_ROOT = re.compile(rf"(?<![^\s\"'])(?:(?:{_CLASSIC}){_END}|h-(?!(?:{_LAYOUT}){_END})[a-z0-9-]*[a-z]{_END})".encode())


def gate(body: bytes) -> bool:
    """False where no class attribute of the body, given in lower case, has the name of a microformats root.

    >>> gate(b'<p class="x vcard">'), gate(b"<p class=geo>"), gate(b"<p class='a h-card'>")
    (True, True, True)
    >>> gate(b'<p class="h-full geology">geo vcard h-card</p> {"geo": 1}')
    False
    """
    if b"\0" in body[:64]:  # UTF-16, where no byte search can tell
        return True
    values = set(_CLASS.findall(body))
    return _ROOT.search(b" ".join(values)) is not None
