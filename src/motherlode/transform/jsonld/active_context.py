"""The active context: what each term means at one place of a document (JSON-LD 1.1 API, section 4.1).

Contexts are shared between documents, so nothing here knows a document's address. Where a context speaks of the
document's own base it holds `Place.DOCUMENT`, and whoever processes a document puts its address there.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal, Protocol

from motherlode.transform.jsonld.iris import is_blank
from motherlode.transform.jsonld.processor_options import KEYWORDS, Json, has_keyword_form
from motherlode.www.iri import is_absolute

_MAX_CACHED_KEYS = 4096
"""Keys that a context remembers the expansion of: enough for honest documents, a bound for the others."""

_MAX_CACHED_KEY_CHARACTERS = 256

_serial_numbers = itertools.count()


class DocumentBase(Enum):
    """Stands for the document's base IRI, which a shared context must not know."""

    DOCUMENT = "document"


class Absent(Enum):
    """An entry that is not there, where null means something else."""

    ABSENT = "absent"


DOCUMENT: Final = DocumentBase.DOCUMENT
ABSENT: Final = Absent.ABSENT
Base = str | Literal[DocumentBase.DOCUMENT] | None
NO_CONTAINER: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class TermDefinition:
    """What a context says of one term."""

    iri: str | None
    """An IRI, a blank node identifier or a keyword; None where the term is taken out of use."""
    prefix: bool = False
    protected: bool = False
    reverse: bool = False
    type: str | None = None
    language: str | Literal[Absent.ABSENT] | None = ABSENT
    direction: str | Literal[Absent.ABSENT] | None = ABSENT
    container: frozenset[str] = NO_CONTAINER
    context: Json = ABSENT
    """The scoped context as written, or `ABSENT`."""
    context_base: Base = None
    """Where relative references of the scoped context start."""
    context_key: int = -1
    """Tells scoped contexts apart without comparing them."""
    index: str | None = None
    nest: str | None = None

    def is_same_definition(self, other: TermDefinition) -> bool:
        """Equal but for the protected flag (section 4.2.2, step 27)."""
        return replace(self, protected=False, context_key=-1) == replace(other, protected=False, context_key=-1)


class LazyTerms(Protocol):
    """Terms of a large context that are defined when they are first asked for."""

    def define(self, name: str) -> TermDefinition | None: ...

    def __contains__(self, name: str, /) -> bool: ...


class ExpandedKey:
    """A key of an object in a context: everything that expansion asks about it, worked out once."""

    __slots__ = (
        "absolute",
        "container",
        "definition",
        "direction",
        "iri",
        "keyword",
        "language",
        "name",
        "scoped",
        "simple",
        "type",
    )

    def __init__(self, active: ActiveContext, name: str) -> None:
        definition = active.term(name)
        self.name = name
        self.definition = definition
        self.iri = _drop_unusable(active.expand_term(name))
        """The expanded key, or None for keys that are dropped."""
        self.keyword = self.iri is not None and self.iri[0] == "@" and self.iri in KEYWORDS
        self.absolute = self.iri is not None and (self.keyword or is_blank(self.iri) or is_absolute(self.iri))
        """The expanded key needs no base."""
        self.container = definition.container if definition else NO_CONTAINER
        self.type = definition.type if definition else None
        self.scoped = definition is not None and definition.context is not ABSENT
        language = definition.language if definition else ABSENT
        direction = definition.direction if definition else ABSENT
        self.language = active.language if language is ABSENT else language
        self.direction = active.direction if direction is ABSENT else direction
        self.simple = not (
            self.container or self.scoped or self.type == "@json" or (definition is not None and definition.reverse)
        )
        """No container, no scope, no turning round: its values are expanded and that is all."""


def _drop_unusable(iri: str | None) -> str | None:
    """Expansion, step 13.3: keys that are neither keywords nor IRIs are dropped."""
    return iri if iri and (iri in KEYWORDS or ":" in iri) else None


