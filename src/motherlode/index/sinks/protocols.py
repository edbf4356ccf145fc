"""Send pages to an endpoint by SPARQL 1.1 Update or by the SPARQL 1.1 Graph Store HTTP Protocol.

Both replace a page as a whole, so that sending it twice changes nothing. An update puts all graphs of a page into one
INSERT DATA, because a blank node label identifies the same node only within one operation (SPARQL 1.1 Update, 3.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from motherlode.index.page_record import PROVENANCE
from motherlode.index.sinks.endpoint import EndpointClient, EndpointResponse
from motherlode.index.sinks.nquads_sink import PageChange
from motherlode.model.terms import PREFIXES, iri_value

UPDATE_TYPE = "application/sparql-update; charset=utf-8"
NTRIPLES_TYPE = "application/n-triples"
_PROVENANCE = f"<{PROVENANCE}>"
_GRAPH = f"<{PREFIXES['ml']}graph>"
_NOT_FOUND = (404, 410)


def build_update(change: PageChange, *, provenance: bool) -> str:
    """Return the update that replaces a page at an endpoint.

    >>> page = "<http://a.example/>"
    >>> said = PageChange(page=page, graphs={page: "_:a <http://p.example/> _:b .\\n"}, provenance="")
    >>> print(build_update(said, provenance=False))
    DROP SILENT GRAPH <http://a.example/> ;
    INSERT DATA {
    GRAPH <http://a.example/> {
    _:a <http://p.example/> _:b .
    }
    }
    """
    steps: list[str] = []
    said = {graph: lines for graph, lines in change.graphs.items() if lines}
    if provenance:  # also delete graphs that an earlier version of the page named: only the provenance knows them
        steps.append(
            f"DELETE {{ GRAPH ?g {{ ?s ?p ?o }} }} WHERE {{ GRAPH {_PROVENANCE} {{ {change.page} {_GRAPH} ?g }} "
            "GRAPH ?g { ?s ?p ?o } }"
        )
        steps.append(f"DELETE WHERE {{ GRAPH {_PROVENANCE} {{ {change.page} ?p ?o }} }}")
        if change.provenance:
            said[_PROVENANCE] = change.provenance
    steps += [f"DROP SILENT GRAPH {graph}" for graph in change.graphs]
    if said:
        data = "\n".join(f"GRAPH {graph} {{\n{lines}}}" for graph, lines in said.items())
        steps.append(f"INSERT DATA {{\n{data}\n}}")
    return " ;\n".join(steps)


def send_update(client: EndpointClient, changes: Sequence[PageChange], *, provenance: bool) -> EndpointResponse:
    """Send all pages in one request."""
    text = " ;\n".join(build_update(change, provenance=provenance) for change in changes)
    return client.send("POST", client.target, text.encode("utf-8", "replace"), UPDATE_TYPE)


def send_graphs(client: EndpointClient, changes: Sequence[PageChange], *, provenance: bool) -> EndpointResponse:
    """Send one request per graph. Return the first response that is an error; otherwise the last one."""
    response = EndpointResponse(status=204)
    for change in changes:
        for graph, lines in _graphs(change, provenance=provenance):
            target = f"{client.target}{'&' if '?' in client.target else '?'}graph={quote(iri_value(graph), safe='')}"
            if lines:
                response = client.send("PUT", target, lines.encode("utf-8", "replace"), NTRIPLES_TYPE)
            else:
                response = client.send("DELETE", target)
                if response.status in _NOT_FOUND:  # the graph did not exist, so nothing is left to delete
                    response = EndpointResponse(status=204)
            if not response.is_success:
                return response
    return response


def _graphs(change: PageChange, *, provenance: bool) -> Iterator[tuple[str, str]]:
    yield from change.graphs.items()
    if provenance:  # one provenance graph per page, because the protocol can only replace whole graphs
        yield f"<{PROVENANCE}:{iri_value(change.page)}>", change.provenance
