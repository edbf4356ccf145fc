"""Tests for IRIs."""

from __future__ import annotations

import pytest

from motherlode.transform.jsonld.iris import is_well_formed, parse_iri


@pytest.mark.parametrize("text", ["http://a/ b", "http://a/{x}", "http://a/\\", "http://a/#b#c", "http://a/\ud800"])
def test_iri_with_invalid_characters_is_repaired_but_not_well_formed(text: str) -> None:
    found = parse_iri(text)
    assert found is not None
    assert found.is_repaired
    assert not is_well_formed(text)


@pytest.mark.parametrize("text", ["rel", "http://[bad", "http://a/" + "x" * 70_000])
def test_parse_iri_unrepairable_text_returns_none(text: str) -> None:
    assert parse_iri(text) is None
    assert not is_well_formed(text)
