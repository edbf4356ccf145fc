"""Validation of one page and of all pages of a crawl: findings with their pages, hosts and positions."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pyoxigraph as ox

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.parsing.page_parser import parse_document
from motherlode.crawler.statement_positions import PagePositions
from motherlode.fetch.warc.reader import RecordedWeb
from motherlode.index.export.table_files import Column
from motherlode.index.page_record import GRAPH_OF_PAGE, OWN_GRAPHS, VALIDATION, serialize_term
from motherlode.index.quad_store import QuadStore
from motherlode.model import Page, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE, prefixed_name
from motherlode.quality.page_graph import PageGraph, Triple, is_iri, parse_literal
from motherlode.quality.shape_profiles import PageValidator
from motherlode.quality.shapes import Result
from motherlode.quality.validation_report import build_report
from motherlode.transform import TransformOptions

_MAX_VALUE_CHARACTERS = 200
_PAGES_PER_WRITE = 500
_SECONDS = 10.0
"""Timeout of one syntax when a saved response is parsed again."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One result of validation, for people and tables."""

    page: str
    host: str
    severity: str
    """violation, warning or info."""
    path: str
    """The property or path, with common prefixes; empty if the result is about a node."""
    message: str
    value: str = ""
    focus: str = ""
    """The node that violates a rule: an IRI, or a blank node."""
    types: tuple[str, ...] = ()
    component: str = ""
    shape: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def subject(self) -> str:
        """The types of the node, or the node, for people."""
        return ", ".join(self.types) or self.focus


FINDING_COLUMNS = (
    *(Column("page"), Column("host"), Column("severity"), Column("path"), Column("message"), Column("value")),
    *(Column("focus"), Column("types", "list"), Column("component"), Column("shape")),
    *(Column("line", "integer"), Column("column", "integer")),
)


def finding_row(finding: Finding) -> list[Any]:
    """Return the values of a finding as a table row, in the order of `FINDING_COLUMNS`."""
    values = msgspec.to_builtins(finding)
    return [values[column.name] for column in FINDING_COLUMNS]


class PageFindings(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of one page."""

    page: str
    host: str
    nodes: int
    """Number of nodes that the shapes are about."""
    findings: tuple[Finding, ...]
    report: tuple[Triple, ...] = ()
    """The SHACL validation report, if it was wanted."""


def host_of(url: str) -> str:
    """Return the host of a URL, with the port if it is not the default, or "" for a file."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def validate_page(
    validator: PageValidator, url: str, triples: Iterable[Triple], text: str = "", *, has_report: bool = False
) -> PageFindings:
    """Validate the statements of a page. `text` is its source, for lines and columns."""
    graph = PageGraph(triples)
    found = validator.validate(graph.triples())
    host = host_of(url)
    locate = _Locator(graph, text) if text and found.results else None
    findings = []
    for result in found.results:
        line, column = locate.find(result) if locate else (None, None)
        findings.append(_make_finding(result, graph, url, host, line, column))
    if locate:
        findings.sort(key=lambda finding: (finding.line or 0, finding.column or 0))
    report = _make_report(found.results, validator, url) if has_report else ()
    return PageFindings(page=url, host=host, nodes=found.nodes, findings=tuple(findings), report=tuple(report))


def _make_report(results: Iterable[Result], validator: PageValidator, url: str) -> Iterator[Triple]:
    """Yield a SHACL validation report of a page, with dcterms:source as the link to the page."""
    name = f"page{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:16]}"
    yield from build_report(results, validator.shapes_graph, name=name)
    yield f"_:{name}", _SOURCE, f"<{url}>"


def _make_finding(
    result: Result, graph: PageGraph, url: str, host: str, line: int | None, column: int | None
) -> Finding:
    return Finding(
        page=url,
        host=host,
        severity=result.severity,
        path=result.path,
        message=result.message,
        value=_show(result.offence.value or ""),
        focus=_show(result.focus),
        types=tuple(prefixed_name(term[1:-1]) for term in graph.objects(result.focus, RDF_TYPE)),
        component=result.component,
        shape=_show(result.shape.id) if is_iri(result.shape.id) else "",
        line=line,
        column=column,
    )


def _show(term: str) -> str:
    literal = parse_literal(term) if term else None
    text = literal.text if literal else term[1:-1] if is_iri(term) else term
    return text[:_MAX_VALUE_CHARACTERS]


