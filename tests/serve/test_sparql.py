"""Tests of the SPARQL 1.1 Protocol with real clients and with plain requests, and of the service description."""

from __future__ import annotations

import asyncio
import html
import http.client
import json
import select
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from math import inf
from pathlib import Path
from typing import cast

import aiohttp
import pyoxigraph as ox
import pytest
import rdflib
from aiohttp import web
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import CSV, JSON, POST, POSTDIRECTLY, RDFXML, TSV, TURTLE, XML, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import QueryBadFormed

from motherlode.index.query.query_pool import QueryPool
from motherlode.model.terms import PREFIXES
from motherlode.serve.sparql import QueryLimits, SparqlEndpoint, describe_service
from tests.serve.site import HOME, client_of, served

SD = "http://www.w3.org/ns/sparql-service-description#"
HERE = "http://127.0.0.1:8000/sparql"


def objects(content: bytes, form: ox.RdfFormat, predicate: str) -> set[str]:
    return {quad.object.value for quad in ox.parse(content, form) if quad.predicate.value == SD + predicate}


@pytest.mark.parametrize(
    ("media_type", "form"),
    [
        ("text/turtle", ox.RdfFormat.TURTLE),
        ("application/n-triples", ox.RdfFormat.N_TRIPLES),
        ("application/rdf+xml", ox.RdfFormat.RDF_XML),
        ("application/ld+json", ox.RdfFormat.JSON_LD),
        ("text/nonsense", ox.RdfFormat.TURTLE),
    ],
)
def test_service_description_is_equal_in_every_format(media_type: str, form: ox.RdfFormat) -> None:
    content = describe_service(HERE, media_type)
    assert objects(content, form, "endpoint") == {HERE}
    assert objects(content, form, "supportedLanguage") == {f"{SD}SPARQL11Query"}
    assert len(objects(content, form, "resultFormat")) == 8


@pytest.mark.parametrize("address", ['http://a/> . <u:evil> <u:p> "x" . <u:a', "http://a/{b}|`c\\d", "http://a/ b"])
def test_service_description_endpoint_cannot_inject_turtle(address: str) -> None:
    content = describe_service(address, "application/n-triples")
    assert len(objects(content, ox.RdfFormat.N_TRIPLES, "endpoint")) == 1
    assert len(content.splitlines()) == len(describe_service(HERE, "application/n-triples").splitlines())


def test_service_description_names_extension_functions() -> None:
    found = objects(describe_service(HERE, "text/turtle"), ox.RdfFormat.TURTLE, "extensionFunction")
    assert found == {PREFIXES["ml"] + name for name in ("matches", "score", "node", "key")}


NAMES = "SELECT ?s ?name { ?s schema:name ?name } ORDER BY ?s ?name"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
LARGE = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 600000"
FORM = "application/x-www-form-urlencoded"


def ask(
    url: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str], bytes]:
    request = urllib.request.Request(url, data=body, method=method, headers=dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=150) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def url_of(site: str, query: str, **more: str) -> str:
    return f"{site}/sparql?{urllib.parse.urlencode({'query': query, **more})}"


# Real clients.


def test_long_query_by_get_is_accepted(site: str) -> None:
    values = " ".join(f"<http://example.org/é/{number}>" for number in range(5_000))
    status, _, body = ask(url_of(site, f"SELECT (COUNT(*) AS ?n) {{ VALUES ?s {{ {values} }} }}", format="csv"))
    assert (status, body.split()) == (200, [b"n", b"5000"])
    status, _, body = ask(url_of(site, f"ASK {{}} # {'é' * 500_000}"))
    assert (status, body) == (413, b"the query is too large: at most 1,000,000 bytes are allowed\n")


@pytest.mark.parametrize("method", ["GET", "POST", POSTDIRECTLY])
def test_sparqlwrapper_with_every_request_method(site: str, method: str) -> None:
    client = SPARQLWrapper(f"{site}/sparql")
    client.setQuery(NAMES.replace("SELECT", "PREFIX schema: <http://schema.org/> SELECT"))
    if method == POSTDIRECTLY:
        client.setMethod(POST)
        client.setRequestMethod(POSTDIRECTLY)
    else:
        client.setMethod(method)
    client.setReturnFormat(JSON)
    rows = client.queryAndConvert()["results"]["bindings"]
    assert len(rows) > 5
    assert {"s", "name"} <= rows[0].keys()


