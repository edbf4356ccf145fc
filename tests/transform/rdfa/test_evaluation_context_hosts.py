"""The initial context."""

from __future__ import annotations

from motherlode.transform.rdfa.evaluation_context import PREFIXES, TERMS, XHTML_TERMS


def test_prefixes_are_lower_case_and_lead_to_namespaces() -> None:
    assert all(prefix == prefix.lower() for prefix in PREFIXES)
    assert all(iri.startswith("http") for iri in PREFIXES.values())
    assert PREFIXES["og"] == "http://ogp.me/ns#" and PREFIXES["dc"] == "http://purl.org/dc/terms/"


def test_words_of_xhtml_are_more() -> None:
    assert TERMS.keys() < XHTML_TERMS.keys() and "stylesheet" in XHTML_TERMS
