"""URLs: parsing by the URL Standard (WHATWG), canonical form, tracking parameters, origins, domains and scopes."""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.resources import files
from ipaddress import ip_address
from typing import Any, NamedTuple

import ada_url
import msgspec

_LINES = (line.partition("#")[0].strip() for line in (files(__package__) / "tracking.txt").read_text().splitlines())
_TABLE = [line for line in _LINES if line]

TRACKING_NAMES = frozenset(line for line in _TABLE if line[-1] not in "*?")
TRACKING_PREFIXES = tuple(line[:-1] for line in _TABLE if line.endswith("*"))
AMBIGUOUS_NAMES = frozenset(line[:-1] for line in _TABLE if line.endswith("?"))
"""Names with several meanings. Such a parameter is removed if its value looks like a session id."""

_SESSION_ID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{40}|[0-9a-f]{64}|(?=[a-z]*[0-9])[0-9a-z]{26}")
"""Digests of the usual lengths, and session ids of PHP. No number, word or title looks like this."""

_PATH_PARAMETER = re.compile(r";([^/;=]++=[^/;]*+)")
"""A parameter of a path segment, as in servlets."""
_ASP_NET_SESSION = re.compile(
    r"/\((?:(?:X\(1\))?+(?:[AFS]\([\w-]{20,}+\)(?:X\(1\))?+)++|(?=[a-z]*+[0-9])[0-9a-z]{24})\)(?=/)", re.ASCII
)
"""A path segment in which ASP.NET stores state instead of in cookies: session, sign-in and visitor (`S`, `F`, `A`), and
whether cookies are supported (`X`). Its first version wrote only the session id."""


def is_tracking(parameter: str) -> bool:
    """Return whether a query parameter, `name=value`, can be removed."""
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES):
        return True
    return name in AMBIGUOUS_NAMES and _SESSION_ID.fullmatch(value) is not None


def remove_sessions(path: str) -> str:
    """Return a path without tracking and session parameters, and without the session segments of ASP.NET."""
    if ";" in path:
        path = _PATH_PARAMETER.sub(lambda it: "" if is_tracking(it[1]) else it[0], path)
    return _ASP_NET_SESSION.sub("", path) if "/(" in path else path


# The canonical form --------------------------------------------------------------------------------------------------

MAX_URL_LENGTH = 4096
"""Longer URLs are traps or data, not pages."""

_find_special = re.compile(r"[@%;?\[\]|^`{}\\]").search
"""Finds a character that shows that the output of the URL parser may still differ from the canonical form."""
_CANONICAL_ESCAPE = "[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF]"
"""Escapes that are kept: in upper case, and of a character that needs one."""
_NON_CANONICAL = re.compile(rf"%(?!{_CANONICAL_ESCAPE})(?:[0-9A-Fa-f]{{2}})?+|[\[\]|^`{{}}\\]")
_PLAIN = r"(?!//)/[\w~.!$&'()*+,=:@/-]*+"
_PLAIN_PATH = re.compile(_PLAIN, re.ASCII)
"""A path without escapes and without characters that need one. Dot segments and sessions are checked separately."""
_PLAIN_URL = re.compile(rf"https?+://(?:[a-z0-9](?:[a-z0-9-]*+(?<!-))?+\.)++[a-z]{{2,63}}+({_PLAIN})?+", re.ASCII)
"""A URL with a lower-case host name, no port, no query, and no path or one that matches `_PLAIN_PATH`."""
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {
    f"%{high}{low}": chr(code) if (code := int(high + low, 16)) in _UNRESERVED else f"%{code:02X}"
    for high in "0123456789ABCDEFabcdef"
    for low in "0123456789ABCDEFabcdef"
}
"""Percent escape → its canonical form: the character itself if it needs no escape, else the escape in upper case."""


def parse(url: str, base: str | None = None) -> str | None:
    """Return the URL that a browser makes of a text, with any scheme. None if the standard says failure."""
    try:
        href: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except ValueError:
        return None
    return href


def resolve(base: str, reference: str) -> str | None:
    """Return the canonical URL of `reference` on a page at `base`. None if it is not an http(s) URL."""
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
    """Resolve a reference like `resolve`, but keep tracking and session parameters."""
    address, href = resolve(base, reference), parse(reference, base)
    if address is None or href is None:
        return None
    path = href.partition("#")[0][href.index("/", href.index("//") + 2) :]
    written = origin_of(address) + path
    return written if len(written) <= MAX_URL_LENGTH else None


def plain_url(reference: str) -> str | None:
    """Return the canonical form of a simple absolute URL without running the URL parser, or None if it is not simple.

    Three links in four are simple, and this check takes a fifth of the time of the parser.
    """
    fragment = reference.find("#")
    href = reference if fragment == -1 else reference[:fragment]
    found = _PLAIN_URL.fullmatch(href)
    if found is None or "/." in href or "/(" in href or "xn--" in href:
        return None
    return href if found[1] else href + "/"


def is_plain_path(path: str) -> bool:
    """Return whether a path that starts with a slash is canonical as written, on any host."""
    return _PLAIN_PATH.fullmatch(path) is not None and "/." not in path and "/(" not in path


def canonical(url: str) -> str | None:
    """Return the canonical form of an absolute http(s) URL, or None if it is not one.

    The standard's form is changed as follows: user, fragment, empty query, a dot after the host, tracking parameters
    and sessions are removed. Escapes are in upper case, and only characters that RFC 3986 does not allow are escaped.

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


def simplify(url: str) -> str:
    """Return a canonical URL with a sorted query, without empty parameters and values, and without repeated slashes.

    Most servers return the same page for it, but not all. So it is an option of a crawl and not the default.
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
    if _find_special(href, 7) or "./" in href or ".:" in href or "/(" in href:
        rewritten = _canonicalize(href)
        if rewritten is None:
            return None
        href = rewritten
    return href if len(href) <= MAX_URL_LENGTH else None  # escapes can make it nine times as long


