"""Words: what people type leads to subjects.

`make_documents` makes one document of all that a graph says of a subject; `engine` is tantivy, and the only module that
knows how it spells things; `writing` keeps the index beside the quads, `journal` carries it over a crash; `asking`
turns typed words into queries, `searching` turns documents into ranked subjects, `snippets` shows why.
"""

from motherlode.index.fulltext.query_parser import Search
from motherlode.index.fulltext.searcher import Hit, Snippet, WordSearcher
from motherlode.index.fulltext.word_index import SearchableStore, WordIndex

__all__ = ["Hit", "Search", "SearchableStore", "Snippet", "WordIndex", "WordSearcher"]
