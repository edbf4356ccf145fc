"""Names of schema.org, for hints about names that it does not have. `schema_names.txt` has them."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from motherlode.model.sparql import declared_prefixes, full_iri, tokens
from motherlode.model.terms import PREFIXES

_NAMESPACE = re.compile(r"https?://schema\.org/(.*)")
_CLASS_NAME = re.compile(r"[A-Z0-9]\w*")


@cache
def _names() -> tuple[dict[str, str], frozenset[str]]:
    """Return the classes by their names in lower case, and the members of enumerations."""
    text = Path(__file__).with_name("schema_names.txt").read_text(encoding="utf-8").partition("\n")[2]
    classes, _, members = text.partition("\n\n")
    return {name.lower(): name for name in classes.split()}, frozenset(members.split())


def find_unknown_class(iri: str) -> str:
    """Return a hint if an IRI is in the namespace of schema.org and is none of its classes; else "".

    >>> find_unknown_class("http://schema.org/Prodct")
    'schema.org has no class Prodct (did you mean Product?)'
    >>> find_unknown_class("https://schema.org/Product"), find_unknown_class("http://a.example/Prodct")
    ('', '')
    """
    match = _NAMESPACE.fullmatch(iri)
    classes, _ = _names()
    if match is None or match[1] in classes.values():
        return ""
    near = get_close_matches(match[1].lower(), classes, n=1, cutoff=0.5)
    hint = f" (did you mean {classes[near[0]]}?)" if near else ""
    return f"schema.org has no class {match[1]}{hint}"


def find_unknown_classes(sparql: str) -> list[str]:
    """Return hints about the names in a query that look like classes of schema.org and are not.

    >>> find_unknown_classes("ASK { ?s a schema:Recpie ; schema:name ?n ; schema:availability schema:InStock }")
    ['schema.org has no class Recpie (did you mean Recipe?)']
    """
    found = tokens(sparql)
    prefixes = PREFIXES | declared_prefixes(found)
    hints = []
    for token in found:
        match = _NAMESPACE.fullmatch(full_iri(token, prefixes))
        if match is not None and _CLASS_NAME.fullmatch(match[1]) and match[1] not in _names()[1]:
            hints.append(find_unknown_class(match[0]))
    return [hint for hint in dict.fromkeys(hints) if hint]
