"""The frontier: every known URL once, and permission to fetch it when its host is ready.

The life of a URL here:

1. A page or a seed mentions it: `add_links`. If it is known already, nothing happens. If it is out of scope, the
   refusal is counted. Otherwise the policy rates it, and it waits in the queue of its *arm*.
2. Its host is *ready* when the delays of the host and of its IP address are over; then the policy may pick the host's
   arms. `lease` takes the best URL of the arm that the policy picks, and returns a lease: permission to send one
   request now. If the host's IP address is not known yet, the lease is for a DNS lookup; if its robots.txt is not
   known, or was read more than a day ago, the lease is for that. Meanwhile the page is *held*, and goes first
   afterwards. If robots.txt forbids the URL, or its host's budget is spent, it is refused, and the reason is stored.
   A robots.txt that is on another host is requested there, by the delays of that host.
3. While a request is sent, the URL is *in flight*. `response_received` starts the delays of host and IP address.
4. `end` ends the lease, exactly once. The table `leases.ENDINGS` says what follows for host and URL. After a failure
   the URL is tried again later, or has failed, as `leases.TREATMENTS` says.

Only some hosts of a registrable domain are contacted before one of them has a relevant page. Each host with a relevant
page allows as many more. URLs of the other hosts wait (`admission`).

Guarantees:

- A URL is in exactly one state.
- No two requests to one host start closer than its delay after the end of the one before (with a delay of zero, at
  most `per_host` at once), nor two to one IP address closer than the delay of addresses.
- The delay of a host is the largest of the configured one, its Crawl-delay, its Retry-After and what its response
  times suggest. A host that asks for a long delay is slow, never dropped.
- A host that does not answer is snoozed for longer and longer, and is given up in the end. If a robots.txt cannot be
  read, it is requested for hours, and the host is never crawled without it.
- A pick costs the policy's pick and a logarithm.
- After a crash the state is that of the last `commit`. URLs that were in flight wait again, and every host waits for
  its delay once, because the requests since that commit are not known.
- If the machine's clock was set back between two runs, delays last as long as they were to.

Nothing here reads a clock or opens a socket: `now` is an argument, so a simulation is only another caller.
"""

from motherlode.frontier.admission import Withheld
from motherlode.frontier.domain_limit import domain_refusal
from motherlode.frontier.frontier import Frontier
from motherlode.frontier.leases import End
from motherlode.frontier.records import (
    MAX_REDIRECTS,
    AddressGrant,
    Entry,
    HostBudget,
    HostRecord,
    Lease,
    Politeness,
    UrlState,
    is_revisit_arm,
    revisit_arm,
)
from motherlode.frontier.storage import FrontierStorage, LmdbStorage, MemoryStorage
from motherlode.frontier.storage.integrity import damage
from motherlode.frontier.storage.tables import STORAGE_ERRORS, SavedStateError

__all__ = [
    "MAX_REDIRECTS",
    "STORAGE_ERRORS",
    "AddressGrant",
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
    "SavedStateError",
    "UrlState",
    "Withheld",
    "damage",
    "domain_refusal",
    "is_revisit_arm",
    "revisit_arm",
]
