"""Tracking and session parameters of addresses, by the table in tracking.txt, and sessions in paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.resources import files
from ipaddress import ip_address
from typing import Any

import ada_url
import msgspec

_LINES = (line.partition("#")[0].strip() for line in (files(__package__) / "tracking.txt").read_text().splitlines())
_TABLE = [line for line in _LINES if line]

NAMES = frozenset(line for line in _TABLE if line[-1] not in "*?")
PREFIXES = tuple(line[:-1] for line in _TABLE if line.endswith("*"))
IF_OPAQUE = frozenset(line[:-1] for line in _TABLE if line.endswith("?"))
"""Names of sessions that are names of other things too: dropped where the value is a session's."""

_OPAQUE = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-f]{64}|(?=[a-z]*[0-9])[0-9a-z]{26}")
"""Digests of the usual lengths, and what PHP makes: no number, word or title looks like this."""

_PATH_PARAMETER = re.compile(r";([^/;=]++=[^/;]*+)")
"""A parameter of a path segment, as servlets write them."""
_COOKIELESS = re.compile(
    r"/\((?:(?:X\(1\))?+(?:[AFS]\([\w-]{20,}+\)(?:X\(1\))?+)++|(?=[a-z]*+[0-9])[0-9a-z]{24})\)(?=/)", re.ASCII
)
"""A segment in which ASP.NET keeps what else would be cookies: session, sign-in, visitor (`S`, `F`, `A`), and whether
there may be any (`X`). Its first version wrote the bare session."""


def is_tracking(parameter: str) -> bool:
    """Whether a parameter of a query, `name=value`, can be dropped.

    >>> [is_tracking(it) for it in ("utm_source=feed", "PHPSESSID=1", "sid=12", "sid=d41d8cd98f00b204e9800998ecf8427e")]
    [True, True, False, True]
    """
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in NAMES or name.startswith(PREFIXES):
        return True
    return name in IF_OPAQUE and _OPAQUE.fullmatch(value) is not None


def without_sessions(path: str) -> str:
    """A path without parameters that a query would lose, and without the segments of ASP.NET's sessions.

    >>> without_sessions("/a;jsessionid=1/b;sid=2"), without_sessions("/x/(S(lit3py55t21z5v55vlm25s55))/page.aspx")
    ('/a/b;sid=2', '/x/page.aspx')
    """
    if ";" in path:
        path = _PATH_PARAMETER.sub(_unless_tracking, path)
    return _COOKIELESS.sub("", path) if "/(" in path else path


def _unless_tracking(parameter: re.Match[str]) -> str:
    return "" if is_tracking(parameter[1]) else parameter[0]


# ── URLs as browsers understand them (WHATWG), and the canonical form under which the frontier knows each page once.

MAX_URL_LENGTH = 4096
"""Longer addresses are traps or data, not pages."""

_sign_in = re.compile(r"[@%;?\[\]|^`{}\\]").search
"""Finds a sign that an http(s) URL in the standard's form may not be canonical yet. Most have none."""
_CANONICAL_ESCAPE = "[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]"
"""What may follow a `%` that stays: in capitals, and of a character that needs it."""
_UNUSUAL = re.compile(rf"%(?!{_CANONICAL_ESCAPE})(?:[0-9A-Fa-f]{{2}})?+|[\[\]|^`{{}}\\]")
_PLAIN = r"(?!//)/[\w~.!$&'()*+,=:@/-]*+"
_PLAIN_PATH = re.compile(_PLAIN, re.ASCII)
"""A path in which nothing needs an escape or has one. Dot segments, and what may be sessions, are asked for apart."""
_PLAIN_URL = re.compile(rf"https?+://(?:[a-z0-9](?:[a-z0-9-]*+(?<!-))?+\.)++[a-z]{{2,63}}+({_PLAIN})?+", re.ASCII)
"""An address with a host name in lower case, no port, no query, and a path like that."""
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {
    f"%{high}{low}": chr(code) if (code := int(high + low, 16)) in _UNRESERVED else f"%{code:02X}"
    for high in "0123456789ABCDEFabcdef"
    for low in "0123456789ABCDEFabcdef"
}
"""Every escape → its canonical form."""


def parse(url: str, base: str | None = None) -> str | None:
    """The URL that a browser makes of a text, of whatever scheme; None where the standard says failure.

    >>> parse("../d e#f", "HTTP://user@Example.org:80/a/b?c"), parse("x") is None
    ('http://user@example.org/d%20e#f', True)
    """
    try:
        href: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except ValueError:
        return None
    return href


