"""Tests for the kinds of strings in a document: IRIs, blank node identifiers and language tags."""

from __future__ import annotations

import re

from motherlode.www.iri import Iri, check

_match_language_tag = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*").fullmatch
_MAX_IRI_CHARACTERS = 65_536


def is_blank(value: str) -> bool:
    """Return whether a string is a blank node identifier."""
    return value.startswith("_:")


def parse_iri(value: str) -> Iri | None:
    """Return the IRI in a string, repaired if necessary; None if it cannot be repaired or is too long.

    >>> parse_iri("http://example.org/a b").term, parse_iri("a")
    ('<http://example.org/a%20b>', None)
    """
    found = check(value) if len(value) <= _MAX_IRI_CHARACTERS else None
    return found if found is not None and found.is_valid else None


def is_well_formed(value: str) -> bool:
    """Return whether a string is a valid IRI without repair.

    >>> [is_well_formed(f"http://example.org/{end}") for end in ("a#b", "a#b#c", "a b")]
    [True, False, False]
    """
    found = parse_iri(value)
    return found is not None and not found.is_repaired


def is_language_tag(value: str) -> bool:
    """Return whether a tag has the general form of BCP 47, section 2.2.9.

    >>> is_language_tag("de-AT"), is_language_tag("en_US")
    (True, False)
    """
    return _match_language_tag(value) is not None
