"""Patterns of robots.txt against paths (RFC 9309, 2.2.2 and 2.2.3).

Both sides are brought to one spelling first. Then literal prefixes are looked up by their length, and each pattern with
wildcards costs one walk along the path: nothing backtracks, so a hostile pattern costs no more than a long one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

_PLAIN = "A-Za-z0-9\\-._~/?:@!&()+,;="
"""Characters that stand for themselves on both sides. The quote and brackets are not among them, though RFC 3986 has
them as delimiters: the URL standard escapes some of them in some places, and a rule must hold whatever it did."""
_PLAIN_URL = re.compile(f"https?://[^/?#;]*(/[{_PLAIN}]*)")
_UNUSUAL = re.compile(f"[^*{_PLAIN}]")
_UNUSUAL_RUN = re.compile(f"%[0-9A-Fa-f]{{2}}|[^{_PLAIN}]")
_UNUSUAL_BUT_WILD = re.compile(f"%[0-9A-Fa-f]{{2}}|[^*{_PLAIN}]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PLAIN_IN_PATH = _UNRESERVED | frozenset(":@!&()+,;=")
"""In a path these mean to servers what their escapes mean, whatever they delimit: `/wiki/Special:Search` forbids
`/wiki/Special%3ASearch`, too."""
_PLAIN_IN_QUERY = _UNRESERVED | frozenset("/:?@")
"""In a query these delimit nothing (RFC 3986, 3.4), so that escaped and not they are the same, as in the table of
RFC 9309, 2.2.2."""


def path_of(url: str) -> str:
    """What rules are matched against: path and query of a URL, in their one spelling.

    >>> path_of("http://example.org/a%7eb/caf\u00e9?u=http%3A%2F%2Fx#top"), path_of("http://example.org?a")
    ('/a~b/caf%C3%A9?u=http://x', '/?a')
    """
    plain = _PLAIN_URL.fullmatch(url)
    if plain:
        return plain[1]
    start = url.find("//")
    start = 0 if start == -1 or -1 < url.find("/") < start else start + 2
    ends = [at for at in (url.find("/", start), url.find("?", start), url.find(";", start)) if at != -1]
    if not ends:
        return "/"
    path = url[min(ends) :].partition("#")[0]
    if not path.startswith("/"):
        path = "/" + path
    return _spelled(path, _UNUSUAL_RUN)


def pattern_of(value: str) -> str:
    """The one spelling of a rule's value; its wildcards stay, a `$` that is not at the end is a character.

    >>> pattern_of("/%7Eann/*.php$"), pattern_of("/a%2ab$c"), pattern_of("/caf\u00e9")
    ('/~ann/*.php$', '/a%2Ab%24c', '/caf%C3%A9')
    """
    literal = value.removesuffix("$")
    if not _UNUSUAL.search(literal):
        return value
    return _spelled(literal, _UNUSUAL_BUT_WILD) + value[len(literal) :]


def _spelled(text: str, unusual: re.Pattern[str]) -> str:
    path, mark, query = text.partition("?")
    path = unusual.sub(lambda match: _one_way(match[0], _PLAIN_IN_PATH), path)
    return path + mark + unusual.sub(lambda match: _one_way(match[0], _PLAIN_IN_QUERY), query)


def _one_way(found: str, plain: frozenset[str]) -> str:
    if len(found) == 3:
        meant = chr(int(found[1:], 16))
        return meant if meant in plain else found.upper()
    errors = "surrogateescape" if "\udc80" <= found <= "\udcff" else "surrogatepass"  # a byte that was no UTF-8
    return "".join(f"%{byte:02X}" for byte in found.encode(errors=errors))


class Matcher:
    """The rules of one group, ready to be asked. The longest pattern that matches decides; of equals, the allowing one.

    >>> rules = Matcher({"/": False, "/open": True, "/*.gif$": False})
    >>> rules.allows("/open/a"), rules.allows("/a"), rules.allows("/open/a.gif")
    (True, False, False)
    """

    def __init__(self, rules: Mapping[str, bool]) -> None:
        self._prefixes = {pattern: allowed for pattern, allowed in rules.items() if not _is_wild(pattern)}
        self._lengths = sorted({len(pattern) for pattern in self._prefixes})
        wild = sorted((-len(pattern), not allowed, pattern) for pattern, allowed in rules.items() if _is_wild(pattern))
        self._wild = [_Wild(pattern, allowed=not refused) for _, refused, pattern in wild]
        self._needles = [(rule.needle, at) for at, rule in enumerate(self._wild)]

    def allows(self, path: str) -> bool:
        length, allowed = self._longest_prefix(path)
        for needle, at in self._needles:
            if needle not in path:  # settles most rules at a tenth of the cost of a walk
                continue
            rule = self._wild[at]
            if rule.length < length or (rule.length == length and allowed):
                break
            if rule.matches(path):
                return rule.allowed
        return allowed

    def _longest_prefix(self, path: str) -> tuple[int, bool]:
        prefixes, lengths = self._prefixes, self._lengths
        for at in range(bisect_right(lengths, len(path)) - 1, -1, -1):
            allowed = prefixes.get(path[: lengths[at]])
            if allowed is not None:
                return lengths[at], allowed
        return 0, True


def _is_wild(pattern: str) -> bool:
    return "*" in pattern or pattern.endswith("$")


class _Wild:
    """One pattern with wildcards."""

    __slots__ = ("_head", "_middle", "_tail", "allowed", "length", "needle")

    def __init__(self, pattern: str, *, allowed: bool) -> None:
        self.allowed = allowed
        self.length = len(pattern)
        self._head, self._middle, self._tail = _pieces(pattern)
        self.needle = max((self._head, *self._middle, self._tail or ""), key=len)
        """The longest of the pieces."""

    def matches(self, path: str) -> bool:
        """Each piece at the first place where it fits: where a later place would do, this one does too."""
        if not path.startswith(self._head):
            return False
        start = len(self._head)
        for piece in self._middle:
            start = path.find(piece, start)
            if start == -1:
                return False
            start += len(piece)
        if self._tail is None:
            return True
        return path.endswith(self._tail, start) if self._tail else start == len(path)


def _pieces(pattern: str) -> tuple[str, tuple[str, ...], str | None]:
    """What a path must start with, what must follow in this order, and what it must end with (None for anything).

    >>> _pieces("/a*b**c$"), _pieces("/a*b*"), _pieces("/a$")
    (('/a', ('b',), 'c'), ('/a', ('b',), None), ('/a', (), ''))
    """
    closed = pattern.endswith("$")
    head, *rest = pattern.removesuffix("$").split("*")
    if not closed:
        return head, tuple(piece for piece in rest if piece), None
    if not rest:
        return head, (), ""
    return head, tuple(piece for piece in rest[:-1] if piece), rest[-1] if rest[-1] else None
