"""Patterns of robots.txt against paths (RFC 9309, 2.2.2 and 2.2.3).

Both sides are brought to one spelling first. Then literal prefixes are looked up by their length, and each pattern with
wildcards costs one walk along the path: nothing backtracks, so a hostile pattern costs no more than a long one.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus

from motherlode.model import Failure, FailureKind, Page

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


# ── The lines of a robots.txt, and the group among them that is for one product token (RFC 9309, 2.1 and 2.2).

MAX_LINE = 16_663
"""Characters of a line that are read. No URL that we ask for is a quarter as long."""
MAX_DELAY = 86_400.0
"""Seconds. A host that asks for more is asked once a day: it is slowed, never dropped."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_TOKEN = re.compile(r"[A-Za-z_-]*")
_LONGEST_NAME = 24
"""Characters of a name that may be a misspelt one."""
_MOST_GUESSES = 500
"""Names in one file that are tried as misspelt ones: a file of nothing else is no robots.txt."""


class RobotsField(Enum):
    """The lines that mean something; the value is the name without hyphens and doubled letters."""

    USER_AGENT = "useragent"
    ALLOW = "alow"
    DISALLOW = "disalow"
    CRAWL_DELAY = "crawldelay"
    SITEMAP = "sitemap"


_NAMES = {
    "user-agent": RobotsField.USER_AGENT,
    "allow": RobotsField.ALLOW,
    "disallow": RobotsField.DISALLOW,
    "crawl-delay": RobotsField.CRAWL_DELAY,
    "sitemap": RobotsField.SITEMAP,
}


@dataclass(slots=True, kw_only=True)
class RobotsGroup:
    """What one product token is told; all groups that name it, as one."""

    named: bool = False
    """Whether any line names it at all."""
    rules: dict[str, bool] = field(default_factory=dict)
    """Pattern → whether it allows. A pattern that is both allowed and disallowed is allowed (2.2.2)."""
    delay: float | None = None

    def add_rule(self, pattern: str, *, allowed: bool) -> None:
        self.rules[pattern] = allowed or self.rules.get(pattern, False)

    def add_delay(self, seconds: float) -> None:
        self.delay = seconds if self.delay is None else max(self.delay, seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRobots:
    """What a robots.txt says to one product token, and to everyone."""

    group: RobotsGroup
    sitemaps: tuple[str, ...]


def parse_robots(text: str, agent: str) -> ParsedRobots:
    """The group for a product token, or else the one for everyone, and all sitemaps.

    Only rules end the naming of user agents: other lines, Crawl-delay among them, leave groups as they are (2.2.4).
    """
    agent = agent.lower()
    ours, everyones = RobotsGroup(), RobotsGroup()
    current: list[RobotsGroup] = []
    naming = False
    sitemaps: dict[str, None] = {}
    for what, value in _fields(text):
        if what is RobotsField.USER_AGENT:
            if not naming:
                current, naming = [], True
            group = everyones if _is_everyone(value) else ours if _names(value, agent) else None
            if group is not None:
                group.named = True
                current.append(group)
        elif what is RobotsField.SITEMAP:
            if value:
                sitemaps[value] = None
        elif what is RobotsField.CRAWL_DELAY:
            seconds = _seconds(value)
            if seconds is not None:
                for group in current:
                    group.add_delay(seconds)
        else:
            naming = False
            if value and current:
                pattern = pattern_of(value)
                for group in current:
                    group.add_rule(pattern, allowed=what is RobotsField.ALLOW)
    return ParsedRobots(group=ours if ours.named else everyones, sitemaps=tuple(sitemaps))


def _untagged(line: str) -> str:
    """A line of a file that somebody made HTML of, without the tags around it.

    >>> _untagged("<p><b>Disallow: /a<b>/c</b></p><br>"), _untagged("<p")
    ('Disallow: /a<b>/c', '<p')
    """
    line = line.strip()
    while line.startswith("<") and ">" in line:
        line = line[line.index(">") + 1 :].lstrip()
    while line.endswith(">") and "<" in line:
        line = line[: line.rindex("<")].rstrip()
    return line


def _fields(text: str) -> Iterator[tuple[RobotsField, str]]:
    guesses: dict[str, RobotsField | None] = {}
    for line in text.replace("\r", "\n").split("\n"):
        if len(line) > MAX_LINE:
            line = line[:MAX_LINE]
        if "#" in line:
            line = line[: line.index("#")]
        if "<" in line:
            line = _untagged(line)
        name, colon, value = line.partition(":")
        what = _meaning(name, guesses) if colon else None
        if what is None:
            words = line.split(maxsplit=2)
            if len(words) == 2:
                what, value = _meaning(words[0], guesses), words[1]
        if what is not None:
            yield what, value.strip()


def _meaning(name: str, guesses: dict[str, RobotsField | None]) -> RobotsField | None:
    name = name.strip().lower()
    what = _NAMES.get(name)
    if what is None and 0 < len(name) <= _LONGEST_NAME:
        if name not in guesses and len(guesses) < _MOST_GUESSES:
            guesses[name] = _guessed(name)
        return guesses.get(name)
    return what


def _guessed(name: str) -> RobotsField | None:
    """The field that a misspelt name stands for: one slip is forgiven, and any doubling of letters.

    >>> _guessed("dissalow"), _guessed("useg-agent"), _guessed("site"), _guessed("noindex")
    (<Field.DISALLOW: 'disalow'>, <Field.USER_AGENT: 'useragent'>, None, None)
    """
    squeezed = re.sub(r"(.)\1+", r"\1", re.sub(r"[\s_-]+", "", name))
    return next((what for what in RobotsField if _within_one_slip(squeezed, what.value)), None)


def _within_one_slip(found: str, meant: str) -> bool:
    """Equal but for one letter that is wrong, missing, too many, or changed places with its neighbour."""
    if found == meant:
        return True
    at = next((i for i, (a, b) in enumerate(zip(found, meant, strict=False)) if a != b), min(len(found), len(meant)))
    if not at:  # the first letter is right: otherwise too many words come near
        return False
    rest, wanted = found[at:], meant[at:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


def _is_everyone(value: str) -> bool:
    return value.startswith("*") and (len(value) == 1 or value[1].isspace())


def _names(value: str, agent: str) -> bool:
    """Whether a User-agent line is for a product token: its name, without version and what else follows (2.2.1).

    >>> _names("Motherlode/1.0 (crawler)", "motherlode"), _names("Motherlode-News", "motherlode")
    (True, False)
    """
    value = value.lower()
    if not value.startswith(agent):
        return False
    token = _TOKEN.match(value)
    return (token is not None and token[0] == agent) or re.split(r"[/\s,;]", value, maxsplit=1)[0] == agent


def _seconds(value: str) -> float | None:
    number = _NUMBER.match(value.replace(",", ".", 1))
    return min(float(number[0]), MAX_DELAY) if number else None


# ── robots.txt (RFC 9309): from an answer to rules.

PRODUCT_TOKEN = "motherlode"
MAX_ROBOTS_BYTES = 500 << 10
"""Bytes of a robots.txt that are read; RFC 9309, 2.5."""

_MEANS_ALLOWED = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.REDIRECT_BROKEN}
)
"""Unavailable, in the standard's words; redirects that lead nowhere too (2.3.1.2)."""
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"
_OWN_PATH = "/robots.txt"
_A_DAY = 86_400.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NOT_CACHED = re.compile(r"(?:^|[\s,])no-(?:cache|store)(?![\w-])", re.IGNORECASE)


