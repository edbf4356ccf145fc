"""URLs as browsers understand them (WHATWG), and the canonical form under which the frontier knows each page once."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address

import ada_url
from publicsuffixlist import PublicSuffixList

MAX_URL_LENGTH = 4096
"""Longer addresses are traps or data, not pages."""

_SUFFIXES = PublicSuffixList()


def resolve(base: str, reference: str) -> str | None:
    """The canonical address that `reference` means on a page at `base`; None for what is not http(s) or not a URL.

    >>> resolve("http://Example.org:80/a/b?c", "../d e#f")
    'http://example.org/d%20e'
    >>> resolve("http://example.org/", "mailto:ann@example.org") is None
    True
    """
    if len(reference) > MAX_URL_LENGTH:
        return None
    try:
        href: str = ada_url.join_url(base, reference)
    except ValueError:
        return None
    return _finish(href)


def canonical(url: str) -> str | None:
    """The canonical form of an absolute http(s) URL, or None.

    >>> canonical("HTTP://user:secret@EXAMPLE.org/%7Eann/./x#top")
    'http://example.org/%7Eann/x'
    """
    if len(url) > MAX_URL_LENGTH:
        return None
    try:
        href: str = ada_url.normalize_url(url)
    except ValueError:
        return None
    return _finish(href)


def _finish(href: str) -> str | None:
    if not href.startswith(("http://", "https://")):
        return None
    href = href.partition("#")[0]
    start = href.index("//") + 2
    end = href.find("/", start)
    at = href.rfind("@", start, end)
    if at != -1:  # credentials are never kept, so they can never be sent on
        href = href[:start] + href[at + 1 :]
    return href if len(href) <= MAX_URL_LENGTH else None  # escapes can make it nine times as long as it was given


def host_of(url: str) -> str:
    """Host and, where it is not the default, port of a canonical URL: the unit of politeness and of robots.txt.

    >>> host_of("http://example.org:8080/x")
    'example.org:8080'
    """
    start = url.index("//") + 2
    end = url.find("/", start)
    return url[start:end] if end != -1 else url[start:]


def origin_of(url: str) -> str:
    """Scheme and host of a canonical URL.

    >>> origin_of("https://example.org/x/y")
    'https://example.org'
    """
    end = url.find("/", url.index("//") + 2)
    return url if end == -1 else url[:end]


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
        domain: str | None = _SUFFIXES.privatesuffix(name)
        return domain or name
    return name
