"""Which pages a word index contains, for `motherlode verify`."""

from pathlib import Path

import tantivy

from motherlode.index.fulltext.analysis import open_index, schema
from motherlode.index.fulltext.word_index import PendingPages


class WordCoverage:
    """Looks up pages in a word index. Pages of its journal count, because the next writer indexes them."""

    def __init__(self, path: Path) -> None:
        """Open the word index in a folder. FileNotFoundError if there is none, ValueError if it cannot be read."""
        self._searcher = open_index(path).searcher()
        journal = path / "pending.journal"
        batches = PendingPages(journal).pending() if journal.exists() else ()
        self._pending = {page for batch in batches for page, documents in batch if documents}

    def has(self, page: str) -> bool:
        """Return whether the index has a document of a page, given by its IRI without angle brackets."""
        query = tantivy.Query.term_query(schema(), "page", page)
        return page in self._pending or bool(self._searcher.search(query, limit=1).hits)
