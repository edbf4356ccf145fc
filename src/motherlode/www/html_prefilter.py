"""What the bytes of a page rule out: one scan answers all that the rooms would otherwise search the page for.

A mark that is not there means that the page has nothing of the kind, so that nobody need look at its tree for it. A
mark that is there promises nothing. All patterns are looked for at once, many bytes at a time (Vectorscan): the scan
costs about as much as one plain search would, and there would be a dozen.
"""

from __future__ import annotations

import threading
from enum import Enum
from functools import cache, lru_cache

import hyperscan


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
    XHTML_RDFA = "xhtml-rdfa"
    """The name of XHTML+RDFa, by document type or `version` attribute: there, every relation of HTML is a term."""
    MICROFORMATS = "microformats"
    """Something like the name of a root class."""
    LANGUAGES = "languages"
    """More than one `lang` attribute."""
    RDF_SCRIPTS = "rdf-scripts"
    """A `script` element that holds a document of Turtle or another syntax of RDF, other than JSON-LD."""
    DATA_VIEW = "data-view"
    """GRDDL's profile or namespace."""


_ROOTS = (
    "h-[a-z0-9-]*[a-z]",
    *("adr", "geo", "vcard", "vevent", "hfeed", "hentry", "hnews", "hproduct", "hrecipe", "hresume", "hreview"),
    "hreview-aggregate",
)
_TELLING = r"""\s*=\s*["']?[^"'<>:]*(?::|&#|&colon;|license|describedby|role)"""
"""The value of an attribute that has a CURIE, an address or a term of RDFa's initial context in it."""
_REFERENCE_IN_TYPE = r"""<script[\s/](?:[^<>]*[\s"'/])?type\s*=\s*["']?\s*[^\s"'<>]*&(?:#|[a-z])"""
"""A `script` element with a character reference in its type: template engines write the slash or the plus so."""
_PATTERNS = {
    Mark.BASE: "<base",
    # an attribute may have a > in it, and what stands between two attributes may be a slash
    Mark.CRAWLER_RULES: r"<meta[\s/][^<]*(?:no(?:index|follow|ne)|unavailable_after)",
    Mark.JSON_LD: rf"application/ld|{_REFERENCE_IN_TYPE}",
    Mark.MICRODATA: "itemscope",
    Mark.REVERSE_PROPERTIES: "itemprop-reverse",
    Mark.PROPERTIES: "property",
    Mark.TYPES: r"typeof\s*=",
    Mark.VOCABULARIES: r"vocab\s*=",
    Mark.RELATIONS: rf"rel{_TELLING}",
    Mark.REVERSE_RELATIONS: rf"rev{_TELLING}",
    Mark.XHTML_RDFA: r"xhtml\+rdfa",
    # whether it stands in an attribute at all is not asked: that would cost twice as much as all other patterns
    Mark.MICROFORMATS: rf"""[\s"'=](?:{"|".join(_ROOTS)})[\s"'/>]""",
    Mark.LANGUAGES: r"""[\s"'/]lang[\s=/>]""",
    Mark.RDF_SCRIPTS: (
        rf"<script[^>]*(?:text/(?:turtle|n3)|application/(?:trig|n-triples|n-quads|rdf))|{_REFERENCE_IN_TYPE}"
    ),
    Mark.DATA_VIEW: r"http://www\.w3\.org/2003/g/data-view",
}
_MARKS = tuple(_PATTERNS)
_LANGUAGE = _MARKS.index(Mark.LANGUAGES)
"""The one pattern that is counted: one language is that of the whole page."""


def _database() -> hyperscan.Database:
    once = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
    flags = [once] * len(_MARKS)
    flags[_LANGUAGE] = hyperscan.HS_FLAG_CASELESS
    made = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    expressions = [pattern.encode() for pattern in _PATTERNS.values()]
    made.compile(expressions=expressions, ids=list(range(len(_MARKS))), flags=flags)
    return made


class _Scanner(threading.local):
    """The patterns, and for each thread its own room to work in."""

    def __init__(self, database: hyperscan.Database) -> None:
        self.database = database
        self.scratch = hyperscan.Scratch(database)


@cache
def _scanner() -> _Scanner:
    """Made for the first page: it takes 30 ms, and not every process reads pages."""
    return _Scanner(_database())


def marks_in(body: bytes) -> frozenset[Mark]:
    """The marks of a page in an encoding that agrees with ASCII.

    >>> sorted(mark.value for mark in marks_in(b"<Base href=/><p itemScope class='a h-card' property=name>"))
    ['base', 'microdata', 'microformats', 'properties']
    >>> marks_in(b'<link rel="stylesheet" class="geology-h-card"> if (typeof x == "function") vcard')
    frozenset()
    """
    found: list[int] = []

    def seen(place: int, _start: int, _end: int, _flags: int, _context: object) -> None:
        found.append(place)

    scanner = _scanner()
    scanner.database.scan(body, match_event_handler=seen, scratch=scanner.scratch)
    if found.count(_LANGUAGE) == 1:
        found.remove(_LANGUAGE)
    return _named(frozenset(found))


@lru_cache(maxsize=1024)
def _named(places: frozenset[int]) -> frozenset[Mark]:
    """Pages have few different sets of marks, and an enumeration's members are slow to hash."""
    return frozenset(_MARKS[place] for place in places)
