"""Consequences of one response for frontier and policy. The live engine and the simulator share this module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from motherlode.frontier import MAX_REDIRECTS, End, Entry, Frontier, Lease
from motherlode.frontier.leases import TREATMENTS
from motherlode.model import (
    Failure,
    FailureKind,
    Link,
    LinkSource,
    Outcome,
    Policy,
    Rating,
    ReadsHeaders,
    RequestKind,
    Syntax,
)
from motherlode.www.urls import resolve

MAX_SITEMAPS = 500
"""Maximum number of sitemaps that one robots.txt may name."""
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
        self._reads_headers = policy if isinstance(policy, ReadsHeaders) else None
        self._respell = respell
        """Returns the spelling of a URL in a recorded web."""
        self._simplify = simplify
        """Returns one URL for all URLs that are alike, if the user wants that. It is applied only to links of pages:
        the user chose the seeds, and a redirect may lead from the simplified URL to the only one that exists."""

    def wants_header(self, lease: Lease) -> bool:
        """Return whether a lease is used for a HEAD, because the policy wants the Content-Type header."""
        return (
            self._reads_headers is not None
            and lease.kind is RequestKind.PAGE
            and not lease.is_revisit
            and self._reads_headers.wants_header(lease.entry.policy_state)
        )

    def settle_header(
        self, lease: Lease, content_type: str | None, now: float, *, failure: Failure | None = None
    ) -> None:
        """End a lease that was used for a HEAD: the policy rates the URL again, which waits for its GET.

        `failure` is the response, if it is one that does not replace the GET.
        """
        if self._reads_headers is None:
            raise ValueError("internal error: a header was read, and the policy reads none")
        entry = lease.entry
        before = Rating(arm=entry.arm, score=entry.score, policy_state=entry.policy_state)
        rating = self._reads_headers.rate_again(entry.url, before, content_type)
        self._frontier.end(lease, End.HEADER_READ, now, failure=failure, rating=rating)

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

    def add_query_results(self, urls: Sequence[str]) -> int:
        """Add the URLs that the query over the index has given. Return how many were new."""
        links = [Link(url=url, source=LinkSource.INDEX_QUERY) for url in urls]
        return self._frontier.add_links(_respelled(_respelled(links, self._simplify), self._respell), parent=None)

    def page_outcome(
        self,
        lease: Lease,
        *,
        relevant: bool,
        kind: str = "",
        content_type: str = "",
        counts: Mapping[Syntax, int] = _NO_COUNTS,
        links: Sequence[Link] = (),
        size: int = 0,
        statement_hashes: bytes = b"",
        page_score: float | None = None,
        is_unscored: bool = False,
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
            content_type=content_type,
            counts=counts,
            links=_respelled(_respelled(links, self._simplify), self._respell),
            size=size,
            statement_hashes=statement_hashes,
            page_score=page_score,
            is_unscored=is_unscored,
        )

    def settle_page(self, lease: Lease, outcome: Outcome, now: float, *, entry: Entry | None = None) -> int:
        """End the lease of a page that was parsed. Return how many of its links were new."""
        self._policy.learn(outcome)
        new = self._frontier.add_links(outcome.links, parent=outcome)
        self._frontier.end(lease, End.FETCHED, now, relevant=outcome.relevant, entry=entry)
        return new

    def settle_failure(self, lease: Lease, failure: Failure, now: float) -> Failure:
        """End the lease of a failed request, and let the policy learn from it unless the URL is tried again.

        Return the failure as it is recorded: a redirect after too many others becomes a broken redirect.
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
        """End the lease of a failed request and add the URL to which a redirect leads. The policy does not learn yet.

        Return three values: the failure as it is recorded (a redirect after too many others becomes a broken redirect);
        the time of the next attempt, None if there is no further one; and the outcome from which the policy is to learn
        in that case.
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
