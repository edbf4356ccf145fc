"""Class names: the tables of the classic microformats, and the parser of class attributes.

The tables map class and rel values of the classic formats to properties of microformats2. They follow the "parser
compatibility" section of each vocabulary at microformats.org/wiki (h-card, h-entry …) and otherwise the schema of the
classic format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Property = tuple[str, str]
"""Prefix and name: ("p", "name")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicFormat:
    """The properties of one classic root class."""

    type: str
    properties: Mapping[str, Property]
    rels: Mapping[str, Property] = field(default_factory=dict)
    """Values of rel that are properties of the enclosing item."""
    implied_roots: Mapping[str, str] = field(default_factory=dict)
    """Property classes that start a nested item even if the element has no root class."""


def _p(*names: str) -> dict[str, Property]:
    return {name: ("p", name) for name in names}


_ADDRESS = _p(
    *("post-office-box", "extended-address", "street-address", "locality", "region", "postal-code", "country-name")
)
_COORDINATES = _p("latitude", "longitude", "altitude")
_TAG = {"tag": ("p", "category")}

ITEM = ClassicFormat(type="h-item", properties={"fn": ("p", "name"), "url": ("u", "url"), "photo": ("u", "photo")})
"""The reviewed item of a review if it has no root class of its own."""
_ITEM_PROPERTIES: dict[str, Property] = dict.fromkeys(ITEM.properties, ("p", "item"))
"""Properties of the reviewed item directly inside a review: `<b class="fn">` starts the item and is its name."""
_ITEM_ROOTS = dict.fromkeys(("item", *ITEM.properties), "item")

CLASSIC_ROOTS: Mapping[str, ClassicFormat] = {
    "adr": ClassicFormat(type="h-adr", properties=_ADDRESS),
    "geo": ClassicFormat(type="h-geo", properties=_COORDINATES),
    "vcard": ClassicFormat(
        type="h-card",
        properties={
            **_ADDRESS,
            **_COORDINATES,
            **_p("family-name", "given-name", "additional-name", "honorific-prefix", "honorific-suffix", "nickname"),
            **_p("adr", "geo", "label", "tel", "tz", "org", "organization-name", "organization-unit", "role"),
            **_p("category", "note", "sort-string", "class", "agent", "mailer"),
            **{name: ("u", name) for name in ("email", "impp", "key", "logo", "photo", "sound", "uid", "url")},
            **{name: ("dt", name) for name in ("bday", "rev")},
            "fn": ("p", "name"),
            "title": ("p", "job-title"),
        },
    ),
    "vevent": ClassicFormat(
        type="h-event",
        properties={
            **_p("attendee", "category", "class", "contact", "description", "location", "organizer", "status"),
            "summary": ("p", "name"),
            "dtstart": ("dt", "start"),
            "dtend": ("dt", "end"),
            "duration": ("dt", "duration"),
            "geo": ("p", "location"),
            "uid": ("u", "uid"),
            "url": ("u", "url"),
        },
    ),
    "hfeed": ClassicFormat(
        type="h-feed",
        properties={
            **_p("author", "category", "summary"),
            "site-title": ("p", "name"),
            "site-description": ("p", "summary"),
            "url": ("u", "url"),
            "photo": ("u", "photo"),
        },
        rels=_TAG,
    ),
    "hentry": ClassicFormat(
        type="h-entry",
        properties={
            **_p("author", "category", "geo"),
            "entry-title": ("p", "name"),
            "entry-summary": ("p", "summary"),
            "entry-content": ("e", "content"),
            "published": ("dt", "published"),
            "updated": ("dt", "updated"),
        },
        rels={"bookmark": ("u", "url"), **_TAG},
    ),
    "hnews": ClassicFormat(
        type="h-news",
        properties=_p("entry", "dateline", "source-org", "geo"),
        rels={"principles": ("u", "principles")},
    ),
    "hproduct": ClassicFormat(
        type="h-product",
        properties={
            **_p("brand", "category", "description", "listing", "price", "review"),
            "fn": ("p", "name"),
            "identifier": ("u", "identifier"),
            "photo": ("u", "photo"),
            "url": ("u", "url"),
        },
        rels=_TAG,
    ),
    "hrecipe": ClassicFormat(
        type="h-recipe",
        properties={
            **_p("author", "category", "ingredient", "nutrition", "summary", "yield"),
            "fn": ("p", "name"),
            "instructions": ("e", "instructions"),
            "duration": ("dt", "duration"),
            "published": ("dt", "published"),
            "photo": ("u", "photo"),
        },
        rels=_TAG,
    ),
    "hresume": ClassicFormat(
        type="h-resume",
        properties=_p("affiliation", "contact", "education", "experience", "publications", "skill", "summary"),
    ),
    "hreview": ClassicFormat(
        type="h-review",
        properties={
            **_p("best", "category", "item", "rating", "worst"),
            **_ITEM_PROPERTIES,
            "summary": ("p", "name"),
            "reviewer": ("p", "author"),
            "dtreviewed": ("dt", "published"),
            "description": ("e", "content"),
        },
        rels={"bookmark": ("u", "url"), **_TAG},
        implied_roots=_ITEM_ROOTS,
    ),
    "hreview-aggregate": ClassicFormat(
        type="h-review-aggregate",
        properties={
            **_p("average", "best", "count", "item", "rating", "votes", "worst"),
            **_ITEM_PROPERTIES,
            "summary": ("p", "name"),
        },
        implied_roots=_ITEM_ROOTS,
    ),
}
PLAIN_TYPES = frozenset({"h-adr", "h-geo"})
"""Types whose plain text is a meaningful value. The text of other items may be half a page."""

