"""Words: what people type leads to subjects.

`documents` makes one document of all that a graph says of a subject; `engine` is tantivy, and the only module that
knows how it spells things; `writing` keeps the index beside the quads, `journal` carries it over a crash; `asking`
turns typed words into queries, `searching` turns documents into ranked subjects, `snippets` shows why.
"""

from motherlode.index.words.asking import Search
from motherlode.index.words.searching import Hit, WordSearcher
from motherlode.index.words.snippets import Snippet
from motherlode.index.words.writing import SearchableStore, WordIndex

__all__ = ["Hit", "Search", "SearchableStore", "Snippet", "WordIndex", "WordSearcher"]
