"""A limit on the text that is taken out of one page.

Elements are nested, and a property at each level says the text of all that is inside: a page can make a quadratic
amount of text out of what it sends. A few times its own size is enough for every honest page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_PER_BYTE = 8
_LEAST = 1_000_000


class TextBudget:
    """Characters that may still be taken out of a page.

    >>> budget = TextBudget(0)
    >>> budget.is_spent, budget.affordable("x" * 300_000, 9), budget.is_spent, budget.was_short
    (False, 4, True, True)
    """

    __slots__ = ("_left", "was_short")

    def __init__(self, page_size: int) -> None:
        self._left = _PER_BYTE * page_size + _LEAST
        self.was_short = False
        """Something had to be left out."""

    @property
    def is_spent(self) -> bool:
        """True where nothing more may be taken; whoever asks leaves something out."""
        if self._left <= 0:
            self.was_short = True
            return True
        return False

    def spend(self, text: str) -> None:
        self._left -= len(text)

    def affordable(self, text: str, times: int) -> int:
        """How many more statements may repeat a text, of so many that would; they are paid for."""
        granted = min(times, max(0, self._left) // max(1, len(text)) + 1)
        self._left -= granted * len(text)
        if granted < times:
            self.was_short = True
        return granted


# ── Keeps markup from the HTML parser that would cost it time or memory out of all proportion.

MAX_MARKUP = 16_000_000
"""Bytes; what comes after is left out. The tree takes more than ten times as much memory."""
MAX_DEPTH = 512
MAX_FORMATTING = 64
MAX_ATTRIBUTES = 512
_MAX_ROOTS = 64
"""Of `html` and `body` tags, which all add their attributes to the one element."""

_MUCH_WORK = 8_000_000
"""Open elements times elements: steps of the parser, or in the worst of cases elements of the tree."""
_MANY_ATTRIBUTES = 2 * MAX_ATTRIBUTES
"""Bytes; with fewer, there cannot be too many."""
_FAR = 64
"""So many levels up, an element that was left open is looked for."""
_LESS_THAN, _SLASH = np.frombuffer(b"</", np.uint8)
_SMALLEST = 3
"""Bytes of the shortest tag."""
_AT_ONCE = 1 << 16
"""Bytes that are counted at a time: what numpy makes of them stays in the nearest cache."""
_ROOMS: list[npt.NDArray[np.bool_]] = []
"""To count in: room that is new for each page is cold, and costs more than the counting."""
_LONG_TAG = 16_384
_CHUNK = 8_192

VOID_ELEMENTS = frozenset(
    (
        *(b"area", b"base", b"basefont", b"bgsound", b"br", b"col", b"embed", b"frame", b"hr", b"img", b"input"),
        *(b"keygen", b"link", b"meta", b"param", b"source", b"track", b"wbr"),
    )
)
"""Elements without content and end tag, including the obsolete ones (HTML, section 13.1.2)."""
_FREQUENT_VOID = (b"<br>", b"<br/", b"<br ", b"<img ", b"<input ", b"<!--")
_FORMATTING = frozenset(
    (b"b", b"big", b"code", b"em", b"font", b"i", b"s", b"small", b"strike", b"strong", b"tt", b"u")
)
_NOT_COUNTED = VOID_ELEMENTS | _FORMATTING | {b"html", b"head", b"body", b"a", b"nobr"}
"""Elements that do not add to the depth, or that have a limit of their own. Links end when the next one begins."""
_CELLS = frozenset((b"td", b"th", b"caption"))
_ROWS = _CELLS | {b"tr", b"thead", b"tbody", b"tfoot", b"colgroup"}
_ENDED_BY = {
    b"p": frozenset((b"p",)),
    b"li": frozenset((b"li",)),
    b"dd": frozenset((b"dd", b"dt")),
    b"dt": frozenset((b"dd", b"dt")),
    b"option": frozenset((b"option",)),
    b"optgroup": frozenset((b"option", b"optgroup")),
    b"rt": frozenset((b"rt", b"rp")),
    b"rp": frozenset((b"rt", b"rp")),
    b"td": _CELLS,
    b"th": _CELLS,
    b"tr": _CELLS | {b"tr"},
    b"thead": _ROWS,
    b"tbody": _ROWS,
    b"tfoot": _ROWS,
}
"""Elements without an end tag: those that end when one of these begins."""
_BOUNDARIES = frozenset(
    (
        *(b"table", b"ul", b"ol", b"dl", b"menu", b"select", b"ruby", b"button", b"object", b"marquee", b"template"),
        *(b"article", b"aside", b"blockquote", b"fieldset", b"footer", b"form", b"header", b"main", b"nav", b"section"),
    )
)
"""Elements that keep what is around them from being ended from within."""
_OF_SVG = frozenset((b"circle", b"g", b"line", b"path", b"polygon", b"rect", b"use"))
"""The most frequent of those that a slash may close."""
_SPECIAL = _NOT_COUNTED | _ENDED_BY.keys() | _ROWS | _OF_SVG | {b"table"}

_TOKEN = re.compile(
    rb"<!--(?:[^-]++|-(?!->))*+"
    rb"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b(?:[^<]++|<(?!/\1))*+"
    rb"|<(/?)([a-z][^\s/>]*)((?:[^>=]+|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?)?)*+)>?"
)
"""A comment, an element of raw text, or a tag with its slash, name and attributes; for markup in lower case."""
_ATTRIBUTE = re.compile(rb"[^\s/>=]+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?", re.DOTALL)
_BEARABLE_TAG = re.compile(
    rb"!--"
    rb"|[^\s/>]++[\s/]*+"
    rb"(?:[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+[\s/]*+){0,%d}+>" % MAX_ATTRIBUTES
)
"""A comment or a tag, after its bracket, that has no more attributes than allowed, however long they are."""


def guarded(markup: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The markup as the parser may have it, and what was taken out.

    >>> guarded(b"<p>plain</p>")
    (b'<p>plain</p>', ())
    >>> mended, said = guarded(b"<div>" * 9_000)
    >>> len(mended) < 3_000, said
    (True, ('elements nested deeper than 512 levels were left out',))
    """
    said: tuple[str, ...] = ()
    if len(markup) > MAX_MARKUP:
        markup = markup[:MAX_MARKUP]
        said = (f"of more than {MAX_MARKUP // 1_000_000} MB of HTML, the rest was left out",)
    if not _is_suspect(markup):
        return markup, said
    limiter = _Limiter()
    repaired = b"".join(limiter.pieces(markup))
    return (repaired, (*said, *limiter.said)) if limiter.said else (markup, said)


