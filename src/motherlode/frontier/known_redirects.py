"""Redirects that the policy predicts: the target is queued without a request for the URL that leads to it.

A URL whose redirect was assumed is refused with the reason `KNOWN_REDIRECT`. If its target fails, the assumption may be
wrong, so the URL is queued again and then fetched.
"""

from __future__ import annotations

import msgspec

from motherlode.frontier.records import Entry
from motherlode.frontier.storage import FrontierStorage
from motherlode.model import FailureKind, Link, LinkSource, Outcome
from motherlode.www.urls import host_of

KNOWN_REDIRECT = "known redirect"


def assumed_redirect(entry: Entry) -> Outcome:
    """Return the outcome, without an arm, of a URL that was not requested because the policy knows its redirect."""
    return Outcome(
        url=entry.url,
        host=host_of(entry.url),
        score=entry.score,
        depth=entry.depth,
        hops=entry.hops,
        source=entry.source,
        parent_url=entry.parent_url,
        failure=FailureKind.REDIRECT,
    )


def target_link(entry: Entry, target: str) -> Link:
    """Return the link from a URL to the target of its redirect."""
    return Link(url=target, source=LinkSource.REDIRECT, anchor=entry.anchor, rel=entry.rel)


def find_original(storage: FrontierStorage, entry: Entry) -> Entry | None:
    """Return the URL that was assumed to redirect to a URL that failed, to be fetched now; None if there is none.

    It counts as redirected once, so no redirect is predicted for it again.
    """
    if entry.source != LinkSource.REDIRECT.value:
        return None
    found = storage.find(entry.parent_url)
    return msgspec.structs.replace(found[0], hops=1) if found is not None and found[2] == KNOWN_REDIRECT else None
