"""Sets of keywords, and tests of IRIs."""

from __future__ import annotations

import pytest

from motherlode.transform.jsonld import processor_options
from motherlode.transform.jsonld.processor_options import has_keyword_form, is_well_formed, parse_iri


def test_entry_sets_contain_only_keywords() -> None:
    for group in (
        processor_options.CONTEXT_ENTRIES,
        processor_options.DEFINITION_ENTRIES,
        processor_options.VALUE_ENTRIES,
        processor_options.CONTAINERS,
    ):
        assert group <= processor_options.KEYWORDS
    assert all(processor_options.has_keyword_form(keyword) for keyword in processor_options.KEYWORDS)


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


def test_has_keyword_form_on_examples_gives_expected_values() -> None:
    assert (has_keyword_form("@later"), has_keyword_form("@"), has_keyword_form("@foo.bar")) == (True, False, False)
