"""Verification of a crawl folder: frontier, log of quads, quad store, word index and WARC files agree.

Every page that the frontier counts as fetched must be in the store, with the hash of the body that was fetched, or in
the part of the log that is not indexed yet. Pages with text must be in the word index. Every graph of the store must
belong to a page with provenance, and the union must have the statements of the pages and no others. A store may be
ahead of its frontier after a kill, because pages are stored first: that is not a problem.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import chain
from math import inf
from pathlib import Path
from shlex import quote
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import msgspec

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import committed_manifest, damaged_store_advice, find_unread, has_log
from motherlode.frontier import STORAGE_ERRORS, LmdbStorage, UrlState, damage
from motherlode.frontier.storage.tables import UNCHANGED
from motherlode.index.page_record import CLUSTERS, OWN_GRAPHS, PAGE, PROVENANCE
from motherlode.index.snapshot import DamagedError, is_damage
from motherlode.model import FailureKind, Visit
from motherlode.model.terms import PREFIXES, RDF_TYPE, page_iri

if TYPE_CHECKING:
    from motherlode.index.fulltext.coverage import WordCoverage
    from motherlode.index.quad_store import QuadStore

_MAX_EXAMPLES = 5
_MAX_ERROR_CHARACTERS = 300
_ML = PREFIXES["ml"]
_READ_ERRORS = (OSError, RuntimeError, ValueError)


class Part(StrEnum):
    """A part of a crawl folder that is verified."""

    FRONTIER = "frontier"
    LOG = "log"
    STORE = "store"
    PAGES = "pages"
    GRAPHS = "graphs"
    WORDS = "words"
    WARC = "warc"


@dataclass(slots=True, kw_only=True)
class FolderProblem:
    """A problem of a crawl folder."""

    part: Part
    folder: str
    """The folder of the crawl or of one of its shards."""
    problem: str
    advice: str
    count: int = 1
    """Number of pages, graphs, files or statements that the problem concerns."""
    examples: list[str] = field(default_factory=list)
    repair: str = ""
    """The repair that was made; empty if there was none."""


@dataclass(slots=True)
class Verification:
    """The result of a verification."""

    pages: int = 0
    """Pages that the frontiers count as fetched, including redirects."""
    unindexed_pages: int = 0
    """Pages in a log of quads that is not indexed to its end."""
    stored_pages: int = 0
    statements: int = 0
    """Distinct statements of the stores."""
    warc_records: int = 0
    findings: list[FolderProblem] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether no problem is left."""
        return all(finding.repair for finding in self.findings)

    def summary(self) -> dict[str, Any]:
        """Return the object that `verify --json` prints."""
        return {"ok": self.is_good, **asdict(self)}


def verify(folder: CrawlFolder) -> Verification:
    """Verify a crawl folder and the folders of its shards. Nothing is written to them."""
    folder.require()
    found = Verification()
    for part in parts_of(folder):
        _FolderCheck(part, found).run()
    return found


def parts_of(folder: CrawlFolder) -> list[CrawlFolder]:
    """Return the folders to verify: those of the shards, and the crawl's own unless only its shards have run."""
    shards = folder.shard_folders()
    return [*shards, *([] if shards and not folder.frontier.exists() else [folder])]


