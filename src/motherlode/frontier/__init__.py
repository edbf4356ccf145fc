"""The frontier: every known URL once, and leave to fetch it when its turn and its host's time have come.

The life of a URL here:

1. A page (or a seed) mentions it: `offer`. If it is known already, nothing happens. If it is out of scope, the refusal
   is counted. Otherwise the policy rates it, and it waits in the queue of its *arm*.
2. Its host wakes when its clock and that of its IP address allow; then the policy may pick the host's arms. `next` pops
   the best URL of the arm that the policy picks. If the host's address is not known yet, the ticket is to find it; if
   its robots.txt is not known, or was read more than a day ago, the ticket is for that. Meanwhile the page is *held*,
   and goes first afterwards; if the rules forbid the URL or its host's budget is spent, it is refused, with the reason
   on record. Rules that lie on another host are asked for there, by the clocks of that host.
3. While a request is under way the URL is *in flight*. `answered` starts the clocks of host and address again.
4. It ends as done or failed, or waits again after a while if the table in `retry` says so.

Of one registrable domain only so many hosts are contacted before one gave a relevant page, and as many more for each
that did; URLs of the others wait (domains.py).

Guarantees: a URL is in exactly one state; no two requests to one host start closer than its delay after the end of the
one before (with a delay of zero, at most `per_host` at once), nor two to one IP address closer than its delay; the
delay of a host is the largest of the configured one, its Crawl-delay, its Retry-After and what its answers suggest; a
host that asks for a long delay is slow, never dropped; a host that does not answer rests longer and longer, and is
given up in the end; one whose robots.txt cannot be read is asked for hours, and never crawled without it; a pick costs
the policy's pick and a logarithm; after a crash the state is that of the last `commit`, what was in flight waits again,
and every host rests for its delay once, since the requests since that commit are forgotten; where the machine's clock
is set back, in a run or between two, what was to wait waits as long as it was to. Nothing here reads a clock or opens a
socket: `now` is an argument, so a simulation is only another caller.
"""

from motherlode.frontier.backoff import SLOW_DOWN, End
from motherlode.frontier.domain_limit import NOTHING_WITHHELD, Withheld, domain_refusal
from motherlode.frontier.frontier import Frontier
from motherlode.frontier.hosts import HostBudget
from motherlode.frontier.lease import MAX_REDIRECTS, REVISIT, Entry, HostRecord, Lease, Politeness, UrlState
from motherlode.frontier.storage.base import FrontierStorage
from motherlode.frontier.storage.integrity import damage
from motherlode.frontier.storage.lmdb import LmdbStorage
from motherlode.frontier.storage.memory import MemoryStorage
from motherlode.frontier.storage.tables import STORAGE_ERRORS

__all__ = [
    "MAX_REDIRECTS",
    "NOTHING_WITHHELD",
    "REVISIT",
    "SLOW_DOWN",
    "STORAGE_ERRORS",
    "End",
    "Entry",
    "Frontier",
    "FrontierStorage",
    "HostBudget",
    "HostRecord",
    "Lease",
    "LmdbStorage",
    "MemoryStorage",
    "Politeness",
    "UrlState",
    "Withheld",
    "damage",
    "domain_refusal",
]
