"""Create Term Definition (JSON-LD 1.1 API, section 4.2). Step numbers are those of section 4.2.2."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from motherlode.transform.jsonld.active_context import (
    ABSENT,
    NO_CONTAINER,
    ActiveContext,
    ContextOrigin,
    OptionalEntry,
    TermDefinition,
)
from motherlode.transform.jsonld.jsonld_errors import JsonLdError, LimitExceeded, require
from motherlode.transform.jsonld.processor_options import (
    CONTAINERS,
    DEFINITION_ENTRIES,
    KEYWORDS,
    Json,
    Node,
    has_keyword_form,
    is_blank,
)
from motherlode.www.iri import is_absolute, split_curie

_GRAPH_MAPS = ({"@graph", "@id"}, {"@graph", "@index"})
_GEN_DELIMS = (":", "/", "?", "#", "[", "]", "@")
_MAX_TERM_CHAIN = 64
"""Maximum length of a chain of terms that are defined by one another."""
_context_keys = itertools.count()


def check_type_keyword(value: Json, *, is_1_1: bool) -> None:
    """Check a definition of `@type`, which may only set the container and the protection (step 4)."""
    allowed = (
        is_1_1
        and isinstance(value, dict)
        and bool(value)
        and value.keys() <= {"@container", "@protected"}
        and value.get("@container", "@set") == "@set"
    )
    require(allowed, "keyword redefinition", "@type")


def parse_protected(definition: Node, otherwise: Json, *, is_1_1: bool) -> bool:
    """Parse `@protected` (step 11). `otherwise` is the default of the context."""
    value = definition.get("@protected", otherwise)
    require(is_1_1 or "@protected" not in definition, "invalid term definition", "@protected")
    require(isinstance(value, bool), "invalid @protected value", value)
    return bool(value)


def parse_container(value: Json, *, is_1_1: bool) -> frozenset[str]:
    """Parse `@container` (step 19)."""
    allowed_in_1_0 = isinstance(value, str) and value not in ("@graph", "@id", "@type")
    require(is_1_1 or allowed_in_1_0, "invalid container mapping", value)
    entries = value if isinstance(value, list) else [value]
    are_known = bool(entries) and all(isinstance(entry, str) and entry in CONTAINERS for entry in entries)
    require(are_known, "invalid container mapping", value)
    found = frozenset(entries)
    rest = found - {"@set"}
    combined = len(rest) > 1 and rest not in _GRAPH_MAPS
    is_wrong = combined or len(found) != len(entries) or ("@list" in found and len(found) > 1)
    require(not is_wrong, "invalid container mapping", value)
    return found


def parse_direction(value: Json) -> str | None:
    """Parse `@direction` (step 23)."""
    require(value in (None, "ltr", "rtl"), "invalid base direction", value)
    return None if value is None else str(value)


def parse_nest(value: Json, *, is_1_1: bool) -> str:
    """Parse `@nest` (step 24)."""
    require(is_1_1, "invalid term definition", "@nest")
    is_valid = isinstance(value, str) and (value not in KEYWORDS or value == "@nest")
    require(is_valid, "invalid @nest value", value)
    return str(value)


def parse_prefix_flag(term: str, value: Json, iri: str | None, *, is_1_1: bool) -> bool:
    """Parse `@prefix` (step 25)."""
    require(is_1_1 and ":" not in term and "/" not in term, "invalid term definition", term)
    require(isinstance(value, bool), "invalid @prefix value", value)
    require(not value or iri not in KEYWORDS, "invalid term definition", term)
    return bool(value)


@dataclass(slots=True, kw_only=True)
class TermDefiner:
    """Defines the terms of one context definition in a new active context."""

    active: ActiveContext
    local: Mapping[str, Json]
    origin: ContextOrigin
    is_1_1: bool
    """Whether the processing mode is JSON-LD 1.1."""
    check_scope: Callable[[ActiveContext, Json, ContextOrigin], None]
    """Processes a scoped context to find its errors."""
    defined: dict[str, bool] = field(default_factory=dict)
    """Term → True if its definition is complete, False while it is being created (to detect cycles)."""
    _depth: int = 0

    def define(self, term: str) -> None:
        """Define a term, and before it the terms it depends on."""
        done = self.defined.get(term)
        if done:
            return
        require(done is None, "cyclic IRI mapping", term)
        require(term, "invalid term definition", "the empty term")
        if self._depth >= _MAX_TERM_CHAIN:
            raise LimitExceeded("context overflow", f"a chain of terms too long at {term}")
        self.defined[term] = False
        self._depth += 1
        try:
            self._define(term, self.local[term])
        finally:
            self._depth -= 1

    def _define(self, term: str, value: Json) -> None:
        if term == "@type":
            check_type_keyword(value, is_1_1=self.is_1_1)
        elif has_keyword_form(term):
            require(term not in KEYWORDS, "keyword redefinition", term)
            return
        previous = self.active.term(term)
        self.active.terms[term] = None
        simple = isinstance(value, str)
        if value is None or simple:
            value = {"@id": value}
        require(isinstance(value, dict), "invalid term definition", term)
        definition = self._make_definition(term, value, simple=simple)
        if definition is None:
            return
        if previous is not None and previous.protected and not self.origin.override_protected:
            if not definition.is_same_definition(previous):
                self.active.terms[term] = previous
                raise JsonLdError("protected term redefinition", term)
            definition = previous
        self.active.terms[term] = definition
        self.defined[term] = True
        if "@context" in value and not definition.reverse:
            self._check_scoped_context(term, value["@context"])

    def _make_definition(self, term: str, value: Node, *, simple: bool) -> TermDefinition | None:
        """Return a term definition (steps 10 to 26); None if the term must be ignored."""
        is_1_1 = self.is_1_1
        protected = parse_protected(value, self.local.get("@protected") is True, is_1_1=is_1_1)
        type_mapping = self._parse_type(value["@type"]) if "@type" in value else None
        if "@reverse" in value:
            return self._make_reverse(value, protected=protected, type_mapping=type_mapping)
        mapping = self._parse_iri_mapping(term, value, simple=simple)
        if mapping is None:
            return None
        iri, prefix = mapping
        container = parse_container(value["@container"], is_1_1=is_1_1) if "@container" in value else NO_CONTAINER
        if "@type" in container:
            type_mapping = type_mapping or "@id"
            require(type_mapping in ("@id", "@vocab"), "invalid type mapping", term)
        scoped = "@context" in value
        require(is_1_1 or not scoped, "invalid term definition", "@context")
        language, direction = self._parse_text_entries(value)
        definition = TermDefinition(
            iri=iri,
            prefix=parse_prefix_flag(term, value["@prefix"], iri, is_1_1=is_1_1) if "@prefix" in value else prefix,
            protected=protected,
            type=type_mapping,
            container=container,
            index=self._parse_index(value["@index"], container) if "@index" in value else None,
            context=value["@context"] if scoped else ABSENT,
            context_base=self.origin.base if scoped else None,
            context_key=next(_context_keys) if scoped else -1,
            language=language,
            direction=direction,
            nest=parse_nest(value["@nest"], is_1_1=is_1_1) if "@nest" in value else None,
        )
        require(value.keys() <= DEFINITION_ENTRIES, "invalid term definition", term)
        return definition

    def _parse_text_entries(self, value: Node) -> tuple[OptionalEntry, OptionalEntry]:
        """Parse `@language` and `@direction`, which have no effect beside `@type` (steps 22 and 23)."""
        if "@type" in value:
            return ABSENT, ABSENT
        language = value.get("@language", ABSENT)
        is_valid = language is ABSENT or language is None or isinstance(language, str)
        require(is_valid, "invalid language mapping", language)
        return language, parse_direction(value["@direction"]) if "@direction" in value else ABSENT

    def _parse_type(self, given: Json) -> str:
        require(isinstance(given, str), "invalid type mapping", "@type of a term is not a string")
        expanded = self.expand(given) or ""
        allowed = ("@id", "@vocab", "@json", "@none") if self.is_1_1 else ("@id", "@vocab")
        require(expanded in allowed or is_absolute(expanded), "invalid type mapping", given)
        return expanded

    def _make_reverse(self, value: Node, *, protected: bool, type_mapping: str | None) -> TermDefinition | None:
        """Return the definition of a reverse property (step 13); None if it must be ignored."""
        is_alone = "@id" not in value and "@nest" not in value
        require(is_alone, "invalid reverse property", "@id or @nest beside @reverse")
        reverse = value["@reverse"]
        require(isinstance(reverse, str), "invalid IRI mapping", "@reverse is not a string")
        if has_keyword_form(reverse):
            return None
        iri = self.expand(reverse) or ""
        require(is_absolute(iri) or is_blank(iri), "invalid IRI mapping", reverse)
        container = value.get("@container")
        require(container in (None, "@set", "@index"), "invalid reverse property", container)
        return TermDefinition(
            iri=iri,
            protected=protected,
            reverse=True,
            type=type_mapping,
            container=frozenset((container,)) if container else NO_CONTAINER,
        )

    def _parse_iri_mapping(self, term: str, value: Node, *, simple: bool) -> tuple[str | None, bool] | None:
        """Return the IRI mapping, and whether the term can be a prefix (steps 14 to 18); None to ignore the term."""
        given = value.get("@id", term)
        if given == term:
            return self._find_implicit_iri(term), False
        if given is None:
            return None, False
        require(isinstance(given, str), "invalid IRI mapping", term)
        if given not in KEYWORDS and has_keyword_form(given):
            return None
        iri = self.expand(given) or ""
        require(iri in KEYWORDS or is_absolute(iri) or is_blank(iri), "invalid IRI mapping", given)
        require(iri != "@context", "invalid keyword alias", term)
        if ":" in term[1:-1] or "/" in term:
            self.defined[term] = True
            require(self.expand(term) == iri, "invalid IRI mapping", term)
        plain = ":" not in term and "/" not in term
        return iri, plain and simple and (iri.endswith(_GEN_DELIMS) or is_blank(iri))

    def _find_implicit_iri(self, term: str) -> str:
        """Return the IRI mapping that follows from the term itself (steps 15 to 18)."""
        if ":" in term[1:]:
            prefix, _, reference = term.partition(":")
            if prefix in self.local:
                self.define(prefix)
            definition = self.active.term(prefix)
            return term if definition is None or definition.iri is None else definition.iri + reference
        if "/" in term:
            iri = self.active.expand_term(term) or ""
            require(is_absolute(iri), "invalid IRI mapping", term)
            return iri
        if term == "@type":
            return term
        require(self.active.vocab is not None, "invalid IRI mapping", term)
        return f"{self.active.vocab}{term}"

    def _parse_index(self, index: Json, container: frozenset[str]) -> str:
        is_allowed = self.is_1_1 and "@index" in container and isinstance(index, str)
        require(is_allowed, "invalid term definition", "@index")
        # A term may be the index of its own values, so a definition in progress is not a cycle here.
        under_way = False in (self.defined.get(index), self.defined.get(index.partition(":")[0]))
        expanded = self.active.expand_term(index) if under_way else self.expand(index)
        require(expanded is not None and is_absolute(expanded), "invalid term definition", index)
        return str(index)

    def _check_scoped_context(self, term: str, context: Json) -> None:
        """Process a scoped context for its errors (step 21). It is applied where the term is used."""
        try:
            self.check_scope(self.active, context, self.origin)
        except LimitExceeded:
            raise
        except JsonLdError as error:
            self.active.terms[term] = None
            raise JsonLdError("invalid scoped context", f"{term}: {error}") from error

    def expand(self, value: str) -> str | None:
        """Expand an IRI with the vocabulary mapping (section 5.2.2), defining the terms it depends on first."""
        if not has_keyword_form(value):
            if value in self.local and not self.defined.get(value):
                self.define(value)
            prefix, _ = (self.active.term(value) is None and split_curie(value)) or ("_", "")
            if prefix != "_" and prefix in self.local and not self.defined.get(prefix):
                self.define(prefix)
        return self.active.expand_term(value)
