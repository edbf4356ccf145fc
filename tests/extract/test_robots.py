"""What pages ask of crawlers."""

from __future__ import annotations

import pytest

from motherlode.extract import header_directives, robots_directives
from tests.www.pages import document


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>robots", set()),
        ("<meta name=robots content='index, follow'>", set()),
        ("<META NAME=Robots CONTENT=NOINDEX>", {"noindex"}),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", {"noindex", "nofollow"}),
        ("<meta name=robots content=none>", {"none", "noindex", "nofollow"}),
        ("<meta name=motherlode content=nofollow>", {"nofollow"}),
        ("<meta name=otherbot content=nofollow>", set()),
        ("<meta name=robots content='noindex;nofollow'>", {"noindex", "nofollow"}),
    ],
)
def test_directives(markup: str, expected: set[str]) -> None:
    assert robots_directives(document(markup)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", set()),
        ("NoIndex", {"noindex"}),
        ("noindex; nofollow", {"noindex", "nofollow"}),
        ("otherbot: noindex, nofollow", set()),
        ("otherbot: noindex, , nofollow", {"nofollow"}),
        ("otherbot: noindex, , motherlode: nofollow", {"nofollow"}),
        ("otherbot: noindex, , thirdbot: nofollow", set()),
        ("unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex", {"noindex"}),
        ("max-snippet:-1, max-image-preview:large, nofollow", {"nofollow"}),
    ],
)
def test_directives_of_a_header(value: str, expected: set[str]) -> None:
    assert header_directives(value) == expected
