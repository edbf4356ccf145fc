"""The engine: it takes URLs from the frontier and brings each to its end.

The life of a URL:

1. `Engine` asks the frontier for a lease while a slot is free (`limits.Slots`) and no limit is reached
   (`limits.Limits`). A lease is permission to send one request now. For the first page of a host, the frontier first
   gives leases for its IP address and its robots.txt. The state of a lease in flight is one `LeaseResult`.
2. `LeasePipeline` runs many leases at the same time. It sends the request (`robots_and_dns.send_request`), hands the
   page to a parser process, fetches what the page needs to be parsed (`Subrequests`), and hands the quads to the
   writer.
3. The result waits in a queue. If nothing came back over the network, `OutageMonitor` holds it until it is known
   whether our own network is down.
4. The engine frees the slot, and `Settlement` settles one result at a time: it lets the policy learn, adds the links
   of the page to the frontier (`Scheduler`, which the simulator uses as well), ends the lease, and records a visit.
   `RobotsAndDns` settles the leases of IP addresses and robots.txt files.
5. `Checkpointer` waits until the quads are in the store, and then commits frontier, counters and visits in one
   transaction. After a crash the state is that of the last commit (`recovery`), and the journal of responses saves the
   requests since then from being repeated.

Memory is bounded: at most `concurrency` leases are in flight, slow requests aside (`limits`). An unexpected exception
in one URL is logged and recorded as a failure of kind `internal`; the crawl goes on. `factory` makes a crawl from a
job, and `components` lists its parts.
"""
