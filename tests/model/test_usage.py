"""Preferences about the use of pages, and their combination."""

from __future__ import annotations

import pytest

from motherlode.model.usage import ALIASES, NO_PREFERENCES, USES, UsagePreferences, combine_preferences


@pytest.mark.parametrize("order", [1, -1])
def test_combine_preferences_reserves_what_one_source_reserves(order: int) -> None:
    sources = [
        UsagePreferences({"search": True, "train-ai": False}),
        UsagePreferences({"search": True, "train-ai": True}),
    ]
    assert combine_preferences(sources[::order]).uses == {"search": True, "train-ai": False}


def test_combine_preferences_takes_text_mining_from_the_last_source() -> None:
    reserved = UsagePreferences({"tdm": False}, "https://a.example/policy")
    permitted = UsagePreferences({"tdm": True})
    assert combine_preferences([reserved, permitted]) == permitted
    assert combine_preferences([permitted, reserved]) == reserved
    assert combine_preferences([reserved, UsagePreferences({"search": True})]).tdm_policy == "https://a.example/policy"


def test_combine_preferences_of_nothing_states_nothing() -> None:
    assert combine_preferences([]) == combine_preferences([NO_PREFERENCES, NO_PREFERENCES]) == NO_PREFERENCES


def test_reserves_returns_the_first_reserved_use() -> None:
    stated = UsagePreferences({"search": True, "tdm": False, "train-ai": False})
    assert [stated.reserves(uses) for uses in (["search"], ["ai-use", "train-ai", "tdm"], [])] == ["", "train-ai", ""]
    assert (stated.reserved, stated.permitted) == (["tdm", "train-ai"], ["search"])


def test_aliases_are_no_uses_themselves() -> None:
    assert set(ALIASES.values()) <= set(USES)
    assert not set(ALIASES) & set(USES)
