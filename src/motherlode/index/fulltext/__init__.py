"""Full-text index: find subjects by the words of their literals. Documents are made per subject and graph."""

from motherlode.index.fulltext.query_parser import Search
from motherlode.index.fulltext.searcher import Hit, Snippet, WordSearcher
from motherlode.index.fulltext.word_index import SearchableStore, WordIndex

__all__ = ["Hit", "Search", "SearchableStore", "Snippet", "WordIndex", "WordSearcher"]