class _FolderCheck:
    """The verification of one folder."""

    def __init__(self, folder: CrawlFolder, found: Verification) -> None:
        self._folder = folder
        self._found = found
        self._unindexed: set[str] = set()
        self._is_log_good = True

    def run(self) -> None:
        self._check_warc()
        self._is_log_good = not has_log(self._folder) or self.check_log()
        store = self.open_store()
        storage = self._open_frontier()
        try:
            if storage is not None and self._is_log_good:
                self._check_pages(storage, store)
            elif storage is not None:  # it is unknown which of them the log has
                self._found.pages += sum(1 for _ in last_visits(storage))
            if store is not None and self._check_graphs(store) and self._folder.read_job().words:
                self._check_words(store)
        finally:
            for opened in (storage, store):
                if opened is not None:
                    opened.close()

    def _report(self, part: Part, problem: str, advice: str, *, urls: list[str] | None = None) -> None:
        self._found.findings.append(
            FolderProblem(
                part=part,
                folder=str(self._folder.path),
                problem=problem,
                advice=advice,
                count=len(urls) if urls is not None else 1,
                examples=(urls or [])[:_MAX_EXAMPLES],
            )
        )

    # ── files

    def _check_warc(self) -> None:
        for path in sorted(self._folder.warc.glob("*.warc.gz")):
            records, broken = count_warc_records(path)
            self._found.warc_records += records
            if broken:
                self._report(
                    Part.WARC,
                    f"{path} has unreadable records at {broken} places",
                    "--repair cuts an incomplete record off its end; others are lost unless you have a copy, "
                    "and the quads of their pages are in the store",
                )

    def check_log(self) -> bool:
        """Compare the files of the log with their checksums, and note the pages that are not indexed yet."""
        from motherlode.index.nquads_log import log_damage

        damaged = log_damage(self._folder.quads, committed_manifest(self._folder))
        for problem in damaged:
            self._report(
                Part.LOG,
                problem,
                "put back a copy of the file; or --repair indexes what can be read and queues the rest",
            )
        if not damaged:
            for batch in find_unread(self._folder).batches():
                self._unindexed.update(record.url for record in batch.pages if not record.state)
            self._found.unindexed_pages += len(self._unindexed)
        return not damaged

    def _open_frontier(self) -> LmdbStorage | None:
        path = self._folder.frontier
        advice = f"put back a copy; or move it away, and `motherlode resume {self._folder.path}` begins from the seeds"
        if not (path / "data.mdb").exists():
            self._report(Part.FRONTIER, f"there is no frontier in {path}", advice)
            return None
        problem = damage(path, max_bytes=inf)
        if not problem:
            try:
                return LmdbStorage(path, read_only=True)
            except (*_READ_ERRORS, *STORAGE_ERRORS) as error:
                problem = str(error)
        self._report(Part.FRONTIER, f"the frontier in {path} is damaged: {problem}", advice)
        return None

    def open_store(self) -> QuadStore | None:
        from motherlode.index.quad_store import QuadStore

        if not (self._folder.store / "CURRENT").exists():
            return None  # pages that should be in it are reported one by one
        try:
            return QuadStore(self._folder.store, read_only=True)
        except _READ_ERRORS as error:
            self._report_store(error)
            return None

    def _report_store(self, error: Exception) -> None:
        if isinstance(error, RuntimeError) and not is_damage(error):
            raise error
        path = self._folder.store
        advice = f"put back a copy; or {self._new_store}"
        cause = error.__cause__ if isinstance(error, DamagedError) else None  # without the advice for other commands
        problem = f"the store in {path} cannot be read: {cause or error}"
        self._report(Part.STORE, problem, advice)

    @property
    def _new_store(self) -> str:
        """Advice how to get a new store."""
        if not self._is_log_good:
            return damaged_store_advice(self._folder)
        if has_log(self._folder):
            return "--repair builds the store again from the log"
        return f"move {self._folder.store} away, and `motherlode resume {self._folder.path}` makes a new one"

    # ── pages

    def _check_pages(self, storage: LmdbStorage, store: QuadStore | None) -> None:
        lost: list[str] = []
        outdated: list[str] = []
        try:
            for visit in last_visits(storage):
                self._found.pages += 1
                state = self.state_in_store(visit, store)
                if state and _is_done(storage, visit.url):
                    (lost if state == "lost" else outdated).append(visit.url)
        except _READ_ERRORS as error:
            self._report_store(error)
            return
        resume = f"--repair queues them, and `motherlode resume {self._folder.path}` fetches them again"
        if has_log(self._folder):
            resume = f"{self._new_store}, and queues pages that the log lacks, too"
        if lost:
            self._report(Part.PAGES, f"{len(lost)} fetched pages are not in the store", resume, urls=lost)
        if outdated:
            text = f"{len(outdated)} pages are in the store with the contents of an earlier visit"
            self._report(Part.PAGES, text, resume, urls=outdated)

    def state_in_store(self, visit: Visit, store: QuadStore | None) -> str:
        """Return "lost" or "outdated", or "" if the store or the unindexed log has the page as it was fetched."""
        if visit.url in self._unindexed:
            return ""
        about = {} if store is None else read_provenance(store, page_iri(visit.url))
        if PAGE[1:-1] not in about.get(RDF_TYPE, ()):
            return "lost"
        hashes, times = about.get(f"<{_ML}contentHash>", []), about.get(f"<{PREFIXES['prov']}generatedAtTime>", [])
        is_same = not (visit.content_hash and hashes) or visit.content_hash in hashes or visit.refresh == UNCHANGED
        return "" if is_same or any(_seconds(time) > visit.at + 1.0 for time in times) else "outdated"

    # ── quads

    def _check_graphs(self, store: QuadStore) -> bool:
        """Check that every quad has its page, which reads the whole store. Return False if it cannot be read."""
        queries = {
            "{} graphs belong to no page": _GRAPHS_WITHOUT_PAGE,
            "{} statements of the default graph are on no page": _STATEMENTS_WITHOUT_PAGE,
            "{} statements of pages are not in the default graph": _STATEMENTS_NOT_IN_UNION,
        }
        try:
            self._found.statements += sum(1 for _ in store.statements())
            for text, query in queries.items():
                found = [str(row[0]) for row in store.query(query)]  # type: ignore[union-attr]
                if found:
                    self._report(Part.GRAPHS, text.format(len(found)), self._new_store, urls=found)
        except _READ_ERRORS as error:
            self._report_store(error)
            return False
        return True

    def _check_words(self, store: QuadStore) -> None:
        from motherlode.index.fulltext.coverage import WordCoverage  # loads slowly

        advice = f"--repair builds it again, as does `motherlode search {self._folder.path} --rebuild`"
        missing = []
        try:
            words = WordCoverage(self._folder.words)
            for page in stored_pages(store):
                self._found.stored_pages += 1
                if not _has_words(words, store, page):
                    missing.append(page[1:-1])
        except FileNotFoundError:
            self._report(Part.WORDS, f"there is no index of words in {self._folder.words}", advice)
        except DamagedError:  # of the store
            raise
        except (OSError, ValueError) as error:
            why = shorten(str(error), _MAX_ERROR_CHARACTERS)  # tantivy quotes a damaged file
            self._report(Part.WORDS, f"the index of words in {self._folder.words} cannot be read: {why}", advice)
        if missing:
            self._report(Part.WORDS, f"{len(missing)} pages are not in the index of words", advice, urls=missing)


