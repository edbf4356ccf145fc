"""Which pages a word index contains, for `motherlode verify`."""

from pathlib import Path

import tantivy

from motherlode.index.fulltext.analysis import open_index, schema
from motherlode.index.fulltext.searcher import LinkedFolder, is_writable
from motherlode.index.fulltext.word_index import OLD_JOURNAL


class WordCoverage:
    """Looks up pages in a word index. With a journal of an earlier version, the next writer builds it again."""

    def __init__(self, path: Path) -> None:
        """Open the word index in a folder. FileNotFoundError if there is none, ValueError if it cannot be read."""
        self._links = LinkedFolder(path) if path.is_dir() and not is_writable(path) else None
        self._searcher = open_index(path if self._links is None else self._links.path).searcher()
        journal = path / OLD_JOURNAL
        self._is_rebuilt = journal.exists() and journal.stat().st_size > 0

    def has(self, page: str) -> bool:
        """Return whether the index has a document of a page, given by its IRI without angle brackets."""
        query = tantivy.Query.term_query(schema(), "page", page)
        return self._is_rebuilt or bool(self._searcher.search(query, limit=1).hits)
