"""Index: store the statements of pages as quads on disk, with their provenance, and answer queries.

The statements of a page go to the graph that is named by the page's URL. They also go to the default graph, so that a
query without GRAPH sees the union of all pages, with each statement once. Facts about the page itself (time, referrer,
status, media type, syntaxes, hash) go to the graph `urn:motherlode:provenance`. Writing is idempotent: a page that is
written again replaces its old statements, and statements that other pages also make stay in the union. Only this
package opens a quad store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    from motherlode.index.crawl_store import BatchWriter, CrawlStore, LocalStore
    from motherlode.index.export.streams import export_nquads
    from motherlode.index.page_record import PROVENANCE, PageRecord, RunRecord, serialize_page, syntax_keys
    from motherlode.index.quad_store import QuadStore, merge, store_bytes
    from motherlode.index.store_process import StoreClient

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
    "serialize_page",
    "store_bytes",
    "syntax_keys",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "crawl_store": ["BatchWriter", "CrawlStore", "LocalStore"],
        "export.streams": ["export_nquads"],
        "page_record": ["PROVENANCE", "PageRecord", "RunRecord", "serialize_page", "syntax_keys"],
        "quad_store": ["QuadStore", "merge", "store_bytes"],
        "store_process": ["StoreClient"],
    },
)
