"""What follows from an answer, for frontier and policy: the half of a turn that a live crawl and a simulation share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from motherlode.frontier import MAX_REDIRECTS, Entry, Frontier, Lease
from motherlode.model import Failure, FailureKind, Link, LinkSource, Outcome, Parent, Policy, Syntax
from motherlode.www.urls import resolve

MOST_SITEMAPS = 500
"""Sitemaps that one robots.txt may name."""
TOO_MANY_SITEMAPS = f"more than {MOST_SITEMAPS} sitemaps in a robots.txt"
_NOTHING: Mapping[Syntax, int] = {}


class PageOutcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a page was found to be, as far as selection cares."""

    relevant: bool
    kind: str
    counts: Mapping[Syntax, int]
    links: Sequence[Link]
    reward: float | None = None
    """What the request was worth, where that is more than the target's yes or no."""


class Scheduler:
    """Lets the policy learn, offers the links, and closes the ticket; one turn at a time."""

    def __init__(
        self,
        frontier: Frontier,
        policy: Policy,
        spelling: Callable[[str], str] | None = None,
        simplify: Callable[[str], str] | None = None,
    ) -> None:
        self._frontier = frontier
        self._policy = policy
        self._spelling = spelling
        """How a recorded web spells its URLs; None on the live web."""
        self._simplify = simplify
        """Which address stands for those that are alike, if the user wants that. It is applied to links of pages alone:
        a seed is what the user says, and a redirect may lead from the simple address to the only one that is there."""

    def seeds(self, urls: Sequence[str]) -> int:
        links = [Link(url=url, source=LinkSource.SEED) for url in urls]
        return self._frontier.add_links(self._spelled(links), parent=None, entry=None)

    def sitemaps(self, urls: Sequence[str], *, base: str) -> int:
        """Offer the sitemaps that a robots.txt names."""
        if len(urls) > MOST_SITEMAPS:
            self._frontier.refused[TOO_MANY_SITEMAPS] += len(urls) - MOST_SITEMAPS
        found = (resolve(base, url) for url in urls[:MOST_SITEMAPS])
        links = [Link(url=url, source=LinkSource.SITEMAP) for url in found if url is not None]
        return self._frontier.add_links(self._spelled(links), parent=None, entry=None)

    def page(self, lease: Lease, outcome: PageOutcome) -> int:
        """A page has been read; how many of its links were new."""
        entry = lease.entry
        links = self._spelled(_respelled(outcome.links, self._simplify))
        parent = Parent(
            url=entry.url,
            host=lease.host,
            depth=entry.depth,
            relevant=outcome.relevant,
            counts=outcome.counts,
            kind=outcome.kind,
            policy_state=entry.policy_state,
            parent_url=entry.parent_url,
            links=links,
            arm=entry.arm,
        )
        self._learn(
            lease,
            relevant=outcome.relevant,
            reward=outcome.reward,
            kind=outcome.kind,
            counts=outcome.counts,
            links=len(outcome.links),
        )
        new = self._frontier.add_links(links, parent=parent, entry=entry)
        self._frontier.done(lease, relevant=outcome.relevant)
        return new

    def failure(self, lease: Lease, failure: Failure, now: float) -> Failure:
        """A request gave no page; the failure as it counts, which for a redirect too many is another."""
        if failure.kind is FailureKind.REDIRECT:
            if lease.entry.hops >= MAX_REDIRECTS:
                detail = f"more than {MAX_REDIRECTS} redirects in a row"
                failure = replace(failure, kind=FailureKind.REDIRECT_BROKEN, detail=detail, location="")
            else:
                self._follow(lease.entry, lease.host, failure.location)
        again = self._frontier.failed(lease, failure.kind, now, retry_after=failure.retry_after)
        if not again:
            self._learn(lease, relevant=False, failure=failure.kind)
        return failure

    def _follow(self, entry: Entry, host: str, location: str) -> None:
        """A redirect's target is offered like any other link, so it passes the same clocks, rules and scope."""
        parent = Parent(
            url=entry.url,
            host=host,
            depth=entry.depth,
            relevant=False,
            policy_state=entry.policy_state,
            parent_url=entry.parent_url,
            arm=entry.arm,
        )
        link = Link(url=location, source=LinkSource.REDIRECT, anchor=entry.anchor, rel=entry.rel)
        self._frontier.add_links(self._spelled([link]), parent=parent, entry=entry)

    def _learn(
        self,
        lease: Lease,
        *,
        relevant: bool,
        reward: float | None = None,
        failure: FailureKind | None = None,
        counts: Mapping[Syntax, int] = _NOTHING,
        links: int = 0,
        kind: str = "",
    ) -> None:
        entry = lease.entry
        self._policy.learn(
            Outcome(
                url=entry.url,
                host=lease.host,
                arm=entry.arm,
                policy_state=entry.policy_state,
                score=entry.score,
                reward=float(relevant) if reward is None else reward,
                relevant=relevant,
                failure=failure,
                counts=counts,
                links=links,
                parent_url=entry.parent_url,
                kind=kind,
            )
        )

    def _spelled(self, links: Sequence[Link]) -> Sequence[Link]:
        return _respelled(links, self._spelling)


def _respelled(links: Sequence[Link], spelling: Callable[[str], str] | None) -> Sequence[Link]:
    if spelling is None:
        return links
    return [msgspec.structs.replace(link, url=spelling(link.url)) for link in links]
