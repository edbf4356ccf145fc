"""Context processing (JSON-LD 1.1 API, section 4.1). Step numbers in docstrings are those of section 4.1.2."""

import msgspec
from msgspec.structs import replace

from motherlode.transform.jsonld import context_tables
from motherlode.transform.jsonld.active_context import (
    DOCUMENT,
    ActiveContext,
    Base,
    CachedContext,
    ContextCache,
    ContextOrigin,
    TermDefinition,
)
from motherlode.transform.jsonld.context_tables import BundledContext, ProvidedContext
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, LimitExceeded, Notes, require, shorten
from motherlode.transform.jsonld.processor_options import (
    CONTEXT_ENTRIES,
    Json,
    Mode,
    Node,
    ProcessorOptions,
    is_blank,
    is_well_formed,
)
from motherlode.transform.jsonld.term_definitions import TermDefiner, parse_direction
from motherlode.www.iri import complete_namespace, is_absolute, resolve, without_scheme_rest

_CACHE = ContextCache(entries=1024, weight=200_000)
_MAX_CACHED_CONTEXT_BYTES = 32_768
"""Longer contexts are not cached."""
_CHARACTERS_PER_TERM = 64
"""Characters of text that weigh as much as one term in the cache."""
_SETTINGS = ("@version", "@base", "@vocab", "@language", "@direction", "@propagate", "@protected")
"""Entries other than terms, in the order of the specification."""
_IRI_ENTRIES = ("@id", "@type", "@reverse")
"""Entries of a term definition whose values are IRIs."""
_INITIAL_CONTEXTS = {mode: ActiveContext() for mode in Mode}

# Limits far above the needs of real documents
_MAX_SCOPE_DEPTH = 50
_MAX_WORK = 300_000
"""Maximum number of term definitions per document, about a second of work."""
_COPIED_TERMS_PER_DEFINITION = 32
"""Terms whose copying costs as much work as one definition."""
_MAX_REMOTE_DEPTH = 50
MAX_REMOTE_LOADS = 1000


