"""`stats` and `query`: what a crawl has found."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import pyoxigraph as ox
import typer

from motherlode.cli.index import up_to_date
from motherlode.cli.terminal import FAILED, counted, print_json, print_summary, print_table, say, stop
from motherlode.crawler import CrawlFolder, JobError
from motherlode.index.query import QueryError, QueryExecutor, QueryRequest, isolate_from_network

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")]


class QueryFormat(Enum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    TSV = "tsv"
    NQUADS = "nquads"


def stats(
    folder: Folder,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Tell what a crawl has fetched and found, running or over."""
    from motherlode.crawler.stats.reader import read_stats

    try:
        found = read_stats(CrawlFolder(folder))
    except JobError as error:
        stop(str(error))
    except OSError as error:
        stop(str(error), code=FAILED)
    if as_json:
        print_json(found.summary())
    else:
        print_summary(found)


def query(
    folder: Folder,
    sparql: Annotated[str, typer.Argument(metavar="SPARQL", help="A SPARQL 1.1 query, or - to read it from stdin.")],
    *,
    output: Annotated[QueryFormat, typer.Option("--format", help="How to print the answer.")] = QueryFormat.TABLE,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.01, help="Give up after this time.")] = 60.0,
    allow_service: Annotated[
        bool, typer.Option("--allow-service", help="Let SERVICE <…> send requests to other servers.")
    ] = False,
) -> None:
    """Ask the crawl a SPARQL question. The default graph is the union of all pages.

    \b
    Examples:
      motherlode query out 'SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) LIMIT 10'
      motherlode query out 'SELECT ?page ?name { GRAPH ?page { ?s a schema:Recipe ; schema:name ?name } }'
      motherlode query out 'SELECT ?s ?score { SERVICE ml:search { ?s ml:matches "tomato soup" ; ml:score ?score } }'
      motherlode query out 'DESCRIBE <http://example.org/>' --format nquads

    Common prefixes (schema, foaf, dcterms, skos, prov …) need no declaration. What is known about the pages
    themselves is in the graph <urn:motherlode:provenance>. More in docs/query.md.
    """
    place = CrawlFolder(folder)
    try:
        place.require()
    except JobError as error:
        stop(str(error))
    up_to_date(place)
    if os.path.isfile(sparql):  # noqa: PTH113 - Path.is_file raises for long names
        stop(f"{sparql} is a file: to ask what stands in it, write motherlode query {folder} - < {sparql}")
    text = sys.stdin.read() if sparql == "-" else sparql
    question = QueryRequest(sparql=text, allow_service=allow_service)
    code = within(timeout, lambda: _answer(place, question, output))
    if code is None:
        stop(
            f"no answer within {timeout:g} s, so the query was ended: LIMIT, a narrower pattern or --timeout may help",
            code=FAILED,
        )
    if code:
        raise typer.Exit(code)


def within(seconds: float, work: Callable[[], int]) -> int | None:
    """Do the work in a child process that can be ended; its exit code, or None where the time was not enough.

    The engine cannot be told to stop, and holds on to its thread until it is done: only a process ends for certain.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _in_child(work)
    deadline = time.monotonic() + seconds
    try:
        pause = 0.0005
        while time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
        else:
            _end(child)
            return None
    except BaseException:  # Ctrl-C: the child must not outlive us
        _end(child)
        raise
    return _code(status)


def _in_child(work: Callable[[], int]) -> None:
    code = FAILED
    try:
        code = work()
        sys.stdout.flush()
    except typer.Exit as leaving:
        code = leaving.exit_code
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        code = 130
    except BaseException:  # noqa: BLE001 - the end below would keep it to itself
        traceback.print_exc()
    finally:
        os._exit(code)  # nothing of the parent's must run twice


def _end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


_ENDINGS = {
    "SIGABRT": "what it wants is too much for the engine",
    "SIGSEGV": "it is too long or too deep for the engine; a long list stands better in VALUES",
}


def _code(status: int) -> int:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        stop(f"the query was ended by {name}: {_ENDINGS.get(name, 'it may have needed too much memory')}", code=FAILED)
    return os.waitstatus_to_exitcode(status)


def _answer(place: CrawlFolder, question: QueryRequest, output: QueryFormat) -> int:
    if not question.allow_service:
        isolate_from_network()
    try:
        answerer = QueryExecutor(place.store, place.words)
    except OSError as error:
        stop(str(error), code=FAILED)
    try:
        print_answer(answerer.execute(question), output, question.sparql)
    except (typer.Exit, BrokenPipeError):
        raise
    except QueryError as error:
        stop(str(error))
    except (OSError, ValueError, RuntimeError) as error:
        stop(answerer.damage(error) or f"the query failed: {error}", code=FAILED)
    finally:
        answerer.close()
    return 0


def print_answer(
    answer: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples, output: QueryFormat, sparql: str
) -> None:
    """The answer on stdout, as it comes."""
    if isinstance(answer, ox.QueryTriples):
        _print_triples(answer, output)
        return
    if output is QueryFormat.NQUADS:
        stop("--format nquads is for CONSTRUCT and DESCRIBE; use table, json, csv or tsv for SELECT and ASK")
    if output is QueryFormat.TABLE:
        if isinstance(answer, ox.QueryBoolean):
            sys.stdout.write("yes\n" if answer else "no\n")
            return
        answer_table(answer, sparql)
        return
    if isinstance(answer, ox.QueryBoolean) and output is not QueryFormat.JSON:
        sys.stdout.write("true\n" if answer else "false\n")
        return
    formats = {
        QueryFormat.JSON: ox.QueryResultsFormat.JSON,
        QueryFormat.CSV: ox.QueryResultsFormat.CSV,
        QueryFormat.TSV: ox.QueryResultsFormat.TSV,
    }
    answer.serialize(sys.stdout.buffer, format=formats[output])
    if output is QueryFormat.JSON:
        sys.stdout.buffer.write(b"\n")


def _print_triples(answer: ox.QueryTriples, output: QueryFormat) -> None:
    if output in (QueryFormat.JSON, QueryFormat.CSV, QueryFormat.TSV):
        stop(f"--format {output.value} is for SELECT and ASK; CONSTRUCT and DESCRIBE give nquads")
    for triple in answer:
        sys.stdout.write(f"{triple} .\n")


def answer_table(answer: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples, sparql: str) -> int:
    """The solutions of a SELECT as a table; how many there are."""
    if not isinstance(answer, ox.QuerySolutions):
        raise ValueError("only a SELECT has a table")
    names = in_order([variable.value for variable in answer.variables], sparql)
    rows = [[_cell(solution[name]) for name in names] for solution in answer]
    print_table(names, rows)
    say(counted(len(rows), "row"))
    return len(rows)


_EVERYTHING = re.compile(r"select\s*(?:(?:distinct|reduced)\s*)?[*]", re.IGNORECASE)


def in_order(names: list[str], sparql: str) -> list[str]:
    """Variables as a reader expects them: of `SELECT *` as they stand in the query, where the engine sorts by letter.

    >>> in_order(["o", "p", "s"], "SELECT * { ?s ?p ?o }"), in_order(["o", "s"], "SELECT*{?s a ?o}")
    (['s', 'p', 'o'], ['s', 'o'])
    """
    if not _EVERYTHING.search(sparql):
        return names
    places = {name: re.search(rf"[?$]{re.escape(name)}\b", sparql) for name in names}
    return sorted(names, key=lambda name: place.start() if (place := places[name]) else len(sparql))


def _cell(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    if term is None:
        return ""
    return term.value if isinstance(term, (ox.NamedNode, ox.Literal)) else str(term)
