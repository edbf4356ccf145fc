"""What pages ask of crawlers."""

from __future__ import annotations

import pytest

from motherlode.extract import robots_directives
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
    ],
)
def test_directives(markup: str, expected: set[str]) -> None:
    assert robots_directives(document(markup)) == expected
