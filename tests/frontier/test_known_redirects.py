"""Redirects that are assumed without a request."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.frontier import Entry, MemoryStorage, UrlState
from motherlode.frontier.known_redirects import KNOWN_REDIRECT, assumed_redirect, find_original, target_link
from motherlode.model import FailureKind, LinkSource

OLD = Entry(
    url="http://a.example/old", arm="x", score=0.5, sequence=3, depth=2, parent_url="http://a.example/", source="anchor"
)
TARGET = Entry(url="http://a.example/new", arm="y", score=0.5, sequence=4, parent_url=OLD.url, source="redirect")


def test_assumed_redirect_is_a_failure_without_arm() -> None:
    outcome = assumed_redirect(OLD)
    assert (outcome.url, outcome.host, outcome.arm) == (OLD.url, "a.example", "")
    assert outcome.failure is FailureKind.REDIRECT
    assert (outcome.depth, outcome.score, outcome.parent_url) == (2, 0.5, "http://a.example/")


def test_target_link_is_a_redirect_with_the_anchor_of_the_url() -> None:
    link = target_link(msgspec.structs.replace(OLD, anchor="old", rel="nofollow"), TARGET.url)
    assert (link.url, link.source, link.anchor, link.rel) == (TARGET.url, LinkSource.REDIRECT, "old", "nofollow")


@pytest.mark.parametrize(
    ("reason", "source", "is_found"),
    [(KNOWN_REDIRECT, "redirect", True), ("robots", "redirect", False), (KNOWN_REDIRECT, "anchor", False)],
)
def test_find_original_returns_only_urls_whose_redirect_was_assumed(
    reason: str, source: str, *, is_found: bool
) -> None:
    storage = MemoryStorage()
    storage.finish(OLD, UrlState.REFUSED, reason)
    found = find_original(storage, msgspec.structs.replace(TARGET, source=source))
    assert (found is not None) == is_found
    if found is not None:
        assert (found.url, found.hops) == (OLD.url, 1)


def test_find_original_of_target_of_unknown_url_is_none() -> None:
    assert find_original(MemoryStorage(), TARGET) is None
