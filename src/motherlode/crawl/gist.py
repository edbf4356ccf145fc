"""What a page says, in one number: so that it is seen where all pages of a site say the same."""

from __future__ import annotations

from itertools import islice

import xxhash

from motherlode.model import Facts
from motherlode.policy.targets import COUNTED

_MOST = 1000
"""Statements that are looked at; a page of more says something."""


def gist(facts: Facts, url: str) -> int:
    """A hash of what a page states, whatever its own address is; 0 where it states nothing but plain facts of a page.

    Statements about the site itself, which software puts on every page, often name the page as well.
    """
    own = (f"<{url}", f'"{url}')
    statements = (one for found in facts.extractions if found.syntax in COUNTED for one in found.statements)
    said = {f"{p} {_alike(o, own)}" for _, p, o, _ in islice(statements, _MOST)}
    return xxhash.xxh3_64_intdigest("\n".join(sorted(said)).encode("utf-8", "replace")) if said else 0


def _alike(term: str, own: tuple[str, str]) -> str:
    if term.startswith("_:"):
        return "_:"
    return "<>" if term.startswith(own) else term
