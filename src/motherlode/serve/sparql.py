"""The SPARQL endpoint: the query part of the SPARQL 1.1 Protocol, and the SPARQL 1.1 Service Description."""

import asyncio
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from urllib.parse import parse_qsl

import pyoxigraph as ox
from aiohttp import web

from motherlode.index.query.diagnostics import query_form
from motherlode.index.query.query_pool import QueryFailure, QueryPool
from motherlode.index.query.query_worker import QueryRequest
from motherlode.model.terms import PREFIXES, iri
from motherlode.serve.negotiation import GRAPHS, HTML, RESULTS, Format, choose_format, find_format
from motherlode.serve.result_buffer import BufferSpace, ResultBuffer

_SERVICE = resources.files("motherlode.serve").joinpath("service.ttl").read_text("utf-8")
"""The service description as Turtle, without the URL of the endpoint and our namespace."""


def describe_service(endpoint: str, media_type: str) -> bytes:
    """Return the service description of the endpoint with this URL."""
    safe = "".join(character for character in endpoint if character not in '<>"{}|^`\\ ')
    quads = ox.parse((_SERVICE % {"endpoint": safe, "ml": PREFIXES["ml"]}).encode(), ox.RdfFormat.TURTLE)
    kind = ox.RdfFormat.from_media_type(media_type) or ox.RdfFormat.TURTLE
    return ox.serialize((quad.triple for quad in quads), format=kind) or b""


_FORM, _QUERY, _UPDATE = "application/x-www-form-urlencoded", "application/sparql-query", "application/sparql-update"
ALLOWED = "GET, HEAD, POST, OPTIONS"
_RESET = struct.pack("ii", 1, 0)
"""The value of SO_LINGER (on, zero seconds) by which closing a socket resets its connection."""
_MAX_HELD_BYTES = 1 << 20
"""Results up to this size are held in memory, so that an error can still change the status of the response."""
_RESULTS_ON_DISK = 4
"""How many results of the maximum size may be on disk for slow clients."""
_MIN_BYTES_PER_SECOND = 50_000
"""A client that reads a result more slowly, after as many seconds as a query may take, is disconnected."""


