"""The fuzz targets: one function per parser, which raises if a promise does not hold for an input.

For any bytes, a parser raises no unexpected exception and its statements are valid RDF. If another implementation
accepts the input as valid (pyoxigraph for RDF, PyLD for JSON-LD, mf2py for microformats), the results are equal.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph as ox
from lxml import etree

from motherlode.crawler.config.job import Job, JobError
from motherlode.crawler.config.job_file import job_to_toml, read_job_file
from motherlode.crawler.recrawl.page_memory import PageMemory
from motherlode.crawler.stats.counters import Counters, Estimate, Estimator
from motherlode.crawler.url_rules import TrapWatch
from motherlode.fetch.http.parser import ResponseParser, parse_head, remove_chunk_lines, repair_head
from motherlode.fetch.robots import RobotsRules
from motherlode.fetch.warc.reader import RecordedWeb
from motherlode.frontier import HostRecord
from motherlode.links.collect import collect_links
from motherlode.model import ContentKind, Extraction, Problem, Syntax, TransformResult, Visit
from motherlode.policies import policy_from
from motherlode.policies.model_io import UNREADABLE
from motherlode.transform import html_metadata, jsonld, microdata, microformats, rdfa
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.transform.jsonld.processor_options import ProcessorOptions
from motherlode.transform.jsonld.to_rdf import to_rdf
from motherlode.transform.options import TransformOptions
from motherlode.transform.rdf_documents import read
from motherlode.www.html_limits import guarded
from tests.www.pages import URL, document

Target = Callable[[bytes], None]
_MAX_BLANK_NODES = 6
"""Documents with more blank nodes are not compared, because that may take long."""


def _check_statements(extractions: Iterable[Extraction]) -> None:
    """Assert that each statement is one line of N-Quads."""
    found = [statement for extraction in extractions for statement in extraction.statements]
    lines = "".join(f"{' '.join(filter(None, statement))} .\n" for statement in found)
    assert len(list(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))) == len(found), lines


def _canonical(quads: Iterable[ox.Quad]) -> set[str] | None:
    """Return the quads with canonical labels of blank nodes; None if there are too many blank nodes to compare."""
    dataset = ox.Dataset(quads)
    text = "\n".join(map(str, dataset))
    if len({word for word in text.split() if word.startswith("_:")}) > _MAX_BLANK_NODES or "<<" in text:
        return None
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(map(str, dataset))


def _parse_lines(statements: Iterable[Iterable[str]]) -> list[ox.Quad]:
    lines = "".join(f"{' '.join(filter(None, statement))} .\n" for statement in statements)
    return list(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS, lenient=True))


def _fuzz_html_guard(data: bytes) -> None:
    """Hostile markup: the guard ends, adds nothing, and leaves guarded markup as it is."""
    markup, _ = guarded(data)
    assert len(markup) <= len(data)
    assert guarded(markup)[0] == markup


def _fuzz_page(syntax: Syntax, extract: Callable[..., Extraction]) -> Target:
    def fuzz(data: bytes) -> None:
        page = document(data, kind=ContentKind.XHTML if data.startswith(b"<?xml") else ContentKind.HTML)
        found = extract(page, BlankNames(URL, syntax))
        _check_statements([found])
        for link in collect_links(page, TransformResult(extractions=(found,))):
            assert link.url.startswith("http")

    fuzz.__doc__ = f"Pages with {syntax.value}: statements are valid, links are absolute."
    return fuzz


def _fuzz_jsonld(data: bytes) -> None:
    """JSON-LD in a page, damaged or not; strictly valid documents as PyLD reads them."""
    page = document(b'<script type="application/ld+json">' + data + b"</script>")
    _check_statements([jsonld.extract(page, BlankNames(URL, Syntax.JSON_LD), TransformOptions())])
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(value, (dict, list)) and not _has_remote_context(value):
        _compare_with_pyld(value)


def _has_remote_context(value: Any) -> bool:
    if isinstance(value, dict):
        own = value.get("@context")
        texts = own if isinstance(own, list) else [own]
        is_remote = any(isinstance(one, str) or (isinstance(one, dict) and "@import" in one) for one in texts)
        return is_remote or any(map(_has_remote_context, value.values()))
    return isinstance(value, list) and any(map(_has_remote_context, value))


def _compare_with_pyld(value: Any) -> None:
    """Assert that the statements of a document without JSON-LD errors are those of PyLD."""
    from pyld import jsonld as pyld

    try:
        own = to_rdf(value, BlankNames(URL, Syntax.JSON_LD), ProcessorOptions(base=URL, strict_iris=True))
    except JsonLdError:
        return
    try:
        other = pyld.to_rdf(value, {"base": URL, "format": "application/n-quads", "processingMode": "json-ld-1.1"})
        theirs = list(ox.parse(other.encode(), ox.RdfFormat.N_QUADS))
    except (pyld.JsonLdError, SyntaxError, TypeError, AttributeError, KeyError, ValueError, RecursionError):
        return  # not valid, or PyLD fails itself
    ours, expected = _canonical(_parse_lines(own.statements)), _canonical(theirs)
    assert ours is None or expected is None or ours == expected, (ours - expected, expected - ours)


def _fuzz_microformats(data: bytes) -> None:
    """Microformats: valid statements; in well-formed markup the items that mf2py finds."""
    page = document(data)
    _check_statements([microformats.extract(page, BlankNames(URL, Syntax.MICROFORMATS))])
    if b"class" in data and _is_plain_markup(data):
        import mf2py

        expected = mf2py.parse(doc=data.decode(), url=URL)["items"]
        found: Any = microformats.parse(document(data))["items"]
        assert [item["type"] for item in found] == [item["type"] for item in expected]


def _is_plain_markup(data: bytes) -> bool:
    """Return whether all HTML parsers agree about markup: elements without rules of their own, all of them closed."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except (etree.XMLSyntaxError, ValueError):
        return False
    plain = {"div", "span", "b", "i", "section"}
    return data.isascii() and b"<!" not in data and all(element.tag in plain for element in root.iter())


