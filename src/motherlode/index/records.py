"""What the index is given for each page and for each run of a crawl, and how it is spelled as quads.

A page costs a fixed handful of provenance quads however much it says, because each quad costs what a statement costs.
What all pages of a run share (software, version, target) is therefore said of the run, and the page names the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import quote

from motherlode.model import Facts, Statement, Syntax
from motherlode.model.prefixes import PREFIXES
from motherlode.model.terms import RDF_TYPE, XSD, literal, page_iri

PROVENANCE = "urn:motherlode:provenance"
"""The graph about the crawl itself."""
DATASET = "urn:motherlode:dataset"
"""All that a crawl has stored, as a void:Dataset."""
SOFTWARE = "urn:motherlode:software"

_ML, _PROV = PREFIXES["ml"], PREFIXES["prov"]
_GENERATED, _GENERATED_BY, _STARTED, _ENDED, _AGENT = (
    f"<{_PROV}{name}>"
    for name in ("generatedAtTime", "wasGeneratedBy", "startedAtTime", "endedAtTime", "wasAssociatedWith")
)
_FORMAT = f"<{PREFIXES['dcterms']}format>"
PAGE = f"<{_ML}Page>"
"""The type of all pages; the first thing that the provenance says of one."""
_STATUS, _KIND, _SYNTAX, _HASH = (f"<{_ML}{name}>" for name in ("status", "kind", "syntax", "contentHash"))
_REFERRER, _REDIRECTS, _GRAPH, _SIZE = (f"<{_ML}{name}>" for name in ("referrer", "redirectsTo", "graph", "size"))
_SAYS, _VERSION, _TARGET, _POLICY = (f"<{_ML}{name}>" for name in ("says", "version", "target", "policy"))
_OWN_HOST = f"<{_ML}robotsNotApplied>"
_UNPROVEN_HOST = f"<{_ML}certificatesNotChecked>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page on its way to the store: its statements as lines, and where they come from."""

    url: str
    fetched_at: float
    status: int | None
    lines: bytes = b""
    """N-Quads: each statement once in the page's graph and once in the default graph."""
    quads: int = 0
    graphs: tuple[str, ...] = ()
    """Graphs that the page names itself, as the store calls them."""
    media_type: str = ""
    kind: str = ""
    syntaxes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    """Where a page speaks in several syntaxes: which of them says what (`index.keys`)."""
    content_hash: str = ""
    size: int = 0
    referrer: str = ""
    redirects_to: str = ""
    """For a redirect, which has no statements of its own."""
    provenance: bytes = b""
    """The lines of its provenance, where they have been made already (`index.quadlog`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run of a crawl: from its start, or from its resumption, to its end."""

    identifier: str
    started_at: float
    version: str
    """Of the software, so of every extractor in it."""
    target: str = ""
    policy: str = ""
    own_hosts: tuple[str, ...] = ()
    """Hosts whose robots.txt was not applied, because the user says that they are theirs."""
    unproven_hosts: tuple[str, ...] = ()
    """Hosts that did not have to prove who they are: what is said in their name may have been said by others."""

    @property
    def iri(self) -> str:
        return f"<urn:motherlode:run:{quote(self.identifier, safe='')}>"


class Store(Protocol):
    """Where pages end."""

    def write(self, records: Sequence[PageRecord]) -> None: ...

    def flush(self) -> None: ...


def page_lines(url: str, facts: Facts) -> tuple[bytes, int, tuple[str, ...]]:
    """The N-Quads of a page, how many distinct statements they hold, and the graphs that the page names itself.

    Each statement is written to the page's graph and to the default graph, which so is the union of all pages. A graph
    that the document names itself becomes a graph of the page: its URL, and the name given as a fragment.
    """
    page = page_iri(url)
    lines: list[str] = []
    inner: dict[str, str] = {}
    seen: set[Statement] = set()
    for extraction in facts.extractions:
        for statement in extraction.statements:
            if statement in seen:
                continue
            seen.add(statement)
            subject, predicate, object_, graph = statement
            triple = f"{subject} {predicate} {object_}"
            if graph:
                name = inner.setdefault(graph, f"{page[:-1]}#graph={quote(graph.strip('<>'), safe=':/')}>")
                lines.append(f"{triple} {name} .\n{triple} .\n")
            else:
                lines.append(f"{triple} {page} .\n{triple} .\n")
    return "".join(lines).encode("utf-8", "replace"), len(seen), tuple(inner.values())


