"""A scan of the bytes of a page that rules features out before extractors search its tree.

If a mark is missing, the page does not have the feature. If it is present, the page may have it. Vectorscan searches
all patterns at once, many bytes at a time: the scan takes about as long as one plain search, and replaces a dozen.
"""

import threading
from enum import Enum
from functools import cache, lru_cache

import hyperscan


class Mark(Enum):
    """A feature that a page may have."""

    BASE = "base"
    CRAWLER_RULES = "crawler-rules"
    """A `meta` element with directives for crawlers."""
    USAGE_RULES = "usage-rules"
    """A `meta` element with preferences about the use of the page."""
    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    REVERSE_PROPERTIES = "reverse-properties"
    """Microdata's `itemprop-reverse`."""
    PROPERTIES = "properties"
    """RDFa's most frequent attribute."""
    TYPES = "types"
    VOCABULARIES = "vocabularies"
    RELATIONS = "relations"
    """A relation that is not just a keyword of HTML."""
    REVERSE_RELATIONS = "reverse-relations"
    XHTML_RDFA = "xhtml-rdfa"
    """The name of XHTML+RDFa in the document type or `version` attribute. There, every HTML relation is a term."""
    MICROFORMATS = "microformats"
    """Text that looks like a root class name."""
    LANGUAGES = "languages"
    """More than one `lang` attribute."""
    RDF_SCRIPTS = "rdf-scripts"
    """A `script` element with Turtle or another RDF syntax, except JSON-LD."""
    DATA_VIEW = "data-view"
    """GRDDL's profile or namespace."""
    HYDRATION = "hydration"
    """Data from which a script builds the page, such as that of `__NEXT_DATA__`."""


_ROOT_CLASSES = (
    "h-[a-z0-9-]*[a-z]",
    *("adr", "geo", "vcard", "vevent", "hfeed", "hentry", "hnews", "hproduct", "hrecipe", "hresume", "hreview"),
    "hreview-aggregate",
)
_RDFA_VALUE = r"""\s*=\s*(?:"[^":]*|'[^':]*|[^"'<>:]*)(?::|&#|&colon;|license|describedby|role)"""
"""An attribute value that contains a CURIE, a URL or a term of RDFa's initial context."""
_REFERENCE_IN_TYPE = r"""<script[\s/](?:[^<>]*[\s"'/])?type\s*=\s*["']?\s*[^\s"'<>]*&(?:#|[a-z])"""
"""A `script` element with a character reference in its type. Some template engines escape the slash or the plus."""
_PATTERNS = {
    Mark.BASE: "<base",
    # an attribute may contain a >, and attributes may be separated by a slash
    Mark.CRAWLER_RULES: r"<meta[\s/][^<]*(?:no(?:index|follow|ne)|unavailable_after)",
    Mark.USAGE_RULES: r"<meta[\s/][^<]*(?:no(?:image)?ai|tdm-reservation)",
    Mark.JSON_LD: rf"application/ld|{_REFERENCE_IN_TYPE}",
    Mark.MICRODATA: "itemscope",
    Mark.REVERSE_PROPERTIES: "itemprop-reverse",
    Mark.PROPERTIES: "property",
    Mark.TYPES: r"typeof\s*=",
    Mark.VOCABULARIES: r"vocab\s*=",
    Mark.RELATIONS: rf"rel{_RDFA_VALUE}",
    Mark.REVERSE_RELATIONS: rf"rev{_RDFA_VALUE}",
    Mark.XHTML_RDFA: r"xhtml\+rdfa",
    # also matches outside of attributes: to check that would cost twice as much as all other patterns
    Mark.MICROFORMATS: rf"""[\s"'=](?:{"|".join(_ROOT_CLASSES)})[\s"'/>]""",
    Mark.LANGUAGES: r"""[\s"'/]lang[\s=/>]""",
    Mark.RDF_SCRIPTS: (
        r"<script[\s/][^<]*(?:text|application)/(?:x-)?(?:turtle|trig|n-?triples|n-?quads|nt|n3|rdf)"
        rf"|{_REFERENCE_IN_TYPE}"
    ),
    # matches more than the names of states: to check what is around them would cost a third of the scan
    Mark.HYDRATION: r"""[\s"'.=]__[a-z0-9]|-state["'\s>]""",
    Mark.DATA_VIEW: r"http://www\.w3\.org/2003/g/data-view",
}
_MARKS = tuple(_PATTERNS)
_LANGUAGES_INDEX = _MARKS.index(Mark.LANGUAGES)
"""Index of the only pattern whose matches are counted: one `lang` attribute is that of the whole page, more are not."""


class _Scanner(threading.local):
    """The compiled patterns, and a scratch space per thread."""

    def __init__(self, database: hyperscan.Database) -> None:
        self.database = database
        self.scratch = hyperscan.Scratch(database)


@cache
def _scanner() -> _Scanner:
    """Compile the patterns for the first page, because it takes 30 ms and not every process parses pages."""
    flags = [hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH] * len(_MARKS)
    flags[_LANGUAGES_INDEX] = hyperscan.HS_FLAG_CASELESS
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    expressions = [pattern.encode() for pattern in _PATTERNS.values()]
    database.compile(expressions=expressions, ids=list(range(len(_MARKS))), flags=flags)
    return _Scanner(database)


def marks_in(body: bytes) -> frozenset[Mark]:
    """Return the marks of a page in an encoding that is a superset of ASCII."""
    found: list[int] = []

    def record(index: int, _start: int, _end: int, _flags: int, _context: object) -> None:
        found.append(index)

    scanner = _scanner()
    scanner.database.scan(body, match_event_handler=record, scratch=scanner.scratch)
    if found.count(_LANGUAGES_INDEX) == 1:
        found.remove(_LANGUAGES_INDEX)
    return _marks_at(frozenset(found))


@lru_cache(maxsize=1024)
def _marks_at(indexes: frozenset[int]) -> frozenset[Mark]:
    """Return the marks with these indexes. Cached, because few sets occur and enum members are slow to hash."""
    return frozenset(_MARKS[index] for index in indexes)