def _fuzz_rdf(syntax: Syntax, form: ox.RdfFormat) -> Target:
    def fuzz(data: bytes) -> None:
        found = list(read(data, syntax=syntax, base=URL, names=BlankNames(URL, syntax)))
        statements = [one for one in found if not isinstance(one, Problem)]
        own = _parse_lines(statements)
        assert len(own) == len(statements)
        if b"Literal" in data:  # pyoxigraph writes all namespaces into an XMLLiteral, not only those in use
            return
        try:
            theirs = list(ox.parse(data, form, base_iri=URL))
        except (SyntaxError, ValueError):
            return
        ours, expected = _canonical(own), _canonical(theirs)
        assert ours is None or expected is None or ours == expected, (ours - expected, expected - ours)

    fuzz.__doc__ = f"Documents of {syntax.value}: valid statements, and those of pyoxigraph if it finds no error."
    return fuzz


def _fuzz_robots(data: bytes) -> None:
    """robots.txt: rules for any URL, and always the same."""
    rules = RobotsRules(data)
    for url in (URL, "http://example.org/", "http://example.org/a%2fb?c=d#e", "http://example.org/é*$"):
        assert rules.allows(url) is RobotsRules(data).allows(url)
        rules.deciding_rule(url)
        rules.preferences(url)
    assert rules.allows("http://example.org/robots.txt")
    assert rules.delay is None or rules.delay >= 0


def _fuzz_sitemap(data: bytes) -> None:
    """Sitemaps and feeds, as XML or text: all links are absolute."""
    for kind in (ContentKind.SITEMAP, ContentKind.RSS, ContentKind.TEXT):
        for link in collect_links(document(data, kind=kind), TransformResult()):
            assert link.url.startswith("http")


