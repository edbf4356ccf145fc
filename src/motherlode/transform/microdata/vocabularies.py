"""Vocabularies: the vocabulary of a type, the IRI of a property name, and the properties that a property implies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from motherlode.www.iri import Iri, check, is_absolute, without_fragment

_MAX_CACHED = 4_096

Registry = Mapping[str, Mapping[str, tuple[str, ...]]]
"""For each vocabulary prefix, the IRIs that a property implies by subPropertyOf or equivalentProperty."""


def _load_registry() -> Registry:
    rows = json.loads(Path(__file__).with_name("registry.json").read_bytes())
    return MappingProxyType({prefix: {name: tuple(all_) for name, all_ in row.items()} for prefix, row in rows.items()})


DEFAULT_REGISTRY = _load_registry()
"""An extract of the W3C's registry at http://www.w3.org/ns/md."""


def _valid_term(iri: Iri) -> str | None:
    return iri.term if iri.is_valid else None


class Vocabularies:
    """Resolves property names to predicates. Results that do not depend on the page are cached for all pages."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._by_type: dict[str, str] = {"": ""}
        self._predicates: dict[tuple[str, str], tuple[str, ...]] = {}

    def find(self, item_type: str) -> str:
        """Return the vocabulary of a type (note, section 6.2, step 6), or "" if the type is ""."""
        known = self._by_type.get(item_type)
        if known is None:
            known = self._find_registered(item_type) or _vocabulary_prefix(item_type)
            if len(self._by_type) < _MAX_CACHED:
                self._by_type[item_type] = known
        return known

    def add_scheme(self, written: str) -> str | None:
        """Return a type with its missing scheme, or None if its vocabulary is not registered.

        >>> Vocabularies(DEFAULT_REGISTRY).add_scheme("//Schema.org/Product")
        'http://schema.org/Product'
        """
        host, slash, rest = written.lstrip("/").partition("/")
        host = host.lower()
        for name in (host, host.removeprefix("www.")):
            item_type = f"http://{name}{slash}{rest}"
            if rest and self._find_registered(item_type):
                return item_type
        return None

    def _find_registered(self, item_type: str) -> str | None:
        return next((prefix for prefix in self._registry if item_type.startswith(prefix)), None)

    def resolve_predicates(
        self, vocabulary: str, name: str, *, base: str, term_of: Callable[[Iri], str | None] = _valid_term
    ) -> tuple[str, ...]:
        """Return the predicate of a property name (section 6.3) and those that it implies (section 6.2, step 8).

        The result is empty if the IRI is invalid. `term_of` returns the term of an IRI, or None if it is invalid, and
        may record problems.
        """
        if not vocabulary and not is_absolute(name):
            term = term_of(check(f"{without_fragment(base)}#{_escape_fragment(name)}"))
            return () if term is None else (term,)
        known = self._predicates.get((vocabulary, name))
        if known is None:
            implied = self._registry.get(vocabulary, {}).get(name, ())
            iris = [check(it) for it in (_predicate_iri(vocabulary, name), *implied)]
            known = tuple(term for iri in iris if (term := term_of(iri)) is not None)
            # IRIs with problems are not cached, because each page reports them
            if all(iri.is_valid and not iri.is_repaired for iri in iris) and len(self._predicates) < _MAX_CACHED:
                self._predicates[vocabulary, name] = known
        return known


def _predicate_iri(vocabulary: str, name: str) -> str:
    if is_absolute(name):
        return name
    return f"{vocabulary}{'' if vocabulary[-1] in '#/' else '#'}{_escape_fragment(name)}"


def _escape_fragment(name: str) -> str:
    return name.replace("#", "%23")


def _vocabulary_prefix(item_type: str) -> str:
    """Return a type up to the last slash or hash of its path and fragment.

    >>> _vocabulary_prefix("http://example.org/a/Type"), _vocabulary_prefix("http://example.org#Type")
    ('http://example.org/a/', 'http://example.org#')
    """
    start = item_type.find("//") + 2 if "//" in item_type else item_type.find(":") + 1
    cut = max(item_type.rfind("/", start), item_type.rfind("#", start))
    return item_type[: cut + 1] if cut != -1 else item_type


_DEFAULT_VOCABULARIES = Vocabularies(DEFAULT_REGISTRY)


def get_vocabularies(registry: Registry) -> Vocabularies:
    """Return the vocabularies of a registry. Those of the default registry are shared by all pages."""
    return _DEFAULT_VOCABULARIES if registry is DEFAULT_REGISTRY else Vocabularies(registry)
