"""The keywords of JSON-LD 1.1 (JSON-LD 1.1, section 1.7) and the sets that the algorithms ask for."""

from __future__ import annotations

import re

KEYWORDS = frozenset(
    {
        "@base",
        "@container",
        "@context",
        "@default",
        "@direction",
        "@embed",
        "@explicit",
        "@graph",
        "@id",
        "@import",
        "@included",
        "@index",
        "@json",
        "@language",
        "@list",
        "@nest",
        "@none",
        "@omitDefault",
        "@prefix",
        "@preserve",
        "@propagate",
        "@protected",
        "@requireAll",
        "@reverse",
        "@set",
        "@type",
        "@value",
        "@version",
        "@vocab",
    }
)

CONTEXT_ENTRIES = frozenset(
    {"@base", "@direction", "@import", "@language", "@propagate", "@protected", "@version", "@vocab"}
)
"""Entries of a context definition that are not terms."""

DEFINITION_ENTRIES = frozenset(
    {
        "@container",
        "@context",
        "@direction",
        "@id",
        "@index",
        "@language",
        "@nest",
        "@prefix",
        "@protected",
        "@reverse",
        "@type",
    }
)
"""Entries that an expanded term definition may have."""

VALUE_ENTRIES = frozenset({"@direction", "@index", "@language", "@type", "@value"})
"""Entries that a value object may have."""

CONTAINERS = frozenset({"@graph", "@id", "@index", "@language", "@list", "@set", "@type"})

_KEYWORD_FORM = re.compile(r"@[A-Za-z]+").fullmatch


def has_keyword_form(value: str) -> bool:
    """Whether future versions may make this a keyword: it is then ignored.

    >>> has_keyword_form("@later"), has_keyword_form("@"), has_keyword_form("@foo.bar")
    (True, False, False)
    """
    return value[:1] == "@" and _KEYWORD_FORM(value) is not None