_OF_A_PAGE = f"FILTER(?g NOT IN ({', '.join(f'<{name}>' for name in sorted(OWN_GRAPHS))}))"
_GRAPHS_WITHOUT_PAGE = f"""SELECT ?g {{ GRAPH ?g {{}} {_OF_A_PAGE}
    FILTER NOT EXISTS {{ GRAPH <{PROVENANCE}> {{ ?g a {PAGE} }} }}
    FILTER NOT EXISTS {{ GRAPH <{PROVENANCE}> {{ ?page <{_ML}graph> ?g }} }} }}"""
_STATEMENTS_WITHOUT_PAGE = f"""SELECT ?s {{ ?s ?p ?o
    FILTER NOT EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} {_OF_A_PAGE} }} }}"""
_STATEMENTS_NOT_IN_UNION = f"""SELECT ?g {{ GRAPH ?g {{ ?s ?p ?o }} {_OF_A_PAGE}
    FILTER NOT EXISTS {{ ?s ?p ?o }} }}"""


def last_visits(storage: LmdbStorage) -> Iterator[Visit]:
    """Yield the last visit of each URL that gave a page or a redirect, the newest first."""
    decode = msgspec.msgpack.Decoder(Visit).decode
    seen: set[int] = set()
    for visit in map(decode, storage.newest_visits()):
        if visit.failure in (None, FailureKind.REDIRECT) and hash(visit.url) not in seen:
            seen.add(hash(visit.url))
            yield visit


def read_provenance(store: QuadStore, page: str) -> dict[str, list[str]]:
    """Return the values of each predicate in the provenance of a page, given by its IRI in angle brackets."""
    about: dict[str, list[str]] = {}
    for quad in store.match(page, graph=f"<{PROVENANCE}>"):
        about.setdefault(str(quad.predicate), []).append(getattr(quad.object, "value", ""))
    return about


def stored_pages(store: QuadStore) -> Iterator[str]:
    """Yield the IRIs of the stored pages, in angle brackets."""
    return (str(quad.subject) for quad in store.match(predicate=RDF_TYPE, object_=PAGE, graph=f"<{PROVENANCE}>"))


def count_warc_records(path: Path) -> tuple[int, int]:
    """Return the numbers of intact responses and of damaged places in a WARC file. Digests are compared."""
    from motherlode.fetch.warc.reader import ResponseRecords

    with path.open("rb") as file:
        records, intact = ResponseRecords(file), 0
        for record in records:
            if "WARC-Block-Digest" not in record.headers or record.verify_block_digest():
                intact += 1
            else:
                records.count_as_broken(record)
        return intact, records.broken


def _is_done(storage: LmdbStorage, url: str) -> bool:
    found = storage.find(url)
    return found is not None and found[1] is UrlState.DONE


def _has_words(words: WordCoverage, store: QuadStore, page: str) -> bool:
    """Return whether the word index has a page, or the page has no text."""
    from motherlode.index.fulltext.documents import documents_from_lines

    if words.has(page[1:-1]):
        return True
    named = (str(quad.object) for quad in store.match(page, f"<{_ML}graph>", graph=f"<{PROVENANCE}>"))
    quads = chain.from_iterable(store.match(graph=graph) for graph in (page, *named))
    return not documents_from_lines(page[1:-1], (f"{quad} ." for quad in quads))


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


# ── repair


