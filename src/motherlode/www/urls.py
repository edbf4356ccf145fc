"""URLs as browsers understand them (WHATWG), and the canonical form under which the frontier knows each page once."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Any

import ada_url

from motherlode.www.tracking import is_tracking, without_sessions

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