def endpoint_url(request: web.Request) -> str:
    """Return the URL of the endpoint as the client names this server: the base IRI of queries."""
    return str(request.url.origin().with_path("/sparql"))


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Limits of queries."""

    seconds: float = 30.0
    bytes: int = 100_000_000
    """Maximum size of a result."""
    query: int = 1_000_000
    """Maximum size of a query in bytes."""
    workers: int = 2
    waiting: int = 1000
    """Queries that may wait for a worker. A refused client would ask again at once."""


Pairs = list[tuple[str, str]]


class SparqlEndpoint:
    """The handler of `/sparql`."""

    def __init__(self, pool: QueryPool, limits: QueryLimits) -> None:
        self._pool = pool
        self._limits = limits
        self._space = BufferSpace(_RESULTS_ON_DISK * limits.bytes)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._handle(request)
        except QueryFailure as failed:
            headers = ({"Retry-After": "2"} if failed.status == 503 else {}) | failed.headers
            return web.Response(status=failed.status, text=f"{failed}\n", headers=headers)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return web.Response(status=204, headers={"Allow": ALLOWED})
        if request.method not in ("GET", "HEAD", "POST"):
            raise QueryFailure(405, f"{request.method} is not possible here", {"Allow": ALLOWED})
        pairs = await self._read_parameters(request)
        if pairs is None:
            return _describe_or_redirect(request)
        worker_query, form = self._worker_query(pairs, request.headers.get("Accept", ""), base=endpoint_url(request))
        with ResultBuffer(self._space) as buffer:
            return await self._respond(request, worker_query, form, buffer)

    async def _respond(
        self, request: web.Request, worker_query: QueryRequest, form: Format, buffer: ResultBuffer
    ) -> web.StreamResponse:
        """Send a small result as a whole, so that an error can set the status, a large one as a stream.

        The query process is free when it has computed the result, even if the client has not read it.
        """
        sending: asyncio.Task[None] | None = None
        held: list[bytes] = []
        size = 0
        try:
            async with self._pool.ask(worker_query, seconds=self._limits.seconds) as result:
                headers = {"Content-Type": _content_type(result.kind, form), "Vary": "Accept"}
                response = web.StreamResponse(headers=headers)
                async for chunk in result.chunks():
                    size += len(chunk)
                    if size <= _MAX_HELD_BYTES:
                        held.append(chunk)
                        continue
                    if request.method == "HEAD":  # its response has no body
                        continue
                    if sending is None:
                        await response.prepare(request)
                        sending = asyncio.create_task(_send(response, held, buffer))
                    await buffer.append(chunk)
            buffer.complete()
            if size <= _MAX_HELD_BYTES:
                return web.Response(body=b"".join(held), headers=headers)
            if sending is not None:
                async with asyncio.timeout(self._limits.seconds + size / _MIN_BYTES_PER_SECOND):
                    await sending
        except (QueryFailure, OSError):  # OSError: the client is too slow or gone, or the disk is full
            if sending is None:
                raise
            _reset_connection(request)
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)  # it reads the buffer, which is closed next
        return response

    async def _read_parameters(self, request: web.Request) -> Pairs | None:
        """Return the parameters in the URL or in the body; None for a GET without a query."""
        in_url = _parse_parameters(request.query_string)
        if request.method != "POST":
            return in_url if any(name in ("query", "update") for name, _ in in_url) else None
        kind = request.content_type
        charset = (request.charset or "utf-8").lower()
        if charset not in ("utf-8", "utf8"):
            raise QueryFailure(415, f"queries are UTF-8, not {charset}")
        try:
            body = (await request.read()).decode("utf-8")
        except UnicodeDecodeError as error:
            raise QueryFailure(400, "the request is not UTF-8") from error
        except web.HTTPRequestEntityTooLarge as error:
            raise self._too_large() from error
        if kind == _FORM:
            return _parse_parameters(body) + [pair for pair in in_url if pair[0] == "format"]
        if kind == _QUERY:
            if any(name == "query" for name, _ in in_url):
                raise QueryFailure(400, "there are two queries: one in the URL and one in the body")
            return [("query", body), *in_url]
        if kind == _UPDATE:
            raise QueryFailure(403, "the store can only be read: updates are refused")
        raise QueryFailure(415, f"a query is sent as {_FORM} or {_QUERY}, not as {kind}")

    def _too_large(self) -> QueryFailure:
        return QueryFailure(413, f"the query is too large: at most {self._limits.query:,} bytes are allowed")

    def _worker_query(self, pairs: Pairs, accept: str, *, base: str) -> tuple[QueryRequest, Format]:
        if any(name == "update" for name, _ in pairs):
            raise QueryFailure(403, "the store can only be read: updates are refused")
        queries = [value for name, value in pairs if name == "query"]
        if len(queries) != 1:
            raise QueryFailure(400, "there must be one query" + (f", not {len(queries)}" if queries else ": ?query=…"))
        if len(queries[0].encode()) > self._limits.query:
            raise self._too_large()
        wanted = next((value for name, value in pairs if name == "format"), "")
        is_graph = query_form(queries[0]) in ("CONSTRUCT", "DESCRIBE")
        offered = GRAPHS if is_graph else RESULTS
        chosen = _choose_format(accept, offered, wanted, "this query can be answered as")
        worker_query = QueryRequest(
            sparql=queries[0],
            default_graphs=_graph_iris(pairs, "default-graph-uri"),
            named_graphs=_graph_iris(pairs, "named-graph-uri"),
            base=base,
            results=chosen.media_type,
            graph=chosen.media_type,
            max_bytes=self._limits.bytes,
        )
        return worker_query, chosen


def _parse_parameters(text: str) -> Pairs:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1_000)
    except ValueError as error:
        raise QueryFailure(400, "the parameters cannot be read: they must be percent-encoded UTF-8") from error


def _graph_iris(pairs: Pairs, name: str) -> tuple[str, ...] | None:
    """Return the graph IRIs of a parameter; None if it is absent."""
    values = [value for key, value in pairs if key == name]
    for value in values:
        if iri(value) is None:
            raise QueryFailure(400, f"{name} is not an absolute IRI: {value[:200]}")
    return tuple(values) or None


def _choose_format(accept: str, offered: Sequence[Format], wanted: str, introduction: str) -> Format:
    """Return the format of a response: that of the URL, or the one that the client prefers."""
    if wanted:
        chosen = find_format(wanted, offered)
        if chosen is None:
            names = ", ".join(form.name for form in offered)
            raise QueryFailure(400, f"format={wanted[:100]} is not possible here: {introduction} {names}")
        return chosen
    chosen = choose_format(accept, offered)
    if chosen is None:
        raise QueryFailure(406, f"{introduction} {', '.join(form.media_type for form in offered)}")
    return chosen


def _describe_or_redirect(request: web.Request) -> web.Response:
    """Return the service description (SPARQL 1.1 Service Description, 2). Redirect browsers to the query page."""
    accept, wanted = request.headers.get("Accept", ""), request.query.get("format", "")
    form = _choose_format(accept, (*GRAPHS, HTML), wanted, "the service is described as")
    if form is HTML:
        raise web.HTTPSeeOther("/query")
    headers = {"Content-Type": form.header, "Vary": "Accept"}
    return web.Response(body=describe_service(endpoint_url(request), form.media_type), headers=headers)


async def _send(response: web.StreamResponse, held: Sequence[bytes], buffer: ResultBuffer) -> None:
    """Send what was held in memory, and then what is in the buffer."""
    for chunk in held:
        await response.write(chunk)
    async for chunk in buffer.chunks():
        await response.write(chunk)
    await response.write_eof()


def _reset_connection(request: web.Request) -> None:
    """Reset the connection, so that a part of a result is not taken for all. SO_LINGER discards what is buffered."""
    if request.transport is not None:
        connection = request.transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        request.transport.abort()


def _content_type(kind: str, form: Format) -> str:
    """Return the Content-Type of a result. ASK has no CSV or TSV format: `true` or `false` is sent as text/plain."""
    return "text/plain; charset=utf-8" if kind == "boolean" and form.name in ("csv", "tsv") else form.header
