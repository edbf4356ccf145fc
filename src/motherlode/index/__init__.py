"""Index: pages become quads on disk that can be queried, each with its origin.

A page's statements go to the graph that its URL names, and once more to the default graph, so that a plain query sees
the union of all pages with each statement once; what is known about the page itself (when, from where, status, type,
syntaxes, hash) goes to the graph `urn:motherlode:provenance`. Writing is idempotent: a page written again replaces what
it said before, and leaves alone what other pages say, too. Only this room opens a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.on_demand import names_from

if TYPE_CHECKING:
    from motherlode.index.apart import StoreApart
    from motherlode.index.crawl_store import CrawlStore, StoreHere
    from motherlode.index.export import export_nquads
    from motherlode.index.keys import syntax_keys
    from motherlode.index.records import PROVENANCE, PageRecord, RunRecord, page_lines
    from motherlode.index.store import QuadStore, merge, store_bytes
    from motherlode.index.writer import Writer

__all__ = [
    "PROVENANCE",
    "CrawlStore",
    "PageRecord",
    "QuadStore",
    "RunRecord",
    "StoreApart",
    "StoreHere",
    "Writer",
    "export_nquads",
    "merge",
    "page_lines",
    "store_bytes",
    "syntax_keys",
]

__getattr__ = names_from(
    __name__,
    apart=["StoreApart"],
    crawl_store=["CrawlStore", "StoreHere"],
    export=["export_nquads"],
    keys=["syntax_keys"],
    records=["PROVENANCE", "PageRecord", "RunRecord", "page_lines"],
    store=["QuadStore", "merge", "store_bytes"],
    writer=["Writer"],
)
