"""The entries of a context definition that are not terms (JSON-LD 1.1 API, section 4.1.2, steps 5.5 to 5.11)."""

from __future__ import annotations

from motherlode.transform.jsonld.active import ActiveContext
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError, shown
from motherlode.transform.jsonld.iris import is_blank
from motherlode.transform.jsonld.settings import Json
from motherlode.www.iri import is_absolute, resolve


def check_version(version: Json, *, modern: bool) -> None:
    if isinstance(version, bool) or version != 1.1:
        raise JsonLdError(ErrorCode.INVALID_VERSION_VALUE, shown(version))
    if not modern:
        raise JsonLdError(ErrorCode.PROCESSING_MODE_CONFLICT, shown(version))


def base_iri(value: Json, current: str | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_BASE_IRI, shown(value))
    if is_absolute(value):
        return value
    if current is None:
        raise JsonLdError(ErrorCode.INVALID_BASE_IRI, value)
    return resolve(current, value)


def needs_base(value: Json) -> bool:
    """Whether a `@base` means something else on another page."""
    return isinstance(value, str) and not is_absolute(value)


def vocab(value: Json, active: ActiveContext, *, modern: bool) -> str | None:
    """The vocabulary mapping as far as it can be told without the document: the result may be relative."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, shown(value))
    if is_blank(value):
        return value
    if not modern and not is_absolute(value):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, value)
    expanded = active.expand_term(value)
    if expanded is None:
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, value)
    return expanded


def is_relative(iri: str | None) -> bool:
    return iri is not None and not is_absolute(iri) and not is_blank(iri)


def absolute_vocab(relative: str, base: str | None) -> str:
    found = relative if base is None else resolve(base, relative)
    if not is_absolute(found):
        raise JsonLdError(ErrorCode.INVALID_VOCAB_MAPPING, relative)
    return found


def language(value: Json) -> str | None:
    if value is not None and not isinstance(value, str):
        raise JsonLdError(ErrorCode.INVALID_DEFAULT_LANGUAGE, shown(value))
    return value


def direction(value: Json, *, modern: bool) -> str | None:
    if not modern:
        raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@direction")
    if value is not None and value != "ltr" and value != "rtl":
        raise JsonLdError(ErrorCode.INVALID_BASE_DIRECTION, shown(value))
    return None if value is None else str(value)


def check_propagate(value: Json, *, modern: bool) -> None:
    if not modern:
        raise JsonLdError(ErrorCode.INVALID_CONTEXT_ENTRY, "@propagate")
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROPAGATE_VALUE, shown(value))


def protected(value: Json) -> bool:
    if not isinstance(value, bool):
        raise JsonLdError(ErrorCode.INVALID_PROTECTED_VALUE, shown(value))
    return value
