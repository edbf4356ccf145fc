"""Where in a page a trouble is: lines and columns, worked out only when there is a trouble to tell."""

from __future__ import annotations

import json
import re
from functools import cached_property

_SCRIPT = re.compile(r"<script\b[^>]{0,1000}+>", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_JOINTS = re.compile(r"[/#:?]")
_MOST_JOINTS = 16
_COMPARED = 40
"""Characters by which the content of a script is known again in the source."""


class Places:
    """Finds offsets of a script's content in the page that it came from.

    >>> Places("<p>\\n<script>{}</script>").position(0, "{}", 1)
    (2, 10)
    """

    def __init__(self, source: str, *, embedded: bool = True) -> None:
        self._source = source
        self._embedded = embedded
        """Whether the content stands in script elements; else it is the whole source."""

    @cached_property
    def _starts(self) -> list[int]:
        return [found.end() for found in _SCRIPT.finditer(self._source)]

    def position(self, number: int, content: str, offset: int) -> tuple[int, int] | tuple[None, None]:
        """Line and column of an offset in the content of the script with that number among equals."""
        start = self._start(number, content)
        if start is None:
            return None, None
        lines = _LINE_END.split(self._source[:start])
        before = content[:offset]
        breaks = before.count("\n")
        column = len(before) - (before.rfind("\n") + 1)
        if not breaks:
            column += len(lines[-1])
        return len(lines) + breaks, column + 1

    def _start(self, number: int, content: str) -> int | None:
        """The start of the script; several scripts may have the same content."""
        if not self._embedded:
            return 0
        head = _LINE_END.sub("\n", content[:_COMPARED])
        matching = [start for start in self._starts if self._has_head(start, head)]
        return matching[min(number, len(matching) - 1)] if matching else None

    def _has_head(self, start: int, head: str) -> bool:
        return _LINE_END.sub("\n", self._source[start : start + 2 * len(head)]).startswith(head)


def find_sample(content: str, sample: str) -> int:
    """The offset of a string of the document in its text; that of the first character where it cannot be found.

    >>> find_sample('{"a": "x\\\\"y"}', 'x"y'), find_sample('{"a": "b c"}', "http://example.org/b c")
    (7, 7)
    """
    found = _find(content, sample) if sample else -1
    if found == -1:
        # An IRI may have been put together from a base, a vocabulary or a prefix and what stands in the text.
        for joint in list(_JOINTS.finditer(sample))[:_MOST_JOINTS]:
            found = _find(content, '"' + sample[joint.end() :]) if joint.end() < len(sample) else -1
            if found != -1:
                return found + 1
        return len(content) - len(content.lstrip())
    return found


def _find(content: str, sample: str) -> int:
    found = content.find(sample)
    if found != -1:
        return found
    opening, text = ('"', sample[1:]) if sample.startswith('"') else ("", sample)
    for spelled in (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        for form in (spelled, spelled.replace("/", "\\/")):
            found = content.find(opening + form)
            if found != -1:
                return found
    return -1