def repair(folder: CrawlFolder, found: Verification) -> None:
    """Repair the problems of a verification as far as possible. The caller holds the lock of the folder.

    Lost pages wait in the frontier again; the next `resume` fetches them.
    """
    for part in parts_of(folder):
        findings = [one for one in found.findings if one.folder == str(part.path)]
        is_merged = part is folder and bool(folder.shard_folders())
        for finding in findings:
            if finding.part is Part.WARC:
                _repair_warc(part, finding)
            elif finding.part is Part.WORDS:
                finding.repair = f"{rebuild_words(part)} pages indexed again"
        if not is_merged:  # the shards of a merged crawl are queued; `resume` merges them again
            _repair_pages(part, findings)


def _repair_warc(folder: CrawlFolder, finding: FolderProblem) -> None:
    results = [_repair_warc_file(path) for path in sorted(folder.warc.glob("*.warc.gz"))]
    if all(results):
        finding.repair = "the incomplete record was cut off"


def _repair_warc_file(path: Path) -> bool:
    """Cut an incomplete record off the end of a file, unless intact ones follow. Return whether the file is intact."""
    from motherlode.fetch.warc.writer import repair_tail

    intact, broken = count_warc_records(path)
    if not broken:
        return True
    repaired = path.with_name(f"{path.name}.new")
    shutil.copyfile(path, repaired)
    repair_tail(repaired)
    is_good = intact == 0 if not repaired.exists() else count_warc_records(repaired) == (intact, 0)
    if is_good and repaired.exists():
        repaired.replace(path)
    elif is_good:
        path.unlink()
    repaired.unlink(missing_ok=True)
    return is_good


def rebuild_words(folder: CrawlFolder, *, each: Callable[[int], None] = lambda pages: None) -> int:
    """Build the word index of a folder from its store. Return the number of pages. `each` gets the number so far."""
    from motherlode.index.fulltext import WordIndex
    from motherlode.index.quad_store import QuadStore

    with closing(QuadStore(folder.store, read_only=True)) as store:
        index = WordIndex(folder.words)
        pages = index.rebuild(store, each=each)
        index.close()
    return pages


def _repair_pages(folder: CrawlFolder, findings: list[FolderProblem]) -> None:
    """Index a damaged log as far as it can be read, build the store again from an intact log, or queue lost pages."""
    from motherlode.crawler.index_later import index_damaged

    parts = {one.part for one in findings}
    if Part.FRONTIER in parts or parts >= {Part.LOG, Part.STORE}:
        return  # it is unknown which pages are lost
    if Part.LOG in parts:
        pages, lost = index_damaged(folder)
        _note_repair(findings, {Part.LOG}, f"{pages} pages of the log indexed, {lost} lost pages queued again")
    elif parts & _VIEWS and has_log(folder):
        pages, lost = _rebuild_store(folder)
        text = f"{pages} pages of the log indexed again, {lost} lost pages queued again"
        _note_repair(findings, _VIEWS, text + _clusters_advice(folder))
    elif Part.PAGES in parts and Part.STORE not in parts:
        _note_repair(findings, {Part.PAGES}, f"{_requeue(folder)} pages queued again")


_VIEWS = frozenset({Part.STORE, Part.PAGES, Part.GRAPHS})
"""Parts of a crawl that can be built again from the log."""


def _note_repair(findings: list[FolderProblem], parts: Collection[Part], text: str) -> None:
    for finding in findings:
        if finding.part in parts:
            finding.repair = text


def _rebuild_store(folder: CrawlFolder) -> tuple[int, int]:
    """Build store and words from the log. Return the numbers of indexed pages and of pages that were queued again."""
    from motherlode.crawler.index_later import index_log
    from motherlode.index.rebuild import remove_views

    remove_views(folder.store, folder.words)
    return index_log(folder), _requeue(folder)


def _clusters_advice(folder: CrawlFolder) -> str:
    """Return what to run if the crawl had clusters and a new store has none; "" otherwise."""
    from motherlode.index.quad_store import graph_copy_path

    if not folder.identity.exists() or graph_copy_path(folder.store, CLUSTERS).exists():
        return ""
    return f"; `motherlode clusters {quote(str(folder.path))}` makes the clusters again"


def _requeue(folder: CrawlFolder) -> int:
    """Queue all pages of a folder again that its store lacks or has outdated. Return their number."""
    from motherlode.crawler.engine.recovery import open_storage

    probe = _FolderCheck(folder, Verification())
    if has_log(folder):
        probe.check_log()
    store = probe.open_store()
    queued = 0
    with closing(open_storage(folder)) as storage:
        for visit in list(last_visits(storage)):
            found = storage.find(visit.url)
            if found is not None and found[1] is UrlState.DONE and probe.state_in_store(visit, store):
                storage.add(found[0])
                queued += 1
        storage.commit()
    if store is not None:
        store.close()
    return queued
