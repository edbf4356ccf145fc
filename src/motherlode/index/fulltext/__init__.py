"""Full-text index: find subjects by the words of their literals.

`documents` makes one document per subject and graph. `analysis` defines the fields and the analyzer of tantivy.
`word_index` writes the index besides the quads, with a journal for recovery after a crash. `query_parser` turns typed
words into queries, and `searcher` turns matching documents into ranked subjects with snippets.
"""

from motherlode.index.fulltext.query_parser import Search
from motherlode.index.fulltext.searcher import Hit, Snippet, WordSearcher
from motherlode.index.fulltext.word_index import SearchableStore, WordIndex

__all__ = ["Hit", "Search", "SearchableStore", "Snippet", "WordIndex", "WordSearcher"]
