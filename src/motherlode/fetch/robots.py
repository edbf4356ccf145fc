"""robots.txt (RFC 9309): matching of patterns, parsing of the file, and the rules that follow from a response.

Patterns and paths are normalized first. Patterns without wildcards are looked up by their length. Each pattern with
wildcards costs one pass over the path without backtracking, so a hostile pattern costs no more than a long one.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus

from motherlode.model import Failure, FailureKind, Page
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences, combine_preferences
from motherlode.project import PRODUCT_TOKEN
from motherlode.www.usage_values import parse_content_signal, parse_content_usage

_PLAIN = "A-Za-z0-9\\-._~/?:@!&()+,;="
"""Characters that are never escaped in normalized paths and patterns. Quote and brackets are not included, although
they are delimiters in RFC 3986, because the URL standard escapes some of them in some places."""
_PLAIN_URL = re.compile(f"https?://[^/?#;]*(/[{_PLAIN}]*)")
_SPECIAL_IN_PATH = re.compile(f"%[0-9A-Fa-f]{{2}}|[^{_PLAIN}]")
_SPECIAL_IN_PATTERN = re.compile(f"%[0-9A-Fa-f]{{2}}|[^*{_PLAIN}]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PLAIN_IN_PATH = _UNRESERVED | frozenset(":@!&()+,;=")
"""In a path these characters equal their escapes: `/wiki/Special:Search` also forbids `/wiki/Special%3ASearch`."""
_PLAIN_IN_QUERY = _UNRESERVED | frozenset("/:?@")
"""In a query these characters equal their escapes (RFC 9309, 2.2.2). They delimit nothing there (RFC 3986, 3.4)."""


def normalize_path(url: str) -> str:
    """Return the normalized path and query of a URL, against which patterns are matched.

    >>> normalize_path("http://example.org/a%7eb/caf\u00e9?u=http%3A%2F%2Fx#top"), normalize_path("http://example.org?a")
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
    return _normalize_escapes(path, _SPECIAL_IN_PATH)


def normalize_pattern(value: str) -> str:
    """Return a normalized pattern. Wildcards are kept. A `$` that is not at the end is an ordinary character.

    >>> normalize_pattern("/%7Eann/*.php$"), normalize_pattern("/a%2ab$c"), normalize_pattern("/caf\u00e9")
    ('/~ann/*.php$', '/a%2Ab%24c', '/caf%C3%A9')
    """
    literal = value.removesuffix("$")
    if not _SPECIAL_IN_PATTERN.search(literal):
        return value
    return _normalize_escapes(literal, _SPECIAL_IN_PATTERN) + value[len(literal) :]


def _normalize_escapes(text: str, unusual: re.Pattern[str]) -> str:
    path, mark, query = text.partition("?")
    path = unusual.sub(lambda match: _normalize_escape(match[0], _PLAIN_IN_PATH), path)
    return path + mark + unusual.sub(lambda match: _normalize_escape(match[0], _PLAIN_IN_QUERY), query)


def _normalize_escape(found: str, plain: frozenset[str]) -> str:
    if len(found) == 3:
        meant = chr(int(found[1:], 16))
        return meant if meant in plain else found.upper()
    errors = "surrogateescape" if "\udc80" <= found <= "\udcff" else "surrogatepass"  # a byte that was not UTF-8
    return "".join(f"%{byte:02X}" for byte in found.encode(errors=errors))


