"""A process that answers queries: frames of MessagePack in on stdin, frames out on stdout, until stdin closes.

It can be killed at any moment, which is the only way to stop a query, and it has left the network behind. Answers go
out while they are worked out, in pieces, and end where they grow too large.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import pyoxigraph as ox

from motherlode.index.query.diagnostics import QueryError
from motherlode.index.query.query_executor import QueryExecutor, QueryRequest, isolate_from_network
from motherlode.index.snapshot import DamagedError
from motherlode.runtime.frames import read_frame, write_frame

MAX_ADDRESS_SPACE_BYTES = 4 << 30
"""Bytes of address space; a query that needs more ends this process, not the machine."""
_CHUNK_BYTES = 1 << 16
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
"""What a text may hold and XML cannot, escaped or not (XML 1.0, 2.2): control characters and U+FFFE, U+FFFF."""
_REPLACEMENT = "\ufffd".encode()

READY, HEAD, CHUNK, DONE, INVALID, FAILED, TOO_LARGE, DAMAGED = b"R", b"H", b"P", b"D", b"W", b"F", b"C", b"B"
"""The first byte of a frame: open and waiting; what kind of answer comes; a piece of it; its end; a query that is
wrong; one that failed; one whose answer is too large; a store that is damaged."""


class WorkerQuery(msgspec.Struct, frozen=True, kw_only=True):
    """One query on its way to a worker."""

    sparql: str
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    base: str = ""
    """The IRI against which relative IRIs of the query are resolved; "" if they are errors."""
    results: str = "application/sparql-results+json"
    """The media type of solutions and truth values; the store's own name for it."""
    graph: str = "text/turtle"
    """The media type of triples."""
    max_bytes: int = 1 << 30
    """Bytes of an answer."""
    refresh: bool = False
    """Look at the store as it is now, not as it was when the worker opened it."""


class _TooLargeError(Exception):
    """An answer past its limit. Raised through the serialiser, which knows no other way to stop."""


class _ChunkWriter:
    """What the serialiser writes to: a stream of frames."""

    def __init__(self, sink: BinaryIO, max_bytes: int, *, is_xml: bool) -> None:
        self._sink = sink
        self._left = max_bytes
        self._is_xml = is_xml
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError
        self._waiting += _escape_for_xml(data) if self._is_xml else data
        if len(self._waiting) >= _CHUNK_BYTES:
            self.flush()
        return len(data)

    def flush(self) -> None:
        if self._waiting:
            write_frame(self._sink, CHUNK, bytes(self._waiting))
            self._waiting.clear()


def _escape_for_xml(data: bytes) -> bytes:
    """What the serialiser writes, as XML readers take it.

    It writes texts as they are: what XML cannot hold would cost the whole answer, and a carriage return that is not
    escaped is read as a line feed (XML 1.0, 2.11).
    """
    return _NOT_IN_XML.sub(_REPLACEMENT, data).replace(b"\r", b"&#13;")


def main() -> None:
    """`python -m motherlode.index.query.query_worker STORE WORDS`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    isolate_from_network()
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=1 << 17)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that prints can break the frames
    answerer = _open_executor(sink)
    if answerer is None:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE_BYTES, MAX_ADDRESS_SPACE_BYTES))
    write_frame(sink, READY)
    source = sys.stdin.buffer
    decode = msgspec.msgpack.Decoder(WorkerQuery).decode
    try:
        while (frame := read_frame(source)) is not None:
            order = decode(frame)
            if order.refresh:
                answerer.close()
                fresh = _open_executor(sink)
                if fresh is None:
                    return
                answerer = fresh
            _run_query(answerer, order, sink)
    finally:
        answerer.close()


def _open_executor(sink: BinaryIO) -> QueryExecutor | None:
    """The store as it is now; None where it cannot be read, which has been told then."""
    try:
        return QueryExecutor(Path(sys.argv[1]), Path(sys.argv[2]))
    except OSError as error:
        write_frame(sink, DAMAGED if isinstance(error, DamagedError) else FAILED, str(error).encode("utf-8", "replace"))
        return None


def _run_query(answerer: QueryExecutor, order: WorkerQuery, sink: BinaryIO) -> None:
    question = QueryRequest(
        sparql=order.sparql,
        default_graphs=order.default_graphs,
        named_graphs=order.named_graphs,
        base=order.base,
        allow_service=False,
    )
    try:
        answer = answerer.execute(question)
        is_graph = isinstance(answer, ox.QueryTriples)
        pieces = _ChunkWriter(
            sink, order.max_bytes, is_xml=(order.graph if is_graph else order.results).endswith("+xml")
        )
        if isinstance(answer, ox.QueryTriples):
            write_frame(sink, HEAD, b"graph")
            kind = ox.RdfFormat.from_media_type(order.graph) or ox.RdfFormat.TURTLE
            answer.serialize(cast("BinaryIO", pieces), format=kind)
        else:
            write_frame(sink, HEAD, b"boolean" if isinstance(answer, ox.QueryBoolean) else b"solutions")
            shape = ox.QueryResultsFormat.from_media_type(order.results) or ox.QueryResultsFormat.JSON
            answer.serialize(cast("BinaryIO", pieces), format=shape)
        pieces.flush()
        write_frame(sink, DONE)
    except QueryError as error:
        write_frame(sink, INVALID, msgspec.msgpack.encode(error.problem))
    except _TooLargeError:
        write_frame(sink, TOO_LARGE)
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        damage = answerer.damage(error)
        told = damage or f"{type(error).__name__}: {error}"
        write_frame(sink, DAMAGED if damage else FAILED, told.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
