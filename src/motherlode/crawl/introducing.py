"""A host introduces itself by its robots.txt: rules for the frontier, sitemaps to follow, or news that it is dead."""

from __future__ import annotations

from motherlode.crawl.polite import ended_at
from motherlode.crawl.settling import Settler
from motherlode.fetch import Journal, RobotsRules, robots_body, robots_last
from motherlode.frontier import SLOW_DOWN, Frontier, Ticket
from motherlode.model import Failure, FailureKind, Page, RequestKind
from motherlode.www.urls import host_of, origin_of

_UNREACHABLE = frozenset(
    {
        *(FailureKind.DNS, FailureKind.NO_DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.CERTIFICATE),
        *(FailureKind.TIMEOUT, FailureKind.GUARD, FailureKind.SCHEME),
    }
)
"""Failures of a robots.txt that are failures of the host: the page behind it fails the same way."""
_NEVER = frozenset({FailureKind.GUARD, FailureKind.SCHEME})
"""Of these, those that stay as they are however often we ask."""
NOTHING_ALLOWED = b"User-agent: *\nDisallow: /\n"


class Introductions:
    """Settles the tickets that asked for a robots.txt."""

    def __init__(
        self,
        frontier: Frontier,
        settler: Settler,
        journal: Journal | None = None,
        *,
        sitemaps: bool = True,
        usual_sitemaps: bool = False,
    ) -> None:
        self._frontier = frontier
        self._settler = settler
        self._journal = journal
        self._sitemaps = sitemaps
        self._usual_sitemaps = usual_sitemaps
        self._rerouted: dict[str, list[str]] = {}
        """Of hosts whose rules lie elsewhere: the requests that said so."""

    def settle(self, ticket: Ticket, fetched: Page | Failure) -> Failure | None:
        """The failure of the page that waited for these rules, where its host cannot be reached."""
        now = ended_at(fetched)
        if isinstance(fetched, Failure) and fetched.kind is FailureKind.REDIRECT:
            if self._frontier.reroute(ticket, fetched.location):
                self._rerouted.setdefault(ticket.host, []).append(ticket.url)
                return None  # no commit knows of this yet: after a kill the host's rules are asked for from the start
            self._forget_answers(ticket)
            self._frontier.introduce(ticket, b"", now)  # RFC 9309, 2.3.1.2: too many redirects mean no rules
            return None
        self._forget_answers(ticket)
        body = robots_body(fetched)
        if body is not None:
            self._frontier.introduce(ticket, body, now, lasts=robots_last(fetched))
            if self._sitemaps:
                self._offer_sitemaps(ticket, body)
        elif isinstance(fetched, Failure):
            return self._without_rules(ticket, fetched, now)
        return None

    def _without_rules(self, ticket: Ticket, failure: Failure, now: float) -> Failure | None:
        """The rules could not be had: who was asked for them is left alone, and so is the host that they are for."""
        lies_elsewhere = host_of(ticket.url) != ticket.host
        if lies_elsewhere and failure.kind in _NEVER:
            self._frontier.introduce(ticket, NOTHING_ALLOWED, now)  # RFC 9309, 2.3.1.4; tomorrow it is asked again
            return None
        if failure.kind in _UNREACHABLE:
            return self._settler.failure(ticket, failure, now)
        if failure.kind in SLOW_DOWN:
            self._frontier.slow_down(ticket, now, retry_after=failure.retry_after)
        self._frontier.defer(ticket, failure.kind, now, retry_after=failure.retry_after)
        return None

    def _offer_sitemaps(self, ticket: Ticket, body: bytes) -> None:
        named = RobotsRules(body).sitemaps
        self._settler.sitemaps(named, base=ticket.url)
        if not named and self._usual_sitemaps:
            self._settler.sitemaps(["/sitemap.xml"], base=origin_of(ticket.entry.url) + "/")

    def _forget_answers(self, ticket: Ticket) -> None:
        """The journal need not keep what came: the next commit knows what followed from it."""
        urls = (ticket.url, *self._rerouted.pop(ticket.host, ()))
        if self._journal is not None:
            for url in urls:
                self._journal.settled(RequestKind.ROBOTS, url)
