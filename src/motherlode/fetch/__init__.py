"""Fetch: a cleared request becomes a page or a failure, never an exception.

`HttpFetcher` is the only code that opens a connection to the web; every connection passes the address guard, every
body its limits. `RecordedWeb` gives the same answers from a WARC file. Redirects are not followed here: they go back to
the frontier as data, so that their targets pass the same clocks, rules and scope as any other URL. Politeness is the
frontier's: whoever holds a ticket may fetch at once.

The life of a request: `http` takes its URL apart (`origins`), writes it (`sending`) and asks over a connection of the
pool (`connections`), which `connect_error` opens, for https under a `seal` (`secured`, `trust`);
on each `wire` an answer
is parsed (`parsing`) while it comes, and what comes is unpacked and judged piece by piece (`intake`). What goes wrong
on the way is a `trouble`.

Names are loaded when they are asked for: whoever only fetches needs neither archive nor journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime.lazy import lazy_exports

if TYPE_CHECKING:
    from motherlode.fetch.guard import AddressGuard
    from motherlode.fetch.http.client import HttpFetcher, HttpLimits, HttpOptions
    from motherlode.fetch.journal import JournalledFetcher, ResponseJournal
    from motherlode.fetch.probe import Prober, Probing
    from motherlode.fetch.robots import PRODUCT_TOKEN, RobotsRules, robots_body, robots_last
    from motherlode.fetch.warc.replay import RecordedWeb, check_recorded
    from motherlode.fetch.warc.writer import ArchivedFetcher, WarcArchive

__all__ = [
    "PRODUCT_TOKEN",
    "AddressGuard",
    "ArchivedFetcher",
    "HttpFetcher",
    "HttpLimits",
    "HttpOptions",
    "JournalledFetcher",
    "Prober",
    "Probing",
    "RecordedWeb",
    "ResponseJournal",
    "RobotsRules",
    "WarcArchive",
    "check_recorded",
    "robots_body",
    "robots_last",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "guard": ["AddressGuard"],
        "http.client": ["HttpFetcher", "HttpLimits", "HttpOptions"],
        "journal": ["JournalledFetcher", "ResponseJournal"],
        "probe": ["Prober", "Probing"],
        "robots": ["PRODUCT_TOKEN", "RobotsRules", "robots_body", "robots_last"],
        "warc.replay": ["RecordedWeb", "check_recorded"],
        "warc.writer": ["ArchivedFetcher", "WarcArchive"],
    },
)
