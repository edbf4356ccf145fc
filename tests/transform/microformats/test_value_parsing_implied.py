from __future__ import annotations

import pytest

from .pages import item


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p class="h-card"> A <b>B</b> </p>', {"name": ["A B"]}),
        ('<p class="h-card"><img src="x"> A</p>', {"name": ["A"], "photo": ["http://example.org/x"]}),
        ('<p class="h-card"><b><abbr title="A"> a</abbr></b></p>', {"name": ["A"]}),
        ('<p class="h-card"><b><a href="/a">A</a></b></p>', {"name": ["A"], "url": ["http://example.org/a"]}),
        ('<p class="h-card"><b><a href="/a">A</a></b><i></i></p>', {"name": ["A"]}),
        ('<p class="h-card"><a href="/a">A</a><a>B</a></p>', {"name": ["AB"]}),
        ('<p class="h-card"><i class="p-note">n</i></p>', {"note": ["n"]}),
        ('<p class="h-card"><i class="e-note">n</i></p>', {"note": [{"value": "n", "html": "n"}]}),
        ('<p class="h-card"><a class="u-x" href="/a">A</a></p>', {"x": ["http://example.org/a"], "name": ["A"]}),
        ('<p class="h-card"><i class="dt-bday">1999</i></p>', {"bday": ["1999"], "name": ["1999"]}),
    ],
)
def test_what_is_implied(html: str, expected: dict[str, object]) -> None:
    assert item(html)["properties"] == expected


def test_nothing_is_implied_around_another_item() -> None:
    assert item('<p class="h-entry">x <i class="h-card">y</i></p>') == {
        "type": ["h-entry"],
        "properties": {},
        "children": [{"type": ["h-card"], "properties": {"name": ["y"]}}],
    }


def test_the_alternative_text_of_an_implied_photo_is_kept() -> None:
    assert item('<p class="h-card"><img src="x" alt=" a "></p>')["properties"]["photo"] == [
        {"value": "http://example.org/x", "alt": " a "}
    ]
