"""Records of pages and runs, and how they are serialized as N-Quads, with their provenance.

A statement is stored once in its page's graph, even if several syntaxes contain it, so that queries do not count it
twice. If a page has statements in several syntaxes, its provenance has one literal per syntax: the name of the syntax
and the keys of its statements.

    <page> ml:says "jsonld 0f3a9c1e72 77b1…" , "rdfa 77b1…" .

The key of a statement is the beginning of the MD5 of its N-Triples form. `ml:key(?s, ?p, ?o)` returns it in a query:

    GRAPH ?page { ?s ?p ?o }
    GRAPH <urn:motherlode:provenance> { ?page ml:says ?said }
    FILTER(CONTAINS(?said, ml:key(?s, ?p, ?o)))

A key costs eleven bytes this way. A quad per key would cost as much as the statement.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import NamedTuple, Protocol
from urllib.parse import quote

import pyoxigraph as ox

from motherlode.model import Problem, Statement, Syntax, TransformResult
from motherlode.model.terms import PREFIXES, RDF_TYPE, XSD, literal, page_iri
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences

KEY = ox.NamedNode(PREFIXES["ml"] + "key")
_KEY_DIGITS = 10
"""40 bits: two of a page's ten thousand statements share a key in about one of twenty thousand pages."""
_MAX_MESSAGE_LENGTH = 300
_MAX_KEYS_PER_LITERAL = 2_000
"""Bounds the size of a literal, because a page may have a million statements and a literal is read as a whole."""