def in_graphs(lines: bytes) -> list[bytes]:
    """Of the lines of a page those that name a graph: each is followed by the same statement for the union.

    >>> in_graphs(b"<s> <p> <o> <g> .\\n<s> <p> <o> .\\n")
    [b'<s> <p> <o> <g> .']
    """
    return lines.split(b"\n")[:-1:2]


def provenance_lines(record: PageRecord, run: str = "") -> str:
    """What the provenance graph says of a page, as N-Quads; `run` is the term of the run that fetched it."""
    page = page_iri(record.url)
    pairs = [(RDF_TYPE, PAGE), (_GENERATED, moment(record.fetched_at)), *_optional(record)]
    if run:
        pairs.append((_GENERATED_BY, run))
    return "".join(f"{page} {predicate} {value} <{PROVENANCE}> .\n" for predicate, value in pairs)


def provenance_of(record: PageRecord, run: str) -> bytes:
    """The lines of a page's provenance as they are stored."""
    return record.provenance or provenance_lines(record, run).encode("utf-8", "replace")


def _optional(record: PageRecord) -> Iterable[tuple[str, str]]:
    if record.status is not None:
        yield _STATUS, literal(str(record.status), datatype=XSD + "integer")
    if record.redirects_to:
        yield _REDIRECTS, page_iri(record.redirects_to)
        return
    yield _SIZE, literal(str(record.size), datatype=XSD + "integer")
    for predicate, text in ((_FORMAT, record.media_type), (_KIND, record.kind), (_HASH, record.content_hash)):
        if text:
            yield predicate, literal(text)
    for syntax in record.syntaxes or _plain(record):
        yield _SYNTAX, literal(syntax)
    for said in record.says:
        yield _SAYS, literal(said)
    for graph in record.graphs:
        yield _GRAPH, graph
    if record.referrer:
        yield _REFERRER, page_iri(record.referrer)


def _plain(record: PageRecord) -> tuple[str, ...]:
    """Plain title and meta facts are named only where a page has nothing better."""
    return (Syntax.PAGE.value,) if record.quads and not record.says else ()


def run_lines(run: RunRecord) -> str:
    """What the provenance graph says of a run, and of the data set and the software that it ties together."""
    rows = [
        (run.iri, RDF_TYPE, f"<{_PROV}Activity>"),
        (run.iri, _STARTED, moment(run.started_at)),
        (run.iri, _AGENT, f"<{SOFTWARE}>"),
        (run.iri, _VERSION, literal(run.version)),
        (f"<{SOFTWARE}>", RDF_TYPE, f"<{_PROV}SoftwareAgent>"),
        (f"<{SOFTWARE}>", f"<{PREFIXES['rdfs']}label>", literal("Motherlode")),
        (f"<{DATASET}>", RDF_TYPE, f"<{PREFIXES['void']}Dataset>"),
        (f"<{DATASET}>", RDF_TYPE, f"<{_PROV}Entity>"),
        (f"<{DATASET}>", _GENERATED_BY, run.iri),
    ]
    rows += [(run.iri, _OWN_HOST, literal(host)) for host in run.own_hosts]
    rows += [(run.iri, _UNPROVEN_HOST, literal(host)) for host in run.unproven_hosts]
    rows += [(run.iri, name, literal(value)) for name, value in ((_TARGET, run.target), (_POLICY, run.policy)) if value]
    return "".join(f"{subject} {predicate} {value} <{PROVENANCE}> .\n" for subject, predicate, value in rows)


def ending_lines(run: RunRecord, ended_at: float) -> str:
    """That a run has come to its end."""
    return f"{run.iri} {_ENDED} {moment(ended_at)} <{PROVENANCE}> .\n"


def moment(seconds: float) -> str:
    """Seconds since the epoch as a literal.

    >>> moment(0.25)
    '"1970-01-01T00:00:00.250+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    """
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return literal(text, datatype=XSD + "dateTime")
