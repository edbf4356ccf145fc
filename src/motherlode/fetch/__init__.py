"""Fetch: one request in, one page or failure out. A fetcher never raises an exception for what a server does.

`HttpFetcher` is the only code that opens connections to the web. `RecordedWeb` returns the responses of a WARC file
instead. `JournalledFetcher` and `ArchivedFetcher` wrap a fetcher: the first recalls responses after a kill, the second
writes them to WARC files. Redirects are returned as failures with a location, so that their targets pass the frontier
like any other URL. The frontier also enforces politeness: a request that has a lease may be sent at once.

The life of a request in `HttpFetcher` (`http.client`):

1. `dns.GuardedResolver` resolves the host name. `guard.AddressGuard` refuses addresses that are not public.
2. `http.connections.ConnectionPool` takes an idle connection, or `Connector` opens one: directly or through a proxy
   (`http.proxy`), with TLS for https (`http.tls`). `Connection` sends the request and enforces the timeouts.
3. `http.parser` parses the response as it arrives, and repairs faults that browsers accept as well.
4. `http.response.ResponseReader` receives status, headers and body, and decodes it (`http.decoding`) up to the limit.
   It ends the transfer early if the status is a failure or if the body cannot contain data or links.
5. The result is a `Page` or a `Failure`. Inside the client an error is a `FetchError` (`http.errors`).

The names below are imported when they are first used, so that a fetcher loads neither the archive nor the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.fetch.guard import AddressGuard
    from motherlode.fetch.http.client import HttpFetcher, HttpLimits, HttpOptions
    from motherlode.fetch.journal import JournalledFetcher, ResponseJournal
    from motherlode.fetch.probe import Prober, Probing, content_type_of, replaces_get
    from motherlode.fetch.robots import RobotsRules, robots_body, robots_lifetime
    from motherlode.fetch.warc.reader import RecordedWeb, check_recorded
    from motherlode.fetch.warc.writer import ArchivedFetcher, WarcArchive

__all__ = [
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
    "content_type_of",
    "replaces_get",
    "robots_body",
    "robots_lifetime",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "guard": ["AddressGuard"],
        "http.client": ["HttpFetcher", "HttpLimits", "HttpOptions"],
        "journal": ["JournalledFetcher", "ResponseJournal"],
        "probe": ["Prober", "Probing", "content_type_of", "replaces_get"],
        "robots": ["RobotsRules", "robots_body", "robots_lifetime"],
        "warc.reader": ["RecordedWeb", "check_recorded"],
        "warc.writer": ["ArchivedFetcher", "WarcArchive"],
    },
)
