"""Create Term Definition (JSON-LD 1.1 API, section 4.2). Step numbers are those of section 4.2.2.

The functions at the top parse the entries of an expanded term definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from motherlode.transform.jsonld.active_context import ABSENT, NO_CONTAINER, ActiveContext, Base, TermDefinition
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, LimitExceeded, describe_value
from motherlode.transform.jsonld.iris import is_blank
from motherlode.transform.jsonld.processor_options import (
    CONTAINERS,
    DEFINITION_ENTRIES,
    KEYWORDS,
    Json,
    has_keyword_form,
)
from motherlode.www.iri import is_absolute

_GRAPH_MAPS = ({"@graph", "@id"}, {"@graph", "@index"})


def check_type_keyword(value: Json, *, is_1_1: bool) -> None:
    """Check a definition of `@type`, which may only set the container and the protection (step 4)."""
    allowed = (
        is_1_1
        and isinstance(value, dict)
        and bool(value)
        and value.keys() <= {"@container", "@protected"}
        and value.get("@container", "@set") == "@set"
    )
    if not allowed:
        raise JsonLdError(ErrorCode.KEYWORD_REDEFINITION, "@type")


def parse_protected(definition: dict[str, Json], otherwise: Json, *, is_1_1: bool) -> bool:
    """Parse `@protected` (step 11). `otherwise` is the default of the context."""
    value = definition.get("@protected", otherwise)
    if "@protected" in definition and not is_1_1:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@protected")
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROTECTED_VALUE, describe_value(value))
    return value


def parse_container(value: Json, *, is_1_1: bool) -> frozenset[str]:
    """Parse `@container` (step 19)."""
    if not is_1_1 and (not isinstance(value, str) or value in ("@graph", "@id", "@type")):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, describe_value(value))
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, str) and entry in CONTAINERS for entry in entries):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, describe_value(value))
    found = frozenset(entries)
    rest = found - {"@set"}
    combined = len(rest) > 1 and rest not in _GRAPH_MAPS
    if combined or len(found) != len(entries) or ("@list" in found and len(found) > 1):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, describe_value(value))
    return found


def parse_language(value: Json) -> str | None:
    """Parse `@language` (step 22)."""
    if value is not None and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_LANGUAGE_MAPPING, describe_value(value))
    return value


def parse_direction(value: Json) -> str | None:
    """Parse `@direction` (step 23)."""
    if value is not None and value != "ltr" and value != "rtl":
        raise JsonLdError(ErrorCode.INVALID_BASE_DIRECTION, describe_value(value))
    return None if value is None else str(value)


def parse_nest(value: Json, *, is_1_1: bool) -> str:
    """Parse `@nest` (step 24)."""
    if not is_1_1:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@nest")
    if not isinstance(value, str) or (value in KEYWORDS and value != "@nest"):
        raise JsonLdError(ErrorCode.INVALID_NEST_VALUE, describe_value(value))
    return value


def parse_prefix_flag(term: str, value: Json, iri: str | None, *, is_1_1: bool) -> bool:
    """Parse `@prefix` (step 25)."""
    if not is_1_1 or ":" in term or "/" in term:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PREFIX_VALUE, describe_value(value))
    if value and iri in KEYWORDS:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
    return value


# Definition of terms

_GEN_DELIMS = (":", "/", "?", "#", "[", "]", "@")
_context_keys = itertools.count()


class ScopeCheck(Protocol):
    """Processes a scoped context to find its errors."""

    def __call__(self, active: ActiveContext, local: Json, *, base: Base, remote: tuple[str, ...]) -> None: ...


@dataclass(slots=True, kw_only=True)
class TermDefiner:
    """Defines the terms of one context definition in a new active context."""

    active: ActiveContext
    local: Mapping[str, Json]
    base: Base
    is_1_1: bool
    """Whether the processing mode is JSON-LD 1.1."""
    check_scope: ScopeCheck
    protected: bool = False
    override_protected: bool = False
    remote: tuple[str, ...] = ()
    term_depth: int = 64
    defined: dict[str, bool] = field(default_factory=dict)
    _depth: int = 0

    def define(self, term: str) -> None:
        """Define a term, and before it the terms it depends on."""
        done = self.defined.get(term)
        if done:
            return
        if done is False:
            raise JsonLdError(ErrorCode.CYCLIC_IRI_MAPPING, term)
        if not term:
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "the empty term")
        if self._depth >= self.term_depth:
            raise LimitExceeded(ErrorCode.CONTEXT_OVERFLOW, f"a chain of terms too long at {term}")
        self.defined[term] = False
        self._depth += 1
        try:
            self._define(term, self.local[term])
        finally:
            self._depth -= 1

    def _define(self, term: str, value: Json) -> None:
        if term == "@type":
            check_type_keyword(value, is_1_1=self.is_1_1)
        elif term in KEYWORDS:
            raise JsonLdError(ErrorCode.KEYWORD_REDEFINITION, term)
        elif has_keyword_form(term):
            return
        previous = self.active.term(term)
        self.active.terms[term] = None
        simple = isinstance(value, str)
        if value is None or simple:
            value = {"@id": value}
        elif not isinstance(value, dict):
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
        definition = self._make_definition(term, value, simple=simple)
        if definition is None:
            return
        if previous is not None and previous.protected and not self.override_protected:
            if not definition.is_same_definition(previous):
                self.active.terms[term] = previous
                raise JsonLdError(ErrorCode.PROTECTED_TERM_REDEFINITION, term)
            definition = previous
        self.active.terms[term] = definition
        self.defined[term] = True
        if "@context" in value and not definition.reverse:
            self._check_scoped_context(term, value["@context"])

    def _make_definition(self, term: str, value: dict[str, Json], *, simple: bool) -> TermDefinition | None:
        """Return a term definition (steps 10 to 26); None if the term must be ignored."""
        protected = parse_protected(value, self.protected, is_1_1=self.is_1_1)
        type_mapping = self._parse_type(value) if "@type" in value else None
        if "@reverse" in value:
            return self._make_reverse_definition(value, protected=protected, type_mapping=type_mapping)
        mapping = self._parse_iri_mapping(term, value, simple=simple)
        if mapping is None:
            return None
        iri, prefix = mapping
        container = parse_container(value["@container"], is_1_1=self.is_1_1) if "@container" in value else NO_CONTAINER
        if "@type" in container:
            type_mapping = type_mapping or "@id"
            if type_mapping not in ("@id", "@vocab"):
                raise JsonLdError(ErrorCode.INVALID_TYPE_MAPPING, term)
        scoped = "@context" in value
        if scoped and not self.is_1_1:
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@context")
        definition = TermDefinition(
            iri=iri,
            prefix=parse_prefix_flag(term, value["@prefix"], iri, is_1_1=self.is_1_1) if "@prefix" in value else prefix,
            protected=protected,
            type=type_mapping,
            container=container,
            index=self._parse_index(value, container) if "@index" in value else None,
            context=value["@context"] if scoped else ABSENT,
            context_base=self.base if scoped else None,
            context_key=next(_context_keys) if scoped else -1,
            language=parse_language(value["@language"]) if "@language" in value and "@type" not in value else ABSENT,
            direction=parse_direction(value["@direction"])
            if "@direction" in value and "@type" not in value
            else ABSENT,
            nest=parse_nest(value["@nest"], is_1_1=self.is_1_1) if "@nest" in value else None,
        )
        if not value.keys() <= DEFINITION_ENTRIES:
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
        return definition

    def _parse_type(self, value: dict[str, Json]) -> str:
        type_ = value["@type"]
        if not isinstance(type_, str):
            raise JsonLdError(ErrorCode.INVALID_TYPE_MAPPING, "@type of a term is not a string")
        expanded = self.expand(type_)
        allowed = ("@id", "@vocab", "@json", "@none") if self.is_1_1 else ("@id", "@vocab")
        if expanded is None or not (expanded in allowed or is_absolute(expanded)):
            raise JsonLdError(ErrorCode.INVALID_TYPE_MAPPING, type_)
        return expanded

    def _make_reverse_definition(
        self, value: dict[str, Json], *, protected: bool, type_mapping: str | None
    ) -> TermDefinition | None:
        """Return the definition of a reverse property (step 13); None if it must be ignored."""
        if "@id" in value or "@nest" in value:
            raise JsonLdError(ErrorCode.INVALID_REVERSE_PROPERTY, "@id or @nest beside @reverse")
        reverse = value["@reverse"]
        if not isinstance(reverse, str):
            raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, "@reverse is not a string")
        if has_keyword_form(reverse):
            return None
        iri = self.expand(reverse)
        if iri is None or not (is_absolute(iri) or is_blank(iri)):
            raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, reverse)
        container = value.get("@container")
        if container not in (None, "@set", "@index"):
            raise JsonLdError(ErrorCode.INVALID_REVERSE_PROPERTY, describe_value(container))
        return TermDefinition(
            iri=iri,
            protected=protected,
            reverse=True,
            type=type_mapping,
            container=frozenset((container,)) if container else NO_CONTAINER,
        )

    def _parse_iri_mapping(self, term: str, value: dict[str, Json], *, simple: bool) -> tuple[str | None, bool] | None:
        """Return the IRI mapping, and whether the term can be a prefix (steps 14 to 18); None to ignore the term."""
        if "@id" not in value or value["@id"] == term:
            return self._find_implicit_iri(term), False
        if value["@id"] is None:
            return None, False
        return self._parse_explicit_iri(term, value["@id"], simple=simple)

    def _parse_explicit_iri(self, term: str, given: Json, *, simple: bool) -> tuple[str, bool] | None:
        """Parse `@id` (step 14.2). Return the IRI and whether the term can be a prefix; None to ignore the term."""
        if not isinstance(given, str):
            raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, term)
        if given not in KEYWORDS and has_keyword_form(given):
            return None
        iri = self.expand(given)
        if iri is None or not (iri in KEYWORDS or is_absolute(iri) or is_blank(iri)):
            raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, given)
        if iri == "@context":
            raise JsonLdError(ErrorCode.INVALID_KEYWORD_ALIAS, term)
        if ":" in term[1:-1] or "/" in term:
            self.defined[term] = True
            if self.expand(term) != iri:
                raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, term)
        plain = ":" not in term and "/" not in term
        return iri, plain and simple and (iri.endswith(_GEN_DELIMS) or is_blank(iri))

    def _find_implicit_iri(self, term: str) -> str:
        """Return the IRI mapping that follows from the term itself (steps 15 to 18)."""
        colon = term.find(":", 1)
        if colon != -1:
            prefix = term[:colon]
            if prefix in self.local:
                self.define(prefix)
            definition = self.active.term(prefix)
            if definition is not None and definition.iri is not None:
                return definition.iri + term[colon + 1 :]
            return term
        if "/" in term:
            iri = self.active.expand_term(term)
            if iri is None or not is_absolute(iri):
                raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, term)
            return iri
        if term == "@type":
            return term
        if self.active.vocab is None:
            raise JsonLdError(ErrorCode.INVALID_IRI_MAPPING, term)
        return self.active.vocab + term

    def _parse_index(self, value: dict[str, Json], container: frozenset[str]) -> str:
        index = value["@index"]
        if not self.is_1_1 or "@index" not in container or not isinstance(index, str):
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@index")
        # A term may be the index of its own values, so a definition in progress is not a cycle here.
        under_way = False in (self.defined.get(index), self.defined.get(index.partition(":")[0]))
        expanded = self.active.expand_term(index) if under_way else self.expand(index)
        if expanded is None or not is_absolute(expanded):
            raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, index)
        return index

    def _check_scoped_context(self, term: str, context: Json) -> None:
        """Process a scoped context for its errors (step 21).

        The context is applied where the term is used. It may refer to its own term.
        """
        try:
            self.check_scope(self.active, context, base=self.base, remote=self.remote)
        except LimitExceeded:
            raise
        except JsonLdError as error:
            self.active.terms[term] = None
            raise JsonLdError(ErrorCode.INVALID_SCOPED_CONTEXT, f"{term}: {error}") from error

    def expand(self, value: str) -> str | None:
        """Expand an IRI with the vocabulary mapping (section 5.2.2), defining the terms it depends on first."""
        if value in KEYWORDS:
            return value
        if has_keyword_form(value):
            return None
        if value in self.local and not self.defined.get(value):
            self.define(value)
        definition = self.active.term(value)
        if definition is not None:
            return definition.iri
        colon = value.find(":", 1)
        if colon != -1 and not value.startswith("//", colon + 1):
            prefix = value[:colon]
            if prefix != "_" and prefix in self.local and not self.defined.get(prefix):
                self.define(prefix)
        return self.active.expand_term(value)
