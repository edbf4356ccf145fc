"""Names of hosts as users write them, and as URLs spell them."""

from __future__ import annotations

import re

from motherlode.www.urls import canonical, host_of

_MORE_THAN_A_NAME = re.compile(r"[\s/?#@%\\]|:(?!.*\])")
_NAME = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:[.][a-z0-9_-]+)*")


def host_name(given: str) -> str | None:
    """The name of a host, international ones in the form that goes over the wire; None for anything else.

    >>> host_name("Bücher.Example"), host_name("[::1]"), host_name("a.example:80"), host_name("a.example/b")
    ('xn--bcher-kva.example', '[::1]', None, None)
    """
    url = None if _MORE_THAN_A_NAME.search(given) else canonical(f"http://{given}/")
    name = "" if url is None else host_of(url)
    return name if _NAME.fullmatch(name) else None
