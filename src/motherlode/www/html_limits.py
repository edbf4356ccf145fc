"""Limits for hostile HTML: on the text extracted from a page, and on the markup given to the HTML parser."""

import re
from collections.abc import Iterator

import numpy as np

_CHARACTERS_PER_BYTE = 8
_MIN_CHARACTERS = 1_000_000


class TextBudget:
    """Counts the characters that may still be extracted from a page, because nested properties repeat their text."""

    __slots__ = ("_left", "was_short")

    def __init__(self, page_size: int) -> None:
        self._left = _CHARACTERS_PER_BYTE * page_size + _MIN_CHARACTERS
        self.was_short = False
        """True if some text was left out."""

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up. If so, sets `was_short`, because the caller then leaves text out."""
        if self._left <= 0:
            self.was_short = True
            return True
        return False

    def spend(self, text: str) -> None:
        self._left -= len(text)

    def affordable(self, text: str, times: int) -> int:
        """Return how many of `times` statements with this text the budget allows, at most one more than it can pay.

        The length of the text is subtracted from the budget once for each allowed statement.
        """
        granted = min(times, max(0, self._left) // max(1, len(text)) + 1)
        self._left -= granted * len(text)
        if granted < times:
            self.was_short = True
        return granted


# Limits on markup ----------------------------------------------------------------------------------------------------

MAX_MARKUP = 16_000_000
"""Maximum bytes of markup that are parsed. The tree takes more than ten times as much memory."""
MAX_DEPTH = 512
MAX_FORMATTING = 64
MAX_ATTRIBUTES = 512
_MAX_ROOTS = 64
"""Maximum number of `html` and `body` tags: the parser adds the attributes of all of them to one element."""

_MAX_WORK = 8_000_000
"""Maximum of (open elements × elements), a bound on the steps of the parser and on the elements of its tree."""
_MANY_ATTRIBUTE_BYTES = 2 * MAX_ATTRIBUTES
"""A tag with fewer bytes of attributes than this cannot exceed MAX_ATTRIBUTES: an attribute takes two bytes or more."""
_MAX_SEARCH_LEVELS = 64
"""Maximum number of levels that are searched for an element without an end tag."""
_LESS_THAN, _SLASH = np.frombuffer(b"</", np.uint8)
_MIN_TAG_BYTES = 3
_COUNT_STEP_BYTES = 1 << 16
"""Bytes that are counted at a time. The intermediate array of numpy then fits into the L1 cache."""
_LONG_TAG_BYTES = 16_384
_CHUNK_BYTES = 8_192

VOID_ELEMENTS = frozenset(
    b"area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
"""Elements without content and end tag, including the obsolete ones (HTML, section 13.1.2)."""
_FREQUENT_VOID = (b"<br>", b"<br/", b"<br ", b"<img ", b"<input ", b"<!--")
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
_NOT_COUNTED = VOID_ELEMENTS | _FORMATTING | {b"html", b"head", b"body", b"a", b"nobr"}
"""Elements that do not add to the depth, or that have a limit of their own. Links end when the next one begins."""
_CELLS = frozenset((b"td", b"th", b"caption"))
_ROWS = _CELLS | {b"tr", b"thead", b"tbody", b"tfoot", b"colgroup"}
_ENDED_BY: dict[bytes, frozenset[bytes]] = {
    b"p": frozenset((b"p",)),
    b"li": frozenset((b"li",)),
    b"option": frozenset((b"option",)),
    b"optgroup": frozenset((b"option", b"optgroup")),
    b"tr": _CELLS | {b"tr"},
    **dict.fromkeys((b"dd", b"dt"), frozenset((b"dd", b"dt"))),
    **dict.fromkeys((b"rt", b"rp"), frozenset((b"rt", b"rp"))),
    **dict.fromkeys((b"td", b"th"), _CELLS),
    **dict.fromkeys((b"thead", b"tbody", b"tfoot"), _ROWS),
}
"""Start tag → open elements without an end tag that it closes."""
_BOUNDARIES = frozenset(
    b"table ul ol dl menu select ruby button object marquee template article aside blockquote fieldset footer form"
    b" header main nav section".split()
)
"""A start tag inside such an element closes no element outside of it."""
_SVG_ELEMENTS = frozenset(b"circle g line path polygon rect use".split())
"""The most frequent SVG elements, which a slash may close."""
_SPECIAL = _NOT_COUNTED | _ENDED_BY.keys() | _ROWS | _SVG_ELEMENTS | {b"table"}

_TOKEN = re.compile(
    rb"<!--(?:[^-]++|-(?!->))*+"
    rb"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b(?:[^<]++|<(?!/\1))*+"
    rb"|<(/?)([a-z][^\s/>]*)((?:[^>=]+|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?)?)*+)>?"
)
"""A comment, a raw-text element, or a tag with its slash, name and attributes. For markup in lower case."""
_ATTRIBUTE = re.compile(rb"[^\s/>=]+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?", re.DOTALL)
_ACCEPTABLE_TAG = re.compile(
    rb"!--"
    rb"|[^\s/>]++[\s/]*+"
    rb"(?:[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+[\s/]*+){0,%d}+>" % MAX_ATTRIBUTES
)
"""A comment, or a tag with no more attributes than allowed, of any length. Starts after the `<`."""


def guarded(markup: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the markup without what costs the parser too much time or memory, and messages about what was removed."""
    messages: tuple[str, ...] = ()
    if len(markup) > MAX_MARKUP:
        markup = markup[:MAX_MARKUP]
        messages = (f"of more than {MAX_MARKUP // 1_000_000} MB of HTML, the rest was left out",)
    if not (_may_be_deep(markup) or _has_long_tag(markup)):
        return markup, messages
    limiter = _Limiter()
    repaired = b"".join(limiter.pieces(markup))
    return (repaired, (*messages, *limiter.messages)) if limiter.messages else (markup, messages)


