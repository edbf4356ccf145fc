"""The words of a URL and their places."""

from __future__ import annotations

import pytest

from motherlode.policies.anthelion.url_classifier import HASHES, NUMBER, java_hash, token_index, tokens


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://imdb.com/Se7en", ["imdb", "com", "se7en"]),
        ("https://example.org/a/bc/def", ["example", "org", "def"]),
        ("http://example.org/2014/11/03", ["example", "org", NUMBER]),
        ("http://example.org/item123?id=456&q=recipe", ["example", "org", "item123", NUMBER, "recipe"]),
        ("http://example.org/%C3%A9t%C3%A9/caf%C3%A9", ["example", "org", "a9t", "caf"]),
    ],
)
def test_a_url_is_taken_apart_where_the_paper_says(url: str, expected: list[str]) -> None:
    assert tokens(url) == expected


def test_numbers_of_two_digits_are_short_tokens_first() -> None:
    assert NUMBER not in tokens("http://example.org/12/34")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", -(2**31))],
)
def test_the_hash_is_that_of_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_places_are_in_the_range_and_spread() -> None:
    places = {token_index(f"word{number}") for number in range(2_000)}
    assert all(0 <= each < HASHES for each in places)
    assert len(places) > 1_500
    assert token_index("polygenelubricants") == 2**31 % HASHES
