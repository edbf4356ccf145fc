"""Which syntax of a page says which of its statements, at the cost of one quad a syntax.

A statement is stored once in its page's graph, however many syntaxes say it: ordinary queries must not count it twice,
and a second graph a syntax would be found by every `GRAPH ?page`. So the provenance holds, for a page that speaks in
more than one syntax, one literal for each of them: its name, and the keys of the statements that it gave.

    <page> ml:says "jsonld 0f3a9c1e72 77b1…" , "rdfa 77b1…" .

The key of a statement is the beginning of the MD5 of its N-Triples spelling. In a query `ml:key(?s, ?p, ?o)` gives it:

    GRAPH ?page { ?s ?p ?o }
    GRAPH <urn:motherlode:provenance> { ?page ml:says ?said }
    FILTER(CONTAINS(?said, ml:key(?s, ?p, ?o)))

A key per statement as a quad of its own would cost as much as the statement; so it costs eleven bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple, Protocol
from urllib.parse import quote

import pyoxigraph as ox

from motherlode.model import Statement, Syntax, TransformResult
from motherlode.model.terms import PREFIXES, RDF_TYPE, XSD, literal, page_iri

KEY = ox.NamedNode(PREFIXES["ml"] + "key")
_DIGITS = 10
"""Forty bits: of a page with ten thousand statements, two share a key once in twenty thousand pages."""
_AT_ONCE = 2_000
"""Keys in one literal: a page may say a million things, and a literal is read whole."""

_PLAIN = r"[^\x00-\x1f\x7f\\\ufffe\uffff]*"
_AS_IT_IS = re.compile(rf'"{_PLAIN}(?:\\[nr"\\]{_PLAIN})*"(?:@[a-z0-9-]+)?')
"""Strings that need no second look; it costs ten times as much."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def key(subject: Term, predicate: Term, object_: Term) -> str:
    """The key of a statement as the store gives it back.

    >>> key(ox.NamedNode("http://a.example/"), ox.NamedNode("http://b.example/"), ox.Literal("x"))
    '81f5188734'
    """
    return _digest(f"{subject} {predicate} {spelled(object_)}")


def spelled(term: Term) -> str:
    """A term in N-Triples; of a triple that is one itself (RDF 1.2) the library leaves out the brackets."""
    return f"<<( {term} )>>" if isinstance(term, ox.Triple) else str(term)


def _digest(statement: str) -> str:
    return hashlib.md5(statement.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:_DIGITS]


def key_function(subject: Term, predicate: Term, object_: Term) -> ox.Literal:
    """`ml:key` as SPARQL calls it."""
    return ox.Literal(key(subject, predicate, object_))


def syntax_keys(facts: TransformResult) -> tuple[str, ...]:
    """What `ml:says` holds of a page; nothing where at most one syntax speaks, for then `ml:syntax` tells."""
    speaking = [extraction for extraction in facts.extractions if extraction.statements]
    if len({extraction.syntax for extraction in speaking}) < 2:
        return ()
    keys: dict[str, dict[str, None]] = {}
    for extraction in speaking:
        own = keys.setdefault(extraction.syntax.value, {})
        for subject, predicate, object_, _ in extraction.statements:
            if subject.startswith("<<"):
                subject = _stored(subject)
            own[_digest(f"{subject} {predicate} {_stored(object_)}")] = None
    return tuple(f"{name} {' '.join(part)}" for name, own in keys.items() for part in _parts(list(own)))


def _parts(keys: list[str]) -> list[list[str]]:
    return [keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE)]


def _stored(term: str) -> str:
    """A term as the store will spell it: numbers and dates in their canonical form, escapes as it writes them."""
    if term[0] != '"':
        return _through_a_store(term) if term.startswith("<<") else term
    if term[-1] == '"' and term.isascii() and term.isprintable() and "\\" not in term:
        return term  # as most are, and an expression would take its time for each character
    return term if _AS_IT_IS.fullmatch(term) else _through_a_store(term)


@lru_cache(maxsize=4096)
def _through_a_store(term: str) -> str:
    store = ox.Store()
    try:
        line = f"<urn:s> <urn:p> {term} .".encode("utf-8", "replace")
        store.extend(ox.parse(line, ox.RdfFormat.N_QUADS, lenient=True))
    except SyntaxError:
        return term  # the writer leaves it out, and counts it
    return next((spelled(quad.object) for quad in store), term)


# ── What the index is given for each page and for each run of a crawl, and how it is spelled as quads.

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
    graph_quads: bytes = b""
    """N-Quads of the page's statements, each line with its graph."""
    union_quads: bytes = b""
    """The same statements without graphs: the default graph of the store is the union of all pages."""
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


class SerializedPage(NamedTuple):
    """The statements of a page as N-Quads."""

    graph_quads: bytes
    """Each line has a graph."""
    union_quads: bytes
    """The same statements without graphs."""
    count: int
    """Number of distinct statements."""
    graphs: tuple[str, ...]
    """IRIs, in angle brackets, of the graphs that the page names itself."""


def serialize_page(url: str, facts: TransformResult) -> SerializedPage:
    """Return the statements of a page as N-Quads, for its graphs and for the union of all pages.

    A graph that the document names itself becomes a graph of the page: the page's URL with the name as its fragment.
    """
    page = page_iri(url)
    in_graphs: list[str] = []
    in_union: list[str] = []
    inner: dict[str, str] = {}
    seen: set[Statement] = set()
    for extraction in facts.extractions:
        for statement in extraction.statements:
            if statement in seen:
                continue
            seen.add(statement)
            subject, predicate, object_, graph = statement
            triple = f"{subject} {predicate} {object_}"
            name = page
            if graph:
                name = inner.setdefault(graph, f"{page[:-1]}#graph={quote(graph.strip('<>'), safe=':/')}>")
            in_graphs.append(f"{triple} {name} .\n")
            in_union.append(f"{triple} .\n")
    return SerializedPage(_encode(in_graphs), _encode(in_union), len(seen), tuple(inner.values()))


def _encode(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "replace")


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
