"""The command `pages`: the URLs that a crawl has requested."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from motherlode.cli.options import OUTPUT, CrawlDir, flag, open_crawl, option
from motherlode.cli.terminal import FAILED, folding_printer, replace_controls, say, stop
from motherlode.crawler.config.values import format_count
from motherlode.crawler.stats.page_list import PageRow, read_pages
from motherlode.frontier import STORAGE_ERRORS
from motherlode.index.export.table_files import TABLE_SUFFIXES, Column, write_table

PAGE_COLUMNS = (
    *(Column("url"), Column("host"), Column("status", "integer"), Column("failure"), Column("detail")),
    *(Column("relevant", "boolean"), Column("quads", "integer"), Column("statements", "json")),
    *(Column("problems", "json"), Column("kind"), Column("media_type"), Column("size", "integer")),
    *(Column("seconds", "number"), Column("fetched_at", "time"), Column("depth", "integer"), Column("referrer")),
    *(Column("score", "number"), Column("value", "number"), Column("reward", "number"), Column("links", "integer")),
    *(Column("new_links", "integer"), Column("location"), Column("refresh"), Column("number", "integer")),
)


def pages(
    folder: CrawlDir,
    *,
    failed: Annotated[bool, flag("--failed", "Only URLs that gave no page.")] = False,
    problems: Annotated[bool, flag("--problems", "Only pages with problems, such as broken JSON-LD.")] = False,
    relevant: Annotated[bool, flag("--relevant", "Only pages that match the target.")] = False,
    host: Annotated[str, option("H", "Only URLs of this host.")] = "",
    limit: Annotated[int | None, option("N", "At most N rows.", min=1)] = None,
    form: Annotated[
        Literal["table", "json", "csv", "parquet", "sqlite"] | None,
        option(
            "FORMAT",
            "table, json (an object per line), csv, parquet or sqlite. [default: by the name of -o, else table]",
            "--format",
        ),
    ] = None,
    output: Annotated[Path | None, option("FILE", "Write to a file instead of stdout.", *OUTPUT)] = None,
) -> None:
    """List the URLs that a crawl has requested.

    Each row has the status or the kind of failure, size, time, relevance, score and the page with the link. Problems
    have the line and column in the page. The filters can be combined.

    \b
    Examples:
      motherlode pages out --failed                           what failed, why, and which page links to it
      motherlode pages out --problems --host example.org      broken blocks with line and column
      motherlode pages out --relevant -o relevant.csv
      motherlode pages out --format json | head
    """
    crawl = open_crawl(folder)
    rows = islice(read_pages(crawl, failed=failed, problems=problems, relevant=relevant, host=host), limit)
    chosen = form or (TABLE_SUFFIXES.get(output.suffix.lower()) if output else None) or "table"
    try:
        if chosen == "table":
            _print_rows(rows, output)
        else:
            count = write_table(PAGE_COLUMNS, map(row_values, rows), output, form=chosen, name="pages")
            if output is not None:
                say(f"{count:,} rows in {output}")
    except ValueError as error:
        stop(str(error))
    except STORAGE_ERRORS as error:
        stop(f"the frontier of {folder} cannot be read: {error}", code=FAILED)


def row_values(row: PageRow) -> list[Any]:
    """Return the values of a row in the order of `PAGE_COLUMNS`."""
    values = msgspec.to_builtins(row)
    values["fetched_at"] = datetime.fromtimestamp(row.fetched_at, UTC)
    return [values[column.name] for column in PAGE_COLUMNS]


def _print_rows(rows: Iterable[PageRow], output: Path | None) -> None:
    lines = (line for row in rows for line in describe_row(row))
    if output is not None:
        output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return
    printer, count = folding_printer(), 0
    for count, line in enumerate(lines, start=1):  # noqa: B007 - it shows whether there was any
        printer.print(replace_controls(line), markup=False, soft_wrap=True)
    if not count:
        say("no such URL was requested")


def describe_row(row: PageRow) -> Iterator[str]:
    """Yield a line about a URL, and lines about its referrer, failure and problems."""
    result = row.failure or str(row.status)
    about = format_count(row.quads, "quad") + (", relevant" if row.relevant else "")
    yield f"{result:<12} {row.url}" + ("" if row.failure else f"  ({about}, {1000 * row.seconds:.0f} ms)")
    if row.failure and (row.detail or row.location):
        yield f"{'':<12} {(row.location and f'to {row.location}') or row.detail}"
    if row.referrer and (row.failure or row.problems):
        yield f"{'':<12} linked from {row.referrer}"
    for problem in row.problems:
        place = f"line {problem.line}, column {problem.column}: " if problem.line is not None else ""
        repaired = " (repaired)" if problem.repaired else ""
        yield f"{'':<12} {place}{problem.syntax or 'page'}: {problem.message}{repaired}"
