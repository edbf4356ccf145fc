"""Cuts a long RDF/XML document between two nodes, so that each part is still at hand when its parser stops.

To find the end of a node, tags must be counted. In most text a byte search does that, a hundred times faster than the
parser; the rest is looked at tag by tag.
"""

from __future__ import annotations

from motherlode.transform.documents.source import WINDOW, Source
from motherlode.transform.documents.xmltags import depth_after, last_boundary

PART = WINDOW // 4
"""Bytes after which a document is cut."""
_COUNTED = 1 << 20
"""Bytes that are counted together."""


class Cutter:
    """Follows a document on its way to a parser, from `start` on, which lies so deep in it."""

    def __init__(self, source: Source, start: int, *, depth: int) -> None:
        self._source = source
        self._ready = start + PART
        self._counted = start
        self._depth = depth
        self._is_lost = False
        """A comment or a text was too long to be looked at."""

    def end(self, position: int, size: int) -> int | None:
        """The end of a child of the root in the next bytes, if it is time for one; what comes before was handed out."""
        if position >= self._ready or position - self._counted >= _COUNTED:
            self._count(position)
        if position < self._ready or self._is_lost:
            return None
        text = self._source.get(self._counted, position + size - self._counted)
        end = self._counted + last_boundary(text, depth=self._depth)
        return end if end > max(position, self._counted) else None

    def _count(self, position: int) -> None:
        if not self._is_lost:
            text = self._source.get(self._counted, position - self._counted)
            self._depth, passed = depth_after(text, depth=self._depth)
            self._counted += passed
            self._is_lost = position - self._counted >= _COUNTED