def test_sparqlwrapper_with_every_format(site: str) -> None:
    client = SPARQLWrapper(f"{site}/sparql")
    client.setQuery("PREFIX schema: <http://schema.org/> " + NAMES)
    found = {}
    for form in (JSON, XML, CSV, TSV):
        client.setReturnFormat(form)
        found[form] = client.query()
    counts = {
        JSON: len(found[JSON].convert()["results"]["bindings"]),
        XML: len(found[XML].convert().getElementsByTagName("result")),
        CSV: found[CSV].convert().count(b"\r\n") - 1,
        TSV: found[TSV].convert().count(b"\n") - 1,
    }
    assert counts[JSON] == counts[XML] == counts[TSV] > 5
    assert counts[CSV] >= counts[JSON]
    client.setQuery("CONSTRUCT WHERE { ?s ?p ?o }")
    client.setReturnFormat(TURTLE)
    turtle = rdflib.Graph().parse(data=client.queryAndConvert(), format="turtle")
    client.setQuery("CONSTRUCT { ?s <http://ex.org/n> ?o } WHERE { ?s <http://schema.org/name> ?o }")
    client.setReturnFormat(RDFXML)
    xml = rdflib.Graph().parse(data=client.query().response.read(), format="xml")
    assert len(turtle) > len(xml) > 5