class ActiveContext:
    """Term definitions and defaults. Never changed once it has been handed out, but for what it remembers."""

    __slots__ = (
        "base",
        "direction",
        "is_incomplete",
        "key_cache",
        "language",
        "lazy",
        "previous",
        "serial_number",
        "terms",
        "vocab",
    )

    def __init__(self) -> None:
        self.serial_number = next(_serial_numbers)
        """Unlike an address in memory, never used twice."""
        self.terms: dict[str, TermDefinition | None] = {}
        """None for a term that was taken away, so that a lazy definition does not shine through."""
        self.lazy: tuple[LazyTerms, ...] = ()
        """Consulted in order for terms that are not in `terms`."""
        self.vocab: str | None = None
        self.language: str | None = None
        self.direction: str | None = None
        self.base: Base = DOCUMENT
        self.previous: ActiveContext | None = None
        self.is_incomplete = False
        """Some remote context was missed, so terms that nothing defines are not known to be relative IRIs."""
        self.key_cache: dict[str, ExpandedKey] = {}
        """The keys that have been asked for; `key` is the way to ask."""

    def clone(self) -> ActiveContext:
        copy = ActiveContext()
        copy.terms = self.terms.copy()
        copy.lazy = self.lazy
        copy.vocab = self.vocab
        copy.language = self.language
        copy.direction = self.direction
        copy.base = self.base
        copy.previous = self.previous
        copy.is_incomplete = self.is_incomplete
        return copy

    def term(self, name: str) -> TermDefinition | None:
        found = self.terms.get(name, ABSENT)
        if found is not ABSENT:
            return found
        for source in self.lazy:
            if name in source:
                return source.define(name)
        return None

    def key(self, name: str) -> ExpandedKey:
        found = self.key_cache.get(name)
        if found is None:
            found = ExpandedKey(self, name)
            if len(name) <= _MAX_CACHED_KEY_CHARACTERS:
                if len(self.key_cache) >= _MAX_CACHED_KEYS:
                    self.key_cache.clear()
                self.key_cache[name] = found
        return found

    def expand_term(self, value: str) -> str | None:
        """IRI Expansion (section 5.2.2) with vocab, without the document's base."""
        if value[:1] == "@":
            if value in KEYWORDS:
                return value
            if has_keyword_form(value):
                return None
        definition = self.term(value)
        if definition is not None:
            return definition.iri
        found = self._expand_compact_iri(value)
        if found is not None:
            return found
        return value if self.vocab is None else self.vocab + value

    def expand_reference(self, value: str) -> str | None:
        """IRI Expansion without vocab, up to where the base would be needed: the result may be relative."""
        if value[:1] == "@":
            if value in KEYWORDS:
                return value
            if has_keyword_form(value):
                return None
        definition = self.term(value)
        if definition is not None and definition.iri is not None and definition.iri in KEYWORDS:
            return definition.iri
        return self._expand_compact_iri(value) or value

    def _expand_compact_iri(self, value: str) -> str | None:
        """Step 6: blank nodes, absolute and compact IRIs."""
        colon = value.find(":", 1)
        if colon == -1:
            return None
        if value.startswith("//", colon + 1):
            return value
        prefix = value[:colon]
        if prefix == "_":
            return value
        definition = self.term(prefix)
        if definition is not None and definition.prefix and definition.iri is not None:
            return definition.iri + value[colon + 1 :]
        return value if is_absolute(value) else None

    def has_protected_terms(self) -> bool:
        return any(definition is not None and definition.protected for definition in self.terms.values())


# ── Processed contexts, shared between documents: the many pages of a site say the same few contexts.


@dataclass(frozen=True, slots=True)
class CachedContext:
    """A context that was made, and what it was made of."""

    context: ActiveContext
    sources: tuple[tuple[str, bytes | None], ...]
    """The remote contexts that it leads to, with their content; None for those that are bundled."""
    weight: int


class ContextCache:
    """Keeps what was used last, up to a number of contexts and a sum of weights (terms).

    >>> cache = ContextCache(entries=1, weight=100)
    >>> for name in "ab":
    ...     cache.put(name, CachedContext(ActiveContext(), (), 1))
    >>> cache.get("a") is None, cache.get("b") is None
    (True, False)
    """

    def __init__(self, *, entries: int, weight: int) -> None:
        self._entries = entries
        self._weight = weight
        self._total = 0
        self._contexts: OrderedDict[Hashable, CachedContext] = OrderedDict()

    def get(self, key: Hashable) -> CachedContext | None:
        found = self._contexts.get(key)
        if found is not None:
            with suppress(KeyError):  # another thread may have dropped it just now
                self._contexts.move_to_end(key)
        return found

    def put(self, key: Hashable, processed: CachedContext) -> None:
        if processed.weight > self._weight:
            return
        replaced = self._contexts.pop(key, None)
        self._total += processed.weight - (replaced.weight if replaced else 0)
        self._contexts[key] = processed
        while len(self._contexts) > self._entries or self._total > self._weight:
            _, dropped = self._contexts.popitem(last=False)
            self._total -= dropped.weight
