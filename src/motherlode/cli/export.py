"""`export` and `changes`: a crawl as files that other tools read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from motherlode.cli.index import up_to_date
from motherlode.cli.terminal import FAILED, counted, say, stop, terminal
from motherlode.crawler import CrawlFolder, JobError
from motherlode.index import QuadStore
from motherlode.index.export.nquads import export_nquads, export_trig, open_output
from motherlode.index.export.void import export_void
from motherlode.index.rdf_patch import changes_path, read_changes
from motherlode.index.snapshot import DamagedError

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")]
Told = Callable[[int], None]


class ExportFormat(Enum):
    NQUADS = "nquads"
    TRIG = "trig"
    PARQUET = "parquet"
    WARC = "warc"
    VOID = "void"


_STREAMS: dict[ExportFormat, tuple[Callable[[QuadStore, BinaryIO, Told], int], str]] = {
    ExportFormat.NQUADS: (export_nquads, "quads"),
    ExportFormat.TRIG: (export_trig, "quads"),
    ExportFormat.VOID: (export_void, "statements"),
}


def export(
    folder: Folder,
    *,
    form: Annotated[ExportFormat, typer.Option("--format", help="The form of the export.")] = ExportFormat.NQUADS,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="A file; .gz packs it. Otherwise stdout. Parquet: a folder."
        ),
    ] = None,
) -> None:
    """Write what a crawl found as files for other tools.

    The crawl may run or be over.

    \b
    nquads, trig   every statement with the graph of its page, and the provenance
    parquet        a folder with quads.parquet and pages.parquet, for DuckDB, Polars, Spark …
    warc           all requests and answers, if the crawl kept them (crawl --warc)
    void           a description of the data set: sizes, classes, properties, runs

    \b
    Examples:
      motherlode export out --format nquads -o all.nq.gz
      motherlode export out --format parquet -o tables
      motherlode export out --format void
    """
    place = _place(folder)
    if form is ExportFormat.WARC:
        _export_warc(place, output)
        return
    up_to_date(place)
    store = _open(place)
    try:
        if form is ExportFormat.PARQUET:
            _export_parquet(store, output)
        else:
            write, unit = _STREAMS[form]
            _export_stream(lambda file, told: write(store, file, told), output, unit)
    finally:
        store.close()


def _place(folder: Path) -> CrawlFolder:
    place = CrawlFolder(folder)
    try:
        place.require()
    except JobError as error:
        stop(str(error))
    return place


def _open(place: CrawlFolder) -> QuadStore:
    try:
        return QuadStore(place.store, read_only=True)
    except OSError as error:
        stop(str(error), code=FAILED)


def _export_stream(write: Callable[[BinaryIO, Told], int], output: Path | None, unit: str) -> None:
    if output is None:
        with _progress(unit) as told:
            write(sys.stdout.buffer, told)
        return
    try:
        with _progress(unit) as told, open_output(output) as file:
            count = write(file, told)
    except DamagedError:
        raise
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror or error}", code=FAILED)
    say(f"{count:,} {unit} in {output}")


def _export_parquet(store: QuadStore, output: Path | None) -> None:
    if output is None:
        stop("Parquet is two tables: name a folder for quads.parquet and pages.parquet with -o FOLDER")
    if output.exists() and not output.is_dir():
        stop(f"{output} is a file: Parquet is two tables and needs a folder, -o FOLDER")
    from motherlode.index.export.parquet import export_parquet  # Arrow takes long to load

    try:
        with _progress("quads") as told:
            quads, pages = export_parquet(store, output, told)
    except DamagedError:
        raise
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror or error}", code=FAILED)
    say(f"{quads:,} quads and {pages:,} pages in {output}")


def _export_warc(place: CrawlFolder, output: Path | None) -> None:
    from motherlode.index.export.warc import export_warc

    files = place.list_warc_files()
    if not files:
        stop(f"{place.path} kept no answers: crawl with --warc to keep them", code=FAILED)
    packed = output is None or output.suffix == ".gz"

    def write(file: BinaryIO, told: Told) -> int:
        return export_warc(files, file, packed=packed, progress=told)

    if output is None or not packed:
        _export_stream(write, output, "records")
        return
    try:  # the records are packed already, so the file must not pack them again
        with _progress("records") as told, output.open("wb") as file:
            count = write(file, told)
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror or error}", code=FAILED)
    say(f"{count:,} records in {output}")


@contextmanager
def _progress(unit: str) -> Iterator[Told]:
    """A line on the terminal that counts; nothing where no person is watching."""
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} " + unit), TimeElapsedColumn())
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda count: bar.update(task, completed=count)


def changes(
    folder: Folder,
    *,
    since: Annotated[
        str, typer.Option("--since", metavar="T", help="Only from this time on: 2026-01-31 or 2026-01-31T12:00:00Z.")
    ] = "",
) -> None:
    """Print what changed on pages, as an RDF patch.

    Told are pages that were fetched again by `motherlode crawl --refresh`. More in docs/refresh.md.

    \b
    Each page that says something else than before is one transaction, with the page and the time as headers:
      H page <http://example.org/> .
      H time "2026-01-31T12:00:00.000+00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
      TX .
      D <http://example.org/#a> <http://schema.org/price> "10" <http://example.org/> .
      A <http://example.org/#a> <http://schema.org/price> "12" <http://example.org/> .
      TC .

    \b
    Examples:
      motherlode changes out
      motherlode changes out --since 2026-01-31
    """
    place = _place(folder)
    moment = _moment(since) if since else None
    up_to_date(place)
    count = 0
    for change in read_changes(changes_path(place.store), moment):
        sys.stdout.writelines(change.lines)
        count += 1
    say(f"{counted(count, 'page')} changed")


def _moment(text: str) -> datetime:
    """A point in time as ISO 8601 spells it; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        stop(f"--since {text}: a date or a time is needed, such as 2026-01-31 or 2026-01-31T12:00:00Z")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
