"""Serve: a local web site for a crawl, running or finished, with a SPARQL endpoint, word search and web pages.

The server is read-only and listens on loopback. Only this package uses a web framework.
"""

from motherlode.serve.access import Access
from motherlode.serve.application import serve
from motherlode.serve.sparql import QueryLimits

__all__ = ["Access", "QueryLimits", "serve"]
