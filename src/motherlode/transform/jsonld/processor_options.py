"""Keywords of JSON-LD 1.1 (section 1.7), the options of the processor, and the limits for hostile input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

KEYWORDS = frozenset(
    {
        "@base",
        "@container",
        "@context",
        "@default",
        "@direction",
        "@embed",
        "@explicit",
        "@graph",
        "@id",
        "@import",
        "@included",
        "@index",
        "@json",
        "@language",
        "@list",
        "@nest",
        "@none",
        "@omitDefault",
        "@prefix",
        "@preserve",
        "@propagate",
        "@protected",
        "@requireAll",
        "@reverse",
        "@set",
        "@type",
        "@value",
        "@version",
        "@vocab",
    }
)

CONTEXT_ENTRIES = frozenset(
    {"@base", "@direction", "@import", "@language", "@propagate", "@protected", "@version", "@vocab"}
)
"""Entries of a context definition that are not terms."""

DEFINITION_ENTRIES = frozenset(
    {
        "@container",
        "@context",
        "@direction",
        "@id",
        "@index",
        "@language",
        "@nest",
        "@prefix",
        "@protected",
        "@reverse",
        "@type",
    }
)
"""Entries that an expanded term definition may have."""

VALUE_ENTRIES = frozenset({"@direction", "@index", "@language", "@type", "@value"})
"""Entries that a value object may have."""

CONTAINERS = frozenset({"@graph", "@id", "@index", "@language", "@list", "@set", "@type"})

_KEYWORD_FORM = re.compile(r"@[A-Za-z]+").fullmatch


def has_keyword_form(value: str) -> bool:
    """Return whether a string has the form of a keyword. Such strings are reserved and ignored.

    >>> has_keyword_form("@later"), has_keyword_form("@"), has_keyword_form("@foo.bar")
    (True, False, False)
    """
    return value[:1] == "@" and _KEYWORD_FORM(value) is not None


# Options and limits

Json = Any
"""A decoded JSON value of any type."""


class Mode(Enum):
    """The processing mode (JSON-LD 1.1 API, section 9.3)."""

    V1_0 = "json-ld-1.0"
    V1_1 = "json-ld-1.1"


class RdfDirection(Enum):
    """How base direction, which RDF 1.1 does not have, is represented."""

    I18N_DATATYPE = "i18n-datatype"
    COMPOUND_LITERAL = "compound-literal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorLimits:
    """Limits far above the needs of real documents. Input that exceeds one gives a problem."""

    depth: int = 120
    """Nesting of objects and arrays. Each level takes a few Python calls, so this is below the recursion limit."""
    term_depth: int = 64
    """Length of a chain of terms that are defined by one another."""
    scope_depth: int = 50
    """Nesting of scoped contexts."""
    context_work: int = 300_000
    """Term definitions per document, about a second of work. Copying terms counts as a fraction of a definition."""
    remote_contexts: int = 50
    """Nesting of remote contexts that load one another."""
    remote_loads: int = 1000
    """Remote contexts loaded per document."""
    statements: int = 500_000
    problems: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorOptions:
    """The options of `JsonLdOptions` that affect the conversion to RDF."""

    base: str | None = None
    """Base IRI of the document. If None, statements with relative IRIs are dropped."""
    expand_context: Json = None
    """An initial context, or an object with one under `@context`."""
    mode: Mode = Mode.V1_1
    rdf_direction: RdfDirection | None = None
    produce_generalized: bool = False
    """Whether blank nodes may be predicates."""
    strict: bool = True
    """Whether an error ends the processing, as specified. Otherwise it loses only its own entry."""
    strict_iris: bool = False
    """Whether statements with invalid IRIs are dropped. In strict mode IRIs are never repaired."""
    contexts: Mapping[str, bytes] = field(default_factory=dict)
    """Remote contexts by URL. They take precedence over the bundled ones."""
    limits: ProcessorLimits = field(default_factory=ProcessorLimits)
