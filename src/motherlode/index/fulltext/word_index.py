"""The writing side of the word index.

Commits of the index are expensive and rare. A killed crawl loses no words, because its log keeps the pages, and its
indexer moves its mark in the log only after a commit (`index.indexer`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from motherlode.index.fulltext.analysis import encode, open_index, to_tantivy
from motherlode.index.fulltext.documents import SubjectDocument, documents_from_lines, make_documents
from motherlode.index.page_record import OWN_GRAPHS, PROVENANCE, PageRecord, Store
from motherlode.model.terms import PREFIXES, page_iri

if TYPE_CHECKING:
    from motherlode.index.quad_store import QuadStore

HEAP_BYTES = 50_000_000
"""Memory that tantivy uses before it writes a segment."""
OLD_JOURNAL = "pending.journal"
"""File of earlier versions with pages whose words were not committed. The words of the whole store are indexed then."""


class WordIndex:
    """Writes a word index. A page that is written again replaces its documents."""

    def __init__(self, path: Path) -> None:
        index = open_index(path, create=True)
        self._journal = path / OLD_JOURNAL
        is_complete = not self._journal.exists() or self._journal.stat().st_size == 0
        self.is_new = not is_complete or index.searcher().num_docs == 0
        """The index is empty or incomplete, and must be filled from the store (`rebuild`)."""
        self._writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)

    def write(self, records: Iterable[PageRecord]) -> None:
        """Index pages. They are durable and can be found after the next commit."""
        for page, record in {page_iri(record.url)[1:-1]: record for record in records}.items():
            self._writer.delete_documents_by_term("page", page)
            for document in make_documents(record):
                self._writer.add_document(to_tantivy(document, encode(document)))

    def commit(self) -> None:
        """Make all written pages durable and visible to searchers."""
        self._writer.commit()
        self._journal.unlink(missing_ok=True)

    def rebuild(self, source: QuadStore, *, each: Callable[[int], None] = lambda pages: None) -> int:
        """Rebuild the index from a store and return the number of pages. The old index stays until the end."""
        self._writer.rollback()  # `delete_all_documents` affects only committed documents
        self._writer.delete_all_documents()
        pages = 0
        for found in _pages_in_store(source):
            for document in found:
                self._writer.add_document(to_tantivy(document, encode(document)))
            pages += 1
            each(pages)
        self.commit()
        return pages

    def close(self) -> None:
        self.commit()
        self._writer.wait_merging_threads()


def _pages_in_store(source: QuadStore) -> Iterator[list[SubjectDocument]]:
    """Yield the documents of each page of a store. A page includes the graphs that it names itself."""
    own: dict[str, list[str]] = {}
    for quad in source.match(predicate=f"<{PREFIXES['ml']}graph>", graph=f"<{PROVENANCE}>"):
        own.setdefault(str(quad.subject), []).append(str(quad.object))
    apart = {*OWN_GRAPHS, *(name[1:-1] for page, graphs in own.items() for name in (page, *graphs))}
    for graph, group in groupby(source.quads(), key=lambda quad: getattr(quad.graph_name, "value", "")):
        if graph not in apart:
            yield documents_from_lines(graph, (f"{quad} ." for quad in group))
    for page, graphs in own.items():
        quads = chain.from_iterable(source.match(graph=name) for name in (page, *graphs))
        yield documents_from_lines(page[1:-1], (f"{quad} ." for quad in quads))


class SearchableStore:
    """A store that writes the quads first and then the words. After a crash, both are written again."""

    def __init__(self, quads: Store, words: WordIndex) -> None:
        self._quads = quads
        self._words = words

    def write(self, records: Sequence[PageRecord]) -> None:
        self._quads.write(records)
        self._words.write(record for record in records if not record.state)

    def flush(self) -> None:
        self._quads.flush()
        self._words.commit()
