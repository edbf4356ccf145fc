"""Consequences of one response for frontier and policy. The live engine and the simulator share this module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from motherlode.frontier import MAX_REDIRECTS, End, Entry, Frontier, Lease
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Policy, Syntax
from motherlode.www.urls import resolve

MAX_SITEMAPS = 500
"""Sitemaps that one robots.txt may name."""
TOO_MANY_SITEMAPS = f"more than {MAX_SITEMAPS} sitemaps in a robots.txt"
_NO_COUNTS: Mapping[Syntax, int] = {}


def same_url(url: str) -> str:
    """Return the URL unchanged: the default spelling."""
    return url


class Scheduler:
    """Lets the policy learn from an outcome, adds the links that were found, and ends the lease."""

    def __init__(
        self,
        frontier: Frontier,
        policy: Policy,
        *,
        respell: Callable[[str], str] = same_url,
        simplify: Callable[[str], str] = same_url,
    ) -> None:
        self._frontier = frontier
        self._policy = policy
        self._respell = respell
        """Returns the spelling of a URL in a recorded web."""
        self._simplify = simplify
        """Returns one URL for all URLs that are alike, if the user wants that. It is applied only to links of pages:
        the user chose the seeds, and a redirect may lead from the simplified URL to the only one that exists."""

    def add_seeds(self, urls: Sequence[str]) -> int:
        """Add the seeds. Return how many were new."""
        links = [Link(url=url, source=LinkSource.SEED) for url in urls]
        return self._frontier.add_links(_respelled(links, self._respell), parent=None)

    def add_sitemaps(self, urls: Sequence[str], *, base: str) -> int:
        """Add the sitemaps that a robots.txt names. Return how many were new."""
        if len(urls) > MAX_SITEMAPS:
            self._frontier.count_refused(TOO_MANY_SITEMAPS, len(urls) - MAX_SITEMAPS)
        found = (resolve(base, url) for url in urls[:MAX_SITEMAPS])
        links = [Link(url=url, source=LinkSource.SITEMAP) for url in found if url is not None]
        return self._frontier.add_links(_respelled(links, self._respell), parent=None)

    def page_outcome(
        self,
        lease: Lease,
        *,
        relevant: bool,
        kind: str = "",
        counts: Mapping[Syntax, int] = _NO_COUNTS,
        links: Sequence[Link] = (),
        size: int = 0,
        statement_hashes: bytes = b"",
        entry: Entry | None = None,
    ) -> Outcome:
        """Return the outcome of a page, with its links as the frontier spells them. The reward is 1 or 0.

        After a revisit `entry` is the entry of the page as it was before.
        """
        return Outcome(
            **_entry_fields(entry or lease.entry, lease.host),
            relevant=relevant,
            reward=float(relevant),
            kind=kind,
            counts=counts,
            links=_respelled(_respelled(links, self._simplify), self._respell),
            size=size,
            statement_hashes=statement_hashes,
        )

    def settle_page(self, lease: Lease, outcome: Outcome, now: float, *, entry: Entry | None = None) -> int:
        """End the lease of a page that was parsed. Return how many of its links were new."""
        self._policy.learn(outcome)
        new = self._frontier.add_links(outcome.links, parent=outcome)
        self._frontier.end(lease, End.FETCHED, now, relevant=outcome.relevant, entry=entry)
        return new

    def settle_failure(self, lease: Lease, failure: Failure, now: float) -> Failure:
        """End the lease of a failed request, and let the policy learn from it unless the URL is tried again.

        Return the failure as it counts.
        """
        failure, retry_at, outcome = self.end_failure(lease, failure, now)
        if retry_at is None:
            self.learn_failure(outcome)
        return failure

    def learn_failure(self, outcome: Outcome) -> None:
        """Let the policy learn from a URL that failed, unless the failure says nothing about the URL."""
        if outcome.failure is None or TREATMENTS[outcome.failure].is_learned:
            self._policy.learn(outcome)

    def end_failure(
        self, lease: Lease, failure: Failure, now: float, *, entry: Entry | None = None
    ) -> tuple[Failure, float | None, Outcome]:
        """End the lease of a failed request, add the target of a redirect, and let the policy learn nothing yet.

        Return the failure as it counts (a redirect after too many others is broken), when the URL is tried again, if
        it is, and what the policy is to learn if it is not.
        """
        found = entry or lease.entry
        if failure.kind is FailureKind.REDIRECT and found.hops >= MAX_REDIRECTS:
            detail = f"more than {MAX_REDIRECTS} redirects in a row"
            failure = replace(failure, kind=FailureKind.REDIRECT_BROKEN, detail=detail, location="")
        outcome = Outcome(**_entry_fields(found, lease.host), failure=failure.kind)
        if failure.kind is FailureKind.REDIRECT:  # its target is subject to delays, robots.txt and scope like any link
            link = Link(url=failure.location, source=LinkSource.REDIRECT, anchor=found.anchor, rel=found.rel)
            self._frontier.add_links(_respelled([link], self._respell), parent=outcome)
        retry_at = self._frontier.end(lease, End.FAILED, now, failure=failure, entry=entry)
        return failure, retry_at, outcome


def _entry_fields(entry: Entry, host: str) -> dict[str, Any]:
    """Return the fields of an outcome that do not depend on the response."""
    return {
        "url": entry.url,
        "host": host,
        "arm": entry.arm,
        "score": entry.score,
        "depth": entry.depth,
        "hops": entry.hops,
        "source": entry.source,
        "policy_state": entry.policy_state,
        "parent_url": entry.parent_url,
        "requests": 1 + entry.hops + entry.attempts,
    }


def _respelled(links: Sequence[Link], respell: Callable[[str], str]) -> Sequence[Link]:
    if respell is same_url:
        return links
    return [msgspec.structs.replace(link, url=respell(link.url)) for link in links]