def test_sparqlwrapper_raises_for_invalid_query(site: str) -> None:
    client = SPARQLWrapper(f"{site}/sparql")
    client.setQuery("SELECT * { ?s nope:x ?o }")
    with pytest.raises(QueryBadFormed) as caught:
        client.query()
    assert "nope" in str(caught.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # rdflib leaves responses open
def test_rdflib_sparqlstore_reads_endpoint(site: str) -> None:
    graph = rdflib.Graph(SPARQLStore(f"{site}/sparql"))
    subject = rdflib.URIRef("http://plain.test/x")
    name = rdflib.URIRef("http://schema.org/name")
    assert graph.value(subject, name) == rdflib.Literal("Zürich", lang="de")
    assert (subject, name, rdflib.Literal("Zürich", lang="de")) in graph
    assert len(list(graph.query("SELECT ?s { ?s <http://schema.org/name> ?o }"))) > 5
    assert graph.query("ASK { ?s ?p ?o }").askAnswer is True
    assert len(list(graph.query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"))) > 3


# Plain requests.


@pytest.mark.parametrize(
    ("accept", "query", "content_type"),
    [
        ("", NAMES, "application/sparql-results+json"),
        ("*/*", NAMES, "application/sparql-results+json"),
        ("application/sparql-results+xml", NAMES, "application/sparql-results+xml"),
        ("text/csv, application/json;q=0.5", NAMES, "text/csv; charset=utf-8"),
        ("text/tab-separated-values", NAMES, "text/tab-separated-values; charset=utf-8"),
        ("application/json", "ASK {}", "application/sparql-results+json"),
        ("text/turtle", "DESCRIBE <http://plain.test/x>", "text/turtle; charset=utf-8"),
        ("application/n-triples", "CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples"),
        ("application/rdf+xml", "DESCRIBE <http://plain.test/x>", "application/rdf+xml"),
        ("application/ld+json", "DESCRIBE <http://plain.test/x>", "application/ld+json"),
        ("text/html, application/xml;q=0.9", "SELECT * {} LIMIT 1", "application/sparql-results+xml"),
    ],
)
def test_content_negotiation_chooses_format(site: str, accept: str, query: str, content_type: str) -> None:
    status, headers, body = ask(url_of(site, query), headers={"Accept": accept} if accept else {})
    assert (status, headers["Content-Type"]) == (200, content_type)
    assert body
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("status", "method", "path", "content_type", "body", "accept"),
    [
        (400, "GET", "?query=SELECT", "", None, ""),
        (400, "GET", "?query=", "", None, ""),
        (400, "GET", "?query=ASK{}&query=ASK{}", "", None, ""),
        (400, "GET", "?query=%FF", "", None, ""),
        (400, "POST", "", FORM, b"quer=x", ""),
        (400, "POST", "", "application/sparql-query", b"\xff\xfe", ""),
        (400, "POST", "?query=ASK{}", "application/sparql-query", b"ASK {}", ""),
        (400, "GET", "?query=ASK{}&default-graph-uri=not+an+iri", "", None, ""),
        (400, "GET", "?query=SELECT*{SERVICE<http://127.0.0.1:1/>{?s+?p+?o}}", "", None, ""),
        (403, "POST", "", FORM, b"update=CLEAR+ALL", ""),
        (403, "POST", "", "application/sparql-update", b"CLEAR ALL", ""),
        (400, "POST", "", "application/sparql-query", b"INSERT DATA { <a:a> <a:a> <a:a> }", ""),
        (405, "PUT", "", "text/plain", b"x", ""),
        (405, "DELETE", "?query=ASK{}", "", None, ""),
        (406, "GET", "?query=ASK{}", "", None, "image/png"),
        (406, "GET", "?query=DESCRIBE<a:b>", "", None, "text/csv"),
        (415, "POST", "", "text/plain", b"ASK {}", ""),
        (415, "POST", "", "application/sparql-query; charset=utf-16", "ASK {}".encode("utf-16"), ""),
        (413, "POST", "", "application/sparql-query", b"#" * 2_000_000, ""),
        (413, "GET", "?query=SELECT*{?a+?b+?c.?d+?e+?f}", "", None, ""),
    ],
)
def test_invalid_requests_have_their_status(
    site: str, status: int, method: str, path: str, content_type: str, body: bytes | None, accept: str
) -> None:
    headers = ({"Content-Type": content_type} if content_type else {}) | ({"Accept": accept} if accept else {})
    found, got, message = ask(f"{site}/sparql{path}", method=method, body=body, headers=headers)
    assert found == status, message
    assert got["Content-Type"].startswith("text/plain")
    assert message.strip()
    if status == 405:
        assert "GET" in got["Allow"]


def test_dataset_parameters_select_graphs(site: str) -> None:
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"

    def number(**more: str) -> int:
        _, _, body = ask(url_of(site, count, **more))
        return int(json.loads(body)["results"]["bindings"][0]["n"]["value"])

    whole, one = number(), number(**{"default-graph-uri": HOME})
    assert 0 < one < whole
    assert number(**{"default-graph-uri": "http://nowhere.test/"}) == 0
    assert number(**{"named-graph-uri": HOME}) == 0
    body = urllib.parse.urlencode({"query": count, "default-graph-uri": HOME}).encode()
    _, _, answer = ask(f"{site}/sparql", method="POST", body=body, headers={"Content-Type": FORM})
    assert json.loads(answer)["results"]["bindings"][0]["n"]["value"] == str(one)


def test_get_without_query_returns_service_description(site: str) -> None:
    for accept, form in (("text/turtle", "turtle"), ("application/rdf+xml", "xml"), ("application/n-triples", "nt")):
        status, _, body = ask(f"{site}/sparql", headers={"Accept": accept})
        assert status == 200
        graph = rdflib.Graph().parse(data=body, format=form)
        sd = rdflib.Namespace("http://www.w3.org/ns/sparql-service-description#")
        assert graph.value(predicate=sd.endpoint, object=rdflib.URIRef(f"{site}/sparql")) is not None
        assert sd.SPARQL11Query in set(graph.objects(None, sd.supportedLanguage))


def test_options_and_head_are_supported(site: str) -> None:
    status, headers, _ = ask(f"{site}/sparql", method="OPTIONS")
    assert status == 204
    assert "POST" in headers["Allow"]
    status, headers, body = ask(url_of(site, "ASK {}"), method="HEAD")
    assert (status, body) == (200, b"")


@pytest.mark.parametrize(
    ("query", "wanted", "names"),
    [
        ("ASK {}", "foo", "json, xml, csv, tsv"),
        ("ASK {}", "turtle", "json, xml, csv, tsv"),
        ("DESCRIBE <urn:a>", "csv", "turtle, ntriples, rdfxml, jsonld"),
    ],
)
def test_unknown_format_is_refused(site: str, query: str, wanted: str, names: str) -> None:
    status, _, message = ask(url_of(site, query, format=wanted))
    assert status == 400
    assert message.decode() == f"format={wanted} is not possible here: this query can be answered as {names}\n"
    status, _, message = ask(f"{site}/sparql?format=foo")
    assert (status, b"the service is described as turtle" in message) == (400, True)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("limit=abc", "limit=abc is not a number"),
        ("limit=0", "limit=0 is not a number"),
        ("limit=-1", "limit=-1 is not a number"),
        ("limit=%D9%A3", "is not a number"),
        ("format=foo", "format=foo is not possible here"),
        ("type=foo:Bar", "the prefix of 'foo:Bar' is not known"),
        ("predicate=name", "'name' is not an IRI"),
    ],
)
def test_search_with_invalid_parameters_is_refused(site: str, parameters: str, said: str) -> None:
    status, headers, body = ask(f"{site}/search?q=tomato&{parameters}", headers={"Accept": "application/json"})
    assert (status, headers["Content-Type"].partition(";")[0]) == (400, "application/json")
    assert said in json.loads(body)["error"]
    status, headers, body = ask(f"{site}/search?q=tomato&{parameters}")
    assert (status, headers["Content-Type"].partition(";")[0]) == (400, "text/html")
    assert said in html.unescape(body.decode())


