"""Pages that the word index has taken but not yet made lasting, so that a killed crawl loses no words.

Committing the index is dear, so it happens seldom; the quads are lasting at once. What lies between stands here: each
batch is appended before its quads are written, and the file is emptied after each commit. When the index is opened and
finds something here, it takes those pages again, which changes nothing for those that it had. Pages are here as the
index has them, by their documents: those are a fifth of the page's lines, and are encoded already.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
import zstandard

from motherlode.index.fulltext.analysis import encode, open_index, to_tantivy
from motherlode.index.fulltext.documents import SubjectDocument, documents_from_lines, make_documents, records_by_page
from motherlode.index.page_record import PROVENANCE, PageRecord, Store
from motherlode.model.terms import PREFIXES

if TYPE_CHECKING:
    import pyoxigraph as ox


_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[str, list[SubjectDocument]]]).decode

JournalPages = Sequence[tuple[str, Sequence[bytes]]]
"""Pages, and their documents as `engine.encode` gives them."""


class PendingPages:
    """A file of batches. Survives the end of the process, not the loss of power: then `search --rebuild` helps."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size if path.exists() else 0
        """Bytes that wait for a commit."""
        self._compressor = zstandard.ZstdCompressor(level=1)

    def append(self, pages: JournalPages) -> None:
        frame = self._compressor.compress(
            _encode([(page, list(map(msgspec.Raw, documents))) for page, documents in pages])
        )
        with self._path.open("ab") as file:
            self.size += file.write(_LENGTH.pack(len(frame)) + frame)

    def pending(self) -> Iterator[list[tuple[str, list[SubjectDocument]]]]:
        """The batches since the last commit; half a batch at the end is one whose quads were not written either."""
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


# ── Words go in: page by page beside the quads, or all at once from a store that has none yet.

HEAP_BYTES = 50_000_000
"""Bytes that the engine may gather before it writes a segment."""
_COMMIT_PAGES = 20_000
_COMMIT_BYTES = 32 << 20
_COMMIT_SECONDS = 10.0
"""A commit is due after that many pages, bytes of the journal or seconds, whichever comes first."""


class QuadSource(Protocol):
    """A store that can be read from end to end, graph by graph, or a part of it by its terms."""

    def quads(self) -> Iterator[ox.Quad]: ...

    def match(self, *, predicate: str | None = None, graph: str | None = None) -> Iterator[ox.Quad]: ...


EncodedPages = list[tuple[str, list[tuple[SubjectDocument, bytes]]]]
"""Pages by their IRIs, each with its documents and how they are kept."""


class WordIndex:
    """The writing side of an index. A page written again replaces its documents; opening catches up after a kill."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        index = open_index(path, create=True)
        self.is_new = index.searcher().num_docs == 0
        """It knows no words at all: nothing was written yet, or a kill came before it was made."""
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
        """Note pages that are about to be written, before anything else knows of them. What `write` wants then."""
        pages = [
            (page, [(one, encode(one)) for one in make_documents(record)])
            for page, record in records_by_page(records).items()
        ]
        self._journal.append([(page, [encoded for _, encoded in found]) for page, found in pages])
        return pages

    def write(self, pages: EncodedPages) -> None:
        """Take pages that have been announced. They can be found from the next commit on."""
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
        """Make all that was written lasting, and visible to those who search."""
        self._writer.commit()
        self._journal.clear()
        self._pages = 0
        self._committed_at = self._clock()

    def rebuild(self, source: QuadSource, *, each: Callable[[int], None] = lambda pages: None) -> int:
        """Make the index anew from the quads; `each` hears how many pages are done. How many there were.

        The old one goes with the commit at the end: until then it can be searched, and a kill leaves it as it was.
        """
        self._writer.rollback()  # only what is committed can be deleted as a whole
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


def _pages_in_store(source: QuadSource) -> Iterator[list[SubjectDocument]]:
    """The documents of each page of a store; a page's types hold for all the graphs that it names itself."""
    own: dict[str, list[str]] = {}
    for quad in source.match(predicate=f"<{PREFIXES['ml']}graph>", graph=f"<{PROVENANCE}>"):
        own.setdefault(str(quad.subject), []).append(str(quad.object))
    apart = {PROVENANCE, *(name[1:-1] for page, graphs in own.items() for name in (page, *graphs))}
    for graph, group in groupby(source.quads(), key=lambda quad: getattr(quad.graph_name, "value", "")):
        if graph not in apart:
            yield documents_from_lines(graph, (f"{quad} ." for quad in group))
    for page, graphs in own.items():
        quads = chain.from_iterable(source.match(graph=name) for name in (page, *graphs))
        yield documents_from_lines(page[1:-1], (f"{quad} ." for quad in quads))


class SearchableStore:
    """A store of quads whose words can be searched: quads first, words next, and both again after a crash."""

    def __init__(self, quads: Store, words: WordIndex) -> None:
        self._quads = quads
        self._words = words

    def write(self, records: Sequence[PageRecord]) -> None:
        pages = self._words.prepare(records)
        self._quads.write(records)
        self._words.write(pages)

    def flush(self) -> None:
        self._quads.flush()
        self._words.commit()
