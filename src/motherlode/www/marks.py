"""What the bytes of a page rule out: one scan answers all that the rooms would otherwise search the page for.

A mark that is not there means that the page has nothing of the kind, so that nobody need look at its tree for it. A
mark that is there promises nothing. The scan is one automaton over all patterns (RE2), and costs about as much as two
plain searches would; there would be a dozen.
"""

from __future__ import annotations

from enum import Enum

import re2


class Mark(Enum):
    """Something that a page may have."""

    BASE = "base"
    """A `base` element."""
    CRAWLER_RULES = "crawler-rules"
    """A `meta` element that asks something of crawlers."""
    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    PROPERTIES = "properties"
    """RDFa's most frequent attribute."""
    RELATIONS = "relations"
    """The other attributes that make an RDFa statement, or a relation that is more than a word of HTML."""
    MICROFORMATS = "microformats"
    """Something like the name of a root class in a class attribute."""
    DATA_VIEW = "data-view"
    """GRDDL's profile or namespace."""


_ROOTS = (
    "h-[a-z0-9-]*[a-z]",
    *("adr", "geo", "vcard", "vevent", "hfeed", "hentry", "hnews", "hproduct", "hrecipe", "hresume", "hreview"),
    "hreview-aggregate",
)
_ROOT = rf"""(?:{"|".join(_ROOTS)})[\s"'/>]"""
_PATTERNS = {
    Mark.BASE: "<base",
    Mark.CRAWLER_RULES: r"<meta\s[^>]*no(?:index|follow|ne)",
    # template engines write the slash or the plus of an attribute as a character reference
    Mark.JSON_LD: r"application(?:/ld|&#)",
    Mark.MICRODATA: "itemscope",
    Mark.PROPERTIES: "property",
    Mark.RELATIONS: r"""(?:typeof|vocab)\s*=|re[lv]\s*=\s*["']?[^"'<>:]*(?::|license|describedby|role)""",
    Mark.MICROFORMATS: rf"""class\s*=\s*(?:"(?:[^"]*\s)?{_ROOT}|'(?:[^']*\s)?{_ROOT}|{_ROOT})""",
    Mark.DATA_VIEW: "http://www\\.w3\\.org/2003/g/data-view",
}
_MARKS = tuple(_PATTERNS)
_MEMORY = 64 << 20
"""Bytes that the automaton may grow to; it makes its states as it meets them."""


def _automaton() -> re2.Set:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes are bytes
    options.case_sensitive = False
    options.max_mem = _MEMORY
    made = re2.Set.SearchSet(options)
    for mark in _MARKS:
        made.Add(_PATTERNS[mark].encode())
    made.Compile()
    return made


_AUTOMATON = _automaton()


def marks_in(body: bytes) -> frozenset[Mark]:
    """The marks of a page in an encoding that agrees with ASCII.

    >>> sorted(mark.value for mark in marks_in(b"<Base href=/><p itemScope class='a h-card' property=name>"))
    ['base', 'microdata', 'microformats', 'properties']
    >>> marks_in(b'<link rel="stylesheet" class="geology-h-card"> if (typeof x == "function") vcard')
    frozenset()
    """
    return frozenset([_MARKS[place] for place in _AUTOMATON.Match(body) or ()])