class ContextProcessor:
    """Creates the active contexts of one document."""

    def __init__(self, options: ProcessorOptions, notes: Notes) -> None:
        self._base = options.base
        self._strict = options.strict
        self._repairs_iris = options.repairs_iris
        self._contexts = options.contexts
        self._is_1_1 = options.mode is Mode.V1_1
        self._notes = notes
        self._work = 0
        self._loads = 0
        self._scopes = 0
        self._is_document_specific = False
        """Whether the context being processed must not be cached: it depends on this document, or has problems to
        report."""
        self._sources: dict[str, bytes | None] = {}
        self.initial = _INITIAL_CONTEXTS[options.mode]

    def apply_embedded(self, active: ActiveContext, local: Json) -> ActiveContext:
        """Return the context inside an object with `@context` (Expansion, step 9)."""
        origin = ContextOrigin()
        key: str | bytes
        if isinstance(local, str):
            key = local
        else:
            try:
                key = msgspec.json.encode(local)
            except (ValueError, TypeError, OverflowError, RecursionError):  # without a key it cannot be cached
                return self.process(active, local, origin)
        if len(key) > _MAX_CACHED_CONTEXT_BYTES:
            return self.process(active, local, origin)
        return self._process_cached(key, active, local, origin)

    def apply_scoped(self, active: ActiveContext, definition: TermDefinition, *, is_type: bool) -> ActiveContext:
        """Return the context inside the values of a term, or inside the nodes of a type, with a scoped context."""
        base = definition.context_base
        origin = ContextOrigin(base=base, override_protected=not is_type, propagate=not is_type)
        return self._process_cached(definition.context_key, active, definition.context, origin)

    def _process_cached(
        self, key: str | bytes | int, active: ActiveContext, local: Json, origin: ContextOrigin
    ) -> ActiveContext:
        whole_key = (active.serial_number, key, origin.override_protected, origin.propagate)
        found = _CACHE.get(whole_key)
        if found is not None and all(
            context_tables.find_provided(self._contexts, url) == content for url, content in found.sources
        ):
            return found.context
        self._is_document_specific, self._sources = False, {}
        context = self.process(active, local, origin)
        if not self._is_document_specific:
            _CACHE.put(whole_key, CachedContext(context, tuple(self._sources.items()), self._weight(key, context)))
        return context

    def _weight(self, key: str | bytes | int, context: ActiveContext) -> int:
        """Return the weight in the cache: the number of terms, plus a share for the stored texts."""
        texts = [*self._sources, *filter(None, self._sources.values()), key if isinstance(key, str | bytes) else ""]
        return 1 + len(context.terms) + sum(map(len, texts)) // _CHARACTERS_PER_TERM

    def process(self, active: ActiveContext, local: Json, origin: ContextOrigin) -> ActiveContext:
        """Return `active` extended by the local context."""
        propagate = origin.propagate
        if isinstance(local, dict) and isinstance(local.get("@propagate"), bool):
            propagate = local["@propagate"]
        result = active.clone()
        self._spend_work(1 + len(active.terms) // _COPIED_TERMS_PER_DEFINITION)
        if not propagate and result.previous is None:
            result.previous = active
        for context in local if isinstance(local, list) else [local]:
            try:
                if context is None:  # step 5.1
                    may_nullify = origin.override_protected or not active.has_protected_terms()
                    require(may_nullify, "invalid context nullification")
                    result = ActiveContext(previous=None if propagate else result)
                elif isinstance(context, str):
                    result = self._apply_remote(result, context, origin)
                else:
                    require(isinstance(context, dict), "invalid local context", context)
                    self._define(result, context, origin)
            except JsonLdError as error:
                self._tolerate(error)
        return result

    def _tolerate(self, error: JsonLdError) -> None:
        self._notes.tolerate(error)
        self._is_document_specific = True

    def _spend_work(self, work: int) -> None:
        self._work += work
        if self._work > _MAX_WORK:
            raise LimitExceeded("context overflow", "the contexts of the document need too much work")

    def _apply_remote(self, result: ActiveContext, reference: str, origin: ContextOrigin) -> ActiveContext:
        """Process a remote context (step 5.2)."""
        url = self._resolve_reference(reference, origin.base)
        if not origin.validate_scoped and url in origin.remote:
            return result
        if len(origin.remote) >= _MAX_REMOTE_DEPTH:
            raise LimitExceeded("context overflow", url)
        found = self._load(url)
        if found is None:
            self._record_missing(result, url)
            return result
        if isinstance(found, BundledContext):
            lazy = found.apply_to(result)
            if lazy is not None:
                self._spend_work(1 + len(result.terms) // _COPIED_TERMS_PER_DEFINITION)
                return lazy
        inner = replace(origin, base=url, remote=(*origin.remote, url), propagate=True)
        return self.process(result, found.context, inner)

    def _resolve_reference(self, reference: str, base: Base) -> str:
        if not self._strict:
            reference = reference.strip()
            rest = without_scheme_rest(reference)
            if rest and (repaired := self._add_scheme(rest, reference)):
                return repaired
        if is_absolute(reference):
            return reference
        if base is DOCUMENT:
            self._is_document_specific = True
            base = self._base
        if base is None:
            raise JsonLdError("loading document failed", reference)
        return resolve(base, reference)

    def _add_scheme(self, rest: str, reference: str) -> str:
        """Return the URL of a bundled context for a reference with an incomplete scheme; "" for others."""
        with_scheme = "https://" + rest
        if not context_tables.is_bundled(with_scheme):
            return ""
        self._is_document_specific = True
        self._notes.add(f"context URL without a complete scheme, read as {with_scheme}", reference, repaired=True)
        return with_scheme

    def _load(self, url: str) -> BundledContext | ProvidedContext | None:
        self._loads += 1
        if self._loads > MAX_REMOTE_LOADS:
            raise LimitExceeded("context overflow", "too many remote contexts")
        self._sources[url] = context_tables.find_provided(self._contexts, url)
        return context_tables.load_context(self._contexts, url)

    def _record_missing(self, result: ActiveContext, url: str) -> None:
        require(not self._strict, "loading remote context failed", url)
        self._is_document_specific = True
        self._notes.add(f"context not loaded: {shorten(url)}; the block was read without it", url)
        if url.startswith(("http://", "https://")) and is_well_formed(url):
            self._notes.wanted[url] = None
        result.is_incomplete = True

    def _define(self, result: ActiveContext, context: Node, origin: ContextOrigin) -> None:
        """Process a context definition (steps 5.4 to 5.13)."""
        context = self._strip_iris(context)
        if "@import" in context:
            context = self._merge_import(result, context, origin.base)
        for name in _SETTINGS:
            if name in context:
                try:
                    self._apply_setting(result, name, context[name], is_remote=bool(origin.remote))
                except JsonLdError as error:
                    self._tolerate(error)
        self._spend_work(len(context))
        definer = TermDefiner(
            active=result, local=context, origin=origin, is_1_1=self._is_1_1, check_scope=self._check_scope
        )
        for term in context:
            if term not in CONTEXT_ENTRIES:
                try:
                    definer.define(term)
                except JsonLdError as error:
                    self._tolerate(error)

    def _strip_iris(self, context: Node) -> Node:
        """Return the context without white space around its IRIs, unless repairs are off."""
        stripped = {name: found for name, value in context.items() if (found := _strip_iri(value)) is not None}
        if not stripped:
            return context
        self._is_document_specific = True
        if not self._repairs_iris:
            return context
        for name in stripped:
            self._notes.add(f"white space around an IRI in the context was left out: {name}", name, repaired=True)
        return {**context, **stripped}

    def _apply_setting(self, result: ActiveContext, name: str, value: Json, *, is_remote: bool) -> None:
        """Apply an entry that is not a term (steps 5.5 to 5.11)."""
        if name == "@version":
            require(value == 1.1, "invalid @version value", value)
            require(self._is_1_1, "processing mode conflict", value)
        elif name == "@base":
            if not is_remote:  # the base of a remote context is ignored
                result.base = self._parse_base(value, result)
        elif name == "@vocab":
            result.vocab = self._complete_vocab(self._parse_vocab(value, result))
        elif name == "@language":
            require(value is None or isinstance(value, str), "invalid default language", value)
            result.language = value
        elif name == "@direction":
            require(self._is_1_1, "invalid context entry", name)
            result.direction = parse_direction(value)
        elif name == "@propagate":
            require(self._is_1_1, "invalid context entry", name)
            require(isinstance(value, bool), "invalid @propagate value", value)
        else:
            require(isinstance(value, bool), "invalid @protected value", value)

    def _parse_base(self, value: Json, active: ActiveContext) -> str | None:
        """Return the new base IRI; a relative one is resolved against the current base (step 5.7)."""
        require(value is None or isinstance(value, str), "invalid base IRI", value)
        if value is None or is_absolute(value):
            return None if value is None else str(value)
        current = self._base_of(active)
        if current is None:
            raise JsonLdError("invalid base IRI", value)
        return resolve(current, value)

    def _parse_vocab(self, value: Json, active: ActiveContext) -> str | None:
        """Return the vocabulary mapping (step 5.8)."""
        require(value is None or isinstance(value, str), "invalid vocab mapping", value)
        if value is None or is_blank(value):
            return None if value is None else str(value)
        require(self._is_1_1 or is_absolute(value), "invalid vocab mapping", value)
        expanded = active.expand_term(value)
        if expanded is None:
            raise JsonLdError("invalid vocab mapping", value)
        if is_absolute(expanded) or is_blank(expanded):
            return expanded
        base = self._base_of(active)
        resolved = expanded if base is None else resolve(base, expanded)
        require(is_absolute(resolved), "invalid vocab mapping", expanded)
        return resolved

    def _complete_vocab(self, vocab: str | None) -> str | None:
        """Return the vocabulary mapping with a slash added if it has no path, unless repairs are off."""
        namespace = vocab and complete_namespace(vocab)
        if namespace == vocab:
            return vocab
        self._is_document_specific = True
        if not self._repairs_iris:
            return vocab
        self._notes.add(f"a slash was added to the vocabulary {vocab}", vocab or "", repaired=True)
        return namespace

    def _base_of(self, active: ActiveContext) -> str | None:
        if active.base is DOCUMENT:
            self._is_document_specific = True
            return self._base
        return active.base

    def _merge_import(self, result: ActiveContext, context: Node, base: Base) -> Node:
        """Return the context merged with the one it imports (step 5.6)."""
        require(self._is_1_1, "invalid context entry", "@import")
        reference = context["@import"]
        require(isinstance(reference, str), "invalid @import value", reference)
        url = self._resolve_reference(reference, base)
        found = self._load(url)
        if found is None:
            self._record_missing(result, url)
            return context
        imported = found.context
        require(isinstance(imported, dict), "invalid remote context", url)
        require("@import" not in imported, "invalid context entry", "@import inside an imported context")
        return {**imported, **context}

    def _check_scope(self, active: ActiveContext, local: Json, origin: ContextOrigin) -> None:
        if self._scopes >= _MAX_SCOPE_DEPTH:
            raise LimitExceeded("context overflow", "scoped contexts are nested too deep")
        self._scopes += 1
        try:
            self.process(active, local, replace(origin, override_protected=True, propagate=True, validate_scoped=False))
        finally:
            self._scopes -= 1


def _strip_iri(value: Json) -> Json:
    """Return an entry of a context without white space around its IRIs; None if it has no such white space."""
    if isinstance(value, str):
        return None if value == value.strip() else value.strip()
    if not isinstance(value, dict):
        return None
    iris = {name: value[name] for name in _IRI_ENTRIES if isinstance(value.get(name), str)}
    stripped = {name: iri.strip() for name, iri in iris.items()}
    return None if stripped == iris else {**value, **stripped}
