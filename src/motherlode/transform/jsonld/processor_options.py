"""The keywords of JSON-LD 1.1 (JSON-LD 1.1, section 1.7) and the sets that the algorithms ask for."""

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
    """Whether future versions may make this a keyword: it is then ignored.

    >>> has_keyword_form("@later"), has_keyword_form("@"), has_keyword_form("@foo.bar")
    (True, False, False)
    """
    return value[:1] == "@" and _KEYWORD_FORM(value) is not None


# ── What a caller may say about the processing of one JSON-LD document, and the bounds that keep hostile input cheap.

Json = Any
"""A decoded JSON value: its shape is what the algorithms find out."""


class Mode(Enum):
    """The processing mode (JSON-LD 1.1 API, section 9.3)."""

    V1_0 = "json-ld-1.0"
    V1_1 = "json-ld-1.1"


class RdfDirection(Enum):
    """How base direction becomes RDF, which has no place for it."""

    I18N_DATATYPE = "i18n-datatype"
    COMPOUND_LITERAL = "compound-literal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorLimits:
    """Far above what honest documents need; each turns a trap into a problem."""

    depth: int = 120
    """Levels of nested objects and arrays: below Python's own limit on recursion, a few calls a level."""
    term_depth: int = 64
    """Terms of a context that are defined by one another."""
    scope_depth: int = 50
    """Contexts of terms inside contexts of terms."""
    context_work: int = 300_000
    """Term definitions made for one document: about a second of work. Copying some costs like making one."""
    remote_contexts: int = 50
    """Remote contexts that one context may lead to, one inside the other."""
    remote_loads: int = 1000
    """Remote contexts that are looked up for one document."""
    statements: int = 500_000
    problems: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessorOptions:
    """The options of `JsonLdOptions` that matter on the way to RDF."""

    base: str | None = None
    """The document's base IRI. None leaves relative references as they are, and their triples out."""
    expand_context: Json = None
    """A context to start with, or an object that holds one under `@context`."""
    mode: Mode = Mode.V1_1
    rdf_direction: RdfDirection | None = None
    produce_generalized: bool = False
    """Whether blank nodes may be predicates."""
    strict: bool = True
    """Whether what the specification forbids ends the document, as it demands; else it costs only its own entry."""
    strict_iris: bool = False
    """Whether an IRI with characters that none may have costs its statements. A strict reading never repairs IRIs."""
    contexts: Mapping[str, bytes] = field(default_factory=dict)
    """Remote contexts by URL; they go before the bundled ones."""
    limits: ProcessorLimits = field(default_factory=ProcessorLimits)
