"""What the bytes of a page rule out: one scan answers all that the rooms would otherwise search the page for.

A mark that is not there means that the page has nothing of the kind, so that nobody need look at its tree for it. A
mark that is there promises nothing. The scan is one automaton over all patterns (RE2), and costs about as much as two
plain searches would; there would be a dozen.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

import re2


class Mark(Enum):
    """Something that a page may have."""

    BASE = "base"
    """A `base` element."""
    CRAWLER_RULES = "crawler-rules"
    """A `meta` element that asks something of crawlers."""
    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    REVERSE_PROPERTIES = "reverse-properties"
    """Microdata's `itemprop-reverse`."""
    PROPERTIES = "properties"
    """RDFa's most frequent attribute."""
    TYPES = "types"
    VOCABULARIES = "vocabularies"
    RELATIONS = "relations"
    """A relation that is more than a word of HTML."""
    REVERSE_RELATIONS = "reverse-relations"
    MICROFORMATS = "microformats"
    """Something like the name of a root class in a class attribute."""
    LANGUAGES = "languages"
    """More than one `lang` attribute."""
    DATA_VIEW = "data-view"
    """GRDDL's profile or namespace."""


_ROOTS = (
    "h-[a-z0-9-]*[a-z]",
    *("adr", "geo", "vcard", "vevent", "hfeed", "hentry", "hnews", "hproduct", "hrecipe", "hresume", "hreview"),
    "hreview-aggregate",
)
_ROOT = rf"""(?:{"|".join(_ROOTS)})[\s"'/>]"""
_TELLING = r"""\s*=\s*["']?[^"'<>:]*(?::|license|describedby|role)"""
"""The value of an attribute that has a CURIE, an address or a term of RDFa's initial context in it."""
_LANGUAGE = r"""[\s"'/]lang[\s=/>]"""
_PATTERNS = {
    Mark.BASE: "<base",
    Mark.CRAWLER_RULES: r"<meta\s[^>]*no(?:index|follow|ne)",
    # template engines write the slash or the plus of an attribute as a character reference
    Mark.JSON_LD: r"application(?:/ld|&#)",
    Mark.MICRODATA: "itemscope",
    Mark.REVERSE_PROPERTIES: "itemprop-reverse",
    Mark.PROPERTIES: "property",
    Mark.TYPES: r"typeof\s*=",
    Mark.VOCABULARIES: r"vocab\s*=",
    Mark.RELATIONS: rf"rel{_TELLING}",
    Mark.REVERSE_RELATIONS: rf"rev{_TELLING}",
    Mark.MICROFORMATS: rf"""class\s*=\s*(?:"(?:[^"]*\s)?{_ROOT}|'(?:[^']*\s)?{_ROOT}|{_ROOT})""",
    Mark.LANGUAGES: rf"(?s){_LANGUAGE}.*{_LANGUAGE}",
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
    return _named(tuple(_AUTOMATON.Match(body) or ()))


@lru_cache(maxsize=1024)
def _named(places: tuple[int, ...]) -> frozenset[Mark]:
    """Pages have few different sets of marks, and an enumeration's members are slow to hash."""
    return frozenset(_MARKS[place] for place in places)