class Matcher:
    """Decides by the rules of one group. The longest matching pattern decides. Allow wins a tie."""

    def __init__(self, rules: Mapping[str, bool]) -> None:
        self._prefixes = {pattern: allowed for pattern, allowed in rules.items() if not _has_wildcard(pattern)}
        self._lengths = sorted({len(pattern) for pattern in self._prefixes})
        wild = [_WildcardPattern(pattern, allowed=rules[pattern]) for pattern in rules if _has_wildcard(pattern)]
        wild.sort(key=lambda rule: (-rule.length, not rule.allowed))
        self._wild = [(rule.needle, rule) for rule in wild]
        self.is_empty = not rules
        """True if there are no rules, so that everything is allowed."""

    def allows(self, path: str) -> bool:
        length, allowed = self._longest_prefix(path)
        for needle, rule in self._wild:
            if needle not in path:  # excludes most rules at a tenth of the cost of matching
                continue
            if rule.length < length or (rule.length == length and allowed):
                break
            if rule.matches(path):
                return rule.allowed
        return allowed

    def deciding_rule(self, path: str) -> str:
        """Return the line of the rule that decides about a path; "" if no rule matches. Slower than `allows`."""
        rules = [(len(pattern), allowed, pattern) for pattern, allowed in self._prefixes.items() if pattern]
        rules = [rule for rule in rules if path.startswith(rule[2])]
        rules += [(rule.length, rule.allowed, rule.pattern) for _, rule in self._wild if rule.matches(path)]
        _, allowed, pattern = max(rules, default=(0, True, ""))
        return f"{'Allow' if allowed else 'Disallow'}: {pattern}" if pattern else ""

    def _longest_prefix(self, path: str) -> tuple[int, bool]:
        prefixes, lengths = self._prefixes, self._lengths
        for at in range(bisect_right(lengths, len(path)) - 1, -1, -1):
            allowed = prefixes.get(path[: lengths[at]])
            if allowed is not None:
                return lengths[at], allowed
        return 0, True


def _has_wildcard(pattern: str) -> bool:
    return "*" in pattern or pattern.endswith("$")


class _WildcardPattern:
    """One pattern with wildcards."""

    __slots__ = ("_head", "_middle", "_tail", "allowed", "length", "needle", "pattern")

    def __init__(self, pattern: str, *, allowed: bool) -> None:
        self.allowed = allowed
        self.pattern = pattern
        self.length = len(pattern)
        self._head, self._middle, self._tail = _split_pattern(pattern)
        self.needle = max((self._head, *self._middle, self._tail or ""), key=len)
        """The longest literal part. A path without it cannot match."""

    def matches(self, path: str) -> bool:
        """Match each part at its first position: if a later position leads to a match, so does the first."""
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


def _split_pattern(pattern: str) -> tuple[str, tuple[str, ...], str | None]:
    """Return the required start of a path, the parts that must follow in order, and the required end (None: any).

    >>> _split_pattern("/a*b**c$"), _split_pattern("/a*b*"), _split_pattern("/a$")
    (('/a', ('b',), 'c'), ('/a', ('b',), None), ('/a', (), ''))
    """
    closed = pattern.endswith("$")
    head, *rest = pattern.removesuffix("$").split("*")
    if not closed:
        return head, tuple(piece for piece in rest if piece), None
    if not rest:
        return head, (), ""
    return head, tuple(piece for piece in rest[:-1] if piece), rest[-1] if rest[-1] else None


MAX_USAGE_RULES = 1000
"""Maximum number of preferences about the use of pages per file."""


class UsageRules:
    """Preferences about the use of pages, by path. The first pattern that matches decides."""

    def __init__(self, rules: Iterable[tuple[str, UsagePreferences]]) -> None:
        self._rules = [(_WildcardPattern(pattern, allowed=True), stated) for pattern, stated in rules]

    def preferences(self, url: str) -> UsagePreferences:
        if not self._rules:
            return NO_PREFERENCES
        path = normalize_path(url)
        return next((stated for pattern, stated in self._rules if pattern.matches(path)), NO_PREFERENCES)


NO_USAGE_RULES = UsageRules(())


# Parsing (RFC 9309, 2.1 and 2.2) -------------------------------------------------------------------------------------

