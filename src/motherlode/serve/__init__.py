"""Serve: a local web site for a crawl, running or finished, with a SPARQL endpoint, word search and web pages.

`application` combines the parts and checks hosts and origins. `sparql` is the SPARQL 1.1 Protocol, and `negotiation`
chooses formats. Queries run in processes that can be killed (`index.query.query_pool`). `pages` and `entity_pages`
render the templates, which escape all text from the web. The server is read-only and listens on loopback. Only this
package uses a web framework.
"""

from motherlode.serve.application import Access, serve
from motherlode.serve.sparql import QueryLimits

__all__ = ["Access", "QueryLimits", "serve"]
