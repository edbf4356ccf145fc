"""Classic microformats in the terms of microformats2: which class and rel values stand for which property.

The tables follow the "parser compatibility" section of each vocabulary at microformats.org/wiki (h-card, h-entry …)
and, where that is silent, the schema of the classic format itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

Property = tuple[str, str]
"""Prefix and name: ("p", "name")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classic:
    """One classic root class."""

    type: str
    properties: Mapping[str, Property]
    rels: Mapping[str, Property] = field(default_factory=dict)
    """Values of rel that are a property of the root around them."""
    implied_roots: Mapping[str, str] = field(default_factory=dict)
    """Property classes that open an item of their own, even where their element has no root class."""


def _p(*names: str) -> dict[str, Property]:
    return {name: ("p", name) for name in names}


_ADDRESS = _p(
    *("post-office-box", "extended-address", "street-address", "locality", "region", "postal-code", "country-name")
)
_PLACE = _p("latitude", "longitude", "altitude")
_TAG = {"tag": ("p", "category")}

ITEM = Classic(type="h-item", properties={"fn": ("p", "name"), "url": ("u", "url"), "photo": ("u", "photo")})
"""The thing that a review is about, where it has no root class of its own."""
_OF_THE_ITEM: dict[str, Property] = dict.fromkeys(ITEM.properties, ("p", "item"))
"""What stands in a review, but in no item, is still said of the thing: `<b class="fn">` is the item, and its name."""
_ITEM_ROOTS = dict.fromkeys(("item", *ITEM.properties), "item")

