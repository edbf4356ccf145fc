"""Index: pages become quads on disk that can be queried, each with its origin.

A page's statements go to the graph that its URL names, and once more to the default graph, so that a plain query sees
the union of all pages with each statement once; what is known about the page itself (when, from where, status, type,
syntaxes, hash) goes to the graph `urn:motherlode:provenance`. Writing is idempotent: a page written again replaces what
it said before, and leaves alone what other pages say, too. Only this room opens a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime.lazy import lazy_exports

if TYPE_CHECKING:
    from motherlode.index.crawl_store import BatchWriter, CrawlStore, LocalStore
    from motherlode.index.export.nquads import export_nquads
    from motherlode.index.page_record import PROVENANCE, PageRecord, RunRecord, page_lines, syntax_keys
    from motherlode.index.quad_store import QuadStore, merge, store_bytes
    from motherlode.index.store_client import StoreClient

__all__ = [
    "PROVENANCE",
    "BatchWriter",
    "CrawlStore",
    "LocalStore",
    "PageRecord",
    "QuadStore",
    "RunRecord",
    "StoreClient",
    "export_nquads",
    "merge",
    "page_lines",
    "store_bytes",
    "syntax_keys",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "crawl_store": ["BatchWriter", "CrawlStore", "LocalStore"],
        "export.nquads": ["export_nquads"],
        "page_record": ["PROVENANCE", "PageRecord", "RunRecord", "page_lines", "syntax_keys"],
        "quad_store": ["QuadStore", "merge", "store_bytes"],
        "store_client": ["StoreClient"],
    },
)
