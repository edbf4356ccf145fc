"""Names of hosts and addresses as users write them, and as URLs spell them."""

from __future__ import annotations

import re
from ipaddress import ip_address

from motherlode.www.urls import canonical, host_of

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
