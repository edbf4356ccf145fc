"""Names of hosts and addresses as users write them, and as URLs spell them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import ip_address

from motherlode.www.urls import canonical, host_of, registrable_domain

_MORE_THAN_A_NAME = re.compile(r"[\s/?#@%\\]|:(?!.*\])")
_LAST_PORT = 65_535
_NAME = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:[.][a-z0-9_-]+)*")


def host_name(given: str) -> str | None:
    """The name of a host, international ones in the form that goes over the wire; None for anything else.

    >>> host_name("Bücher.Example"), host_name("[::1]"), host_name("a.example:80"), host_name("a.example/b")
    ('xn--bcher-kva.example', '[::1]', None, None)
    """
    url = None if _MORE_THAN_A_NAME.search(given) else canonical(f"http://{given}/")
    name = "" if url is None else host_of(url)
    return name if _NAME.fullmatch(name) else None


def address_and_port(given: str) -> tuple[str, int] | None:
    """Where a host is to be found; None for anything but an IP address and a port, such as a name.

    >>> address_and_port("127.0.0.2:8080"), address_and_port("[::1]:80"), address_and_port("localhost:80")
    (('127.0.0.2', 8080), ('::1', 80), None)
    """
    address, _, port = given.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    try:
        ip_address(address)
        number = int(port)
    except ValueError:
        return None
    return (address, number) if 0 < number <= _LAST_PORT else None


def typed_address(text: str) -> str | None:
    """The address that somebody means who may leave the scheme out; None for what is none, such as a mail address.

    >>> typed_address("a.example/x"), typed_address("HTTP://A.example"), typed_address("mailto:ann@a.example")
    ('https://a.example/x', 'http://a.example/', None)
    """
    is_mail = "://" not in text and "@" in text.partition("/")[0]
    return None if is_mail else canonical(text if "://" in text else f"https://{text}")


# ── Hosts that a job treats in another way than others.

_GIVEN = re.compile(r"([*][.])?(.+?)(:\d+)?")
_PORT = re.compile(r":\d+$")


def own_hosts(names: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether a host, with its port where that is not the default, is among the named; ValueError for bad names.

    Without a port, a name covers all of a host's.

    >>> own = own_hosts(["example.org", "*.data.example.org", "localhost:8080"])
    >>> [own(host) for host in ("example.org", "example.org:8080", "a.data.example.org", "localhost:8080")]
    [True, True, True, True]
    >>> [own(host) for host in ("www.example.org", "data.example.org", "notexample.org", "localhost")]
    [False, False, False, False]
    """
    return _named(names, key="own_hosts", may_be_others=False)


def untrusted_hosts(names: Sequence[str]) -> Callable[[str], bool]:
    """Tells whether any certificate will do for a host; a star alone stands for all hosts.

    >>> unproven = unproven_hosts(["*.lab.example"])
    >>> unproven("a.lab.example:8443"), unproven("lab.example"), unproven_hosts(["*"])("lab.example")
    (True, False, True)
    """
    if "*" in names:
        return lambda host: True
    return _named(names, key="any_certificate", may_be_others=True)


def _named(names: Sequence[str], *, key: str, may_be_others: bool) -> Callable[[str], bool]:
    exact: set[str] = set()
    ends: set[str] = set()
    for given in names:
        parts = _GIVEN.fullmatch(given.strip())
        name = host_name(parts[2]) if parts else None
        if parts is None or name is None:
            raise ValueError(f"{key}: {given!r} is no host name, as in example.org or *.example.org")
        port = parts[3] or ""
        if parts[1]:
            if not may_be_others and registrable_domain(f"x.{name}") == f"x.{name}":
                raise ValueError(f"{key}: {given!r} covers hosts of other people")
            ends.add(f".{name}{port}")
        else:
            exact.add(name + port)
    endings = tuple(ends)

    def is_named(host: str) -> bool:
        name = host if host.endswith("]") else _PORT.sub("", host)
        return host in exact or name in exact or host.endswith(endings) or name.endswith(endings)

    return is_named
