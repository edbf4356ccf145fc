"""Vocabularies: which one a type belongs to, how a property name becomes an IRI, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from motherlode.www.html_references import escaped, is_absolute, without_fragment

Registry = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By the prefix of a vocabulary: its properties that imply others (subPropertyOf, equivalentProperty), and which."""


def _bundled() -> Registry:
    rows = json.loads(Path(__file__).with_name("registry.json").read_bytes())
    return MappingProxyType({prefix: {name: tuple(all_) for name, all_ in row.items()} for prefix, row in rows.items()})


DEFAULT_REGISTRY = _bundled()
"""What the W3C keeps at http://www.w3.org/ns/md, in short."""


class Vocabularies:
    """Names of properties on one page. What was worked out once is kept."""

    def __init__(self, registry: Registry, *, base: str) -> None:
        self._registry = registry
        self._base = without_fragment(base)
        self._by_type: dict[str, str] = {"": ""}
        self._predicates: dict[tuple[str, str], tuple[str, ...]] = {}

    def of(self, item_type: str) -> str:
        """The vocabulary of a type (note, section 6.2, step 6); "" for none."""
        if item_type not in self._by_type:
            self._by_type[item_type] = self._registered(item_type) or _prefix(item_type)
        return self._by_type[item_type]

    def _registered(self, item_type: str) -> str | None:
        return next((prefix for prefix in self._registry if item_type.startswith(prefix)), None)

    def predicates(self, vocabulary: str, name: str) -> tuple[str, ...]:
        """The predicate that a name stands for (section 6.3), and those that it implies (section 6.2, step 8)."""
        key = (vocabulary, name)
        if key not in self._predicates:
            implied = self._registry.get(vocabulary, {}).get(name, ())
            self._predicates[key] = tuple(f"<{escaped(it)}>" for it in (self._predicate(vocabulary, name), *implied))
        return self._predicates[key]

    def _predicate(self, vocabulary: str, name: str) -> str:
        if is_absolute(name):
            return name
        if not vocabulary:
            return f"{self._base}#{name.replace('#', '%23')}"
        separator = "" if vocabulary[-1] in "#/" else "#"
        return f"{vocabulary}{separator}{name.replace('#', '%23')}"


def _prefix(item_type: str) -> str:
    """The type up to the last slash or hash of its path and fragment.

    >>> _prefix("http://example.org/a/Type"), _prefix("http://example.org#Type"), _prefix("http://example.org")
    ('http://example.org/a/', 'http://example.org#', 'http://example.org')
    """
    start = item_type.find("//") + 2 if "//" in item_type else item_type.find(":") + 1
    cut = max(item_type.rfind("/", start), item_type.rfind("#", start))
    return item_type[: cut + 1] if cut != -1 else item_type
