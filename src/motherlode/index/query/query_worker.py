"""A process that executes queries. It reads MessagePack frames from stdin and writes frames to stdout.

It ends when stdin closes. It can be killed at any time, which is the only way to stop a query. It has no network
access. Results are written in chunks while they are computed, up to a limit of bytes.
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
from motherlode.runtime import read_frame, write_frame

MAX_ADDRESS_SPACE_BYTES = 4 << 30
"""Limit of the address space. A query that needs more ends this process and does not exhaust the machine."""
_CHUNK_BYTES = 1 << 16
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
"""Characters that XML cannot contain, not even escaped (XML 1.0, 2.2): control characters, U+FFFE and U+FFFF."""
_REPLACEMENT = "\ufffd".encode()

READY, HEAD, CHUNK, DONE, INVALID, FAILED, TOO_LARGE, DAMAGED = b"R", b"H", b"P", b"D", b"W", b"F", b"C", b"B"
"""The first byte of a frame: the worker is ready; the kind of the result; a chunk of it; its end; the query is invalid;
the query failed; its result is too large; the store is damaged."""


class WorkerQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query as it is sent to a worker."""

    sparql: str
    default_graphs: tuple[str, ...] | None = None
    named_graphs: tuple[str, ...] | None = None
    base: str = ""
    """The IRI against which relative IRIs of the query are resolved; "" if they are errors."""
    results: str = "application/sparql-results+json"
    """The media type of solutions and booleans, as pyoxigraph names it."""
    graph: str = "text/turtle"
    """The media type of triples."""
    max_bytes: int = 1 << 30
    """Maximum size of the result."""
    refresh: bool = False
    """Open a new snapshot of the store before the query."""


class _TooLargeError(Exception):
    """The result is too large. `_ChunkWriter` raises it, because a serializer cannot be stopped in any other way."""


class _ChunkWriter:
    """A file object for the serializer that writes frames."""

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
    """Return the output of the serializer as valid XML.

    The serializer does not escape control characters, so that XML parsers would reject the whole result. XML parsers
    read an unescaped carriage return as a line feed (XML 1.0, 2.11).
    """
    return _NOT_IN_XML.sub(_REPLACEMENT, data).replace(b"\r", b"&#13;")


def main() -> None:
    """`python -m motherlode.index.query.query_worker STORE WORDS`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    isolate_from_network()
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=1 << 17)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to stderr and cannot corrupt the frames
    executor = _open_executor(sink)
    if executor is None:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE_BYTES, MAX_ADDRESS_SPACE_BYTES))
    write_frame(sink, READY)
    source = sys.stdin.buffer
    decode = msgspec.msgpack.Decoder(WorkerQuery).decode
    try:
        while (frame := read_frame(source)) is not None:
            query = decode(frame)
            if query.refresh:
                executor.close()
                fresh = _open_executor(sink)
                if fresh is None:
                    return
                executor = fresh
            _run_query(executor, query, sink)
    finally:
        executor.close()


def _open_executor(sink: BinaryIO) -> QueryExecutor | None:
    """Open the store. If this fails, write a frame with the reason and return None."""
    try:
        return QueryExecutor(Path(sys.argv[1]), Path(sys.argv[2]))
    except OSError as error:
        write_frame(sink, DAMAGED if isinstance(error, DamagedError) else FAILED, str(error).encode("utf-8", "replace"))
        return None


def _run_query(executor: QueryExecutor, query: WorkerQuery, sink: BinaryIO) -> None:
    request = QueryRequest(
        sparql=query.sparql,
        default_graphs=query.default_graphs,
        named_graphs=query.named_graphs,
        base=query.base,
        allow_service=False,
    )
    try:
        result = executor.execute(request)
        is_graph = isinstance(result, ox.QueryTriples)
        chunks = _ChunkWriter(
            sink,
            query.max_bytes,
            is_xml=(query.graph if is_graph else query.results).endswith("+xml"),
        )
        if isinstance(result, ox.QueryTriples):
            write_frame(sink, HEAD, b"graph")
            kind = ox.RdfFormat.from_media_type(query.graph) or ox.RdfFormat.TURTLE
            result.serialize(cast("BinaryIO", chunks), format=kind)
        else:
            write_frame(sink, HEAD, b"boolean" if isinstance(result, ox.QueryBoolean) else b"solutions")
            shape = ox.QueryResultsFormat.from_media_type(query.results) or ox.QueryResultsFormat.JSON
            result.serialize(cast("BinaryIO", chunks), format=shape)
        chunks.flush()
        write_frame(sink, DONE)
    except QueryError as error:
        write_frame(sink, INVALID, msgspec.msgpack.encode(error.problem))
    except _TooLargeError:
        write_frame(sink, TOO_LARGE)
    except (OSError, ValueError, RuntimeError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        damage = executor.damage(error)
        message = damage or f"{type(error).__name__}: {error}"
        write_frame(sink, DAMAGED if damage else FAILED, message.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