_PLAIN = r"[^\x00-\x1f\x7f\\\ufffe\uffff]*"
_CANONICAL_STRING = re.compile(rf'"{_PLAIN}(?:\\[nr"\\]{_PLAIN})*"(?:@[a-z0-9-]+)?')
"""Literals that are canonical already. Canonicalizing them by the store would cost ten times as much."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def key_function(subject: Term, predicate: Term, object_: Term) -> ox.Literal:
    """The SPARQL function `ml:key`: return the key of a statement that was read from the store.

    >>> key_function(ox.NamedNode("http://a.example/"), ox.NamedNode("http://b.example/"), ox.Literal("x")).value
    '81f5188734'
    """
    return ox.Literal(_digest(f"{subject} {predicate} {serialize_term(object_)}"))


def serialize_term(term: Term) -> str:
    """Return a term in N-Triples. For a triple term (RDF 1.2), pyoxigraph leaves out the brackets."""
    return f"<<( {term} )>>" if isinstance(term, ox.Triple) else str(term)


def _digest(statement: str) -> str:
    return hashlib.md5(statement.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:_KEY_DIGITS]


def syntax_keys(result: TransformResult) -> tuple[str, ...]:
    """Return the values of `ml:says` for a page. Empty if at most one syntax has statements: `ml:syntax` names it."""
    speaking = [extraction for extraction in result.extractions if extraction.statements]
    if len({extraction.syntax for extraction in speaking}) < 2:
        return ()
    keys: dict[str, dict[str, None]] = {}
    for extraction in speaking:
        own = keys.setdefault(extraction.syntax.value, {})
        for subject, predicate, object_, _ in extraction.statements:
            if subject.startswith("<<"):
                subject = _canonical_term(subject)
            own[_digest(f"{subject} {predicate} {_canonical_term(object_)}")] = None
    return tuple(
        f"{name} {' '.join(islice(own, start, start + _MAX_KEYS_PER_LITERAL))}"
        for name, own in keys.items()
        for start in range(0, len(own), _MAX_KEYS_PER_LITERAL)
    )


def _canonical_term(term: str) -> str:
    """Return a term as the store writes it: with canonical numbers, dates and escapes."""
    if term[0] != '"':
        return _canonicalize(term) if term.startswith("<<") else term
    if term[-1] == '"' and term.isascii() and term.isprintable() and "\\" not in term:
        return term  # the common case, faster than the regular expression
    return term if _CANONICAL_STRING.fullmatch(term) else _canonicalize(term)


@lru_cache(maxsize=4096)
def _canonicalize(term: str) -> str:
    store = ox.Store()
    store.extend(parse_quads(f"<urn:s> <urn:p> {term} .".encode("utf-8", "replace")))
    return next((serialize_term(quad.object) for quad in store), term)  # the store skips an invalid statement


def parse_quads(lines: bytes, *, lenient: bool = True) -> list[ox.Quad]:
    """Return the quads of all valid lines: one broken line must not cost the others.

    >>> [str(quad.object) for quad in parse_quads(b"<u:s> <u:p> <u:o> <u:g> .\\nbroken\\n<u:s> <u:p> _:b <u:g> .")]
    ['<u:o>', '_:b']
    """
    try:
        return list(ox.parse(lines, ox.RdfFormat.N_QUADS, lenient=lenient))
    except SyntaxError:
        parts = lines.split(b"\n")
        return [] if len(parts) == 1 else [quad for line in parts for quad in parse_quads(line, lenient=lenient)]


# Records and their serialization.

PROVENANCE = "urn:motherlode:provenance"
"""The graph with facts about pages and runs."""
CLUSTERS = "urn:motherlode:clusters"
"""The graph with clusters: descriptions of one thing, and why they were joined."""
VALIDATION = "urn:motherlode:validation"
"""The graph with reports of validation."""
DERIVED_GRAPHS = (CLUSTERS, VALIDATION)
"""Graphs that commands compute from the pages. The log of a crawl does not have them."""
OWN_GRAPHS = frozenset({PROVENANCE, *DERIVED_GRAPHS})
"""Graphs that are not of a page, but of the crawl or of a command."""
DATASET = "urn:motherlode:dataset"
"""The void:Dataset of all stored quads."""
SOFTWARE = "urn:motherlode:software"

GRAPH_OF_PAGE = "#graph="
"""Separator in the IRI of a graph that a page names itself: between the URL of the page and the name of the graph."""
_OWN_GRAPH_MARK = GRAPH_OF_PAGE.encode()
_GRAPH_NAME = re.compile(rb" (?:<[^<>\n]*>|_:\S+) \.\n")
"""The graph name and the full stop at the end of a line."""
_ML, _PROV = PREFIXES["ml"], PREFIXES["prov"]
_GENERATED, _GENERATED_BY, _STARTED, _ENDED, _AGENT = (
    f"<{_PROV}{name}>"
    for name in ("generatedAtTime", "wasGeneratedBy", "startedAtTime", "endedAtTime", "wasAssociatedWith")
)
_FORMAT = f"<{PREFIXES['dcterms']}format>"
PAGE = f"<{_ML}Page>"
"""The type of all pages. It is the first line of a page's provenance."""
URL = f"<{_ML}Url>"
"""The type of known URLs without a page: failed, refused or waiting."""
_STATE, _REASON, _HEADERS, _FOUND_BY = (f"<{_ML}{name}>" for name in ("state", "reason", "headers", "foundBy"))
_STATUS, _KIND, _SYNTAX, _HASH = (f"<{_ML}{name}>" for name in ("status", "kind", "syntax", "contentHash"))
_REFERRER, _REDIRECTS, _GRAPH, _SIZE = (f"<{_ML}{name}>" for name in ("referrer", "redirectsTo", "graph", "size"))
_SAYS, _VERSION, _TARGET, _POLICY = (f"<{_ML}{name}>" for name in ("says", "version", "target", "policy"))
RESERVED, _PERMITTED, _TDM_POLICY = (f"<{_ML}{name}>" for name in ("reserved", "permitted", "tdmPolicy"))
_DETAIL, _RELEVANT, _SCORE = (f"<{_ML}{name}>" for name in ("detail", "relevant", "score"))
_SECONDS, _PROBLEM = (f"<{_ML}{name}>" for name in ("seconds", "problem"))
_TRUE = literal("true", datatype=XSD + "boolean")
_OWN_HOST = f"<{_ML}robotsNotApplied>"
_UNPROVEN_HOST = f"<{_ML}certificatesNotChecked>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """A page for the store: its statements as N-Quads, and its provenance."""

    url: str
    fetched_at: float
    status: int | None
    graph_quads: bytes = b""
    """N-Quads of the page's statements, each line with its graph."""
    quads: int = 0
    graphs: tuple[str, ...] = ()
    """IRIs, in angle brackets, of the graphs that the page names itself."""
    media_type: str = ""
    kind: str = ""
    syntaxes: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    """The values of `ml:says` (`syntax_keys`)."""
    content_hash: str = ""
    size: int = 0
    referrer: str = ""
    redirects_to: str = ""
    """The target of a redirect. A redirect has no statements."""
    headers: str = ""
    """Response headers, one `name: value` per line."""
    preferences: UsagePreferences = NO_PREFERENCES
    """What the page and its site say about its use."""
    found_by: str = ""
    """How the URL was found, if no page is its referrer: seed, sitemap, index_query."""
    state: str = ""
    """For a URL without a page: failed, refused or waiting. Such a record has no statements and replaces no page."""
    reason: str = ""
    """The kind of the failure, or why the URL was refused."""
    detail: str = ""
    """More about the failure."""
    is_relevant: bool = False
    score: float = 0.0
    """Score of the URL in its arm, when the link was found."""
    seconds: float = 0.0
    """Seconds from the request to the end of the response; 0 if there was no request."""
    problems: tuple[str, ...] = ()
    """The values of `ml:problem` (`format_problem`)."""
    provenance: bytes = b""
    """The serialized provenance if the record was read from a log (`index.nquads_log`); otherwise empty."""

    @property
    def union_quads(self) -> bytes:
        """The statements without graphs: the default graph of the store is the union of all pages."""
        if _OWN_GRAPH_MARK in self.graph_quads:
            return _GRAPH_NAME.sub(b" .\n", self.graph_quads)
        return self.graph_quads.replace(f" {page_iri(self.url)} .\n".encode("utf-8", "replace"), b" .\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run of a crawl, from its start or resumption to its end."""

    identifier: str
    started_at: float
    version: str
    target: str = ""
    policy: str = ""
    own_hosts: tuple[str, ...] = ()
    """Hosts whose robots.txt was not applied, because the user declared them as their own."""
    unproven_hosts: tuple[str, ...] = ()
    """Hosts whose TLS certificates were not checked, so that their pages may come from another server."""

    @property
    def iri(self) -> str:
        return f"<urn:motherlode:run:{quote(self.identifier, safe='')}>"


class Store(Protocol):
    """The interface by which pages are written to a store."""

    def write(self, records: Sequence[PageRecord]) -> None: ...

    def flush(self) -> None: ...


class SerializedPage(NamedTuple):
    """The statements of a page as N-Quads, for the fields of `PageRecord` with the same names."""

    graph_quads: bytes
    quads: int
    """Number of distinct statements."""
    graphs: tuple[str, ...]


def serialize_page(url: str, result: TransformResult) -> SerializedPage:
    """Return the statements of a page as N-Quads, each line with its graph.

    A graph that the document names itself becomes a graph of the page: the page's URL with the name as its fragment.
    """
    page = page_iri(url)
    lines: list[str] = []
    inner: dict[str, str] = {}
    seen: set[Statement] = set()
    for extraction in result.extractions:
        for statement in extraction.statements:
            if statement in seen:
                continue
            seen.add(statement)
            subject, predicate, object_, graph = statement
            name = page
            if graph:
                name = inner.setdefault(graph, f"{page[:-1]}{GRAPH_OF_PAGE}{quote(graph.strip('<>'), safe=':/')}>")
            lines.append(f"{subject} {predicate} {object_} {name} .\n")
    return SerializedPage("".join(lines).encode("utf-8", "replace"), len(seen), tuple(inner.values()))


def format_problem(problem: Problem) -> str:
    """Return the value of `ml:problem`: line and column, or - if they are not known, syntax, and message.

    >>> format_problem(Problem(syntax=Syntax.JSON_LD, message="a comma is missing", line=3, column=14, repaired=True))
    '3:14 jsonld (repaired): a comma is missing'
    """
    position = "-" if problem.line is None else f"{problem.line}:{problem.column or 1}"
    syntax = problem.syntax.value if problem.syntax else "page"
    return f"{position} {syntax}{' (repaired)' if problem.repaired else ''}: {problem.message[:_MAX_MESSAGE_LENGTH]}"


def serialize_provenance(record: PageRecord, run: str = "") -> str:
    """Return the provenance of a page as N-Quads. `run` is the IRI, in angle brackets, of the run that fetched it."""
    page = page_iri(record.url)
    properties = _url_properties(record) if record.state else _page_properties(record)
    is_a = URL if record.state else PAGE
    pairs = [(RDF_TYPE, is_a), (_GENERATED, datetime_literal(record.fetched_at)), *properties]
    if run:
        pairs.append((_GENERATED_BY, run))
    return "".join(f"{page} {predicate} {value} <{PROVENANCE}> .\n" for predicate, value in pairs)


def provenance_quads(record: PageRecord, run: str) -> bytes:
    """Return the provenance of a page as encoded N-Quads, serialized unless the record has it already."""
    return record.provenance or serialize_provenance(record, run).encode("utf-8", "replace")


def _url_properties(record: PageRecord) -> Iterable[tuple[str, str]]:
    yield _STATE, literal(record.state)
    if record.reason:
        yield _REASON, literal(record.reason)
    if record.detail:
        yield _DETAIL, literal(record.detail)
    yield from _request_properties(record)


def _request_properties(record: PageRecord) -> Iterable[tuple[str, str]]:
    if record.status is not None:
        yield _STATUS, literal(str(record.status), datatype=XSD + "integer")
    if record.headers:
        yield _HEADERS, literal(record.headers)
    if record.found_by:
        yield _FOUND_BY, literal(record.found_by)
    if record.referrer:
        yield _REFERRER, page_iri(record.referrer)
    if record.seconds:
        yield _SECONDS, literal(f"{record.seconds:.3f}", datatype=XSD + "decimal")
    if record.score and isfinite(record.score):
        yield _SCORE, literal(f"{record.score:.6g}", datatype=XSD + "double")


def _page_properties(record: PageRecord) -> Iterable[tuple[str, str]]:
    yield from _request_properties(record)
    if record.redirects_to:
        yield _REDIRECTS, page_iri(record.redirects_to)
        return
    yield _SIZE, literal(str(record.size), datatype=XSD + "integer")
    if record.is_relevant:
        yield _RELEVANT, _TRUE
    for problem in record.problems:
        yield _PROBLEM, literal(problem)
    for predicate, text in ((_FORMAT, record.media_type), (_KIND, record.kind), (_HASH, record.content_hash)):
        if text:
            yield predicate, literal(text)
    # a page whose statements have no other syntax has those of its title and meta elements
    fallback = (Syntax.PAGE.value,) if record.quads and not record.says else ()
    for syntax in record.syntaxes or fallback:
        yield _SYNTAX, literal(syntax)
    for key in record.says:
        yield _SAYS, literal(key)
    for graph in record.graphs:
        yield _GRAPH, graph
    if record.preferences.uses:
        yield from _usage_properties(record.preferences)


def _usage_properties(preferences: UsagePreferences) -> Iterable[tuple[str, str]]:
    for use in preferences.reserved:
        yield RESERVED, literal(use)
    for use in preferences.permitted:
        yield _PERMITTED, literal(use)
    if preferences.tdm_policy:
        yield _TDM_POLICY, literal(preferences.tdm_policy)


def serialize_run(run: RunRecord) -> str:
    """Return N-Quads that describe a run, the data set that it generated, and the software."""
    rows = [
        (run.iri, RDF_TYPE, f"<{_PROV}Activity>"),
        (run.iri, _STARTED, datetime_literal(run.started_at)),
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


def serialize_run_end(run: RunRecord, ended_at: float) -> str:
    return f"{run.iri} {_ENDED} {datetime_literal(ended_at)} <{PROVENANCE}> .\n"


def datetime_literal(seconds: float) -> str:
    """Return seconds since the epoch as an xsd:dateTime literal.

    >>> datetime_literal(0.25)
    '"1970-01-01T00:00:00.250+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    """
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return literal(text, datatype=XSD + "dateTime")
