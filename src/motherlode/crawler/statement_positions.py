"""Positions of nodes and properties in the text of a page, for the results of validation.

Statements have no positions, so the text is searched for the name of the property and its value, or for the type of the
node. The search follows the order of the page: the third Product in the statements is the third one in the text.
"""

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import zip_longest

_WINDOW = 400
"""Number of characters after the name of a property in which its value is searched."""
_MAX_OCCURRENCES = 1000
"""Maximum number of occurrences of a name that are looked at."""


class PagePositions:
    """Finds lines and columns in the text of one page."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._find = lru_cache(maxsize=256)(self._occurrences)

    def find_property(self, name: str, value: str, *, after: int = 0) -> int | None:
        """Return the offset of a property, preferably of one with a value, or None."""
        found = [at for at in self._find(name) if at >= after] or list(self._find(name))
        needle = value[:_WINDOW].strip()
        if needle:
            for at, following in zip_longest(found, found[1:], fillvalue=len(self._text)):
                if needle in self._text[at : min(following, at + _WINDOW + len(needle))]:
                    return at
        return found[0] if found else None

    def find_node(self, types: tuple[str, ...], iri: str, number: int) -> int | None:
        """Return the offset of a node by its types, of which it is the `number`th one, or by its IRI, or None."""
        if iri and (found := self._find(iri)):
            return found[0]
        for type_ in types:
            if found := self._find(type_):
                return found[min(number, len(found) - 1)]
        return None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def _occurrences(self, name: str) -> tuple[int, ...]:
        """Return the offsets at which a name is a whole word."""
        pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        found = []
        for match in pattern.finditer(self._text):
            found.append(match.start())
            if len(found) >= _MAX_OCCURRENCES:
                break
        quoted = [at for at in found if self._is_quoted(at, at + len(name))]
        return tuple(quoted or found)

    def _is_quoted(self, start: int, end: int) -> bool:
        """Return whether a name ends at a quotation mark, as in JSON and attributes, and is not in a text."""
        return self._text[end : end + 1] in ("'", '"') and self._text[start - 1 : start] in (
            "'",
            '"',
            "/",
            ":",
            "#",
            " ",
        )
