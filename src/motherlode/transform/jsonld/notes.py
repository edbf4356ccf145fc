"""What went wrong in one document, kept beside its statements."""

from __future__ import annotations

from dataclasses import dataclass

_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Note:
    """One trouble in a document."""

    message: str
    sample: str = ""
    """The offending text as the document spells it, so that its place can be found."""
    mended: bool = False
    """Whether the text was repaired, so that nothing is lost."""


class Notes:
    """Collects notes, each once and at most so many, and the remote contexts that were missed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: dict[Note, None] = {}
        self._more = 0
        self.wanted: dict[str, None] = {}

    def add(self, message: str, sample: str = "", *, mended: bool = False) -> None:
        note = Note(shorten(message, length=_LONGEST_MESSAGE), sample, mended)
        if note in self._found:
            return
        if len(self._found) >= self._limit:
            self._more += 1
        else:
            self._found[note] = None

    def all(self) -> list[Note]:
        found = list(self._found)
        if self._more:
            found.append(Note(f"{self._more} more problems of this kind"))
        return found


def shorten(text: str, *, length: int = 120) -> str:
    """Text for a message, cut where it is long.

    >>> shorten("abcdef", length=4)
    'abcd…'
    """
    cut = text if len(text) <= length else text[:length] + "…"
    return cut if cut.isascii() else cut.encode("utf-8", "replace").decode()  # lone surrogates cannot be printed
