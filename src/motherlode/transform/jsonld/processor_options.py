"""Common parts of all steps of the processor: keywords (JSON-LD 1.1, section 1.7), tests of strings, and options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from motherlode.www.iri import Iri, check

Json = Any
"""A decoded JSON value of any type."""
Node = dict[str, Json]

CONTAINERS = frozenset(("@graph", "@id", "@index", "@language", "@list", "@set", "@type"))
CONTEXT_ENTRIES = frozenset(
    ("@base", "@direction", "@import", "@language", "@propagate", "@protected", "@version", "@vocab")
)
"""Entries of a context definition that are not terms."""
DEFINITION_ENTRIES = frozenset(
    (
        *("@container", "@context", "@direction", "@id", "@index", "@language", "@nest", "@prefix", "@protected"),
        *("@reverse", "@type"),
    )
)
"""Entries that an expanded term definition may have."""
VALUE_ENTRIES = frozenset(("@direction", "@index", "@language", "@type", "@value"))
"""Entries that a value object may have."""
_FRAMING_KEYWORDS = ("@default", "@embed", "@explicit", "@omitDefault", "@preserve", "@requireAll")
KEYWORDS = CONTAINERS.union(
    CONTEXT_ENTRIES, DEFINITION_ENTRIES, VALUE_ENTRIES, _FRAMING_KEYWORDS, ("@included", "@json", "@none")
)

_KEYWORD_FORM = re.compile(r"@[A-Za-z]+").fullmatch
_MAX_IRI_CHARACTERS = 65_536


def has_keyword_form(value: str) -> bool:
    """Return whether a string has the form of a keyword. Such strings are reserved and ignored."""
    return value[:1] == "@" and _KEYWORD_FORM(value) is not None


def is_blank(value: str) -> bool:
    return value.startswith("_:")


def parse_iri(value: str) -> Iri | None:
    """Return the IRI in a string, repaired if necessary; None if it cannot be repaired or is too long."""
    found = check(value) if len(value) <= _MAX_IRI_CHARACTERS else None
    return found if found is not None and found.is_valid else None


def is_well_formed(value: str) -> bool:
    """Return whether a string is a valid IRI without repair."""
    found = parse_iri(value)
    return found is not None and not found.is_repaired


class Mode(Enum):
    """The processing mode (JSON-LD 1.1 API, section 9.3)."""

    V1_0 = "json-ld-1.0"
    V1_1 = "json-ld-1.1"


class RdfDirection(Enum):
    """How base direction, which RDF 1.1 does not have, is represented."""

    I18N_DATATYPE = "i18n-datatype"
    COMPOUND_LITERAL = "compound-literal"


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
    max_statements: int = 500_000

    @property
    def repairs_iris(self) -> bool:
        return not (self.strict or self.strict_iris)
