"""The writing side of the word index, and its journal.

Commits of the index are expensive and rare. So that a killed crawl loses no words, each batch is appended to a journal
before its quads are written. When the index is opened, it indexes the pages of the journal again.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import zstandard

from motherlode.index.fulltext.analysis import encode, open_index, to_tantivy
from motherlode.index.fulltext.documents import SubjectDocument, documents_from_lines, make_documents
from motherlode.index.page_record import OWN_GRAPHS, PROVENANCE, PageRecord, Store
from motherlode.model.terms import PREFIXES, page_iri

if TYPE_CHECKING:
    from motherlode.index.quad_store import QuadStore

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[str, list[SubjectDocument]]]).decode


class PendingPages:
    """The journal: batches of pages that were not committed yet. It survives a kill, but not a power failure."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size if path.exists() else 0
        self._compressor = zstandard.ZstdCompressor(level=1)

    def append(self, pages: Sequence[tuple[str, Sequence[bytes]]]) -> None:
        """Append a batch: IRIs of pages with their documents, encoded by `analysis.encode`."""
        batch = [(page, list(map(msgspec.Raw, documents))) for page, documents in pages]
        frame = self._compressor.compress(_encode(batch))
        with self._path.open("ab") as file:
            self.size += file.write(_LENGTH.pack(len(frame)) + frame)

    def pending(self) -> Iterator[list[tuple[str, list[SubjectDocument]]]]:
        """Yield the batches since the last commit. The quads of an incomplete last batch were not written either."""
        decompressor = zstandard.ZstdDecompressor()
        with self._path.open("rb") as file:
            while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
                frame = file.read(_LENGTH.unpack(head)[0])
                try:
                    yield _decode(decompressor.decompress(frame))
                except (zstandard.ZstdError, msgspec.DecodeError):
                    return

    def clear(self) -> None:
        self._path.write_bytes(b"")
        self.size = 0


HEAP_BYTES = 50_000_000
"""Memory that tantivy uses before it writes a segment."""
_COMMIT_PAGES = 20_000
_COMMIT_BYTES = 32 << 20
_COMMIT_SECONDS = 10.0
"""A commit is due after this number of pages, bytes of the journal or seconds, whichever comes first."""


EncodedPages = list[tuple[str, list[tuple[SubjectDocument, bytes]]]]
"""IRIs of pages with their documents, each with its encoded form."""


class WordIndex:
    """Writes a word index. A page that is written again replaces its documents. Opening recovers from the journal."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        index = open_index(path, create=True)
        self.is_new = index.searcher().num_docs == 0
        """The index is empty: nothing was written yet, or the process was killed while the index was built."""
        self._writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)
        self._journal = PendingPages(path / "pending.journal")
        self._clock = clock
        self._committed_at = clock()
        self._pages = 0
        if self._journal.size:
            for pages in self._journal.pending():
                self._index([(page, [(one, encode(one)) for one in found]) for page, found in pages])
            self.commit()

    def prepare(self, records: Iterable[PageRecord]) -> EncodedPages:
        """Append pages to the journal, before their quads are written. Return them as `write` takes them."""
        latest = {page_iri(record.url)[1:-1]: record for record in records}
        pages = [(page, [(one, encode(one)) for one in make_documents(record)]) for page, record in latest.items()]
        self._journal.append([(page, [encoded for _, encoded in found]) for page, found in pages])
        return pages

    def write(self, pages: EncodedPages) -> None:
        """Index pages that `prepare` has returned. They can be found after the next commit."""
        self._index(pages)
        self._pages += len(pages)
        if (
            self._pages >= _COMMIT_PAGES
            or self._journal.size >= _COMMIT_BYTES
            or self._clock() - self._committed_at >= _COMMIT_SECONDS
        ):
            self.commit()

    def _index(self, pages: EncodedPages) -> None:
        for page, found in pages:
            self._writer.delete_documents_by_term("page", page)
            for document, encoded in found:
                self._writer.add_document(to_tantivy(document, encoded))

    def commit(self) -> None:
        """Make all written pages durable and visible to searchers."""
        self._writer.commit()
        self._journal.clear()
        self._pages = 0
        self._committed_at = self._clock()

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
        pages = self._words.prepare([record for record in records if not record.state])
        self._quads.write(records)
        self._words.write(pages)

    def flush(self) -> None:
        self._quads.flush()
        self._words.commit()
