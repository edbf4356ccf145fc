"""Where in a page a trouble is: lines and columns, worked out only when there is a trouble to tell."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from functools import cached_property

_OPENING = re.compile(r"<!--(?:-?>|.*?--!?>|.*)|<script\b[^>]{0,1000}+>", re.IGNORECASE | re.DOTALL)
_CLOSING = re.compile(r"</script|\Z", re.IGNORECASE)
_JSON_LD = "ld+json"
_JOINTS = re.compile(r"[/#:?]")
_MOST_JOINTS = 16
_COMPARED = 40
"""Characters by which a script is known again whose whole content is not in the source: the parser may have mended it.
"""
_LONGEST_REFERENCE = 8
"""Characters of a usual character reference: `&#x1F600`."""
_MOST_PASSED = 1000
"""Scripts that are passed over to find one."""


class Places:
    """Finds offsets of a script's content in the page that it came from.

    >>> page = '<p>\\n<script type="application/ld+json">{}</script>'
    >>> Places(page).position(["{}"], 1)
    (2, 37)
    """

    def __init__(self, source: str, *, embedded: bool = True) -> None:
        self._source = _as_parsed(source)
        self._embedded = embedded
        """Whether the content stands in script elements; else it is the whole source."""
        self._placed: list[tuple[int, int] | None] = []
        """Line and column of each script so far, from zero; None where it could not be found."""
        self._passed = 0
        """Starts of scripts that lie before the next one."""
        self._at = self._line = self._column = 0
        """Where the last script began that was found."""

    def position(self, blocks: Sequence[str], offset: int) -> tuple[int, int] | tuple[None, None]:
        """Line and column of an offset in the last of some scripts; they are all of the page's up to it, in order."""
        start = self._start(blocks) if self._embedded else (0, 0)
        if start is None:
            return None, None
        line, column = start
        before = blocks[-1][:offset]
        breaks = before.count("\n")
        within = len(before) - (before.rfind("\n") + 1)
        return line + breaks + 1, within + 1 + (0 if breaks else column)

    def _start(self, blocks: Sequence[str]) -> tuple[int, int] | None:
        """Where the last block begins: behind those before it, for scripts often begin alike."""
        for content in blocks[len(self._placed) :]:
            self._placed.append(self._place(content))
        return self._placed[len(blocks) - 1]

    def _place(self, content: str) -> tuple[int, int] | None:
        ahead = self._starts[self._passed : self._passed + _MOST_PASSED]
        found = next((number for number, start in enumerate(ahead) if self._is_whole(start, content)), None)
        if found is None and (head := content[:_COMPARED]):
            found = next((number for number, start in enumerate(ahead) if self._source.startswith(head, start)), None)
            if found is None:
                found = next((number for number, start in enumerate(ahead) if self._is_spelt(start, head)), None)
        if found is None:
            return None
        self._passed += found + 1
        self._move(ahead[found])
        return self._line, self._column

    def _move(self, start: int) -> None:
        """Counts on from the last script, so that all of them together cost one look at the page."""
        line_end = self._source.rfind("\n", self._at, start)
        self._column = start - line_end - 1 if line_end != -1 else self._column + start - self._at
        self._line += self._source.count("\n", self._at, start)
        self._at = start

    @cached_property
    def _starts(self) -> list[int]:
        """Where the content of each JSON-LD script begins. Scripts in comments are none."""
        found: list[int] = []
        position = 0
        while opening := _OPENING.search(self._source, position):
            position = opening.end()
            if opening[0].startswith("<!--"):
                continue
            if _JSON_LD in html.unescape(opening[0]).lower():
                found.append(position)
            closing = _CLOSING.search(self._source, position)
            position = closing.end() if closing else position
        return found

    def _is_spelt(self, start: int, head: str) -> bool:
        """Whether a script begins so, but for character references, which the scripts of XHTML may have."""
        return html.unescape(self._source[start : start + _LONGEST_REFERENCE * _COMPARED]).startswith(head)

    def _is_whole(self, start: int, content: str) -> bool:
        return self._source.startswith(content, start) and bool(_CLOSING.match(self._source, start + len(content)))


def _as_parsed(source: str) -> str:
    """Text as an HTML parser takes it in: line ends are all the same, and there is no NUL."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def find_sample(content: str, sample: str) -> int:
    """The offset of a string of the document in its text; that of the first character where it cannot be found.

    >>> find_sample('{"a": "x\\\\"y"}', 'x"y'), find_sample('{"a": "b c"}', "http://example.org/b c")
    (7, 7)
    """
    found = _find(content, sample) if sample else -1
    if found == -1:
        # An IRI may have been put together from a base, a vocabulary or a prefix and what stands in the text.
        for joint in list(_JOINTS.finditer(sample))[:_MOST_JOINTS]:
            for start in (joint.start(), joint.end()):
                found = _find(content, '"' + sample[start:]) if start < len(sample) else -1
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
