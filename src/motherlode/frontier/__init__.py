"""The frontier: stores every known URL once, and leases URLs when the policy and the delays of their hosts allow.

The life of a URL here:

1. A page or a seed mentions it: `add_links`. A known URL is skipped. A URL out of scope is counted as refused.
   Otherwise the policy rates the URL, and it waits in the queue of its *arm*.
2. Its host becomes ready when its delay and the delay of its IP address have passed; then the policy may pick the
   host's arms. `lease` pops the best URL of the arm that the policy picks. If the host's IP address is not known yet,
   the lease is for the DNS look-up. If its robots.txt is not known, or was read more than a day ago, the lease is for
   robots.txt. Meanwhile the page is *held*, and it is the next request to the host. If the rules forbid the URL or the
   host's budget is spent, the URL is refused, and the reason is stored. If the robots.txt redirects to another host,
   the request for it keeps the delays of that host.
3. While a request is under way, the URL is *in flight*. The end of the request starts the delays of host and IP
   address again.
4. The URL ends as done or failed, or waits for a retry if the table in `backoff` says so.

Only a limited number of hosts of one registrable domain is contacted until one of them has a relevant page. Each host
with a relevant page raises the limit. The URLs of the other hosts wait (domain_limit.py).

Guarantees:

- A URL is in exactly one state.
- A request to a host starts no earlier than its delay after the end of the previous one. With a delay of zero, at most
  `per_host` requests are in flight. The same holds for IP addresses and their delay.
- The delay of a host is the largest of the configured delay, its Crawl-delay, its Retry-After and the delay that
  follows from its response times. A host with a long delay is slow, but never dropped.
- A host that does not respond is snoozed for longer and longer, and finally given up. A host whose robots.txt cannot be
  read is tried for hours, and never crawled without the rules.
- One pick costs the policy's pick and logarithmic time.
- After a crash the state is that of the last `commit`. URLs that were in flight wait again. Every host is snoozed for
  its delay once, because the requests since that commit are unknown.
- If the machine's clock is set back, in a run or between two runs, waiting times keep their length.

The frontier reads no clock and opens no socket: `now` is an argument, so a simulator can call the same code.
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