class _Locator:
    """Finds the results of one page in its text."""

    def __init__(self, graph: PageGraph, text: str) -> None:
        self._graph = graph
        self._positions = PagePositions(text)
        self._numbers: dict[str, int] = {}
        seen: dict[str, int] = {}
        for node in graph.nodes():
            type_ = next(iter(graph.objects(node, RDF_TYPE)), "")
            self._numbers[node] = seen.get(type_, 0)
            seen[type_] = seen.get(type_, 0) + 1

    def find(self, result: Result) -> tuple[int, int] | tuple[None, None]:
        """Return line and column of the property of a result if the page has it, else of its node."""
        node = self._find_node(result.focus)
        predicate = result.offence.path or (result.shape.path.predicate if result.shape.path else "")
        offset = node
        if predicate == RDF_TYPE and result.offence.value:
            offset = self._positions.find_node((_local(result.offence.value),), "", 0)
        elif predicate and self._graph.objects(result.focus, predicate):
            value = _show(result.offence.value or "")
            offset = self._positions.find_property(_local(predicate), value, after=node or 0)
        offset = node if offset is None else offset
        return (None, None) if offset is None else self._positions.line_and_column(offset)

    def _find_node(self, focus: str) -> int | None:
        types = tuple(map(_local, self._graph.objects(focus, RDF_TYPE)))
        return self._positions.find_node(types, focus[1:-1] if is_iri(focus) else "", self._numbers.get(focus, 0))


def _local(term: str) -> str:
    """Return the last part of an IRI."""
    return term[1:-1].rstrip("/#").replace("#", "/").rpartition("/")[2]


def triples_of(result: TransformResult) -> Iterator[Triple]:
    """Yield the statements of a page, without our own about the page."""
    for extraction in result.extractions:
        if extraction.syntax is not Syntax.PAGE:
            for subject, predicate, object_, _ in extraction.statements:
                yield subject, predicate, object_


class _SavedResponses:
    """The responses in the WARC files of a crawl, if it kept them."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._webs: list[RecordedWeb] = []
        for path in paths:
            with suppress(ValueError, OSError):  # a file without responses, or one that cannot be read
                self._webs.append(RecordedWeb(path))

    def close(self) -> None:
        for web in self._webs:
            web.close_file()

    def locate(self, found: PageFindings, validator: PageValidator) -> PageFindings:
        """Return the findings with lines and columns, or unchanged if the saved response does not give the same ones.

        It gives others if the page needed a JSON-LD context that was fetched, or was saved again later.
        """
        page = next((web.read_response(found.page) for web in self._webs if found.page in web), None)
        if not isinstance(page, Page):
            return found
        parsed = parse_document(
            page.body, url=found.page, content_type=page.content_type, options=TransformOptions(seconds=_SECONDS)
        )
        located = validate_page(validator, found.page, triples_of(parsed.result), parsed.document.text)
        is_same = Counter(map(_without_names, located.findings)) == Counter(map(_without_names, found.findings))
        return msgspec.structs.replace(found, findings=located.findings) if is_same else found


def _without_names(finding: Finding) -> tuple[str, ...]:
    """Return the parts of a finding that do not depend on names of blank nodes."""
    return finding.severity, finding.path, finding.message, *finding.types


class CrawlValidator:
    """Validates the pages of a crawl, with lines and columns if it kept the responses."""

    def __init__(self, folder: CrawlFolder, validator: PageValidator, *, has_reports: bool = False) -> None:
        self._store = QuadStore(folder.store, read_only=True)
        self._saved = _SavedResponses(folder.list_warc_files())
        self._validator = validator
        self._has_reports = has_reports

    def close(self) -> None:
        """Close the files of the crawl."""
        self._saved.close()
        self._store.close()

    def graphs(self) -> Iterator[str]:
        """Yield the names of the graphs of all pages."""
        return (name for name in self._store.graph_names() if name not in OWN_GRAPHS)

    def validate(self, graph: str) -> PageFindings:
        """Return the findings of a page, or of a graph that a page names itself."""
        page = graph.partition(GRAPH_OF_PAGE)[0]
        triples = map(_to_triple, self._store.match(graph=f"<{graph}>"))
        found = validate_page(self._validator, page, triples, has_report=self._has_reports)
        return self._saved.locate(found, self._validator) if found.findings else found


def _to_triple(quad: ox.Quad) -> Triple:
    return serialize_term(quad.subject), str(quad.predicate), serialize_term(quad.object)


_SOURCE = "<http://purl.org/dc/terms/source>"


def report_quads(pages: Iterable[PageFindings], *, has_graph: bool) -> Iterator[ox.Quad]:
    """Yield the SHACL validation report of each page."""
    graph = f"<{VALIDATION}>" if has_graph else ""
    for page in pages:
        lines = "".join(f"{s} {p} {o} {graph} .\n" for s, p, o in page.report)
        yield from ox.parse(lines.encode("utf-8", "replace"), ox.RdfFormat.N_QUADS, lenient=True)


def store_reports(pages: Iterable[PageFindings], folder: CrawlFolder) -> Iterator[PageFindings]:
    """Yield all pages, and write their reports to the graph `urn:motherlode:validation` of the store.

    Reports of an earlier validation are removed. JobError if the crawl is running.
    """
    folder.lock()
    try:
        store = QuadStore(folder.store)
        store.clear_graph(VALIDATION)
        rest = iter(pages)
        while batch := list(islice(rest, _PAGES_PER_WRITE)):
            about = [page for page in batch if page.nodes]
            store.update_graph(VALIDATION, added=report_quads(about, has_graph=True))
            yield from batch
        store.flush()
        store.save_graph(VALIDATION)
        store.close()
    finally:
        folder.unlock()
