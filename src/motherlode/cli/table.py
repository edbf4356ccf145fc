"""The command `table`: one row per thing of a type."""

from pathlib import Path
from shlex import quote
from typing import Annotated

from motherlode.cli.index import update_index
from motherlode.cli.options import OUTPUT, CrawlDir, argument, flag, open_crawl, option
from motherlode.cli.terminal import FAILED, say, stop
from motherlode.crawler.crawl_table import open_table
from motherlode.index.export.table_files import TABLE_SUFFIXES, TableFormat


def table(
    folder: CrawlDir,
    type_: Annotated[str, argument("TYPE", "The type: schema:Product, Product, or an IRI.")],
    *,
    where: Annotated[str, option("PATTERN", "Only things that a SPARQL pattern with ?thing matches.")] = "",
    distinct: Annotated[bool, flag("--distinct", "One row per real thing: join descriptions by identifiers.")] = False,
    profile: Annotated[Path | None, option("FILE", "Columns to start with, as JSON: see docs/tables.md.")] = None,
    output: Annotated[Path | None, option("FILE", "Write to a file instead of stdout.", *OUTPUT)] = None,
    form: Annotated[
        TableFormat | None,
        option(
            "FORMAT",
            "parquet, csv, json (an object per line) or sqlite. [default: by the name of -o, else csv]",
            "--format",
        ),
    ] = None,
) -> None:
    """Write a table with one row per thing of a type.

    Subclasses are included, and http://schema.org/ and https://schema.org/ are the same. The columns follow from the
    data: properties that enough things have, and those of their parts, as in offers.price or address.postalCode. Values
    have types, and several values are a list. Page, host, syntax and fetch time of each row are columns.

    \b
    Examples:
      motherlode table out schema:Product -o products.parquet
      motherlode table out Recipe --format csv > recipes.csv
      motherlode table out schema:Event --where '?thing schema:startDate ?d FILTER (?d > "2026")' -o events.db
      motherlode table out schema:Product --distinct -o products.csv
    """
    crawl = open_crawl(folder)
    chosen = form or _format_of(output)
    try:
        update_index(crawl)
        with open_table(crawl, type_, where=where, distinct=distinct, profile=profile) as made:
            if not made.count:
                stop(f"{folder} has nothing of the type {type_}; `{_list_types(folder)}` lists the types", code=FAILED)
            count = made.write(output, form=chosen)
    except ValueError as error:
        stop(str(error))
    if output is not None:
        say(f"{count:,} rows and {len(made.columns)} columns in {output}")


def _format_of(output: Path | None) -> TableFormat:
    """Return the format by the suffix of a file name; CSV for stdout and for a name without a suffix."""
    if output is None or not output.suffix:
        return "csv"
    if output.suffix.lower() not in TABLE_SUFFIXES:
        stop(
            f"-o {output}: the format is not known from the name; give --format, or one of {', '.join(TABLE_SUFFIXES)}"
        )
    return TABLE_SUFFIXES[output.suffix.lower()]


def _list_types(folder: Path) -> str:
    query = "SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n)"
    return f"motherlode query {quote(str(folder))} '{query}'"