def test_search_limit_is_applied(site: str) -> None:
    for limit, most in (("1", 1), ("", 10), ("9" * 18, 200)):
        status, _, body = ask(f"{site}/search?q=tomato&format=json&limit={limit}")
        assert (status, 0 < json.loads(body)["count"] <= most) == (200, True)


def test_word_search_in_query_at_endpoint(site: str) -> None:
    query = 'SELECT ?s { SERVICE ml:search { ?s ml:matches "tomato" } }'
    _, _, body = ask(url_of(site, query))
    assert len(json.loads(body)["results"]["bindings"]) >= 9


def test_relative_iris_are_resolved_against_endpoint(site: str) -> None:
    accept = {"Accept": "application/n-triples", "Content-Type": "application/sparql-query"}
    query = "CONSTRUCT { <s> <#p> 1 } WHERE {}"
    status, headers, body = ask(f"{site}/sparql", method="POST", body=query.encode(), headers=accept)
    assert (status, headers["Content-Type"]) == (200, "application/n-triples")
    integer = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert body.decode() == f"<{site}/s> <{site}/sparql#p> {integer} .\n"
    status, _, body = ask(url_of(site, f"BASE <http://own.test/> {query}", format="ntriples"))
    assert (status, body.decode()) == (200, f"<http://own.test/s> <http://own.test/#p> {integer} .\n")
    page = html.unescape(ask(f"{site}/query?{urllib.parse.urlencode({'q': query})}")[2].decode())
    assert f"{site}/s" in page


def test_relative_iri_of_service_is_refused(site: str) -> None:
    status, _, message = ask(url_of(site, "SELECT * { SERVICE <other> { ?s ?p ?o } }"))
    assert (status, b"SERVICE" in message) == (400, True)


def test_result_that_becomes_too_large_resets_connection(folder: Path) -> None:
    with served(folder, "--bytes", "2MB") as site, pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(url_of(site, "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"))


def test_slow_query_times_out(folder: Path) -> None:
    with served(folder, "--timeout", "8") as site:
        assert ask(url_of(site, "ASK {}"))[0] == 200, "a query process runs now"
        status, _, message = ask(url_of(site, ENDLESS))
        assert status == 504
        assert b"no result within 8 s" in message
        assert ask(url_of(site, "ASK {}"))[0] == 200


