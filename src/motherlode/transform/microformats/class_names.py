"""Class names: tables of the classic microformats (`classic_formats.json`, from microformats.org), and their parser."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

Property = tuple[str, str]
"""Prefix and name: ("p", "name")."""


class ClassicFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of one classic root class."""

    type: str
    properties: Mapping[str, Property]
    rels: Mapping[str, Property] = {}
    """Values of rel that are properties of the enclosing item."""
    implied_roots: Mapping[str, str] = {}
    """Property classes that start a nested item even if the element has no root class: in a review, `<b class="fn">`
    starts the reviewed item and is its name."""


_FORMATS = msgspec.json.decode(
    Path(__file__).with_name("classic_formats.json").read_bytes(), type=dict[str, ClassicFormat]
)
CLASSIC_ROOTS: Mapping[str, ClassicFormat] = {root: classic for root, classic in _FORMATS.items() if root != "item"}
"""The formats by root class. "item", the reviewed item of a review, is no root class of its own."""
CLASSIC_PROPERTIES = frozenset(name for classic in _FORMATS.values() for name in classic.properties)
PLAIN_TYPES = frozenset({"h-adr", "h-geo"})
"""Types whose plain text is a meaningful value. The text of other items may be half a page."""


@lru_cache(maxsize=256)
def combine_formats(roots: tuple[str, ...]) -> ClassicFormat:
    """Return the combined properties of classic root classes, of which an element may have several."""
    found = [_FORMATS[root] for root in roots]
    return ClassicFormat(
        type=found[0].type,
        properties={name: prop for classic in found for name, prop in classic.properties.items()},
        rels={name: prop for classic in found for name, prop in classic.rels.items()},
        implied_roots={name: root for classic in found for name, root in classic.implied_roots.items()},
    )


def classic_types(roots: Iterable[str]) -> tuple[str, ...]:
    """Return the microformats2 types of classic root classes, sorted."""
    return tuple(sorted({_FORMATS[root].type for root in roots}))


# Class attributes

_TOKEN = re.compile(r"[^ \t\n\f\r]+")
_PREFIXED = re.compile(r"(h|p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)")
_ANY_PREFIXED = re.compile(r"(?:h|p|u|dt|e)-[a-z0-9]")
_MAX_NAME_CHARS = 128
"""A longer class name is ignored."""
_MAX_NAMES = 500
_MAX_CACHED_CHARS = 400

LAYOUT_NAMES = frozenset(
    f"h-{name}" for name in ("auto", "dvh", "fit", "full", "inherit", "lh", "lvh", "max", "min", "px", "screen", "svh")
)
"""Utility classes for heights (Tailwind, Bootstrap), which match the grammar of root class names."""


class ClassNames(msgspec.Struct, frozen=True, kw_only=True):
    """The class names of one element that matter to microformats."""

    roots: tuple[str, ...] = ()
    """The h-* names, sorted and unique."""
    classic_roots: tuple[str, ...] = ()
    properties: tuple[Property, ...] = ()
    """Prefix and name of each p-*, u-*, dt-* and e-* class, in order, with duplicates."""
    classic: tuple[str, ...] = ()
    """Class names that are properties of any classic microformat, in order and unique."""
    is_value: bool = False
    is_value_title: bool = False
    is_include: bool = False
    is_truncated: bool = False


NO_NAMES = ClassNames()


def parse_class(attribute: str) -> ClassNames:
    """Return the names of a class attribute that matter to microformats."""
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
