from __future__ import annotations

from motherlode.transform.jsonld import processor_options as keywords


def test_entry_sets_contain_only_keywords() -> None:
    for group in (keywords.CONTEXT_ENTRIES, keywords.DEFINITION_ENTRIES, keywords.VALUE_ENTRIES, keywords.CONTAINERS):
        assert group <= keywords.KEYWORDS
    assert all(keywords.has_keyword_form(keyword) for keyword in keywords.KEYWORDS)
