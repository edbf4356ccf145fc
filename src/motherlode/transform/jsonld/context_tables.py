"""Remote contexts that are available without the network: those provided by the caller, and bundled tables.

`tools/make_contexts.py` generates the tables from the published contexts. A table has single entries, and groups of
terms with the same form of definition, in which a star represents the term. In a lazy table, a term is defined when a
document first uses it. A document uses about twenty of the three thousand terms of schema.org.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

import msgspec

from motherlode.transform.jsonld.active_context import ActiveContext, ContextOrigin, TermDefinition
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, require
from motherlode.transform.jsonld.processor_options import CONTEXT_ENTRIES, Json
from motherlode.transform.jsonld.term_definitions import TermDefiner

_LAZY_TABLE_SETTINGS = frozenset({"@vocab", "@language", "@version"})
"""Entries other than terms that a lazy table may have."""
_MAX_CONTEXT_BYTES = 2 * 1024 * 1024
"""Maximum size of a remote context. The largest in common use has 0.2 MB."""


class ContextGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms whose definitions differ only by the term, such as `schema:*`."""

    definition: Json
    terms: str


class ContextTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the folder `contexts/`: one published context in compact form."""

    title: str
    urls: tuple[str, ...]
    """URLs of the context. The scheme (http or https) and a trailing slash are ignored."""
    lazy: bool
    entries: dict[str, Json]
    groups: tuple[ContextGroup, ...] = ()

    def expand(self) -> dict[str, Json]:
        """Return the context as published."""
        grouped = {
            term: fill_definition(group.definition, term) for group in self.groups for term in group.terms.split()
        }
        return {**self.entries, **grouped}


def fill_definition(definition: Json, term: str) -> Json:
    """Return the definition of one term of a group: that of the group, with each `*` replaced by the term."""
    if isinstance(definition, str):
        return definition.replace("*", term)
    return {**definition, "@id": definition["@id"].replace("*", term)}


class BundledContext:
    """A published JSON-LD context that Motherlode contains, so that it need not be fetched."""

    def __init__(self, table: ContextTable) -> None:
        self.context = table.expand()
        self._is_lazy = table.lazy
        self._defined: dict[str, TermDefinition] = {}
        self._settings = {name: value for name, value in table.entries.items() if name in CONTEXT_ENTRIES}
        if table.lazy and (forbidden := self._settings.keys() - _LAZY_TABLE_SETTINGS):
            raise ValueError(f"{table.title}: a lazy table cannot have {sorted(forbidden)}")

    def __contains__(self, name: str) -> bool:
        return name in self.context and name not in self._settings

    def define(self, name: str) -> TermDefinition | None:
        """Return the definition of a term of a lazy table; None if there is none.

        It is built in a new context, so that a timeout cannot leave a shared context half changed.
        """
        found = self._defined.get(name)
        if found is None:
            home = ActiveContext(vocab=self._settings.get("@vocab"))
            definer = TermDefiner(
                active=home,
                local=self.context,
                origin=ContextOrigin(base=None),
                is_1_1=True,
                check_scope=_reject_scoped_context,
            )
            definer.define(name)
            found = home.terms.get(name)
            if found is not None:
                self._defined[name] = found
        return found

    def apply_to(self, active: ActiveContext) -> ActiveContext | None:
        """Return `active` extended by this context; None if the full algorithm is needed."""
        if not self._is_lazy or active.has_protected_terms():
            return None
        result = active.clone()
        result.terms = {name: definition for name, definition in active.terms.items() if name not in self}
        result.lazy = (self, *(source for source in active.lazy if source is not self))
        result.vocab = self._settings.get("@vocab", active.vocab)
        result.language = self._settings.get("@language", active.language)
        return result


def _reject_scoped_context(*_: Any) -> None:
    raise ValueError("a lazy table cannot have scoped contexts")


def find_bundled_context(url: str) -> BundledContext | None:
    """Return the bundled context published at a URL, or None."""
    name = _load_index().get(normalize_url(url))
    return None if name is None else _load_table(name)


def is_bundled(url: str) -> bool:
    return normalize_url(url) in _load_index()


def normalize_url(url: str) -> str:
    """Return a URL in the form used in the index; "" if it is not an HTTP URL."""
    scheme, _, rest = url.partition("#")[0].strip().partition("://")
    if scheme.lower() not in ("http", "https"):
        return ""
    host, slash, path = rest.partition("/")
    return (host.lower() + slash + path).rstrip("/")


@lru_cache(maxsize=1)
def _load_index() -> dict[str, str]:
    return msgspec.json.decode(_read_file("index.json"), type=dict[str, str])


@lru_cache(maxsize=64)
def _load_table(name: str) -> BundledContext:
    return BundledContext(msgspec.json.decode(_read_file(name), type=ContextTable))


def _read_file(name: str) -> bytes:
    return (resources.files(__package__) / "contexts" / name).read_bytes()


# Contexts provided by the caller


class ProvidedContext(NamedTuple):
    """A remote context that the caller provided."""

    context: Json


def find_provided(contexts: Mapping[str, bytes], url: str) -> bytes | None:
    """Return the content that the caller provided for a URL, or None."""
    if not contexts:
        return None
    found = contexts.get(url)
    return found if found is not None else contexts.get(url.partition("#")[0])


def load_context(contexts: Mapping[str, bytes], url: str) -> BundledContext | ProvidedContext | None:
    """Return the context at a URL: the one that the caller provided, or else the bundled one; None if there is none."""
    content = find_provided(contexts, url)
    if content is None:
        return find_bundled_context(url)
    try:
        return _parse_context(content)
    except ValueError as error:
        code = error.code if isinstance(error, JsonLdError) else "loading remote context failed"
        raise JsonLdError(code, url) from error


@lru_cache(maxsize=4)
def _parse_context(content: bytes) -> ProvidedContext:
    require(len(content) <= _MAX_CONTEXT_BYTES, "loading remote context failed", "the context is too large")
    try:
        document = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise JsonLdError("loading remote context failed", "the context is nested too deep") from error
    require(isinstance(document, dict) and "@context" in document, "invalid remote context")
    return ProvidedContext(document["@context"])
