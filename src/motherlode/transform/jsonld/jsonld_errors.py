"""Errors of the JSON-LD processor, with the codes of the specification (JSON-LD 1.1 API, section 9.6), and notes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ErrorCode(Enum):
    """The `JsonLdErrorCode` values that can occur in the conversion of JSON-LD to RDF."""

    COLLIDING_KEYWORDS = "colliding keywords"
    CONFLICTING_INDEXES = "conflicting indexes"
    CONTEXT_OVERFLOW = "context overflow"
    CYCLIC_IRI_MAPPING = "cyclic IRI mapping"
    INVALID_ID_VALUE = "invalid @id value"
    INVALID_IMPORT_VALUE = "invalid @import value"
    INVALID_INCLUDED_VALUE = "invalid @included value"
    INVALID_INDEX_VALUE = "invalid @index value"
    INVALID_NEST_VALUE = "invalid @nest value"
    INVALID_PREFIX_VALUE = "invalid @prefix value"
    INVALID_PROPAGATE_VALUE = "invalid @propagate value"
    INVALID_PROTECTED_VALUE = "invalid @protected value"
    INVALID_REVERSE_VALUE = "invalid @reverse value"
    INVALID_VERSION_VALUE = "invalid @version value"
    INVALID_BASE_DIRECTION = "invalid base direction"
    INVALID_BASE_IRI = "invalid base IRI"
    INVALID_CONTAINER_MAPPING = "invalid container mapping"
    INVALID_CONTEXT_ENTRY = "invalid context entry"
    INVALID_CONTEXT_NULLIFICATION = "invalid context nullification"
    INVALID_DEFAULT_LANGUAGE = "invalid default language"
    INVALID_IRI_MAPPING = "invalid IRI mapping"
    INVALID_KEYWORD_ALIAS = "invalid keyword alias"
    INVALID_LANGUAGE_MAP_VALUE = "invalid language map value"
    INVALID_LANGUAGE_MAPPING = "invalid language mapping"
    INVALID_LANGUAGE_TAGGED_STRING = "invalid language-tagged string"
    INVALID_LANGUAGE_TAGGED_VALUE = "invalid language-tagged value"
    INVALID_LOCAL_CONTEXT = "invalid local context"
    INVALID_REMOTE_CONTEXT = "invalid remote context"
    INVALID_REVERSE_PROPERTY = "invalid reverse property"
    INVALID_REVERSE_PROPERTY_MAP = "invalid reverse property map"
    INVALID_REVERSE_PROPERTY_VALUE = "invalid reverse property value"
    INVALID_SCOPED_CONTEXT = "invalid scoped context"
    INVALID_SCRIPT_ELEMENT = "invalid script element"
    INVALID_SET_OR_LIST_OBJECT = "invalid set or list object"
    INVALID_TERM_DEFINITION = "invalid term definition"
    INVALID_TYPE_MAPPING = "invalid type mapping"
    INVALID_TYPE_VALUE = "invalid type value"
    INVALID_TYPED_VALUE = "invalid typed value"
    INVALID_VALUE_OBJECT = "invalid value object"
    INVALID_VALUE_OBJECT_VALUE = "invalid value object value"
    INVALID_VOCAB_MAPPING = "invalid vocab mapping"
    KEYWORD_REDEFINITION = "keyword redefinition"
    LOADING_DOCUMENT_FAILED = "loading document failed"
    LOADING_REMOTE_CONTEXT_FAILED = "loading remote context failed"
    PROCESSING_MODE_CONFLICT = "processing mode conflict"
    PROTECTED_TERM_REDEFINITION = "protected term redefinition"


class JsonLdError(ValueError):
    """Invalid input. A tolerant processor records a note and loses only the invalid entry."""

    def __init__(self, code: ErrorCode, detail: object = "") -> None:
        self.code = code
        self.detail = describe_value(detail)
        """The invalid text as written in the document, if there is one."""
        super().__init__(f"{code.value}: {self.detail}" if self.detail else code.value)


class LimitExceeded(JsonLdError):  # noqa: N818 - the name says what happened
    """Input that needs more work than one document may cause. It ends the processing even in tolerant mode."""


def require(is_valid: object, code: ErrorCode, detail: object = "") -> None:
    """Raise a `JsonLdError` with the invalid value as its detail, unless the input is valid."""
    if not is_valid:
        raise JsonLdError(code, detail)


def describe_value(value: object) -> str:
    """Return a JSON value for a message. Containers are only named, because they may be large."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return f"{value}" if isinstance(value, float) else "a number"


# Notes

_MAX_NOTES = 100
_MAX_MESSAGE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Note:
    """One problem in a document."""

    message: str
    sample: str = ""
    """The invalid text as written in the document, to find its position."""
    repaired: bool = False
    """Whether the text was repaired and nothing is lost."""


class Notes:
    """Collects the distinct notes about one document up to a limit, and the URLs of missing remote contexts."""

    def __init__(self, *, strict: bool, limit: int = _MAX_NOTES) -> None:
        self._is_strict = strict
        self._limit = limit
        self._found: dict[Note, None] = {}
        self._more = 0
        self.wanted: dict[str, None] = {}

    def tolerate(self, error: JsonLdError) -> None:
        """Record an error as a note. Raise it in strict mode, or if it is an exceeded limit."""
        if self._is_strict or isinstance(error, LimitExceeded):
            raise error
        self.add(str(error), error.detail)

    def add(self, message: str, sample: str = "", *, repaired: bool = False) -> None:
        """Add a note, unless it is already there or the limit is reached."""
        note = Note(shorten(message, length=_MAX_MESSAGE_CHARACTERS), sample, repaired)
        if note in self._found:
            return
        if len(self._found) >= self._limit:
            self._more += 1
        else:
            self._found[note] = None

    def all(self) -> tuple[Note, ...]:
        """Return the notes, the last one with the number of those beyond the limit."""
        more = (Note(f"{self._more} more problems of this kind"),) if self._more else ()
        return (*self._found, *more)


def shorten(text: str, *, length: int = 120) -> str:
    """Return text shortened for a message."""
    cut = text if len(text) <= length else text[:length] + "…"
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode()  # lone surrogates cannot be printed