MAX_LINE_CHARACTERS = 16_663
"""Maximum number of characters of a line that are read. Every URL that we request is shorter than a quarter of this."""
MAX_DELAY_SECONDS = 86_400.0
"""A host that demands a longer Crawl-delay gets one request per day. It is not dropped."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_TOKEN = re.compile(r"[A-Za-z_-]*")
_WILDCARD_AGENT = re.compile(r"\*(?:\s|\Z)")
_MAX_NAME_CHARACTERS = 24
"""Longer field names are not checked for misspellings."""
_MAX_GUESSES = 500
"""Maximum number of unknown field names per file that are checked for misspellings. A file with more is not a
robots.txt."""


class RobotsField(Enum):
    """The fields of a robots.txt that are read."""

    USER_AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    CRAWL_DELAY = "crawl-delay"
    SITEMAP = "sitemap"
    CONTENT_USAGE = "content-usage"
    CONTENT_SIGNAL = "content-signal"


_USAGE_PARSERS = {
    RobotsField.CONTENT_USAGE: parse_content_usage,
    RobotsField.CONTENT_SIGNAL: parse_content_signal,
}
_NAMES = {field.value: field for field in RobotsField}


@dataclass(slots=True, kw_only=True)
class RobotsGroup:
    """The rules for one product token: all groups that name it, joined."""

    named: bool = False
    """True if a User-agent line names the product token, False if the group is that of `*`."""
    rules: dict[str, bool] = field(default_factory=dict)
    """Pattern → allowed. A pattern that is both allowed and disallowed is allowed (2.2.2)."""
    delay: float | None = None
    usage: dict[RobotsField, dict[str, UsagePreferences]] = field(default_factory=dict)
    """Content-Usage and Content-Signal → pattern → preferences about the use of pages."""

    def add_usage(self, found: RobotsField, pattern: str, stated: UsagePreferences) -> None:
        rules = self.usage.setdefault(found, {})
        if pattern in rules or len(rules) < MAX_USAGE_RULES:
            rules[pattern] = combine_preferences([rules.get(pattern, NO_PREFERENCES), stated])


def parse_robots(text: str, agent: str) -> tuple[RobotsGroup, tuple[str, ...]]:
    """Return the group for a product token, else the one for `*`, and all sitemaps.

    Only Allow and Disallow end a list of User-agent lines. Other lines do not (2.2.4), such as Crawl-delay and
    Content-Usage, which crawlers may ignore.
    """
    agent = agent.lower()
    ours, default = RobotsGroup(), RobotsGroup()
    current: list[RobotsGroup] = []
    naming = False
    sitemaps: dict[str, None] = {}
    for found, value in _iterate_fields(text):
        if found is RobotsField.USER_AGENT:
            if not naming:
                current, naming = [], True
            group = default if _WILDCARD_AGENT.match(value) else ours if _names_agent(value, agent) else None
            if group is not None:
                group.named = True
                current.append(group)
        elif found is RobotsField.SITEMAP:
            if value:
                sitemaps[value] = None
        elif found is RobotsField.CRAWL_DELAY:
            seconds = _parse_delay(value)
            if seconds is not None:
                for group in current:
                    group.delay = max(seconds, group.delay or 0.0)
        elif found in _USAGE_PARSERS:
            pattern, stated = _parse_usage(found, value)
            for group in current if stated.uses else ():
                group.add_usage(found, pattern, stated)
        else:
            naming = False
            if value and current:
                pattern = normalize_pattern(value)
                for group in current:
                    group.rules[pattern] = found is RobotsField.ALLOW or group.rules.get(pattern, False)
    return ours if ours.named else default, tuple(sitemaps)


def _parse_usage(found: RobotsField, value: str) -> tuple[str, UsagePreferences]:
    """Return pattern and preferences of a line. A line without a path holds for all paths."""
    pattern, text = "/", value
    if value.startswith("/"):
        pattern, _, text = value.replace("\t", " ").partition(" ")
    return normalize_pattern(pattern), _USAGE_PARSERS[found](text)


def _strip_tags(line: str) -> str:
    """Return a line without surrounding HTML tags, for a robots.txt that was converted to HTML.

    >>> _strip_tags("<p><b>Disallow: /a<b>/c</b></p><br>"), _strip_tags("<p")
    ('Disallow: /a<b>/c', '<p')
    """
    line = line.strip()
    while line.startswith("<") and ">" in line:
        line = line[line.index(">") + 1 :].lstrip()
    while line.endswith(">") and "<" in line:
        line = line[: line.rindex("<")].rstrip()
    return line


def _iterate_fields(text: str) -> Iterator[tuple[RobotsField, str]]:
    guesses: dict[str, RobotsField | None] = {}
    for line in text.replace("\r", "\n").split("\n"):
        if len(line) > MAX_LINE_CHARACTERS:
            line = line[:MAX_LINE_CHARACTERS]
        if "#" in line:
            line = line[: line.index("#")]
        if "<" in line:
            line = _strip_tags(line)
        name, colon, value = line.partition(":")
        found = _find_field(name, guesses) if colon else None
        if found is None:
            words = line.split(maxsplit=2)
            if len(words) == 2:
                found, value = _find_field(words[0], guesses), words[1]
        if found is not None:
            yield found, value.strip()


def _find_field(name: str, guesses: dict[str, RobotsField | None]) -> RobotsField | None:
    name = name.strip().lower()
    found = _NAMES.get(name)
    if found is None and 0 < len(name) <= _MAX_NAME_CHARACTERS:
        if name not in guesses and len(guesses) < _MAX_GUESSES:
            guesses[name] = _guess_field(name)
        return guesses.get(name)
    return found


def _guess_field(name: str) -> RobotsField | None:
    """Return the field that a misspelt name means, or None. One typing error and any doubled letters are accepted.

    >>> _guess_field("dissalow"), _guess_field("useg-agent"), _guess_field("site"), _guess_field("noindex")
    (<RobotsField.DISALLOW: 'disallow'>, <RobotsField.USER_AGENT: 'user-agent'>, None, None)
    """
    squeezed = _squeeze(name)
    return next((found for found in RobotsField if _is_one_error_apart(squeezed, _squeeze(found.value))), None)


def _squeeze(name: str) -> str:
    """Return a field name without separators and doubled letters."""
    return re.sub(r"(.)\1+", r"\1", re.sub(r"[\s_-]+", "", name))


def _is_one_error_apart(found: str, meant: str) -> bool:
    """Return whether the words are equal but for one letter that is wrong, missing, extra, or swapped with the next."""
    if found == meant:
        return True
    at = next((i for i, (a, b) in enumerate(zip(found, meant, strict=False)) if a != b), min(len(found), len(meant)))
    if not at:  # the first letter must be right, else too many words match
        return False
    rest, wanted = found[at:], meant[at:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


def _names_agent(value: str, agent: str) -> bool:
    """Return whether a User-agent line names a product token. A version and further text are ignored (2.2.1)."""
    value = value.lower()
    if not value.startswith(agent):
        return False
    token = _TOKEN.match(value)
    return (token is not None and token[0] == agent) or re.split(r"[/\s,;]", value, maxsplit=1)[0] == agent


def _parse_delay(value: str) -> float | None:
    number = _NUMBER.match(value.replace(",", ".", 1))
    return min(float(number[0]), MAX_DELAY_SECONDS) if number else None


# From a response to rules --------------------------------------------------------------------------------------------

MAX_ROBOTS_BYTES = 500 << 10
"""Maximum number of bytes of a robots.txt that are parsed (RFC 9309, 2.5)."""

_UNAVAILABLE_KINDS = frozenset(
    {FailureKind.NOT_FOUND, FailureKind.FORBIDDEN, FailureKind.CLIENT_ERROR, FailureKind.REDIRECT_BROKEN}
)
"""Failures for which the standard calls the file unavailable, broken redirects included (2.3.1.2)."""
_UNREAD_KINDS = frozenset({FailureKind.TOO_MANY, FailureKind.CHALLENGED})
"""Failures with a 4xx status that do not say whether there is a file."""
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK = b"\x1f\x8b"
_OWN_PATH = "/robots.txt"
_DAY_SECONDS = 86_400.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_NOT_CACHED = re.compile(r"(?:^|[\s,])no-(?:cache|store)(?![\w-])", re.IGNORECASE)


class RobotsRules:
    """The rules for our product token. Invalid lines are ignored, as the standard says."""

    def __init__(self, body: bytes, *, agent: str = PRODUCT_TOKEN) -> None:
        group, self.sitemaps = parse_robots(_decode(_truncate(body)), agent)
        self.delay = group.delay
        self._matcher = Matcher(group.rules)
        self._usage = [
            UsageRules(sorted(rules.items(), key=lambda rule: -len(rule[0]))) for rules in group.usage.values()
        ]

    def allows(self, url: str) -> bool:
        if self._matcher.is_empty:
            return True
        path = normalize_path(url)
        return self._matcher.allows(path) or path == _OWN_PATH

    def deciding_rule(self, url: str) -> str:
        """Return the line that allows or disallows a URL, such as `Disallow: /private`; "" if no line matches."""
        return self._matcher.deciding_rule(normalize_path(url))

    def preferences(self, url: str) -> UsagePreferences:
        """Return what the file says about the use of a page. The longest pattern of each field decides."""
        return combine_preferences(rules.preferences(url) for rules in self._usage) if self._usage else NO_PREFERENCES


def _decompress(body: bytes) -> bytes:
    """Decompress a gzip file that the server sends without Content-Encoding."""
    if not body.startswith(_GZIP_MARK):
        return body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, MAX_ROBOTS_BYTES + 1)
    except zlib.error:
        return body


def _truncate(body: bytes) -> bytes:
    """Return at most MAX_ROBOTS_BYTES bytes, in whole lines, because half a rule could forbid everything."""
    if len(body) <= MAX_ROBOTS_BYTES:
        return body
    return body[: max(body.rfind(b"\n", 0, MAX_ROBOTS_BYTES), body.rfind(b"\r", 0, MAX_ROBOTS_BYTES)) + 1]


def _decode(body: bytes) -> str:
    """Decode a robots.txt: UTF-8 by the standard, UTF-16 if it has a byte order mark. Invalid bytes are kept.

    Marks in the middle (of concatenated files) and zero bytes (of UTF-16 without its mark) are removed.
    """
    if body.startswith(_UTF16_MARKS) and b"\x00" in body[:64]:
        return body.decode("utf-16", errors="replace")
    return body.replace(b"\xef\xbb\xbf", b"").replace(b"\x00", b"").decode(errors="surrogateescape")


def robots_body(fetched: Page | Failure) -> bytes | None:
    """Return the robots.txt of a response (RFC 9309, 2.3.1), or None if it must be requested again later.

    Any 4xx but 429 means that there are no rules. If the file is unreachable, or the response is a challenge page,
    nothing is allowed for now. The frontier follows redirects, because it knows the politeness delays.
    """
    if isinstance(fetched, Page):
        return _truncate(_decompress(fetched.body))
    if fetched.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return None  # the proxy sent it, not the host
    is_refused = 400 <= (fetched.status or 0) < 500 and fetched.kind not in _UNREAD_KINDS
    return b"" if is_refused or fetched.kind in _UNAVAILABLE_KINDS else None


def robots_lifetime(fetched: Page | Failure) -> float:
    """Return for how many seconds a robots.txt is valid by its Cache-Control: at most a day, which is the default.

    Its age in other caches is subtracted (RFC 9111, 4.2).

    >>> robots_lifetime(Page(url="http://ex.org/robots.txt", status=200, headers={"cache-control": "max-age=7200"}))
    7200.0
    """
    cache_control = fetched.headers.get("cache-control", "")
    if not cache_control:
        return _DAY_SECONDS
    if _NOT_CACHED.search(cache_control):
        return 0.0
    found = _MAX_AGE.search(cache_control)
    age = fetched.headers.get("age", "").strip()
    aged = float(age[:9]) if age.isascii() and age.isdigit() else 0.0
    return min(_DAY_SECONDS, max(0.0, float(found[1]) - aged)) if found else _DAY_SECONDS
