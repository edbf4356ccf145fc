"""How a page is spelled for an endpoint: SPARQL 1.1 Update, or the SPARQL 1.1 Graph Store HTTP Protocol.

Both replace a page as a whole, so that sending it twice is the same as sending it once. An update puts all graphs of a
page into one INSERT DATA, because a blank node's label means the same node only within one operation (SPARQL 1.1
Update, 3.1.1).
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
    """The update that makes an endpoint hold a page as it is now.

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
    if provenance:  # graphs that the page named itself, the last time: only the provenance knows them
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
    """One request for all of the pages."""
    text = " ;\n".join(build_update(change, provenance=provenance) for change in changes)
    return client.send("POST", client.target, text.encode("utf-8", "replace"), UPDATE_TYPE)


def send_graphs(client: EndpointClient, changes: Sequence[PageChange], *, provenance: bool) -> EndpointResponse:
    """One request for each graph; the first answer that is not good, or the last."""
    answer = EndpointResponse(status=204)
    for change in changes:
        for graph, lines in _graphs(change, provenance=provenance):
            target = f"{client.target}{'&' if '?' in client.target else '?'}graph={quote(iri_value(graph), safe='')}"
            if lines:
                answer = client.send("PUT", target, lines.encode("utf-8", "replace"), NTRIPLES_TYPE)
            else:
                answer = client.send("DELETE", target)
                if answer.status in _NOT_FOUND:  # what was never there is gone as well
                    answer = EndpointResponse(status=204)
            if not answer.is_success:
                return answer
    return answer


def _graphs(change: PageChange, *, provenance: bool) -> Iterator[tuple[str, str]]:
    yield from change.graphs.items()
    if provenance:  # a graph of its own for each page: the protocol replaces graphs, not parts of them
        yield f"<{PROVENANCE}:{iri_value(change.page)}>", change.provenance
