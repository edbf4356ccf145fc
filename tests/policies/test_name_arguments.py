"""Parsers of the arguments in the names of policies."""

from __future__ import annotations

import pytest

from motherlode.policies.name_arguments import choice, number_between, whole_numbers


def test_choice_of_unknown_word_lists_all_choices() -> None:
    assert choice("tokens", "url", "url", "authors") == "url"
    with pytest.raises(ValueError, match="tokens is url, path or authors; got 'URL'"):
        choice("tokens", "URL", "url", "path", "authors")


def test_whole_numbers_of_digits_are_integers() -> None:
    assert whole_numbers(("0", "007", "20000"), "hint") == [0, 7, 20000]


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", " 1", "²", "٣"])
def test_whole_numbers_of_other_text_raise_the_hint(text: str) -> None:
    with pytest.raises(ValueError, match="as in x:1"):
        whole_numbers(("1", text), "as in x:1")


def test_number_between_includes_both_ends() -> None:
    assert [number_between("alpha", text, 0.0, 1.0) for text in ("0", "0.25", "1e0")] == [0.0, 0.25, 1.0]


@pytest.mark.parametrize("text", ["-0.1", "1.01", "nan", "inf", "many", ""])
def test_number_between_outside_of_range_or_no_number_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="alpha is a number from 0 to 1; got"):
        number_between("alpha", text, 0.0, 1.0)