def _is_suspect(markup: bytes) -> bool:
    """Whether it could be too much work for the parser."""
    return _may_be_deep(markup) or _has_long_tag(markup)


def _may_be_deep(markup: bytes) -> bool:
    """Whether too much may be open at once; the cheapest answers first, and each is an estimate from above."""
    if (len(markup) // _SMALLEST) ** 2 <= _MUCH_WORK:
        return False
    tags = _tags(markup)
    if tags * tags <= _MUCH_WORK:
        return False
    opened = tags - _end_tags(markup)
    if opened * opened <= _MUCH_WORK:
        return False
    opened -= sum(map(markup.count, _FREQUENT_VOID))
    return opened * min(opened, _most_open(markup)) > _MUCH_WORK


def _tags(markup: bytes) -> int:
    """As `markup.count(b"<")` has it, in a sixth of the time."""
    codes = np.frombuffer(markup, np.uint8)
    room = _ROOMS.pop() if _ROOMS else np.empty(_AT_ONCE, np.bool_)
    found = 0
    for start in range(0, len(markup), _AT_ONCE):
        part = codes[start : start + _AT_ONCE]
        found += int(np.count_nonzero(np.equal(part, _LESS_THAN, out=room[: len(part)])))
    _ROOMS.append(room)
    return found


def _end_tags(markup: bytes) -> int:
    """As `markup.count(b"</")` has it, in a quarter of the time."""
    codes = np.frombuffer(markup, np.uint8)
    found = 0
    for start in range(0, len(markup), _AT_ONCE):
        part = codes[start : start + _AT_ONCE + 1]
        found += int(np.count_nonzero((part[:-1] == _LESS_THAN) & (part[1:] == _SLASH)))
    return found


def _has_long_tag(markup: bytes) -> bool:
    """Whether some tag seems to have no end for very long. After a tag that ends soon, what is long is text."""
    place = 0
    while len(markup) - place > _LONG_TAG:
        last = markup.rfind(b"<", place, place + _LONG_TAG)
        if last != -1:
            place = last + 1
            continue
        end = markup.find(b">", place, place + _MANY_ATTRIBUTES)
        is_open = end == -1 or markup.count(b'"', place, end) % 2 or markup.count(b"'", place, end) % 2
        if is_open and not _BEARABLE_TAG.match(markup, place):
            return True
        place = markup.find(b"<", place + _LONG_TAG) + 1 or len(markup)
    return False


def _most_open(markup: bytes) -> int:
    """The most elements that can be open at once."""
    open_now = most = 0
    for start in range(0, len(markup), _CHUNK):
        tags = markup.count(b"<", start, start + _CHUNK)
        ends = markup.count(b"</", start, start + _CHUNK)
        most = max(most, open_now + tags - ends)
        open_now = max(0, open_now + tags - 2 * ends)
    return most


class _Limiter:
    """Reads the tags of one page and leaves out those that go past a limit."""

    def __init__(self) -> None:
        self.said: dict[str, None] = {}
        self._stack: list[bytes] = []
        """Open elements, outermost first; those past the limit of depth are left out."""
        self._open: dict[bytes, int] = {}
        self._formatting: dict[bytes, int] = {}
        self._outer_formatting: list[dict[bytes, int]] = []
        """Of the tables around: what was opened outside does not reach into their cells."""
        self._roots = 0

    def pieces(self, markup: bytes) -> Iterator[bytes]:
        """The markup, in pieces, without what must not be there."""
        place = 0
        stack, opened = self._stack, self._open
        for match in _TOKEN.finditer(markup.lower()):
            end, name, attributes = match.group(2, 3, 4)
            if name is None:
                continue
            if name in _SPECIAL or len(attributes) > _MANY_ATTRIBUTES or len(stack) >= MAX_DEPTH:
                replacement = self._ended(name) if end else self._started(name, attributes, markup, match)
                if replacement is not None:
                    yield markup[place : match.start()]
                    yield replacement
                    place = match.end()
            elif not end:
                stack.append(name)
                opened[name] = opened.get(name, 0) + 1
            elif opened.get(name):
                self._close(name)
        yield markup[place:]

    def _started(self, name: bytes, attributes: bytes, markup: bytes, match: re.Match[bytes]) -> bytes | None:
        """What shall stand in the place of a start tag; None lets it stand."""
        if name in (b"html", b"body"):
            self._roots += 1
            if self._roots > _MAX_ROOTS:
                return self._left_out(f"html and body tags after the first {_MAX_ROOTS} were left out")
        elif name in _FORMATTING and self._formats_too_much(name):
            return self._left_out(f"formatting elements that nest more than {MAX_FORMATTING} deep were left out")
        elif name in _CELLS:
            self._formatting.clear()
        elif name == b"table":
            self._outer_formatting.append(dict(self._formatting))
        if name in _ENDED_BY:
            self._end_open(_ENDED_BY[name])
        if name not in _NOT_COUNTED and not (attributes.endswith(b"/") and self._open.get(b"svg")):
            self._stack.append(name)
            self._open[name] = self._open.get(name, 0) + 1
            if len(self._stack) > MAX_DEPTH:
                return self._left_out(f"elements nested deeper than {MAX_DEPTH} levels were left out")
        if len(attributes) > _MANY_ATTRIBUTES:
            return self._shortened(markup[match.start(3) : match.end(3)], markup[match.start(4) : match.end(4)])
        return None

    def _end_open(self, names: frozenset[bytes]) -> None:
        """Closes open elements of these names, up to where something stands between."""
        stack = self._stack
        end = len(stack)
        for place in range(len(stack) - 1, max(-1, len(stack) - 1 - _FAR), -1):
            if stack[place] in _BOUNDARIES:
                break
            if stack[place] in names:
                end = place
        for name in stack[end:]:
            self._open[name] -= 1
        del stack[end:]

    def _left_out(self, message: str) -> bytes:
        self.said[message] = None
        return b""

    def _formats_too_much(self, name: bytes) -> bool:
        if sum(self._formatting.values()) >= MAX_FORMATTING:
            return True
        self._formatting[name] = self._formatting.get(name, 0) + 1
        return False

    def _ended(self, name: bytes) -> bytes | None:
        """The same for an end tag: it goes where its start tag went."""
        if self._formatting.get(name):
            self._formatting[name] -= 1
        elif name == b"table" and self._outer_formatting:
            self._formatting = self._outer_formatting.pop()
        if not self._open.get(name):
            return None
        return b"" if self._close(name) >= MAX_DEPTH else None

    def _close(self, name: bytes) -> int:
        """Closes the nearest element of the name, and what is open inside it; gives its depth."""
        stack, opened = self._stack, self._open
        while True:
            last = stack.pop()
            opened[last] -= 1
            if last == name:
                return len(stack)

    def _shortened(self, name: bytes, attributes: bytes) -> bytes | None:
        kept: list[bytes] = []
        for attribute in _ATTRIBUTE.finditer(attributes):
            if len(kept) == MAX_ATTRIBUTES:
                self.said[f"attributes after the first {MAX_ATTRIBUTES} of an element were left out"] = None
                return b"<" + name + b" " + b" ".join(kept) + b">"
            kept.append(attribute[0])
        return None