def _may_be_deep(markup: bytes) -> bool:
    """Return whether too many elements may be open at once. Upper bounds are checked, the cheapest first."""
    if (len(markup) // _MIN_TAG_BYTES) ** 2 <= _MAX_WORK:
        return False
    tags = markup.count(b"<")
    if tags * tags <= _MAX_WORK:
        return False
    opened = tags - _count_end_tags(markup)
    if opened * opened <= _MAX_WORK:
        return False
    opened -= sum(map(markup.count, _FREQUENT_VOID))
    return opened * min(opened, _max_open(markup)) > _MAX_WORK


def _count_end_tags(markup: bytes) -> int:
    """Return `markup.count(b"</")` in a tenth of its time."""
    codes = np.frombuffer(markup, np.uint8)
    parts = (codes[at : at + _COUNT_STEP_BYTES + 1] for at in range(0, len(markup), _COUNT_STEP_BYTES))
    return sum(int(np.count_nonzero((part[:-1] == _LESS_THAN) & (part[1:] == _SLASH))) for part in parts)


def _has_long_tag(markup: bytes) -> bool:
    """Return whether a tag is very long. A long run after a short tag is text."""
    position = 0
    while len(markup) - position > _LONG_TAG_BYTES:
        last = markup.rfind(b"<", position, position + _LONG_TAG_BYTES)
        if last != -1:
            position = last + 1
            continue
        end = markup.find(b">", position, position + _MANY_ATTRIBUTE_BYTES)
        is_open = end == -1 or markup.count(b'"', position, end) % 2 or markup.count(b"'", position, end) % 2
        if is_open and not _ACCEPTABLE_TAG.match(markup, position):
            return True
        position = markup.find(b"<", position + _LONG_TAG_BYTES) + 1 or len(markup)
    return False


def _max_open(markup: bytes) -> int:
    """Return an upper bound of the elements that are open at once."""
    open_now = highest = 0
    for start in range(0, len(markup), _CHUNK_BYTES):
        tags = markup.count(b"<", start, start + _CHUNK_BYTES)
        ends = markup.count(b"</", start, start + _CHUNK_BYTES)
        highest = max(highest, open_now + tags - ends)
        open_now = max(0, open_now + tags - 2 * ends)
    return highest


class _Limiter:
    """Reads the tags of one page and leaves out those beyond a limit."""

    def __init__(self) -> None:
        self.messages: dict[str, None] = {}
        self._stack: list[bytes] = []
        """Open elements, outermost first, including those beyond the depth limit."""
        self._open: dict[bytes, int] = {}
        self._formatting: dict[bytes, int] = {}
        self._outer_formatting: list[dict[bytes, int]] = []
        """For each open table, the counts of open formatting elements outside of it, which do not apply to its
        cells."""
        self._roots = 0

    def pieces(self, markup: bytes) -> Iterator[bytes]:
        """Yield the markup in pieces, without what exceeds a limit."""
        position = 0
        stack, opened = self._stack, self._open
        for match in _TOKEN.finditer(markup.lower()):
            end, name, attributes = match.group(2, 3, 4)
            if name is None:
                continue
            if name in _SPECIAL or len(attributes) > _MANY_ATTRIBUTE_BYTES or len(stack) >= MAX_DEPTH:
                replacement = (
                    self._handle_end_tag(name) if end else self._handle_start_tag(name, attributes, markup, match)
                )
                if replacement is not None:
                    yield markup[position : match.start()]
                    yield replacement
                    position = match.end()
            elif not end:
                stack.append(name)
                opened[name] = opened.get(name, 0) + 1
            elif opened.get(name):
                self._close(name)
        yield markup[position:]

    def _handle_start_tag(self, name: bytes, attributes: bytes, markup: bytes, match: re.Match[bytes]) -> bytes | None:
        """Return the replacement of a start tag, or None to keep it."""
        if name in (b"html", b"body"):
            self._roots += 1
            if self._roots > _MAX_ROOTS:
                return self._drop(f"html and body tags after the first {_MAX_ROOTS} were left out")
        elif name in _FORMATTING and self._exceeds_formatting(name):
            return self._drop(f"formatting elements that nest more than {MAX_FORMATTING} deep were left out")
        elif name in _CELLS:
            self._formatting.clear()
        elif name == b"table":
            self._outer_formatting.append(dict(self._formatting))
        if name in _ENDED_BY:
            self._close_implied(_ENDED_BY[name])
        if name not in _NOT_COUNTED and not (attributes.endswith(b"/") and self._open.get(b"svg")):
            self._stack.append(name)
            self._open[name] = self._open.get(name, 0) + 1
            if len(self._stack) > MAX_DEPTH:
                return self._drop(f"elements nested deeper than {MAX_DEPTH} levels were left out")
        if len(attributes) > _MANY_ATTRIBUTE_BYTES:
            return self._limit_attributes(markup[match.start(3) : match.end(3)], markup[match.start(4) : match.end(4)])
        return None

    def _close_implied(self, names: frozenset[bytes]) -> None:
        """Close the open elements of these names, up to the nearest boundary."""
        stack = self._stack
        end = len(stack)
        for position in range(len(stack) - 1, max(-1, len(stack) - 1 - _MAX_SEARCH_LEVELS), -1):
            if stack[position] in _BOUNDARIES:
                break
            if stack[position] in names:
                end = position
        for name in stack[end:]:
            self._open[name] -= 1
        del stack[end:]

    def _drop(self, message: str) -> bytes:
        self.messages[message] = None
        return b""

    def _exceeds_formatting(self, name: bytes) -> bool:
        if sum(self._formatting.values()) >= MAX_FORMATTING:
            return True
        self._formatting[name] = self._formatting.get(name, 0) + 1
        return False

    def _handle_end_tag(self, name: bytes) -> bytes | None:
        """Return the replacement of an end tag, or None to keep it. It is removed if its start tag was."""
        if self._formatting.get(name):
            self._formatting[name] -= 1
        elif name == b"table" and self._outer_formatting:
            self._formatting = self._outer_formatting.pop()
        if not self._open.get(name):
            return None
        return b"" if self._close(name) >= MAX_DEPTH else None

    def _close(self, name: bytes) -> int:
        """Close the nearest element of the name and all elements inside it. Return its depth."""
        stack, opened = self._stack, self._open
        while True:
            last = stack.pop()
            opened[last] -= 1
            if last == name:
                return len(stack)

    def _limit_attributes(self, name: bytes, attributes: bytes) -> bytes | None:
        kept: list[bytes] = []
        for attribute in _ATTRIBUTE.finditer(attributes):
            if len(kept) == MAX_ATTRIBUTES:
                self.messages[f"attributes after the first {MAX_ATTRIBUTES} of an element were left out"] = None
                return b"<" + name + b" " + b" ".join(kept) + b">"
            kept.append(attribute[0])
        return None
