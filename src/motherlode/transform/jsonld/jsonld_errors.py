"""Errors of the JSON-LD processor, with the codes of the specification (JSON-LD 1.1 API, section 9.6), and notes."""

from dataclasses import dataclass


class JsonLdError(ValueError):
    """Invalid input, with its code in the specification. A tolerant processor loses only the invalid entry."""

    def __init__(self, code: str, detail: object = "") -> None:
        self.code = code
        self.detail = describe_value(detail)
        """The invalid text as written in the document, if there is one."""
        super().__init__(f"{code}: {self.detail}" if self.detail else code)


class LimitExceeded(JsonLdError):  # noqa: N818 - the name says what happened
    """Input that needs more work than one document may cause. It ends the processing even in tolerant mode."""


def require(is_valid: object, code: str, detail: object = "") -> None:
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
