"""Seeds, host names, endpoints and host patterns in the form that users write them."""

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from motherlode.crawler.config.values import JobError
from motherlode.www.urls import MAX_URL_LENGTH, canonical, host_of, registrable_domain

_NOT_PART_OF_A_HOST = re.compile(r"[\s/?#@%\\]|:(?!.*\])")
_MAX_PORT = 65_535
_NAME = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:[.][a-z0-9_-]+)*")
_PATTERN = re.compile(r"([*][.])?(.+?)(:\d+)?")
_PATH = re.compile(r"/(?!/)|[.]{1,2}/|~|[A-Za-z]:\\|\\")
"""The start of a file name. Such a seed is an error: with https added, `/data` would be read as the host `data`."""
_PORT = re.compile(r":\d+$")


def normalize_host(text: str) -> str | None:
    """Return the host name in the spelling of URLs, or None if the text is not a host name.

    International names become Punycode. A port or a path is not allowed.
    """
    url = None if _NOT_PART_OF_A_HOST.search(text) else canonical(f"http://{text}/")
    name = "" if url is None else host_of(url)
    return name if _NAME.fullmatch(name) else None


def parse_endpoint(text: str) -> tuple[str, int] | None:
    """Return IP address and port, or None if the text is anything else, such as a host name with a port."""
    address, _, port = text.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    try:
        ip_address(address)
        number = int(port)
    except ValueError:
        return None
    return (address, number) if 0 < number <= _MAX_PORT else None


def is_name_server(text: str) -> bool:
    """Return whether a text is an IP address, with or without a port.

    >>> [is_name_server(text) for text in ("127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:53", "dns.example", "")]
    [True, True, True, True, False, False]
    """
    try:
        ip_address(text)
    except ValueError:
        return parse_endpoint(text) is not None
    return True


def complete_url(text: str) -> str | None:
    """Return the canonical URL that a user typed, with https if the scheme is missing, or None if it is no URL."""
    is_mail_address = "://" not in text and "@" in text.partition("/")[0]
    return None if is_mail_address else canonical(text if "://" in text else f"https://{text}")


def canonical_seeds(seeds: Sequence[str]) -> tuple[str, ...]:
    """Return the seeds as the frontier spells them. Raise JobError if one is not a URL."""
    found: dict[str, None] = {}
    for seed in seeds:
        if _PATH.match(seed):
            raise JobError(f"the seed {seed!r} is a path and no URL; to start from the URLs in a file: --seeds FILE")
        if "\t" in seed:  # a browser would leave it out and take what is behind it for a part of the URL
            raise JobError(f"the seed {seed!r} has a tab in it: one URL a line, and nothing else but comments")
        url = complete_url(seed)
        if url is None and len(seed) > MAX_URL_LENGTH:
            raise JobError(f"the seed {seed[:80]!r}… is longer than the {MAX_URL_LENGTH} characters of a URL")
        if url is None:
            raise JobError(f"the seed {seed!r} is not an http or https URL")
        found[url] = None
    return tuple(found)


def compile_own_hosts(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Compile host patterns to a function that returns whether a host matches one of them.

    The function takes a host with its port, if that is not the default port. A pattern without a port matches all
    ports. ValueError if a pattern is wrong, or covers a whole public suffix.

    >>> is_own = compile_own_hosts(["example.org", "*.data.example.org", "localhost:8080"])
    >>> [is_own(host) for host in ("example.org", "example.org:8080", "a.data.example.org", "localhost:8080")]
    [True, True, True, True]
    >>> [is_own(host) for host in ("www.example.org", "data.example.org", "notexample.org", "localhost")]
    [False, False, False, False]
    """
    return _compile(patterns, key="own_hosts", allow_public_suffix=False)


def compile_untrusted_hosts(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Compile the patterns of hosts whose certificates are not verified. The pattern * matches all hosts."""
    if "*" in patterns:
        return lambda host: True
    return _compile(patterns, key="any_certificate", allow_public_suffix=True)


def compile_named_hosts(pattern: str, *, key: str) -> Callable[[str], bool]:
    """Compile one pattern of hosts that get secret headers or tokens. ValueError if it is wrong or too wide.

    >>> is_named = compile_named_hosts("*.api.example.org", key="tokens")
    >>> is_named("a.api.example.org"), is_named("api.example.org.evil.example")
    (True, False)
    """
    return _compile([pattern], key=key, allow_public_suffix=False)


def _compile(patterns: Sequence[str], *, key: str, allow_public_suffix: bool) -> Callable[[str], bool]:
    exact: set[str] = set()
    suffixes: set[str] = set()
    for pattern in patterns:
        parts = _PATTERN.fullmatch(pattern.strip())
        name = normalize_host(parts[2]) if parts else None
        if parts is None or name is None:
            raise ValueError(f"{key}: {pattern!r} is not a host name: write example.org or *.example.org")
        port = parts[3] or ""
        if parts[1]:
            if not allow_public_suffix and registrable_domain(f"x.{name}") == f"x.{name}":
                raise ValueError(f"{key}: {pattern!r} also covers hosts of other owners: name a domain of your own")
            suffixes.add(f".{name}{port}")
        else:
            exact.add(name + port)
    endings = tuple(suffixes)

    def matches(host: str) -> bool:
        name = host if host.endswith("]") else _PORT.sub("", host)
        return host in exact or name in exact or host.endswith(endings) or name.endswith(endings)

    return matches
