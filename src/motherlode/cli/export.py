"""The command `export`: write the data of a crawl in formats that other tools read."""

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from motherlode.cli.options import OUTPUT, CrawlDir, open_crawl, option
from motherlode.cli.query import folder_at
from motherlode.cli.terminal import FAILED, say, stop, terminal
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count
from motherlode.index.export.streams import export_jsonld, export_nquads, export_trig, open_output
from motherlode.index.export.void import export_void
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError
from motherlode.model.usage import ALIASES, USES
from motherlode.runtime import import_extra

ProgressCallback = Callable[[int], None]
"""Called with the number of items written so far."""


ExportFormat = Literal["nquads", "trig", "jsonld", "parquet", "warc", "void", "dataset"]

_STREAMS: dict[ExportFormat, Callable[..., int]] = {
    "nquads": export_nquads,
    "trig": export_trig,
    "jsonld": export_jsonld,
}
"""Formats that are one stream of quads, and their writers."""


def export(
    folder: CrawlDir,
    *,
    form: Annotated[ExportFormat, typer.Option("--format", help="Format of the export.")] = "nquads",
    output: Annotated[
        Path | None,
        option("FILE", "A file, compressed if it ends in .gz; for Parquet a folder. [default: stdout]", *OUTPUT),
    ] = None,
    without_reserved: Annotated[
        list[str] | None,
        option("USE", f"Leave out the statements of pages that reserve a use: {', '.join(USES)}; repeatable."),
    ] = None,
    at: Annotated[str, option("TIME", "Export the pages as they were then: 2026-01-31 or 2026-01-31T12:00:00Z.")] = "",
) -> None:
    """Write the data of a crawl in a format for other tools.

    The crawl may be running or finished.

    \b
    nquads, trig, jsonld   every statement with the graph of its page, and the provenance
    parquet        a folder with quads.parquet and pages.parquet, for DuckDB, Polars, Spark …
    warc           all requests and responses, if the crawl saved them (crawl --warc)
    void           a description of the data set: sizes, classes, properties, runs
    dataset        a folder to publish: quads, VoID and DCAT, Croissant, and a README

    \b
    Examples:
      motherlode export out --format nquads -o all.nq.gz
      motherlode export out --format parquet -o tables
      motherlode export out --format void
      motherlode export out --without-reserved train-ai --without-reserved tdm -o free.nq.gz
      motherlode export out --at 2026-01-31 -o january.nq.gz
    """
    uses = _check_uses(without_reserved or [], form)
    crawl = open_crawl(folder)
    if form == "warc":
        if at:
            stop("--at works with the formats of quads, not with warc: its records have the times of all responses")
        _export_warc(crawl, output)
        return
    with folder_at(crawl, at) as past, closing(_open_store(past)) as store:
        without = store.pages_that_reserve(uses)
        _export_store(crawl, store, form, output, without)
    if uses:
        say(f"left out: the statements of {format_count(len(without), 'page')} that reserve {' or '.join(uses)}")


def _export_store(
    crawl: CrawlFolder, store: QuadStore, form: ExportFormat, output: Path | None, without: Collection[str]
) -> None:
    if form == "parquet":
        _export_parquet(store, output, without)
    elif form == "dataset":
        _export_dataset(crawl, store, output, without)
    elif form == "void":
        _export_stream(lambda file, progress: export_void(store, file, progress), output, "statements")
    else:
        write = partial(_STREAMS[form], store, without=without)
        _export_stream(lambda file, progress: write(file, progress), output, "quads")


def _check_uses(uses: list[str], form: ExportFormat) -> list[str]:
    """Return the uses under their names in the store, or exit with an error."""
    if uses and form in ("warc", "void"):
        stop(f"--without-reserved works with nquads, trig, jsonld and parquet, not with {form}")
    found = [ALIASES.get(use, use) for use in uses]
    if unknown := next((use for use in found if use not in USES), ""):
        stop(f"--without-reserved must be one of {', '.join(USES)}; got {unknown!r}")
    return found


def _open_store(folder: CrawlFolder) -> QuadStore:
    try:
        return QuadStore(folder.store, read_only=True)
    except OSError as error:
        stop(str(error), code=FAILED)


def _export_stream(
    write: Callable[[BinaryIO, ProgressCallback], int],
    output: Path | None,
    unit: str,
    *,
    open_file: Callable[[Path], AbstractContextManager[BinaryIO]] = open_output,
) -> None:
    if output is None:
        with _progress(unit) as progress:
            write(sys.stdout.buffer, progress)
        return
    with _writing(output, unit) as progress, open_file(output) as file:
        count = write(file, progress)
    say(f"{count:,} {unit} in {output}")


def _export_parquet(store: QuadStore, output: Path | None, without: Collection[str]) -> None:
    if output is None:
        stop("Parquet is written as two tables: name a folder for quads.parquet and pages.parquet with -o FOLDER")
    if output.exists() and not output.is_dir():
        stop(f"{output} is a file: Parquet is written as two tables and needs a folder, -o FOLDER")
    import_extra("pyarrow", extra="parquet", purpose="--format parquet")
    from motherlode.index.export.parquet import export_parquet  # Arrow is slow to import

    with _writing(output, "quads") as progress:
        quads, pages = export_parquet(store, output, progress, without=without)
    say(f"{quads:,} quads and {pages:,} pages in {output}")


def _export_dataset(crawl: CrawlFolder, store: QuadStore, output: Path | None, without: Collection[str]) -> None:
    if output is None or (output.exists() and not output.is_dir()):
        stop("a data set is several files: name a folder with -o FOLDER")
    from motherlode.crawler.config.job_file import describe_job
    from motherlode.index.export.dataset import export_dataset

    with _writing(output, "quads") as progress:
        count = export_dataset(
            store, output, parameters=describe_job(crawl.read_job()), progress=progress, without=without
        )
    say(f"{count:,} quads and their description in {output}")


def _export_warc(folder: CrawlFolder, output: Path | None) -> None:
    from motherlode.index.export.streams import export_warc

    files = folder.list_warc_files()
    if not files:
        stop(f"{folder.path} has no WARC files: crawl with --warc to save responses", code=FAILED)
    is_compressed = output is None or output.suffix == ".gz"

    def write(file: BinaryIO, progress: ProgressCallback) -> int:
        return export_warc(files, file, packed=is_compressed, progress=progress)

    # the records are compressed already: open_output would compress them again
    _export_stream(write, output, "records", open_file=lambda path: path.open("wb"))


@contextmanager
def _writing(output: Path, unit: str) -> Iterator[ProgressCallback]:
    """Show the progress, and exit with an error if the output cannot be written."""
    try:
        with _progress(unit) as progress:
            yield progress
    except DamagedError:
        raise
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror or error}", code=FAILED)


@contextmanager
def _progress(unit: str) -> Iterator[ProgressCallback]:
    """Show a counter on the terminal, or nothing if stderr is not a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} " + unit), TimeElapsedColumn())
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda count: bar.update(task, completed=count)
