"""Active contexts, which define the terms at one point of a document (JSON-LD 1.1 API, section 4.1), and their cache.

Active contexts are shared between documents, so they do not contain the URL of a document. `DOCUMENT` represents the
base of the document, and the expansion replaces it.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from motherlode.transform.jsonld.processor_options import KEYWORDS, Json, has_keyword_form, is_blank
from motherlode.www.iri import is_absolute, split_curie

if TYPE_CHECKING:
    from motherlode.transform.jsonld.context_tables import BundledContext

_MAX_CACHED_KEYS = 4096
"""Keys whose expansion a context caches. Real documents have fewer; the limit bounds the memory for others."""
_MAX_CACHED_KEY_CHARACTERS = 256
_serial_numbers = itertools.count()


class Placeholder(Enum):
    """Special values in contexts, which are different from every JSON value."""

    DOCUMENT = "the base IRI of the document"
    ABSENT = "a missing entry, where null has another meaning"


DOCUMENT: Final = Placeholder.DOCUMENT
ABSENT: Final = Placeholder.ABSENT
Base = str | Literal[Placeholder.DOCUMENT] | None
OptionalEntry = str | Literal[Placeholder.ABSENT] | None
NO_CONTAINER: frozenset[str] = frozenset()


class ContextOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a local context was found, and how it is applied."""

    base: Base = DOCUMENT
    remote: tuple[str, ...] = ()
    """URLs of the remote contexts that contain the context, outermost first."""
    override_protected: bool = False
    """Whether the context may redefine protected terms."""
    propagate: bool = True
    """Whether the context also applies inside nested node objects."""
    validate_scoped: bool = True
    """If False, a remote context that is already in `remote` is not processed again, which ends cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermDefinition:
    """The definition of one term."""

    iri: str | None
    """An IRI, a blank node identifier or a keyword; None if the term is ignored."""
    prefix: bool = False
    protected: bool = False
    reverse: bool = False
    type: str | None = None
    language: OptionalEntry = ABSENT
    direction: OptionalEntry = ABSENT
    container: frozenset[str] = NO_CONTAINER
    context: Json = ABSENT
    """The scoped context as written, or `ABSENT`."""
    context_base: Base = None
    context_key: int = -1
    """Identifies the scoped context in the cache; -1 without a scoped context."""
    index: str | None = None
    nest: str | None = None

    def is_same_definition(self, other: TermDefinition) -> bool:
        """Return whether the definitions are equal except for the protected flag (section 4.2.2, step 27)."""
        return replace(self, protected=False, context_key=-1) == replace(other, protected=False, context_key=-1)


class ExpandedKey:
    """A key of an object, with everything that expansion needs to know about it, computed once per context."""

    def __init__(self, active: ActiveContext, name: str) -> None:
        definition = active.term(name)
        iri = active.expand_term(name)
        self.name = name
        self.definition = definition
        self.iri = iri if iri and (iri in KEYWORDS or ":" in iri) else None
        """The expanded key; None if the key is dropped, because it is no keyword and no IRI (Expansion, step 13.3)."""
        self.keyword = self.iri is not None and self.iri[0] == "@" and self.iri in KEYWORDS
        self.absolute = self.iri is not None and (self.keyword or is_blank(self.iri) or is_absolute(self.iri))
        self.container = definition.container if definition else NO_CONTAINER
        self.type = definition.type if definition else None
        self.scoped = definition is not None and definition.context is not ABSENT
        self.language, self.direction = active.language, active.direction
        if definition is not None and definition.language is not ABSENT:
            self.language = definition.language
        if definition is not None and definition.direction is not ABSENT:
            self.direction = definition.direction
        self.simple = not (
            self.container or self.scoped or self.type == "@json" or (definition is not None and definition.reverse)
        )
        """Whether the values need only plain expansion: no container, scoped context, reversal or JSON literal."""


class ActiveContext(msgspec.Struct, kw_only=True, eq=False):
    """Term definitions and defaults. Apart from its key cache, a context does not change once it is in use."""

    terms: dict[str, TermDefinition | None] = msgspec.field(default_factory=dict)
    """Definitions by term. None means undefined, also if a lazy table has the term."""
    lazy: tuple[BundledContext, ...] = ()
    """Lazy tables, searched in order for terms that are not in `terms`."""
    vocab: str | None = None
    language: str | None = None
    direction: str | None = None
    base: Base = DOCUMENT
    previous: ActiveContext | None = None
    is_incomplete: bool = False
    """Whether a remote context could not be loaded. An undefined term may then be one of its terms."""
    serial_number: int = msgspec.field(default_factory=lambda: next(_serial_numbers))
    """Identifies the context in the cache. Never reused, unlike `id()`."""
    key_cache: dict[str, ExpandedKey] = msgspec.field(default_factory=dict)

    def clone(self) -> ActiveContext:
        """Return a copy with the same definitions and an empty key cache."""
        return msgspec.structs.replace(self, terms=self.terms.copy(), serial_number=next(_serial_numbers), key_cache={})

    def term(self, name: str) -> TermDefinition | None:
        """Return the definition of a term, or None."""
        if name in self.terms:
            return self.terms[name]
        for source in self.lazy:
            if name in source:
                return source.define(name)
        return None

    def key(self, name: str) -> ExpandedKey:
        """Return the expanded key for a name, from the cache if possible."""
        found = self.key_cache.get(name)
        if found is None:
            found = ExpandedKey(self, name)
            if len(name) <= _MAX_CACHED_KEY_CHARACTERS:
                if len(self.key_cache) >= _MAX_CACHED_KEYS:
                    self.key_cache.clear()
                self.key_cache[name] = found
        return found

    def expand_term(self, value: str) -> str | None:
        """Expand an IRI with the vocabulary mapping but without the document base (IRI Expansion, section 5.2.2)."""
        if has_keyword_form(value):
            return value if value in KEYWORDS else None
        definition = self.term(value)
        if definition is not None:
            return definition.iri
        found = self._expand_compact_iri(value)
        if found is not None:
            return found
        return value if self.vocab is None else self.vocab + value

    def expand_reference(self, value: str) -> str | None:
        """Expand an IRI without the vocabulary mapping and without the document base. The result may be relative."""
        if has_keyword_form(value):
            return value if value in KEYWORDS else None
        definition = self.term(value)
        if definition is not None and definition.iri is not None and definition.iri in KEYWORDS:
            return definition.iri
        return self._expand_compact_iri(value) or value

    def _expand_compact_iri(self, value: str) -> str | None:
        """Expand blank node identifiers, absolute and compact IRIs (IRI Expansion, step 6). None for other values."""
        curie = split_curie(value)
        if curie is None:
            return value if ":" in value[1:] else None
        prefix, reference = curie
        if prefix == "_":
            return value
        definition = self.term(prefix)
        if definition is not None and definition.prefix and definition.iri is not None:
            return definition.iri + reference
        return value if is_absolute(value) else None

    def has_protected_terms(self) -> bool:
        return any(definition is not None and definition.protected for definition in self.terms.values())


# Cache of processed contexts. The pages of a site use the same few contexts.


@dataclass(frozen=True, slots=True)
class CachedContext:
    """A processed context and the remote contexts it was built from."""

    context: ActiveContext
    sources: tuple[tuple[str, bytes | None], ...]
    """URL and content of each remote context; the content is None for bundled contexts."""
    weight: int


class ContextCache:
    """Keeps the most recently used contexts, limited by their number and by the sum of their weights (terms)."""

    def __init__(self, *, entries: int, weight: int) -> None:
        self._entries = entries
        self._weight = weight
        self._total = 0
        self._contexts: OrderedDict[Hashable, CachedContext] = OrderedDict()

    def get(self, key: Hashable) -> CachedContext | None:
        """Return the cached context and mark it as used, or None."""
        found = self._contexts.get(key)
        if found is not None:
            with suppress(KeyError):  # another thread may have removed it
                self._contexts.move_to_end(key)
        return found

    def put(self, key: Hashable, processed: CachedContext) -> None:
        """Add a context and remove the least recently used ones beyond the limits."""
        if processed.weight > self._weight:
            return
        replaced = self._contexts.pop(key, None)
        self._total += processed.weight - (replaced.weight if replaced else 0)
        self._contexts[key] = processed
        while len(self._contexts) > self._entries or self._total > self._weight:
            _, dropped = self._contexts.popitem(last=False)
            self._total -= dropped.weight
