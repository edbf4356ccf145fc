"""Sets of keywords."""

from __future__ import annotations

from motherlode.transform.jsonld import processor_options


def test_entry_sets_contain_only_keywords() -> None:
    for group in (
        processor_options.CONTEXT_ENTRIES,
        processor_options.DEFINITION_ENTRIES,
        processor_options.VALUE_ENTRIES,
        processor_options.CONTAINERS,
    ):
        assert group <= processor_options.KEYWORDS
    assert all(processor_options.has_keyword_form(keyword) for keyword in processor_options.KEYWORDS)
