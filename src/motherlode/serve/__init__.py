"""Serve: a crawl as a web site on this machine, running or over: a SPARQL endpoint, a search, and pages about it all.

`application` puts it together; `access` says which hosts and origins are answered, `protocol` is the SPARQL 1.1
Protocol, `negotiation` which format a client gets, `pool` the processes that work queries out and can be ended, `crawl`
what a folder tells. `html` is the one way in which pages are written: whatever comes from the web is text there, never
markup. `overview`, `finding`, `asking` and `knowing` are the pages. Read only, bound to this machine, and the only room
with a web framework.
"""

from motherlode.serve.access import Access
from motherlode.serve.application import serve
from motherlode.serve.sparql import QueryLimits

__all__ = ["Access", "QueryLimits", "serve"]
