"""Which addresses a crawl may take up at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from motherlode.www.urls import host_of, registrable_domain

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
