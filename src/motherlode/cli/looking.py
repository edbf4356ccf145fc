"""`stats`, `query` and `export`: what a crawl has found."""

from __future__ import annotations

import gzip
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, BinaryIO

import pyoxigraph as ox
import typer

from motherlode.cli.output import FAILED, print_json, print_summary, print_table, stop, terminal
from motherlode.crawl import CrawlFolder, JobError, read_stats
from motherlode.index import QuadStore, export_nquads

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")]


class QueryFormat(Enum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    NQUADS = "nquads"


class ExportFormat(Enum):
    NQUADS = "nquads"


def stats(
    folder: Folder,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tell what a crawl has fetched and found, running or over."""
    try:
        found = read_stats(CrawlFolder(folder))
    except JobError as error:
        stop(str(error))
    if as_json:
        print_json(found.summary())
    else:
        print_summary(found)


def _open(folder: Path) -> QuadStore:
    place = CrawlFolder(folder)
    try:
        place.require()
        return QuadStore(place.store, read_only=True)
    except JobError as error:
        stop(str(error))
    except OSError as error:
        stop(str(error), code=FAILED)


def query(
    folder: Folder,
    sparql: Annotated[str, typer.Argument(metavar="SPARQL", help="A SPARQL 1.1 query, or - to read it from stdin.")],
    *,
    output: Annotated[QueryFormat, typer.Option("--format", help="How to print the answer.")] = QueryFormat.TABLE,
) -> None:
    """Ask the crawl a SPARQL question. The default graph is the union of all pages.

    \b
    Examples:
      motherlode query out 'SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) LIMIT 10'
      motherlode query out 'SELECT ?page ?name { GRAPH ?page { ?s a schema:Recipe ; schema:name ?name } }'

    Common prefixes (schema, foaf, dcterms, skos, prov …) need no declaration. What is known about the pages
    themselves is in the graph <urn:motherlode:provenance>.
    """
    store = _open(folder)
    try:
        answer = store.query(sys.stdin.read() if sparql == "-" else sparql)
    except SyntaxError as error:
        stop(f"the query cannot be read: {error.msg}")
    except (OSError, ValueError, RuntimeError) as error:
        stop(f"the query failed: {error}", code=FAILED)
    _print(answer, output)


def _print(answer: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples, output: QueryFormat) -> None:
    if isinstance(answer, ox.QueryTriples):
        for triple in answer:
            sys.stdout.write(f"{triple} .\n")
        return
    if output is QueryFormat.NQUADS:
        stop("--format nquads is for CONSTRUCT and DESCRIBE; use table, json, csv or tsv for SELECT and ASK")
    if output is QueryFormat.TABLE:
        if isinstance(answer, ox.QueryBoolean):
            sys.stdout.write("yes\n" if answer else "no\n")
            return
        answer_table(answer)
        return
    if isinstance(answer, ox.QueryBoolean) and output is not QueryFormat.JSON:
        sys.stdout.write("true\n" if answer else "false\n")
        return
    formats = {
        QueryFormat.JSON: ox.QueryResultsFormat.JSON,
        QueryFormat.CSV: ox.QueryResultsFormat.CSV,
        QueryFormat.TSV: ox.QueryResultsFormat.TSV,
    }
    text = answer.serialize(format=formats[output]) or b""
    sys.stdout.buffer.write(text)
    if not text.endswith(b"\n"):
        sys.stdout.write("\n")


def answer_table(answer: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples) -> None:
    """The solutions of a SELECT as a table."""
    if not isinstance(answer, ox.QuerySolutions):
        raise ValueError("only a SELECT has a table")
    names = [variable.value for variable in answer.variables]
    rows = [[_cell(solution[name]) for name in names] for solution in answer]
    print_table(names, rows)
    terminal.print(f"{len(rows):,} rows")


def _cell(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    if term is None:
        return ""
    return term.value if isinstance(term, (ox.NamedNode, ox.Literal)) else str(term)


def export(
    folder: Folder,
    *,
    form: Annotated[ExportFormat, typer.Option("--format", help="The form of the export.")] = ExportFormat.NQUADS,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A file; .gz packs it. Otherwise stdout.")
    ] = None,
) -> None:
    """Write all quads of a crawl, each with the graph of its page, and the provenance."""
    store = _open(folder)
    if output is None:
        export_nquads(store, sys.stdout.buffer)
        return
    try:
        with _sink(output) as file:
            count = export_nquads(store, file)
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror}", code=FAILED)
    terminal.print(f"{count:,} quads in {output}")


def _sink(path: Path) -> BinaryIO:
    return gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb")  # type: ignore[return-value]