class RobotsRules:
    """The rules for our product token. Bad lines are passed over, as the standard wants.

    >>> rules = RobotsRules(b"User-agent: *\\nDisallow: /private\\nAllow: /private/open\\nCrawl-delay: 2")
    >>> rules.allows("http://ex.org/private/x"), rules.allows("http://ex.org/private/open"), rules.delay
    (False, True, 2.0)
    """

    def __init__(self, body: bytes, *, agent: str = PRODUCT_TOKEN) -> None:
        reading = parse_robots(_text(_cut(body)), agent)
        self._matcher = Matcher(reading.group.rules)
        self.delay: float | None = reading.group.delay
        self.sitemaps: tuple[str, ...] = reading.sitemaps

    def allows(self, url: str) -> bool:
        path = path_of(url)
        return self._matcher.allows(path) or path == _OWN_PATH


def _unpacked(body: bytes) -> bytes:
    """A file that lies packed on its server, which does not say so: its rules are meant all the same."""
    if not body.startswith(_GZIP_MARK):
        return body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, MAX_ROBOTS_BYTES + 1)
    except zlib.error:
        return body


def _cut(body: bytes) -> bytes:
    """At most MAX_ROBOTS_BYTES bytes, in whole lines: half a rule could forbid everything."""
    if len(body) <= MAX_ROBOTS_BYTES:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_ROBOTS_BYTES), body.rfind(b"\r", 0, MAX_ROBOTS_BYTES)) + 1]


def _text(body: bytes) -> str:
    """UTF-8 by the standard; UTF-16 where it says so. Bytes that are neither stay what they are, for the patterns.

    Files that were put together have marks in the middle, in front of lines that count. Without its mark, UTF-16 is
    text with a zero byte at every letter.
    """
    if body.startswith(_UTF16_MARKS) and b"\x00" in body[:64]:
        return body.decode("utf-16", errors="replace")
    return body.replace(b"\xef\xbb\xbf", b"").replace(b"\x00", b"").decode(errors="surrogateescape")


def robots_body(fetched: Page | Failure) -> bytes | None:
    """The robots.txt that an answer amounts to (RFC 9309, 2.3.1); None where the host must be asked again later.

    Any 4xx but 429 means that there are no rules; what cannot be reached now allows nothing now. A redirect is for the
    frontier to follow, which knows the clocks.
    """
    if isinstance(fetched, Page):
        return _cut(_unpacked(fetched.body))
    if fetched.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return None  # that was no word of the host
    is_refused = 400 <= (fetched.status or 0) < 500 and fetched.kind is not FailureKind.TOO_MANY
    return b"" if is_refused or fetched.kind in _MEANS_ALLOWED else None


def robots_last(fetched: Page | Failure) -> float:
    """Seconds for which a robots.txt holds by its own Cache-Control: a day at most, and where it says nothing.

    What it has aged in other caches is over (RFC 9111, 4.2).

    >>> robots_last(Page(url="http://ex.org/robots.txt", status=200, headers={"cache-control": "public, max-age=7200"}))
    7200.0
    """
    said = fetched.headers.get("cache-control", "")
    if not said:
        return _A_DAY
    if _NOT_CACHED.search(said):
        return 0.0
    found = _MAX_AGE.search(said)
    age = fetched.headers.get("age", "").strip()
    aged = float(age[:9]) if age.isascii() and age.isdigit() else 0.0
    return min(_A_DAY, max(0.0, float(found[1]) - aged)) if found else _A_DAY
