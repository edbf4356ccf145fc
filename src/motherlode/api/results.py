"""`open`: the data of a crawl on disk, for queries, search, lists of pages and exports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec
import pyoxigraph as ox

from motherlode.api.rows import Rows, Value, to_value
from motherlode.crawler.config.values import JobError
from motherlode.crawler.crawl_table import open_table
from motherlode.crawler.explain.explanation import UrlExplanation, explain_url
from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.index_later import update_index
from motherlode.crawler.stats.page_list import PageRow, read_pages
from motherlode.crawler.stats.reader import read_stats
from motherlode.frontier import STORAGE_ERRORS
from motherlode.index.export.streams import export_jsonld, export_nquads, export_trig, export_warc, open_output
from motherlode.index.export.void import export_void
from motherlode.index.quad_store import QuadStore, StoreResult
from motherlode.index.query.query_worker import QueryExecutor, QueryRequest
from motherlode.model import FailureKind
from motherlode.model.sparql import order_variables
from motherlode.runtime import import_extra

ExportFormat = Literal["nquads", "trig", "jsonld", "parquet", "warc", "void"]

_FORMATS: dict[str, ExportFormat] = {
    ".nq": "nquads",
    ".nquads": "nquads",
    ".trig": "trig",
    ".jsonld": "jsonld",
    ".warc": "warc",
    ".ttl": "void",
    ".parquet": "parquet",
}
"""Export formats by the end of a file name, without `.gz`. A name without an end is a folder of Parquet tables."""
_STREAMS = {"nquads": export_nquads, "trig": export_trig, "jsonld": export_jsonld, "void": export_void}


class CrawlResult:
    """The folder of a crawl that runs or has ended. Every call reads the last state on disk."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.path = Path(folder)
        """The crawl folder."""
        self._folder = CrawlFolder(self.path)
        self._folder.require()

    def __repr__(self) -> str:
        return f"motherlode.open({str(self.path)!r})"

    def query(self, sparql: str, *, allow_service: bool = False) -> Rows:
        """Return the rows of a SPARQL SELECT query. The default graph is the union of all pages.

        Common prefixes such as schema and foaf need no declaration. Use `ask` and `construct` for the other forms.
        With `allow_service`, SERVICE may send requests to other servers.
        """
        with self._run_query(sparql, allow_service=allow_service) as result:
            if not isinstance(result, ox.QuerySolutions):
                raise ValueError("query() is for SELECT: use ask() for ASK, construct() for CONSTRUCT and DESCRIBE")
            names = order_variables([variable.value for variable in result.variables], sparql)
            terms = [tuple(solution[name] for name in names) for solution in result]
        return Rows(names, (tuple(map(to_value, row)) for row in terms), terms=terms)

    def ask(self, sparql: str) -> bool:
        """Return the answer of a SPARQL ASK query."""
        with self._run_query(sparql) as result:
            if not isinstance(result, ox.QueryBoolean):
                raise ValueError("ask() is for ASK: use query() for SELECT, construct() for CONSTRUCT and DESCRIBE")
            return bool(result)

    def construct(self, sparql: str) -> list[ox.Triple]:
        """Return the triples of a SPARQL CONSTRUCT or DESCRIBE query."""
        with self._run_query(sparql) as result:
            if not isinstance(result, ox.QueryTriples):
                raise ValueError("construct() is for CONSTRUCT and DESCRIBE: use query() for SELECT, ask() for ASK")
            return list(result)

    @contextmanager
    def _run_query(self, sparql: str, *, allow_service: bool = False) -> Iterator[StoreResult]:
        update_index(self._folder)
        executor = QueryExecutor(self._folder.store, self._folder.words)
        try:
            yield executor.execute(QueryRequest(sparql=sparql, allow_service=allow_service))
        finally:
            executor.close()

    def pages(
        self,
        *,
        failed: bool | None = None,
        relevant: bool | None = None,
        problems: bool | None = None,
        host: str | None = None,
    ) -> Rows:
        """Return a row for each requested URL, with its last visit. Each filter is True, False, or None for both.

        `failed` selects URLs without a page, `relevant` those that match the target, `problems` those whose data had
        errors, and `host` those of one host.
        """
        selected = read_pages(
            self._folder, failed=failed is True, problems=problems is True, relevant=relevant is True, host=host or ""
        )
        try:
            wanted = [
                row
                for row in selected
                if (failed is not False or row.failure in _NO_FAILURES)
                and (relevant is not False or not row.relevant)
                and (problems is not False or not row.problems)
            ]
        except (OSError, *STORAGE_ERRORS) as error:
            _explain_open_frontier(error)
        return Rows(_PAGE_COLUMNS, map(_page_row, wanted))

    def stats(self) -> dict[str, Any]:
        """Return the statistics of the crawl, the same object as `motherlode stats --json` prints."""
        try:
            return read_stats(self._folder).summary()
        except (OSError, *STORAGE_ERRORS) as error:
            _explain_open_frontier(error)

    def explain(self, url: str) -> UrlExplanation:
        """Return why a URL was fetched, is waiting, or was refused."""
        try:
            return explain_url(self._folder, url)
        except (OSError, *STORAGE_ERRORS) as error:
            _explain_open_frontier(error)

    def search(
        self, words: str, *, limit: int = 10, type: str = "", predicate: str = "", host: str = "", language: str = ""
    ) -> Rows:
        """Return the subjects that match some words, the best first: subject, label, types, score, snippet, page.

        The filters keep subjects of a type, words of a predicate, pages of a host, or texts in a language.
        """
        from motherlode.index.fulltext import Search, WordSearcher  # tantivy loads slowly

        request = Search(words=words, limit=limit, type=type, predicate=predicate, host=host, language=language)
        if request.problem:
            raise ValueError(request.problem)
        update_index(self._folder)
        try:
            hits = WordSearcher(self._folder.words).search(request)
        except FileNotFoundError:
            command = f"motherlode search {self.path} --rebuild"
            raise JobError(f"{self.path} has no index of words (words = false?): `{command}` builds one") from None
        found = [hit.summary() for hit in hits]
        return Rows(_HIT_COLUMNS, ([hit[name] for name in _HIT_COLUMNS] for hit in found))

    def table(
        self, type: str, *, where: str = "", distinct: bool = False, profile: str | PathLike[str] | None = None
    ) -> Rows:
        """Return one row per thing of a type, such as "schema:Product", with columns that follow from the data.

        `where` is a SPARQL pattern with the variable ?thing. With `distinct`, descriptions of one thing on several
        pages are one row. `profile` is a JSON file with the first columns: see docs/tables.md.
        """
        update_index(self._folder)
        path = None if profile is None else Path(profile)
        with open_table(self._folder, type, where=where, distinct=distinct, profile=path) as table:
            names = [column.name for column in table.columns]
            return Rows(names, ([row[name] for name in names] for row in table.rows()))

    def export(self, output: str | PathLike[str], *, format: ExportFormat | None = None) -> int:
        """Write the data of the crawl to a file or folder, and return the number of quads or records.

        The suffix of the name determines the format: .nq, .trig, .jsonld, .warc or .ttl (a VoID description), each also
        with .gz; any other name is a folder of Parquet tables, which need the extra `parquet`.
        """
        path = Path(output)
        form = format or _FORMATS.get(path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix, "parquet")
        if form == "warc":
            return self._export_warc(path)
        update_index(self._folder)
        store = QuadStore(self._folder.store, read_only=True)
        try:
            if form == "parquet":
                import_extra("pyarrow", extra="parquet", purpose="an export as Parquet")
                from motherlode.index.export.parquet import export_parquet

                return export_parquet(store, path)[0]
            with open_output(path) as file:
                return _STREAMS[form](store, file)
        finally:
            store.close()

    def _export_warc(self, path: Path) -> int:
        files = self._folder.list_warc_files()
        if not files:
            raise JobError(f"{self.path} has no WARC files: crawl with warc=True to save responses")
        with path.open("wb") as file:
            return export_warc(files, file, packed=path.suffix == ".gz")