def test_slow_query_does_not_block_other_requests(folder: Path) -> None:
    with served(folder, "--timeout", "600", "--workers", "2") as site:
        address = urllib.parse.urlsplit(site)
        with socket.create_connection((address.hostname, address.port), timeout=60) as slow:
            slow.sendall(f"GET {url_of('', ENDLESS)} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            assert ask(f"{site}/search?q=tomato&format=json")[0] == 200
            assert ask(url_of(site, "ASK {}"))[0] == 200
            assert select.select([slow], [], [], 0)[0] == [], "the slow query still runs"


def slow_client(site: str, query: str) -> socket.socket:
    """Send a query, read the first bytes of the response, and stop reading."""
    address = urllib.parse.urlsplit(site)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect((address.hostname, address.port))
    path = url_of("", query)
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    assert client.recv(15) == b"HTTP/1.1 200 OK"
    return client


def test_query_ends_when_its_client_disconnects(folder: Path) -> None:
    with served(folder, "--timeout", "600", "--workers", "1") as site:
        address = urllib.parse.urlsplit(site)
        with socket.create_connection((address.hostname, address.port), timeout=60) as client:
            client.sendall(f"GET {url_of('', ENDLESS)} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        assert ask(url_of(site, "ASK {}"))[0] == 200


def test_slow_client_of_a_result_that_is_too_large_is_disconnected(folder: Path) -> None:
    with served(folder, "--timeout", "8", "--workers", "2") as site, ExitStack() as stack:
        clients = [stack.enter_context(slow_client(site, LARGE)) for _ in range(2)]
        for client in clients:
            hung_up = select.poll()
            hung_up.register(client, 0)  # only errors: received data that was not read does not count
            assert hung_up.poll(120_000), "the server has not closed the connection"
        assert ask(url_of(site, "ASK {}"))[0] == 200


def test_result_of_a_slow_client_occupies_no_query_process(folder: Path) -> None:
    query = url_of("", "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 50000", format="json")
    with served(folder, "--timeout", "600", "--workers", "1") as site:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(site).netloc, timeout=120)
        connection.request("GET", query)
        response = connection.getresponse()  # the body, which is larger than all buffers of sockets, is not read yet
        assert ask(url_of(site, "ASK {}"))[0] == 200
        body = response.read()
        assert len(body) > 12_000_000
        assert len(json.loads(body)["results"]["bindings"]) == 50_000
        connection.close()


class LargeResult:
    """A query pool with one result, which is larger than all buffers of sockets."""

    kind = "solutions"

    @asynccontextmanager
    async def ask(self, query: object, *, seconds: float) -> AsyncIterator[LargeResult]:
        yield self

    async def chunks(self) -> AsyncIterator[bytes]:
        for _ in range(400):
            yield bytes(1 << 16)


def large_site(limits: QueryLimits, outcomes: asyncio.Queue[object]) -> web.Application:
    endpoint = SparqlEndpoint(cast(QueryPool, LargeResult()), limits)

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            response = await endpoint.handle(request)
        except BaseException as error:
            outcomes.put_nowait(error)
            raise
        outcomes.put_nowait(response.status)
        return response

    made = web.Application()
    made.router.add_route("*", "/sparql", handle)
    return made


async def test_client_that_does_not_read_its_result_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("motherlode.serve.sparql._MIN_BYTES_PER_SECOND", inf)
    outcomes: asyncio.Queue[object] = asyncio.Queue()
    site = large_site(QueryLimits(seconds=0.0), outcomes)
    async with client_of(site) as session, session.get("/sparql?query=ASK{}") as response:
        assert await outcomes.get() == 200, "the handler has ended without an error"
        with pytest.raises(aiohttp.ClientError):
            await response.read()


async def test_head_of_a_large_result_has_no_body() -> None:
    async with client_of(large_site(QueryLimits(), asyncio.Queue())) as session:
        for _ in range(2):  # the second request uses the same connection
            async with session.head("/sparql?query=ASK{}") as response:
                assert (response.status, await response.read()) == (200, b"")


def test_query_of_another_client_comes_before_the_waiting_queries_of_one(folder: Path) -> None:
    with served(folder, "--timeout", "600", "--workers", "1") as site, ExitStack() as stack:
        address = urllib.parse.urlsplit(site)

        def send(query: str, client: str) -> socket.socket:
            made = socket.create_connection((address.hostname, address.port), timeout=300, source_address=(client, 0))
            made.sendall(f"GET {url_of('', query)} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            assert ask(f"{site}/healthz")[0] == 200, "the server has read what was sent before"
            return stack.enter_context(made)

        first, *_ = [send(ENDLESS, "127.0.0.1") for _ in range(5)]
        other = send("ASK {}", "127.0.0.2")
        first.close()
        assert other.recv(15) == b"HTTP/1.1 200 OK"


def test_describe_service_on_examples_gives_expected_values() -> None:
    assert b"sparql-service-description#Service" in describe_service("http://localhost/sparql", "application/n-triples")