class _Receiver:
    """Keeps the response that a parser delivers."""

    is_slow = False

    def __init__(self) -> None:
        self.heads: list[tuple[int, dict[str, str]]] = []
        self.body = b""

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        self.heads.append((status, headers))
        return True

    def receive_body(self, data: bytes) -> bool:
        self.body += data
        return True


def _read_response(pieces: Iterable[bytes]) -> tuple[str, list[tuple[int, dict[str, str]]], bytes]:
    parser, receiver, problem = ResponseParser(), _Receiver(), ""
    parser.begin(receiver, head_only=False)
    for piece in pieces:
        if not (problem or parser.is_done):
            problem = parser.feed(piece)
    parser.end()
    return problem, receiver.heads, receiver.body


def _fuzz_http(data: bytes) -> None:
    """HTTP responses: no exception, however they are split."""
    step = 1 + data[0] % 40 if data else 1
    rest = data[1:]
    _read_response([rest])
    _read_response(rest[start : start + step] for start in range(0, len(rest), step))
    head = repair_head(rest)
    parse_head(head)
    remove_chunk_lines(rest)


@contextmanager
def _file_with(data: bytes, suffix: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        yield Path(file.name)


def _fuzz_warc(data: bytes) -> None:
    """WARC files, compressed or not: broken records are skipped or counted."""
    with _file_with(data, ".warc") as path:
        try:
            web = RecordedWeb(path, limit=1000)
        except ValueError:  # it has no responses
            return
        for url in web.urls():
            web.read_response(url)
        web.close_file()


def _fuzz_job(data: bytes) -> None:
    """Job files: a Job or a JobError; a job that is saved is read again as the same job."""
    with _file_with(data, ".toml") as path:
        try:
            job = Job(**read_job_file(path))
        except JobError:
            return
    with _file_with(job_to_toml(job).encode(), ".toml") as path:
        assert Job(**read_job_file(path)) == job


_POLICIES = ("motherlode", "bandit:best-score", "ldcoc", "bfs", "sb-classifier")
_READERS: tuple[Callable[[bytes], object], ...] = (
    *(lambda data, name=name: policy_from(name).load(data) for name in _POLICIES),  # type: ignore[misc]
    lambda data: Estimator().load(data),
    lambda data: TrapWatch(lambda url: "", year_now=2026).load(data),
    *(msgspec.msgpack.Decoder(kind).decode for kind in (Counters, Estimate, HostRecord, PageMemory, Visit)),
)


def _fuzz_saved_state(data: bytes) -> None:
    """Saved state: it is read, or the error is one that a resume reports. The first byte selects the reader."""
    if data:
        try:
            _READERS[data[0] % len(_READERS)](data[1:])
        except UNREADABLE:
            return


TARGETS: dict[str, Target] = {
    "html-guard": _fuzz_html_guard,
    "jsonld": _fuzz_jsonld,
    "rdfa": _fuzz_page(Syntax.RDFA, lambda page, names: rdfa.extract(page, names, roles=True)),
    "microdata": _fuzz_page(Syntax.MICRODATA, microdata.extract),
    "html-metadata": _fuzz_page(Syntax.PAGE, html_metadata.extract),
    "microformats": _fuzz_microformats,
    "turtle": _fuzz_rdf(Syntax.TURTLE, ox.RdfFormat.TURTLE),
    "trig": _fuzz_rdf(Syntax.TRIG, ox.RdfFormat.TRIG),
    "n-quads": _fuzz_rdf(Syntax.N_QUADS, ox.RdfFormat.N_QUADS),
    "rdf-xml": _fuzz_rdf(Syntax.RDF_XML, ox.RdfFormat.RDF_XML),
    "robots": _fuzz_robots,
    "sitemap": _fuzz_sitemap,
    "http": _fuzz_http,
    "warc": _fuzz_warc,
    "job": _fuzz_job,
    "saved-state": _fuzz_saved_state,
}
