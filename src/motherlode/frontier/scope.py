"""Which addresses a crawl may take up at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from motherlode.www.urls import host_of, registrable_domain

Scope = Callable[[str], str]
"""Gives the reason why a URL stays out, or "" where it may come in."""

OUT_OF_SCOPE = "out of scope"


def scope_from(spec: str, seeds: Iterable[str]) -> Scope:
    """The scope that a user means by `host`, `pld`, `web` or a regular expression that must match from the start.

    >>> scope_from("pld", ["http://www.example.org/"])("http://data.example.org/x")
    ''
    >>> scope_from("host", ["http://www.example.org/"])("http://data.example.org/x")
    'out of scope'
    """
    if spec == "web":
        return lambda url: ""
    if spec == "host":
        hosts = {host_of(seed) for seed in seeds}
        return lambda url: "" if host_of(url) in hosts else OUT_OF_SCOPE
    if spec == "pld":
        domains = {registrable_domain(host_of(seed)) for seed in seeds}
        return lambda url: "" if registrable_domain(host_of(url)) in domains else OUT_OF_SCOPE
    try:
        pattern = re.compile(spec)
    except re.error as error:
        raise ValueError(f"scope must be host, pld, web or a regular expression; {spec!r} is none: {error}") from error
    return lambda url: "" if pattern.match(url) else OUT_OF_SCOPE
