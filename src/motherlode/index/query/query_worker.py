"""Execute SPARQL queries: in this process (`QueryExecutor`), or in a worker process that can be killed (`main`).

Killing is the only way to stop a query. The worker has no network access. It reads MessagePack frames from stdin and
writes frames to stdout, results in chunks while they are computed.
"""

import ctypes
import os
import re
import resource
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import pyoxigraph as ox

from motherlode.index.quad_store import QuadStore, StoreResult
from motherlode.index.query.diagnostics import QueryError, diagnose
from motherlode.index.query.service_clause import Lookup, rewrite_services
from motherlode.index.snapshot import DamagedError, is_damage, store_advice
from motherlode.model.sparql import order_variables, select_variables
from motherlode.runtime import end_with_parent, read_frame, write_frame

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""Flags of unshare(2): a new user namespace, and a new network namespace."""


class QueryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A query and its parameters, as they are sent to a worker. An executor ignores the last four."""

    sparql: str
    default_graphs: tuple[str, ...] | None = None
    """IRIs of graphs that override the FROM clauses of the query; None uses those of the query."""
    named_graphs: tuple[str, ...] | None = None
    base: str = ""
    """The IRI against which relative IRIs of the query are resolved; "" if they are errors."""
    allow_service: bool = False
    """Whether SERVICE may send requests to other servers. A worker process never allows it."""
    results: str = "application/sparql-results+json"
    """The media type of solutions and booleans, as pyoxigraph names it."""
    graph: str = "text/turtle"
    max_bytes: int = 1 << 30
    refresh: bool = False
    """Whether to open a new snapshot of the store before the query."""


class QueryExecutor:
    """Executes queries on a snapshot of a store and on its word index."""

    def __init__(self, store: Path, words: Path) -> None:
        self._path = store
        self._store = QuadStore(store, read_only=True)
        self._words = words

    def execute(self, request: QueryRequest) -> StoreResult:
        """Return the result, which may be computed while it is read. QueryError if the query is invalid."""
        sparql = request.sparql.removeprefix("\ufeff")  # the byte order mark that some editors write
        made = rewrite_services(sparql, self._lookup(), allow_network=request.allow_service)
        query = partial(
            self._store.query,
            functions=made.functions,
            base=request.base,
            default_graphs=request.default_graphs,
            named_graphs=request.named_graphs,
        )
        try:
            result = query(made.text)
            if not isinstance(result, ox.QuerySolutions):
                return result
            found = [variable.value for variable in result.variables]
            names = order_variables(found, sparql)
            return result if names == found else query(select_variables(made.text, names))
        except SyntaxError as error:
            raise QueryError(diagnose(sparql, error.msg or str(error), rewritten=made)) from error

    def _lookup(self) -> Lookup | None:
        """Return a function that searches the word index, which it opens when it is called; None without an index."""
        if not (self._words / "meta.json").exists():
            return None

        def look_up(words: str, limit: int) -> Sequence[tuple[str, str, float]]:
            from motherlode.index.fulltext import WordSearcher  # tantivy loads slowly

            return WordSearcher(self._words).subjects(words, limit=limit)

        return look_up

    def damage(self, error: BaseException) -> str:
        """Return advice for the user if an error during the reading of results means a damaged store; else ""."""
        return store_advice(self._path, str(error)) if is_damage(error) else ""

    def close(self) -> None:
        self._store.close()


def isolate_from_network() -> bool:
    """Move this process to an empty network namespace, as a second protection. Return whether that is allowed."""
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):  # not Linux
        return False
    return bool(unshare(_NEW_NETWORK) == 0 or (os.getuid() != 0 and unshare(_NEW_USER | _NEW_NETWORK) == 0))


# The worker process.

MAX_ADDRESS_SPACE_BYTES = 4 << 30
"""Limit of the address space. A query that needs more ends this process and does not exhaust the machine."""
_CHUNK_BYTES = 1 << 16
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
"""Characters that XML cannot contain, not even escaped (XML 1.0, 2.2): control characters, U+FFFE and U+FFFF."""
_REPLACEMENT = "\ufffd".encode()

READY, HEAD, CHUNK, DONE, INVALID, FAILED, TOO_LARGE, DAMAGED = b"R", b"H", b"P", b"D", b"W", b"F", b"C", b"B"
"""The first byte of a frame: the worker is ready; the kind of the result; a chunk of it; its end; the query is invalid;
the query failed; its result is too large; the store is damaged."""


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
        if self._is_xml:
            # the serializer does not escape control characters, so that XML parsers would reject the whole result, and
            # they read an unescaped carriage return as a line feed (XML 1.0, 2.11)
            self._waiting += _NOT_IN_XML.sub(_REPLACEMENT, data).replace(b"\r", b"&#13;")
        else:
            self._waiting += data
        if len(self._waiting) >= _CHUNK_BYTES:
            self.flush()
            self._sink.flush()
        return len(data)

    def flush(self) -> None:
        """Write the waiting bytes as a frame, which goes to the reader with the next one. The serializer calls this."""
        if self._waiting:
            write_frame(self._sink, CHUNK, bytes(self._waiting), flush=False)
            self._waiting.clear()


def main() -> None:
    """`python -m motherlode.index.query.query_worker STORE WORDS`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    isolate_from_network()
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=1 << 17)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to stderr and cannot corrupt the frames
    executor = _open_executor(sink)
    if executor is None:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE_BYTES, MAX_ADDRESS_SPACE_BYTES))
    write_frame(sink, READY)
    source = sys.stdin.buffer
    decode = msgspec.msgpack.Decoder(QueryRequest).decode
    try:
        while (frame := read_frame(source)) is not None:
            query = decode(frame)
            if query.refresh:
                executor.close()
                executor = _open_executor(sink)
                if executor is None:
                    return
            _run_query(executor, query, sink)
    finally:
        if executor is not None:
            executor.close()


def _open_executor(sink: BinaryIO) -> QueryExecutor | None:
    """Open the store. If this fails, write a frame with the reason and return None."""
    try:
        return QueryExecutor(Path(sys.argv[1]), Path(sys.argv[2]))
    except OSError as error:
        write_frame(sink, DAMAGED if isinstance(error, DamagedError) else FAILED, str(error).encode("utf-8", "replace"))
        return None


def _run_query(executor: QueryExecutor, query: QueryRequest, sink: BinaryIO) -> None:
    """Execute a query and write its frames. A small result is written by one call, so the reader is woken up once."""
    try:
        result = executor.execute(msgspec.structs.replace(query, allow_service=False))
        media_type = query.graph if isinstance(result, ox.QueryTriples) else query.results
        chunks = _ChunkWriter(sink, query.max_bytes, is_xml=media_type.endswith("+xml"))
        output = cast("BinaryIO", chunks)
        if isinstance(result, ox.QueryTriples):
            write_frame(sink, HEAD, b"graph", flush=False)
            result.serialize(output, format=ox.RdfFormat.from_media_type(media_type) or ox.RdfFormat.TURTLE)
        else:
            kind = b"boolean" if isinstance(result, ox.QueryBoolean) else b"solutions"
            write_frame(sink, HEAD, kind, flush=False)
            results_format = ox.QueryResultsFormat.from_media_type(media_type) or ox.QueryResultsFormat.JSON
            result.serialize(output, format=results_format)
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