CLASSIC_ROOTS: Mapping[str, Classic] = {
    "adr": Classic(type="h-adr", properties=_ADDRESS),
    "geo": Classic(type="h-geo", properties=_PLACE),
    "vcard": Classic(
        type="h-card",
        properties={
            **_ADDRESS,
            **_PLACE,
            **_p("family-name", "given-name", "additional-name", "honorific-prefix", "honorific-suffix", "nickname"),
            **_p("adr", "geo", "label", "tel", "tz", "org", "organization-name", "organization-unit", "role"),
            **_p("category", "note", "sort-string", "class", "agent", "mailer"),
            **{name: ("u", name) for name in ("email", "impp", "key", "logo", "photo", "sound", "uid", "url")},
            **{name: ("dt", name) for name in ("bday", "rev")},
            "fn": ("p", "name"),
            "title": ("p", "job-title"),
        },
    ),
    "vevent": Classic(
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
    "hfeed": Classic(
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
    "hentry": Classic(
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
    "hnews": Classic(
        type="h-news",
        properties=_p("entry", "dateline", "source-org", "geo"),
        rels={"principles": ("u", "principles")},
    ),
    "hproduct": Classic(
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
    "hrecipe": Classic(
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
    "hresume": Classic(
        type="h-resume",
        properties=_p("affiliation", "contact", "education", "experience", "publications", "skill", "summary"),
    ),
    "hreview": Classic(
        type="h-review",
        properties={
            **_p("best", "category", "item", "rating", "worst"),
            **_OF_THE_ITEM,
            "summary": ("p", "name"),
            "reviewer": ("p", "author"),
            "dtreviewed": ("dt", "published"),
            "description": ("e", "content"),
        },
        rels={"bookmark": ("u", "url"), **_TAG},
        implied_roots=_ITEM_ROOTS,
    ),
    "hreview-aggregate": Classic(
        type="h-review-aggregate",
        properties={
            **_p("average", "best", "count", "item", "rating", "votes", "worst"),
            **_OF_THE_ITEM,
            "summary": ("p", "name"),
        },
        implied_roots=_ITEM_ROOTS,
    ),
}
PLAIN_TYPES = frozenset({"h-adr", "h-geo"})
"""Their text alone is understood by everybody; that of other items may be half a page."""

_READ_BY_NAME = {**CLASSIC_ROOTS, "item": ITEM}
CLASSIC_PROPERTIES = frozenset(name for classic in _READ_BY_NAME.values() for name in classic.properties)


@lru_cache(maxsize=256)
def classic_of(roots: tuple[str, ...]) -> Classic:
    """What holds inside an element with these classic root classes; an element may have several at once.

    >>> classic_of(("vcard", "vevent")).properties["summary"]
    ('p', 'name')
    """
    found = [_READ_BY_NAME[root] for root in roots]
    return Classic(
        type=found[0].type,
        properties=_union(classic.properties for classic in found),
        rels=_union(classic.rels for classic in found),
        implied_roots={name: root for classic in found for name, root in classic.implied_roots.items()},
    )


def classic_types(roots: Iterable[str]) -> tuple[str, ...]:
    """The microformats2 types of classic root classes, sorted.

    >>> classic_types(["vevent", "vcard"])
    ('h-card', 'h-event')
    """
    return tuple(sorted({_READ_BY_NAME[root].type for root in roots}))


def _union(tables: Iterable[Mapping[str, Property]]) -> dict[str, Property]:
    return {name: prop for table in tables for name, prop in table.items()}


# ── What the class names of one element say: roots, properties and the value class pattern.

_TOKEN = re.compile(r"[^ \t\n\f\r]+")
_PREFIXED = re.compile(r"(h|p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)")
_PROMISING = re.compile(r"(?:h|p|u|dt|e)-[a-z0-9]")
_LONGEST_NAME = 128
"""A longer class name is an accident or an attack, not a property."""
_MOST_NAMES = 500
"""Names of one element; the rest of a longer list is not read."""
_LONGEST_KEPT = 400

LAYOUT_NAMES = frozenset(
    f"h-{name}" for name in ("auto", "dvh", "fit", "full", "inherit", "lh", "lvh", "max", "min", "px", "screen", "svh")
)
"""Heights in the utility classes of Tailwind and Bootstrap: roots by the grammar, never so on the web."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassNames:
    """The class names of an element that mean something to microformats."""

    roots: tuple[str, ...] = ()
    """The h-* names, sorted and unique."""
    classic_roots: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    """Prefix and name of each p-*, u-*, dt-* and e-* class, in order; a name written twice counts twice."""
    classic: tuple[str, ...] = ()
    """Class names that are a property in some classic microformat, in order and unique."""
    is_value: bool = False
    is_value_title: bool = False
    is_include: bool = False
    is_cut: bool = False
    """The attribute went on, further than names are read."""


NOTHING = ClassNames()


def class_names(attribute: str) -> ClassNames:
    """What a class attribute says.

    >>> names = class_names("h-card p-author vcard fn p-4")
    >>> names.roots, names.classic_roots, names.properties, names.classic
    (('h-card',), ('vcard',), (('p', 'author'),), ('fn',))
    """
    return _kept(attribute) if len(attribute) <= _LONGEST_KEPT else _class_names(attribute)


def _class_names(attribute: str) -> ClassNames:
    found_tokens = _TOKEN.findall(attribute)
    tokens = [token for token in found_tokens[:_MOST_NAMES] if len(token) <= _LONGEST_NAME]
    prefixed = []
    if _PROMISING.search(attribute):
        prefixed = [match.groups() for token in tokens if (match := _PREFIXED.fullmatch(token))]
    found = ClassNames(
        roots=tuple(sorted({f"h-{name}" for prefix, name in prefixed if prefix == "h"})),
        classic_roots=tuple(dict.fromkeys(token for token in tokens if token in CLASSIC_ROOTS)),
        properties=tuple((prefix, name) for prefix, name in prefixed if prefix != "h"),
        classic=tuple(dict.fromkeys(token for token in tokens if token in CLASSIC_PROPERTIES)),
        is_value="value" in tokens,
        is_value_title="value-title" in tokens,
        is_include="include" in tokens,
        is_cut=len(found_tokens) > _MOST_NAMES,
    )
    return NOTHING if found == NOTHING else found


_kept = lru_cache(maxsize=4096)(_class_names)