def _canonicalize(href: str) -> str | None:
    start = href.index("//") + 2
    end = href.index("/", start)
    host = href[start:end]
    if "@" in host:  # credentials are removed, so that they are never sent
        host = host[host.rindex("@") + 1 :]
    name, colon, port = host.rpartition(":") if host[-1] != "]" and ":" in host else (host, "", "")
    if name[-1] == ".":
        name = name.rstrip(".")  # without the dots, the name may be an IP address in another form
        return canonical(href[:start] + name + colon + port + href[end:]) if name else None
    path, mark, query = href[end:].partition("?")
    if _NON_CANONICAL.search(path):
        path = _NON_CANONICAL.sub(_normalize_escape, path)
    plain = remove_sessions(path)
    if "/." in plain and plain != path:  # the remaining path may have a dot segment
        return canonical(href[:start] + host + plain + mark + query)
    path = plain
    if query:
        query = _clean_query(query)
    return f"{href[:start]}{host}{path}?{query}" if query else f"{href[:start]}{host}{path}"


def _clean_query(query: str) -> str:
    if _NON_CANONICAL.search(query):
        query = _NON_CANONICAL.sub(_normalize_escape, query)
    parameters = query.split("&")
    kept = [parameter for parameter in parameters if not is_tracking(parameter)]
    return query if len(kept) == len(parameters) else "&".join(kept)


def _normalize_escape(match: re.Match[str]) -> str:
    """Normalize an escape (RFC 3986, 6.2.2), or escape a character. A `%` that starts no escape is a character."""
    found = match[0]
    return _ESCAPES.get(found) or f"%{ord(found):02X}"


def host_of(url: str) -> str:
    """Return the host of a canonical URL, with the port if it is not the default: the unit of politeness."""
    return url.split("/", 3)[2]


def origin_of(url: str) -> str:
    """Return scheme and host of a canonical URL."""
    end = url.find("/", url.index("//") + 2)
    return url if end == -1 else url[:end]


_ORIGIN_AND_TARGET = re.compile(r"(https?://[^/?#\\]*)([^#\r\n\0]*)(?:#|\Z)")
"""The origin and the request target of a URL. A URL with a line break does not match, because the break would end the
request line."""


class Origin(NamedTuple):
    """Scheme, host and port. A tuple, because it is part of a key that every request looks up."""

    is_https: bool
    host: str
    """A host name as in DNS, or an IP address without brackets."""
    port: int
    authority: str
    """Host, and the port if it is not the default: the value of the Host header."""
    is_address: bool


def split_url(url: str) -> tuple[Origin, str]:
    """Return the origin of an http(s) URL and the request target as written. User name and fragment are dropped."""
    parts = _ORIGIN_AND_TARGET.match(url)
    if parts is None:
        raise ValueError(f"{url!r} cannot be requested: it is not an http(s) URL, or it has a line break")
    target = parts[2]
    return parse_origin(parts[1]), target if target.startswith("/") else f"/{target}"


@lru_cache(maxsize=1 << 14)
def parse_origin(url: str) -> Origin:
    """Return the origin of a URL without a path."""
    address = canonical(url)
    if address is None:
        raise ValueError(f"{url!r} names no host")
    is_https = address.startswith("https:")
    authority = host_of(address)
    name, _, port = authority.partition(":")
    if authority.startswith("["):
        name, _, port = authority[1:].partition("]")
        port = port.removeprefix(":")
    number = int(port) if port else 443 if is_https else 80
    return Origin(is_https, name, number, authority, is_address=_is_address(name))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@cache
def _suffixes() -> Any:
    """Load the public suffix list on first use, because it takes 60 ms and parser processes do not need it."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """Return the registrable domain (pay-level domain) of a host. For an IP address, the address."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    name = host.partition(":")[0]
    return name if _is_address(name) else _suffixes().privatesuffix(name) or name


# Scopes --------------------------------------------------------------------------------------------------------------

Scope = Callable[[str], str]
"""Returns why a URL is out of scope, or "" if it is in scope."""

OUT_OF_SCOPE = "out of scope"
_LONGEST_SCHEME = "https"
"""A scope that is a regular expression of letters only can match the start of a URL only if it is a prefix of this. Any
other word is reported as an error, such as `hosts` in place of `host`."""


class ScopeRule(msgspec.Struct, frozen=True, array_like=True):
    """A scope that can be sent to other processes."""

    spec: str = "web"
    names: frozenset[str] = frozenset()
    """The hosts or domains of the seeds, for `host` and `pld`."""

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
    """Return the scope for `host`, `pld`, `web` or a regular expression that must match from the start of a URL."""
    if spec == "host":
        return ScopeRule(spec, frozenset(map(host_of, seeds)))
    if spec == "pld":
        return ScopeRule(spec, frozenset(registrable_domain(host_of(seed)) for seed in seeds))
    try:
        re.compile(spec)
    except re.error as error:
        raise ValueError(
            f"scope must be host, pld, web or a regular expression; {spec!r} is not valid: {error}"
        ) from error
    if spec != "web" and spec.isalnum() and not _LONGEST_SCHEME.startswith(spec):
        raise ValueError(
            f"scope must be host, pld, web or a regular expression that a URL matches from its start; no URL begins "
            f"with {spec!r}"
        )
    return ScopeRule(spec)
