"""What an expanded term definition may say in its entries (JSON-LD 1.1 API, section 4.2.2)."""

from __future__ import annotations

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shown
from motherlode.transform.jsonld.keywords import CONTAINERS, KEYWORDS
from motherlode.transform.jsonld.settings import Json

_GRAPH_MAPS = ({"@graph", "@id"}, {"@graph", "@index"})


def check_type_keyword(value: Json, *, modern: bool) -> None:
    """Step 4: of `@type` only the container and the protection may be said."""
    allowed = (
        modern
        and isinstance(value, dict)
        and bool(value)
        and value.keys() <= {"@container", "@protected"}
        and value.get("@container", "@set") == "@set"
    )
    if not allowed:
        raise JsonLdError(ErrorCode.KEYWORD_REDEFINITION, "@type")


def protected(definition: dict[str, Json], otherwise: Json, *, modern: bool) -> bool:
    """Step 11. `otherwise` is what the context says of all its terms."""
    value = definition.get("@protected", otherwise)
    if "@protected" in definition and not modern:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@protected")
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROTECTED_VALUE, shown(value))
    return value


def container(value: Json, *, modern: bool) -> frozenset[str]:
    """Step 19."""
    if not modern and (not isinstance(value, str) or value in ("@graph", "@id", "@type")):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, shown(value))
    entries = value if isinstance(value, list) else [value]
    if not entries or not all(isinstance(entry, str) and entry in CONTAINERS for entry in entries):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, shown(value))
    found = frozenset(entries)
    rest = found - {"@set"}
    combined = len(rest) > 1 and rest not in _GRAPH_MAPS
    if combined or len(found) != len(entries) or ("@list" in found and len(found) > 1):
        raise JsonLdError(ErrorCode.INVALID_CONTAINER_MAPPING, shown(value))
    return found


def language(value: Json) -> str | None:
    """Step 22."""
    if value is not None and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_LANGUAGE_MAPPING, shown(value))
    return value


def direction(value: Json) -> str | None:
    """Step 23."""
    if value is not None and value != "ltr" and value != "rtl":
        raise JsonLdError(ErrorCode.INVALID_BASE_DIRECTION, shown(value))
    return None if value is None else str(value)


def nest(value: Json, *, modern: bool) -> str:
    """Step 24."""
    if not modern:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, "@nest")
    if not isinstance(value, str) or (value in KEYWORDS and value != "@nest"):
        raise JsonLdError(ErrorCode.INVALID_NEST_VALUE, shown(value))
    return value


def prefix(term: str, value: Json, iri: str | None, *, modern: bool) -> bool:
    """Step 25."""
    if not modern or ":" in term or "/" in term:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PREFIX_VALUE, shown(value))
    if value and iri in KEYWORDS:
        raise JsonLdError(ErrorCode.INVALID_TERM_DEFINITION, term)
    return value