_HIT_COLUMNS = ("subject", "label", "types", "score", "snippet", "predicate", "language", "page", "pages")
_PAGE_COLUMNS = PageRow.__struct_fields__
_NO_FAILURES = (None, FailureKind.REDIRECT.value, FailureKind.NOT_MODIFIED.value)


def _page_row(row: PageRow) -> tuple[Value, ...]:
    values = msgspec.to_builtins(row) | {"fetched_at": datetime.fromtimestamp(row.fetched_at, UTC)}
    return tuple(values[name] for name in _PAGE_COLUMNS)


def _explain_open_frontier(error: BaseException) -> NoReturn:
    """Raise the given error, or one that says what to do if the cause is that this process runs the crawl."""
    if "already open" in str(error):
        raise RuntimeError(
            "this process still runs the crawl, so its list of URLs cannot be read: use crawl.totals now, "
            "or read it when the iteration has ended"
        ) from error
    raise error


def open(folder: str | PathLike[str]) -> CrawlResult:
    """Return the data of a crawl. Raise JobError if the folder has no crawl.

    ```python
    result = ml.open("out")
    result.query("SELECT ?name { ?s a schema:Product ; schema:name ?name }").to_pandas()
    result.pages(failed=True)
    ```
    """
    return CrawlResult(folder)
