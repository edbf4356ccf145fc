"""Context processing (JSON-LD 1.1 API, section 4.1). Step numbers in docstrings are those of section 4.1.2.

The functions at the top parse the entries of a context that are not terms (steps 5.5 to 5.11).
"""

from __future__ import annotations

import msgspec

from motherlode.transform.jsonld.active_context import (
    DOCUMENT,
    ActiveContext,
    Base,
    CachedContext,
    ContextCache,
    TermDefinition,
)
from motherlode.transform.jsonld.bundled_contexts import BundledContext, ContextDocument, ContextLoader
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded, Notes, describe_value, shorten
from motherlode.transform.jsonld.iris import is_blank, is_well_formed
from motherlode.transform.jsonld.processor_options import CONTEXT_ENTRIES, Json, Mode, ProcessorOptions
from motherlode.transform.jsonld.term_definitions import TermDefiner, parse_direction
from motherlode.www.iri import is_absolute, resolve


def check_version(version: Json, *, is_1_1: bool) -> None:
    """Check `@version` (step 5.5)."""
    if isinstance(version, bool) or version != 1.1:
        raise JsonLdError(ErrorCode.INVALID_VERSION_VALUE, describe_value(version))
    if not is_1_1:
        raise JsonLdError(ErrorCode.PROCESSING_MODE_CONFLICT, describe_value(version))


def parse_base(value: Json, current: str | None) -> str | None:
    """Return the new base IRI; `current` is the base against which it is resolved (step 5.7)."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_BASE_IRI, describe_value(value))
    if is_absolute(value):
        return value
    if current is None:
        raise JsonLdError(ErrorCode.INVALID_BASE_IRI, value)
    return resolve(current, value)


def is_relative_base(value: Json) -> bool:
    """Return whether `@base` is relative, so that its meaning depends on the document."""
    return isinstance(value, str) and not is_absolute(value)


def parse_vocab(value: Json, active: ActiveContext, *, is_1_1: bool) -> str | None:
    """Return the vocabulary mapping without the document base. The result may be relative."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, describe_value(value))
    if is_blank(value):
        return value
    if not is_1_1 and not is_absolute(value):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, value)
    expanded = active.expand_term(value)
    if expanded is None:
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, value)
    return expanded


def is_relative(iri: str | None) -> bool:
    """Return whether an IRI must be resolved."""
    return iri is not None and not is_absolute(iri) and not is_blank(iri)


def resolve_vocab(relative: str, base: str | None) -> str:
    """Resolve a relative vocabulary mapping against the base (step 5.8)."""
    found = relative if base is None else resolve(base, relative)
    if not is_absolute(found):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, relative)
    return found


def parse_default_language(value: Json) -> str | None:
    """Parse `@language` (step 5.9)."""
    if value is not None and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_DEFAULT_LANGUAGE, describe_value(value))
    return value


def parse_default_direction(value: Json, *, is_1_1: bool) -> str | None:
    """Parse `@direction` (step 5.10)."""
    if not is_1_1:
        raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@direction")
    return parse_direction(value)


def check_propagate(value: Json, *, is_1_1: bool) -> None:
    """Check `@propagate` (step 5.11)."""
    if not is_1_1:
        raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@propagate")
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROPAGATE_VALUE, describe_value(value))


def check_protected(value: Json) -> bool:
    """Check `@protected` and return it."""
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROTECTED_VALUE, describe_value(value))
    return value


# The algorithm

_CACHE = ContextCache(entries=1024, weight=200_000)
_MAX_CACHED_CONTEXT_BYTES = 32_768
"""Longer contexts are not cached."""
_CHARACTERS_PER_TERM = 64
"""Characters of text that weigh as much as one term in the cache."""
_COPIED_TERMS_PER_DEFINITION = 32
"""Terms whose copying costs as much work as one definition."""
_SETTINGS = ("@version", "@base", "@vocab", "@language", "@direction", "@propagate", "@protected")
"""Entries other than terms, in the order of the specification."""
INITIAL_CONTEXTS = {mode: ActiveContext() for mode in Mode}


