"""Fetch: a cleared request becomes a page or a failure, never an exception.

`HttpFetcher` is the only code that opens a connection to the web; every connection passes the address guard, every
body its limits. `RecordedWeb` gives the same answers from a WARC file. Redirects are not followed here: they go back to
the frontier as data, so that their targets pass the same clocks, rules and scope as any other URL. Politeness is the
frontier's: whoever holds a ticket may fetch at once.
"""

from motherlode.fetch.archive import Archive
from motherlode.fetch.guard import AddressGuard
from motherlode.fetch.http import HttpFetcher, HttpLimits, HttpOptions
from motherlode.fetch.journal import Journal, JournalledFetcher
from motherlode.fetch.probing import Prober, Probing
from motherlode.fetch.recorded import RecordedWeb
from motherlode.fetch.robots import PRODUCT_TOKEN, RobotsRules, robots_body

__all__ = [
    "PRODUCT_TOKEN",
    "AddressGuard",
    "Archive",
    "HttpFetcher",
    "HttpLimits",
    "HttpOptions",
    "Journal",
    "JournalledFetcher",
    "Prober",
    "Probing",
    "RecordedWeb",
    "RobotsRules",
    "robots_body",
]