def resolve(base: str, reference: str) -> str | None:
    """The canonical address that `reference` means on a page at `base`; None for what is not http(s) or not a URL.

    >>> resolve("http://Example.org:80/a/b?c", "../d e#f")
    'http://example.org/d%20e'
    >>> resolve("http://example.org/", "mailto:ann@example.org") is None
    True
    """
    if len(reference) > MAX_URL_LENGTH:
        return None
    plain = plain_url(reference)
    if plain is not None:
        return plain
    try:
        href: str = ada_url.join_url(base, reference)
    except ValueError:
        return None
    return _finish(href)


def resolve_as_written(base: str, reference: str) -> str | None:
    """As `resolve`, but a path and query stay what the standard makes of them: with tracking and session parameters.

    >>> resolve_as_written("http://example.org/a", "http://ann@example.org/a;jsessionid=1?#top")
    'http://example.org/a;jsessionid=1?'
    """
    address, href = resolve(base, reference), parse(reference, base)
    if address is None or href is None:
        return None
    path = href.partition("#")[0][href.index("/", href.index("//") + 2) :]
    written = origin_of(address) + path
    return written if len(written) <= MAX_URL_LENGTH else None


def plain_url(reference: str) -> str | None:
    """The canonical form of an absolute address that has nothing to be parsed for, fragment aside; None for others.

    Three links in four are like that, and a glance at them costs a fifth of the standard's whole procedure.

    >>> plain_url("https://example.org#top"), plain_url("http://example.org/a/../b")
    ('https://example.org/', None)
    """
    fragment = reference.find("#")
    href = reference if fragment == -1 else reference[:fragment]
    found = _PLAIN_URL.fullmatch(href)
    if found is None or "/." in href or "/(" in href or "xn--" in href:
        return None
    return href if found[1] else href + "/"


def is_plain_path(path: str) -> bool:
    """Whether a path that begins with a slash is canonical as it stands, whatever host it is put behind.

    >>> is_plain_path("/a/b.html"), is_plain_path("/a/./b"), is_plain_path("//example.org/"), is_plain_path("/a?b")
    (True, False, False, False)
    """
    return _PLAIN_PATH.fullmatch(path) is not None and "/." not in path and "/(" not in path


def canonical(url: str) -> str | None:
    """The canonical form of an absolute http(s) URL, or None.

    Beyond the standard's own form: no user, fragment, empty query, dot at the end of the host, tracking parameter or
    session; escapes in capitals, none where it is not needed, and one wherever RFC 3986 wants it.

    >>> canonical("HTTP://user:secret@EXAMPLE.org./%7Eann/./x?utm_source=feed#top")
    'http://example.org/~ann/x'
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    plain = plain_url(url)
    if plain is not None:
        return plain
    try:
        href: str = ada_url.normalize_url(url)
    except ValueError:
        return None
    return _finish(href)


def simplified(url: str) -> str:
    """A canonical URL with its query sorted, empty parameters and values left out, and each run of slashes as one.

    Most servers give the same page for it, but not all: an option for a crawl, never the default.

    >>> simplified("http://example.org//a?b=2&a=1&c=&&=3")
    'http://example.org/a?a=1&b=2&c'
    """
    start = url.index("/", url.index("//") + 2)
    path, _, query = url[start:].partition("?")
    pairs = sorted(
        name if not value else f"{name}={value}"
        for name, _, value in (pair.partition("=") for pair in query.split("&"))
        if name
    )
    return url[:start] + re.sub("//+", "/", path) + ("?" + "&".join(pairs) if pairs else "")


def _finish(href: str) -> str | None:
    if not href.startswith(("http://", "https://")):
        return None
    fragment = href.find("#")
    if fragment != -1:
        href = href[:fragment]
    if _sign_in(href, 7) or "./" in href or ".:" in href or "/(" in href:
        rewritten = _rewritten(href)
        if rewritten is None:
            return None
        href = rewritten
    return href if len(href) <= MAX_URL_LENGTH else None  # escapes can make it nine times as long as it was given


def _rewritten(href: str) -> str | None:
    start = href.index("//") + 2
    end = href.index("/", start)
    host = href[start:end]
    if "@" in host:  # credentials are never kept, so they can never be sent on
        host = host[host.rindex("@") + 1 :]
    name, colon, port = host.rpartition(":") if host[-1] != "]" and ":" in host else (host, "", "")
    if name[-1] == ".":
        return _without_dot(href[:start], name, colon + port, href[end:])
    path, mark, query = href[end:].partition("?")
    if _UNUSUAL.search(path):
        path = _UNUSUAL.sub(_one_way, path)
    plain = without_sessions(path)
    if "/." in plain and plain != path:  # what is left may be a dot segment
        return canonical(href[:start] + host + plain + mark + query)
    path = plain
    if query:
        query = _clean_query(query)
    return f"{href[:start]}{host}{path}?{query}" if query else f"{href[:start]}{host}{path}"


def _without_dot(scheme: str, name: str, port: str, rest: str) -> str | None:
    """`example.org.` is `example.org`. What is left may be a number that is an address, so that it is parsed again."""
    name = name.rstrip(".")
    return canonical(scheme + name + port + rest) if name else None


def _clean_query(query: str) -> str:
    if _UNUSUAL.search(query):
        query = _UNUSUAL.sub(_one_way, query)
    parameters = query.split("&")
    kept = [parameter for parameter in parameters if not is_tracking(parameter)]
    return query if len(kept) == len(parameters) else "&".join(kept)


def _one_way(match: re.Match[str]) -> str:
    """RFC 3986, 6.2.2: unreserved characters never escaped, capitals in escapes; and a stray `%` is a character."""
    found = match[0]
    return _ESCAPES.get(found) or f"%{ord(found):02X}"


def host_of(url: str) -> str:
    """Host and, where it is not the default, port of a canonical URL: the unit of politeness and of robots.txt.

    >>> host_of("http://example.org:8080/x")
    'example.org:8080'
    """
    return url.split("/", 3)[2]


def origin_of(url: str) -> str:
    """Scheme and host of a canonical URL.

    >>> origin_of("https://example.org/x/y")
    'https://example.org'
    """
    end = url.find("/", url.index("//") + 2)
    return url if end == -1 else url[:end]


@cache
def _suffixes() -> Any:
    """The public suffix list. Reading it takes 60 ms, and readers of pages never ask for it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """The part of a host name that somebody registered (its pay-level domain); the host itself for IP addresses.

    >>> [registrable_domain(host) for host in ("www.shop.example.co.uk:8080", "127.0.0.1", "[::1]:80")]
    ['example.co.uk', '127.0.0.1', '[::1]']
    """
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    name = host.partition(":")[0]
    try:
        ip_address(name)
    except ValueError:
        domain: str | None = _suffixes().privatesuffix(name)
        return domain or name
    return name