class ContextProcessor:
    """Creates the active contexts of one document."""

    def __init__(self, options: ProcessorOptions, notes: Notes) -> None:
        self._base = options.base
        self._strict = options.strict
        self._limits = options.limits
        self._is_1_1 = options.mode is Mode.V1_1
        self._notes = notes
        self._loader = ContextLoader(options.contexts)
        self._work = 0
        self._loads = 0
        self._scopes = 0
        self._is_document_specific = False
        """Whether the context being processed must not be cached: it depends on this document, or has problems to
        report."""
        self._sources: dict[str, bytes | None] = {}
        self.initial = INITIAL_CONTEXTS[options.mode]

    # Called by expansion

    def apply_embedded(self, active: ActiveContext, local: Json) -> ActiveContext:
        """Return the context inside an object with `@context` (Expansion, step 9)."""
        key: str | bytes
        if isinstance(local, str):
            key = local
        else:
            try:
                key = msgspec.json.encode(local)
            except (ValueError, TypeError, OverflowError, RecursionError):  # without a key it cannot be cached
                return self.process(active, local, base=DOCUMENT)
        if len(key) > _MAX_CACHED_CONTEXT_BYTES:
            return self.process(active, local, base=DOCUMENT)
        return self._process_cached(key, active, local, base=DOCUMENT)

    def apply_scoped(
        self, active: ActiveContext, definition: TermDefinition, *, override_protected: bool, propagate: bool
    ) -> ActiveContext:
        """Return the context inside the values of a term, or inside the nodes of a type, with a scoped context."""
        return self._process_cached(
            definition.context_key,
            active,
            definition.context,
            base=definition.context_base,
            override_protected=override_protected,
            propagate=propagate,
        )

    def _process_cached(
        self,
        key: str | bytes | int,
        active: ActiveContext,
        local: Json,
        *,
        base: Base,
        override_protected: bool = False,
        propagate: bool = True,
    ) -> ActiveContext:
        whole_key = (active.serial_number, key, override_protected, propagate)
        found = _CACHE.get(whole_key)
        if found is not None and all(self._loader.provided_content(url) == content for url, content in found.sources):
            return found.context
        self._is_document_specific, self._sources = False, {}
        context = self.process(active, local, base=base, override_protected=override_protected, propagate=propagate)
        if not self._is_document_specific:
            _CACHE.put(whole_key, CachedContext(context, tuple(self._sources.items()), self._weight(key, context)))
        return context

    def _weight(self, key: str | bytes | int, context: ActiveContext) -> int:
        """Return the weight in the cache: the number of terms, plus a share for the stored texts."""
        texts = [*self._sources, *filter(None, self._sources.values()), key if isinstance(key, str | bytes) else ""]
        return 1 + len(context.terms) + sum(map(len, texts)) // _CHARACTERS_PER_TERM

    # The algorithm

    def process(
        self,
        active: ActiveContext,
        local: Json,
        *,
        base: Base,
        remote: tuple[str, ...] = (),
        override_protected: bool = False,
        propagate: bool = True,
        validate_scoped: bool = True,
    ) -> ActiveContext:
        """Return `active` extended by the local context.

        `remote` are the URLs of the remote contexts in which the local context was found.
        """
        if isinstance(local, dict) and isinstance(local.get("@propagate"), bool):
            propagate = local["@propagate"]
        result = active.clone()
        self._spend_work(1 + len(active.terms) // _COPIED_TERMS_PER_DEFINITION)
        if not propagate and result.previous is None:
            result.previous = active
        for context in local if isinstance(local, list) else [local]:
            try:
                if context is None:
                    result = self._nullify(active, result, override_protected=override_protected, propagate=propagate)
                elif isinstance(context, str):
                    result = self._apply_remote(
                        result,
                        context,
                        base=base,
                        remote=remote,
                        override_protected=override_protected,
                        validate_scoped=validate_scoped,
                    )
                elif isinstance(context, dict):
                    self._define(result, context, base=base, remote=remote, override_protected=override_protected)
                else:
                    raise JsonLdError(ErrorCode.INVALID_LOCAL_CONTEXT, describe_value(context))
            except JsonLdError as error:
                self._tolerate(error)
        return result

    def _tolerate(self, error: JsonLdError) -> None:
        if self._strict or isinstance(error, LimitExceeded):
            raise error
        self._is_document_specific = True
        self._notes.add(str(error), error.detail)

    def _spend_work(self, work: int) -> None:
        self._work += work
        if self._work > self._limits.context_work:
            raise LimitExceeded(ErrorCode.CONTEXT_OVERFLOW, "the contexts of the document need too much work")

    def _nullify(
        self, active: ActiveContext, result: ActiveContext, *, override_protected: bool, propagate: bool
    ) -> ActiveContext:
        """Handle a null context (step 5.1)."""
        if not override_protected and active.has_protected_terms():
            raise JsonLdError(ErrorCode.INVALID_CONTEXT_NULLIFICATION)
        fresh = ActiveContext()
        if not propagate:
            fresh.previous = result
        return fresh

    # Remote contexts

    def _apply_remote(
        self,
        result: ActiveContext,
        reference: str,
        *,
        base: Base,
        remote: tuple[str, ...],
        override_protected: bool,
        validate_scoped: bool,
    ) -> ActiveContext:
        """Process a remote context (step 5.2)."""
        url = self._resolve_reference(reference, base)
        if not validate_scoped and url in remote:
            return result
        if len(remote) >= self._limits.remote_contexts:
            raise LimitExceeded(ErrorCode.CONTEXT_OVERFLOW, url)
        found = self._load(url)
        if found is None:
            return self._record_missing(result, url)
        if isinstance(found, BundledContext):
            lazy = found.apply_to(result)
            if lazy is not None:
                self._spend_work(1 + len(result.terms) // _COPIED_TERMS_PER_DEFINITION)
                return lazy
        return self.process(
            result,
            found.context,
            base=url,
            remote=(*remote, url),
            override_protected=override_protected,
            validate_scoped=validate_scoped,
        )

    def _resolve_reference(self, reference: str, base: Base) -> str:
        if not self._strict:
            reference = reference.strip()
        if is_absolute(reference):
            return reference
        if base is DOCUMENT:
            self._is_document_specific = True
            base = self._base
        if base is None:
            raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, reference)
        if not self._strict and (bundled := self._loader.find_url_without_scheme(reference)):
            self._is_document_specific = True
            self._notes.add(f"context URL without a scheme, read as {bundled}", reference)
            return bundled
        return resolve(base, reference)

    def _load(self, url: str) -> BundledContext | ContextDocument | None:
        self._loads += 1
        if self._loads > self._limits.remote_loads:
            raise LimitExceeded(ErrorCode.CONTEXT_OVERFLOW, "too many remote contexts")
        self._sources[url] = self._loader.provided_content(url)
        return self._loader.load(url)

    def _record_missing(self, result: ActiveContext, url: str) -> ActiveContext:
        if self._strict:
            raise JsonLdError(ErrorCode.LOADING_REMOTE_CONTEXT_FAILED, url)
        self._is_document_specific = True
        self._notes.add(f"context not loaded: {shorten(url)}; the block was read without it", url)
        if url.startswith(("http://", "https://")) and is_well_formed(url):
            self._notes.wanted[url] = None
        result.is_incomplete = True
        return result

    # Context definitions

    def _define(
        self,
        result: ActiveContext,
        context: dict[str, Json],
        *,
        base: Base,
        remote: tuple[str, ...],
        override_protected: bool,
    ) -> None:
        """Process a context definition (steps 5.4 to 5.13)."""
        if "@import" in context:
            context = self._merge_import(result, context, base)
        for name in _SETTINGS:
            if name in context:
                try:
                    self._apply_setting(result, name, context[name], remote)
                except JsonLdError as error:
                    self._tolerate(error)
        self._spend_work(len(context))
        definer = TermDefiner(
            active=result,
            local=context,
            base=base,
            is_1_1=self._is_1_1,
            check_scope=self._check_scope,
            protected=context.get("@protected") is True,
            override_protected=override_protected,
            remote=remote,
            term_depth=self._limits.term_depth,
        )
        for term in context:
            if term not in CONTEXT_ENTRIES:
                try:
                    definer.define(term)
                except JsonLdError as error:
                    self._tolerate(error)

    def _apply_setting(self, result: ActiveContext, name: str, value: Json, remote: tuple[str, ...]) -> None:
        if name == "@version":
            check_version(value, is_1_1=self._is_1_1)
        elif name == "@base":
            if not remote:
                result.base = parse_base(value, self._base_of(result) if is_relative_base(value) else None)
        elif name == "@vocab":
            vocab = parse_vocab(value, result, is_1_1=self._is_1_1)
            if vocab is not None and is_relative(vocab):
                vocab = resolve_vocab(vocab, self._base_of(result))
            result.vocab = vocab
        elif name == "@language":
            result.language = parse_default_language(value)
        elif name == "@direction":
            result.direction = parse_default_direction(value, is_1_1=self._is_1_1)
        elif name == "@propagate":
            check_propagate(value, is_1_1=self._is_1_1)
        else:
            check_protected(value)

    def _base_of(self, active: ActiveContext) -> str | None:
        if active.base is DOCUMENT:
            self._is_document_specific = True
            return self._base
        return active.base

    def _merge_import(self, result: ActiveContext, context: dict[str, Json], base: Base) -> dict[str, Json]:
        """Return the context merged with the one it imports (step 5.6)."""
        if not self._is_1_1:
            raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@import")
        reference = context["@import"]
        if not isinstance(reference, str):
            raise JsonLdError(ErrorCode.INVALID_IMPORT_VALUE, describe_value(reference))
        url = self._resolve_reference(reference, base)
        found = self._load(url)
        if found is None:
            self._record_missing(result, url)
            return context
        imported = found.context
        if not isinstance(imported, dict):
            raise JsonLdError(ErrorCode.INVALID_REMOTE_CONTEXT, url)
        if "@import" in imported:
            raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@import inside an imported context")
        return {**imported, **context}

    def _check_scope(self, active: ActiveContext, local: Json, *, base: Base, remote: tuple[str, ...]) -> None:
        if self._scopes >= self._limits.scope_depth:
            raise LimitExceeded(ErrorCode.CONTEXT_OVERFLOW, "scoped contexts are nested too deep")
        self._scopes += 1
        try:
            self.process(active, local, base=base, remote=remote, override_protected=True, validate_scoped=False)
        finally:
            self._scopes -= 1