_FORMATS = {**CLASSIC_ROOTS, "item": ITEM}
CLASSIC_PROPERTIES = frozenset(name for classic in _FORMATS.values() for name in classic.properties)


@lru_cache(maxsize=256)
def combine_formats(roots: tuple[str, ...]) -> ClassicFormat:
    """Return the combined properties of classic root classes, of which an element may have several.

    >>> combine_formats(("vcard", "vevent")).properties["summary"]
    ('p', 'name')
    """
    found = [_FORMATS[root] for root in roots]
    return ClassicFormat(
        type=found[0].type,
        properties=_union(classic.properties for classic in found),
        rels=_union(classic.rels for classic in found),
        implied_roots={name: root for classic in found for name, root in classic.implied_roots.items()},
    )


def classic_types(roots: Iterable[str]) -> tuple[str, ...]:
    """Return the microformats2 types of classic root classes, sorted.

    >>> classic_types(["vevent", "vcard"])
    ('h-card', 'h-event')
    """
    return tuple(sorted({_FORMATS[root].type for root in roots}))


def _union(tables: Iterable[Mapping[str, Property]]) -> dict[str, Property]:
    return {name: prop for table in tables for name, prop in table.items()}


# Class attributes

_TOKEN = re.compile(r"[^ \t\n\f\r]+")
_PREFIXED = re.compile(r"(h|p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)")
_ANY_PREFIXED = re.compile(r"(?:h|p|u|dt|e)-[a-z0-9]")
_MAX_NAME_CHARS = 128
"""A longer class name is ignored."""
_MAX_NAMES = 500
"""Class names of one element that are read."""
_MAX_CACHED_CHARS = 400
"""A longer class attribute is not cached."""

LAYOUT_NAMES = frozenset(
    f"h-{name}" for name in ("auto", "dvh", "fit", "full", "inherit", "lh", "lvh", "max", "min", "px", "screen", "svh")
)
"""Utility classes for heights (Tailwind, Bootstrap), which match the grammar of root class names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassNames:
    """The class names of one element that matter to microformats."""

    roots: tuple[str, ...] = ()
    """The h-* names, sorted and unique."""
    classic_roots: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    """Prefix and name of each p-*, u-*, dt-* and e-* class, in order, with duplicates."""
    classic: tuple[str, ...] = ()
    """Class names that are properties of any classic microformat, in order and unique."""
    is_value: bool = False
    is_value_title: bool = False
    is_include: bool = False
    is_truncated: bool = False
    """The attribute has more names than are read."""


NO_NAMES = ClassNames()


def parse_class(attribute: str) -> ClassNames:
    """Return the names of a class attribute that matter to microformats.

    >>> names = parse_class("h-card p-author vcard fn p-4")
    >>> names.roots, names.classic_roots, names.properties, names.classic
    (('h-card',), ('vcard',), (('p', 'author'),), ('fn',))
    """
    return _parse_cached(attribute) if len(attribute) <= _MAX_CACHED_CHARS else _parse(attribute)


def _parse(attribute: str) -> ClassNames:
    found_tokens = _TOKEN.findall(attribute)
    tokens = [token for token in found_tokens[:_MAX_NAMES] if len(token) <= _MAX_NAME_CHARS]
    prefixed = []
    if _ANY_PREFIXED.search(attribute):
        prefixed = [match.groups() for token in tokens if (match := _PREFIXED.fullmatch(token))]
    found = ClassNames(
        roots=tuple(sorted({f"h-{name}" for prefix, name in prefixed if prefix == "h"})),
        classic_roots=tuple(dict.fromkeys(token for token in tokens if token in CLASSIC_ROOTS)),
        properties=tuple((prefix, name) for prefix, name in prefixed if prefix != "h"),
        classic=tuple(dict.fromkeys(token for token in tokens if token in CLASSIC_PROPERTIES)),
        is_value="value" in tokens,
        is_value_title="value-title" in tokens,
        is_include="include" in tokens,
        is_truncated=len(found_tokens) > _MAX_NAMES,
    )
    return NO_NAMES if found == NO_NAMES else found


_parse_cached = lru_cache(maxsize=4096)(_parse)