# ── Which addresses a crawl may take up at all.

Scope = Callable[[str], str]
"""Gives the reason why a URL stays out, or "" where it may come in."""

OUT_OF_SCOPE = "out of scope"
_BEGINNING = "https"
"""Of this a plain word must be the beginning, if any URL is to match it; otherwise it is a slip (`hosts`, `domain`)."""


class ScopeRule(msgspec.Struct, frozen=True, array_like=True):
    """A scope as it travels to other processes."""

    spec: str = "web"
    names: frozenset[str] = frozenset()
    """The hosts or domains of the seeds, where they are the scope."""

    @property
    def is_everything(self) -> bool:
        return self.spec == "web"

    def scope(self) -> Scope:
        names = self.names
        if self.is_everything:
            return lambda url: ""
        if self.spec == "host":
            return lambda url: "" if host_of(url) in names else OUT_OF_SCOPE
        if self.spec == "pld":
            return lambda url: "" if registrable_domain(host_of(url)) in names else OUT_OF_SCOPE
        matches = re.compile(self.spec).match
        return lambda url: "" if matches(url) else OUT_OF_SCOPE


def scope_rule(spec: str, seeds: Iterable[str]) -> ScopeRule:
    """The scope that a user means by `host`, `pld`, `web` or a regular expression that must match from the start."""
    if spec == "host":
        return ScopeRule(spec, frozenset(map(host_of, seeds)))
    if spec == "pld":
        return ScopeRule(spec, frozenset(registrable_domain(host_of(seed)) for seed in seeds))
    try:
        re.compile(spec)
    except re.error as error:
        raise ValueError(f"scope must be host, pld, web or a regular expression; {spec!r} is none: {error}") from error
    if spec != "web" and spec.isalnum() and not _BEGINNING.startswith(spec):
        raise ValueError(
            f"scope must be host, pld, web or a regular expression that a URL matches from its start; no URL begins "
            f"with {spec!r}"
        )
    return ScopeRule(spec)


def scope_from(spec: str, seeds: Iterable[str]) -> Scope:
    """See `scope_rule`.

    >>> scope_from("pld", ["http://www.example.org/"])("http://data.example.org/x")
    ''
    >>> scope_from("host", ["http://www.example.org/"])("http://data.example.org/x")
    'out of scope'
    """
    return scope_rule(spec, seeds).scope()
