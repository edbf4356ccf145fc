"""What the class names of one element say: roots, properties and the value class pattern.

Grammar of prefixed names: microformats2-parsing, "note about prefixes". Class attributes repeat all over a page and a
site, so what was understood of one is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from motherlode.transform.microformats.classic import CLASSIC_PROPERTIES, CLASSIC_ROOTS

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
