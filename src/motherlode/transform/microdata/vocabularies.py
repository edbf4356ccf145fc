"""Vocabularies: which one a type belongs to, how a property name becomes an IRI, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from motherlode.www.iri import Iri, check, is_absolute, without_fragment

_MOST_KEPT = 4_096

Registry = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By the prefix of a vocabulary: its properties that imply others (subPropertyOf, equivalentProperty), and which."""


def _bundled() -> Registry:
    rows = json.loads(Path(__file__).with_name("registry.json").read_bytes())
    return MappingProxyType({prefix: {name: tuple(all_) for name, all_ in row.items()} for prefix, row in rows.items()})


DEFAULT_REGISTRY = _bundled()
"""What the W3C keeps at http://www.w3.org/ns/md, in short."""


def _valid_term(iri: Iri) -> str | None:
    return iri.term if iri.is_valid else None


class Vocabularies:
    """Names of properties. What was worked out once is kept, also from page to page where no page matters to it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._by_type: dict[str, str] = {"": ""}
        self._predicates: dict[tuple[str, str], tuple[str, ...]] = {}

    def of(self, item_type: str) -> str:
        """The vocabulary of a type (note, section 6.2, step 6); "" for none."""
        known = self._by_type.get(item_type)
        if known is None:
            known = self._registered(item_type) or _prefix(item_type)
            if len(self._by_type) < _MOST_KEPT:
                self._by_type[item_type] = known
        return known

    def type_without_scheme(self, written: str) -> str | None:
        """Return the type that is meant if only its scheme is missing and its vocabulary is registered, else None.

        >>> Vocabularies(DEFAULT_REGISTRY).type_without_scheme("//Schema.org/Product")
        'http://schema.org/Product'
        """
        host, slash, rest = written.lstrip("/").partition("/")
        host = host.lower()
        for name in (host, host.removeprefix("www.")):
            item_type = f"http://{name}{slash}{rest}"
            if rest and self._registered(item_type):
                return item_type
        return None

    def _registered(self, item_type: str) -> str | None:
        return next((prefix for prefix in self._registry if item_type.startswith(prefix)), None)

    def predicates(
        self, vocabulary: str, name: str, *, base: str, term_of: Callable[[Iri], str | None] = _valid_term
    ) -> tuple[str, ...]:
        """The predicate that a name stands for (section 6.3), and those that it implies (section 6.2, step 8).

        There is none for a name that is no valid IRI, but would have to be. `term_of` returns the term of an IRI, or
        None if it is not valid, and records what is wrong with it.
        """
        if not vocabulary and not is_absolute(name):
            term = term_of(check(f"{without_fragment(base)}#{_in_fragment(name)}"))
            return () if term is None else (term,)
        known = self._predicates.get((vocabulary, name))
        if known is None:
            implied = self._registry.get(vocabulary, {}).get(name, ())
            iris = [check(it) for it in (_predicate(vocabulary, name), *implied)]
            known = tuple(term for iri in iris if (term := term_of(iri)) is not None)
            is_faultless = all(iri.is_valid and not iri.is_repaired for iri in iris)  # else the next page is told, too
            if is_faultless and len(self._predicates) < _MOST_KEPT:
                self._predicates[vocabulary, name] = known
        return known


def _predicate(vocabulary: str, name: str) -> str:
    if is_absolute(name):
        return name
    return f"{vocabulary}{'' if vocabulary[-1] in '#/' else '#'}{_in_fragment(name)}"


def _in_fragment(name: str) -> str:
    return name.replace("#", "%23")


def _prefix(item_type: str) -> str:
    """The type up to the last slash or hash of its path and fragment.

    >>> _prefix("http://example.org/a/Type"), _prefix("http://example.org#Type"), _prefix("http://example.org")
    ('http://example.org/a/', 'http://example.org#', 'http://example.org')
    """
    start = item_type.find("//") + 2 if "//" in item_type else item_type.find(":") + 1
    cut = max(item_type.rfind("/", start), item_type.rfind("#", start))
    return item_type[: cut + 1] if cut != -1 else item_type


_BY_DEFAULT = Vocabularies(DEFAULT_REGISTRY)


def vocabularies(registry: Registry) -> Vocabularies:
    """Those of a registry; the default one's are shared by all pages."""
    return _BY_DEFAULT if registry is DEFAULT_REGISTRY else Vocabularies(registry)
