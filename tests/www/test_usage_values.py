"""Values of Content-Usage, Content-Signal and TDMRep."""

from __future__ import annotations

import pytest

from motherlode.www.usage_values import (
    header_preferences,
    no_ai_preferences,
    parse_content_signal,
    parse_content_usage,
    tdm_preferences,
)

N, Y = False, True


@pytest.mark.parametrize(
    ("value", "uses"),
    [  # the examples of draft-ietf-aipref-vocab, section 6, and other dictionaries of RFC 9651
        ("train-ai=n", {"train-ai": N}),
        ("train-ai=y, search=n", {"train-ai": Y, "search": N}),
        ('train-ai=y, train-ai, search=n, search="n"', {}),
        ("train-ai;allow=n, train-ai=y", {"train-ai": Y}),
        ('train-ai;has;parameters="?";', {}),
        ('train-ai;has;parameters="?"', {}),
        ("search=n;x=1;y=?0 ,\\tai-use=n".replace("\\t", "\t"), {"search": N, "ai-use": N}),
        ('other="a, train-ai=n", search=y', {"search": Y}),
        ("list=(a b), search=y, bytes=:aGk=:, number=-1.5", {"search": Y}),
        ("train-ai=N", {}),
        ("Train-ai=n", {}),
        ("train-ai=n,", {}),
        ("train-ai=n search=y", {}),
        ("train-ai=n;", {}),
        ("", {}),
        ("bots=n", {}),
        ("train-ai=n" + " " * 5000 + ", search=n", {}),
    ],
)
def test_parse_content_usage(value: str, uses: dict[str, bool]) -> None:
    assert parse_content_usage(value).uses == uses


def test_parse_content_usage_of_a_long_hostile_value_states_nothing() -> None:
    assert parse_content_usage("a;" * 1_000_000).uses == {}
    assert parse_content_usage("a=" + '"' * 1999).uses == {}


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        ("search=yes, ai-train=no", {"search": Y, "train-ai": N}),
        ("ai-train=no, search=yes, ai-input=yes", {"train-ai": N, "search": Y, "ai-use": Y}),
        ("Search = YES,AI-Train=No", {"search": Y, "train-ai": N}),
        ("search=yes, search=no", {"search": N}),
        ("ai-train=maybe, other=no", {}),
        ("search=yesterday", {}),
        ("", {}),
    ],
)
def test_parse_content_signal(value: str, uses: dict[str, bool]) -> None:
    assert parse_content_signal(value).uses == uses


@pytest.mark.parametrize(
    ("reservation", "uses"),
    [
        ("1", {"tdm": N}),
        (" 0 ", {"tdm": Y}),
        (1, {"tdm": N}),
        (0, {"tdm": Y}),
        ("2", {}),
        (None, {}),
        ([1], {}),
        (True, {}),
    ],
)
def test_tdm_preferences_of_anything_but_0_and_1_state_nothing(reservation: object, uses: dict[str, bool]) -> None:
    assert tdm_preferences(reservation).uses == uses


def test_tdm_preferences_keep_the_policy_of_a_reservation_alone() -> None:
    assert tdm_preferences("1", "https://a.example/p").tdm_policy == "https://a.example/p"
    assert tdm_preferences("0", "https://a.example/p").tdm_policy == ""
    assert tdm_preferences("1", {"a": 1}).tdm_policy == ""


def test_no_ai_preferences_of_words_state_reservations() -> None:
    assert no_ai_preferences("noai noimageai").reserved == ["train-ai", "train-ai-images"]
    assert no_ai_preferences("noaix nofollow").uses == {}


def test_header_preferences_combine_all_headers() -> None:
    headers = {
        "content-usage": "train-ai=y, search=y",
        "content-signal": "ai-train=no",
        "tdm-reservation": "1",
        "tdm-policy": "https://a.example/p",
        "server": "x",
    }
    found = header_preferences(headers)
    assert found.uses == {"train-ai": N, "search": Y, "tdm": N}
    assert found.tdm_policy == "https://a.example/p"
    assert header_preferences({"server": "x"}).uses == {}
