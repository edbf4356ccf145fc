"""Content-Usage and Content-Signal in robots.txt."""

from __future__ import annotations

import pytest

from motherlode.fetch import RobotsRules

EXAMPLE = b"""User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: / train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: / train-ai=y
"""
"""The example of draft-ietf-aipref-attach."""


@pytest.mark.parametrize(
    ("agent", "path", "is_permitted"),
    [
        ("motherlode", "/test", False),
        ("motherlode", "/ai-ok/test", True),
        ("examplebot", "/test", True),
    ],
)
def test_content_usage_of_the_example(*, agent: str, path: str, is_permitted: bool) -> None:
    rules = RobotsRules(EXAMPLE, agent=agent)
    assert rules.preferences(f"http://a.example{path}").uses == {"train-ai": is_permitted}
    assert rules.allows(f"http://a.example{path}")


@pytest.mark.parametrize(
    ("lines", "uses"),
    [
        ("Content-Signal: search=yes, ai-train=no", {"search": True, "train-ai": False}),
        ("content-signal:ai-train=no # comment", {"train-ai": False}),
        ("Content-Signal: / ai-train=no", {"train-ai": False}),
        ("Content-Usage: train-ai=n", {"train-ai": False}),
        ("Content-Usage: /\ttrain-ai=n", {"train-ai": False}),
        ("Content-Usage: / train-ai=n\nContent-Usage: / train-ai=y", {"train-ai": False}),
        ("Content-Usage: / train-ai=n\nContent-Signal: ai-train=yes, search=yes", {"train-ai": False, "search": True}),
        ("Content-Usage: /x train-ai=n", {}),
        ("Content-Usage: /*p$ train-ai=n\nContent-Usage: / train-ai=y", {"train-ai": False}),
        ("Content-Usage: /", {}),
        ("Content-Usage:", {}),
    ],
)
def test_usage_lines_state_preferences_for_paths(lines: str, uses: dict[str, bool]) -> None:
    rules = RobotsRules(f"User-agent: *\n{lines}\nDisallow: /no\n".encode())
    assert rules.preferences("http://a.example/p").uses == uses
    assert not rules.allows("http://a.example/no")


def test_usage_line_between_user_agents_does_not_end_their_list() -> None:
    rules = RobotsRules(b"User-agent: *\nContent-Signal: ai-train=no\nUser-agent: other\nDisallow: /\n")
    assert not rules.allows("http://a.example/p")
    assert rules.preferences("http://a.example/p").reserved == ["train-ai"]


def test_usage_line_of_another_group_is_ignored() -> None:
    rules = RobotsRules(b"User-agent: other\nContent-Signal: ai-train=no\nDisallow: /\n\nUser-agent: *\nAllow: /\n")
    assert rules.preferences("http://a.example/").uses == {}


def test_many_usage_lines_are_bounded() -> None:
    lines = "".join(f"Content-Usage: /{number} train-ai=n\n" for number in range(3000))
    rules = RobotsRules(f"User-agent: *\n{lines}".encode())
    assert rules.preferences("http://a.example/12").reserved == ["train-ai"]
    assert rules.preferences("http://a.example/x").uses == {}
