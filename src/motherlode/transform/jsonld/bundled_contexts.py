"""Remote contexts that are available without the network: those provided by the caller, and bundled tables.

`tools/make_contexts.py` generates the tables from the published contexts. A table has single entries, and groups of
terms with the same form of definition, in which a star represents the term. In a lazy table, a term is defined when a
document first uses it. A document uses about twenty of the three thousand terms of schema.org.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

import msgspec

from motherlode.transform.jsonld.active_context import ActiveContext, TermDefinition
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.processor_options import CONTEXT_ENTRIES, Json
from motherlode.transform.jsonld.term_definitions import TermDefiner

_LAZY_TABLE_SETTINGS = frozenset({"@vocab", "@language", "@version"})
"""Entries other than terms that a lazy table may have."""


class ContextGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms with the same form of definition."""

    definition: Json
    terms: str
    """Terms, separated by spaces."""


class ContextTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `contexts/`."""

    title: str
    urls: tuple[str, ...]
    """URLs of the context. The scheme (http or https) and a trailing slash are ignored."""
    lazy: bool
    entries: dict[str, Json]
    groups: tuple[ContextGroup, ...] = ()


class ContextEntries(Mapping[str, Json]):
    """The entries of a published context, rebuilt from its table on access.

    >>> ContextEntries(ContextTable("", (), False, {"a": "b"}, (ContextGroup({"@id": "x:*"}, "c d"),)))["d"]
    {'@id': 'x:d'}
    """

    def __init__(self, table: ContextTable) -> None:
        self._plain = table.entries
        self._grouped = {term: group.definition for group in table.groups for term in group.terms.split()}

    def __getitem__(self, name: str) -> Json:
        return self._plain[name] if name in self._plain else fill_definition(self._grouped[name], name)

    def __contains__(self, name: object) -> bool:
        return name in self._grouped or name in self._plain

    def __iter__(self) -> Iterator[str]:
        yield from self._plain
        yield from self._grouped

    def __len__(self) -> int:
        return len(self._plain) + len(self._grouped)


def fill_definition(definition: Json, term: str) -> Json:
    """Return the definition of a group with the term instead of the star."""
    if isinstance(definition, str):
        return definition.replace("*", term)
    return {**definition, "@id": definition["@id"].replace("*", term)}


class BundledContext:
    """A bundled context."""

    def __init__(self, table: ContextTable) -> None:
        self.title = table.title
        self.lazy = table.lazy
        self._entries = ContextEntries(table)
        self._defined: dict[str, TermDefinition] = {}
        self._settings = {name: value for name, value in table.entries.items() if name in CONTEXT_ENTRIES}
        if self.lazy and not self._settings.keys() <= _LAZY_TABLE_SETTINGS:
            raise ValueError(
                f"{table.title}: a lazy table cannot have {sorted(self._settings.keys() - _LAZY_TABLE_SETTINGS)}"
            )

    @cached_property
    def context(self) -> dict[str, Json]:
        """The context as published."""
        return dict(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries and name not in self._settings

    def define(self, name: str) -> TermDefinition | None:
        """Return the definition of a term of a lazy table. Lazy tables refer only to their own terms.

        Each term is defined in a new context, so that other threads and timeouts cannot leave an incomplete definition.
        """
        found = self._defined.get(name)
        if found is None:
            home = ActiveContext()
            home.vocab = self._settings.get("@vocab")
            TermDefiner(
                active=home, local=self._entries, base=None, is_1_1=True, check_scope=_reject_scoped_context
            ).define(name)
            found = home.terms.get(name)
            if found is not None:
                self._defined[name] = found
        return found

    def apply_to(self, active: ActiveContext) -> ActiveContext | None:
        """Return `active` extended by this context; None if the full algorithm is needed."""
        if not self.lazy or active.has_protected_terms():
            return None
        result = active.clone()
        result.terms = {name: definition for name, definition in active.terms.items() if name not in self}
        result.lazy = (self, *(source for source in active.lazy if source is not self))
        result.vocab = self._settings.get("@vocab", active.vocab)
        result.language = self._settings.get("@language", active.language)
        return result


def _reject_scoped_context(*_: Any, **__: Any) -> None:
    raise ValueError("a lazy table cannot have scoped contexts")


def find_bundled_context(url: str) -> BundledContext | None:
    """Return the bundled context published at a URL, or None."""
    name = _load_index().get(normalize_url(url))
    return None if name is None else _load_table(name)


def is_bundled(url: str) -> bool:
    """Return whether the context at a URL is bundled."""
    return normalize_url(url) in _load_index()


def normalize_url(url: str) -> str:
    """Return a URL in the form used in the index; "" if it is not an HTTP URL.

    >>> normalize_url("HTTP://Schema.org/#") == normalize_url("https://schema.org")
    True
    """
    scheme, _, rest = url.partition("#")[0].strip().partition("://")
    if scheme.lower() not in ("http", "https"):
        return ""
    host, slash, path = rest.partition("/")
    return (host.lower() + slash + path).rstrip("/")


@lru_cache(maxsize=1)
def _load_index() -> dict[str, str]:
    """Return the file names of the tables by normalized URL."""
    content = (_tables_folder() / "index.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, str])


@lru_cache(maxsize=64)
def _load_table(name: str) -> BundledContext:
    return BundledContext(msgspec.json.decode((_tables_folder() / name).read_bytes(), type=ContextTable))


def _tables_folder() -> Any:
    return resources.files(__package__) / "contexts"


# Loading of remote contexts

_MAX_CONTEXT_BYTES = 2 * 1024 * 1024
"""Maximum size of a remote context. The largest in common use has 0.2 MB."""


@dataclass(frozen=True, slots=True)
class ContextDocument:
    """A remote context provided by the caller."""

    context: Json


class ContextLoader:
    """Loads remote contexts for one document: those of the caller first, then the bundled ones."""

    def __init__(self, contexts: Mapping[str, bytes]) -> None:
        self._contexts = contexts

    def provided_content(self, url: str) -> bytes | None:
        """Return the content that the caller provided for a URL, or None."""
        if not self._contexts:
            return None
        found = self._contexts.get(url)
        return found if found is not None else self._contexts.get(url.partition("#")[0])

    def load(self, url: str) -> BundledContext | ContextDocument | None:
        """Return the context at a URL; None if it is not available."""
        content = self.provided_content(url)
        if content is None:
            return find_bundled_context(url)
        try:
            return _parse_context(content)
        except ValueError as error:
            code = error.code if isinstance(error, JsonLdError) else ErrorCode.LOADING_REMOTE_CONTEXT_FAILED
            raise JsonLdError(code, url) from error

    def find_url_without_scheme(self, reference: str) -> str | None:
        """Return the URL of a bundled context for a reference without a scheme, such as `schema.org`; else None."""
        address = "https://" + reference.lstrip("/")
        return address if is_bundled(address) else None


@lru_cache(maxsize=4)
def _parse_context(content: bytes) -> ContextDocument:
    if len(content) > _MAX_CONTEXT_BYTES:
        raise JsonLdError(ErrorCode.LOADING_REMOTE_CONTEXT_FAILED, "the context is too large")
    try:
        document = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise JsonLdError(ErrorCode.LOADING_REMOTE_CONTEXT_FAILED, "the context is nested too deep") from error
    if not isinstance(document, dict) or "@context" not in document:
        raise JsonLdError(ErrorCode.INVALID_REMOTE_CONTEXT)
    return ContextDocument(document["@context"])
