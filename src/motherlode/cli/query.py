"""The command `query`: run a SPARQL query on a crawl, in a child process with a time limit."""

import os
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import pyoxigraph as ox
import typer

from motherlode.cli import INTERRUPTED
from motherlode.cli.index import update_index
from motherlode.cli.options import CrawlDir, argument, flag, open_crawl, option, parse_moment
from motherlode.cli.terminal import FAILED, print_table, say, stop
from motherlode.crawler import CrawlFolder
from motherlode.crawler.config.values import format_count
from motherlode.index.query.diagnostics import QueryError
from motherlode.index.query.query_worker import QueryExecutor, QueryRequest, isolate_from_network
from motherlode.model.schema_org import find_unknown_classes
from motherlode.model.sparql import order_variables

QueryFormat = Literal["table", "json", "csv", "tsv", "nquads"]


def query(
    folder: CrawlDir,
    sparql: Annotated[str, argument("SPARQL", "A SPARQL 1.1 query, or - to read it from stdin.")],
    *,
    output: Annotated[QueryFormat, typer.Option("--format", help="How to print the results.")] = "table",
    timeout: Annotated[float, option("SECONDS", "Time limit of the query.", min=0.01)] = 60.0,
    allow_service: Annotated[bool, flag("--allow-service", "Let SERVICE <…> send requests to other servers.")] = False,
    at: Annotated[str, option("TIME", "Query the pages as they were then: 2026-01-31 or 2026-01-31T12:00:00Z.")] = "",
) -> None:
    """Run a SPARQL query on the data of a crawl. The default graph is the union of all pages.

    \b
    Examples:
      motherlode query out 'SELECT ?type (COUNT(*) AS ?n) { ?s a ?type } GROUP BY ?type ORDER BY DESC(?n) LIMIT 10'
      motherlode query out 'SELECT ?page ?name { GRAPH ?page { ?s a schema:Recipe ; schema:name ?name } }'
      motherlode query out 'SELECT ?s ?score { SERVICE ml:search { ?s ml:matches "tomato soup" ; ml:score ?score } }'
      motherlode query out 'DESCRIBE <http://example.org/>' --format nquads
      motherlode query out 'SELECT ?s ?price { ?s schema:price ?price }' --at 2026-01-31

    Common prefixes (schema, foaf, dcterms, skos, prov …) need no declaration. The graph <urn:motherlode:provenance>
    describes the pages themselves. More in docs/query.md.
    """
    crawl = open_crawl(folder)
    if os.path.isfile(sparql):  # noqa: PTH113 - Path.is_file raises for long names
        stop(f"{sparql} is a file: to run the query in it, write motherlode query {folder} - < {sparql}")
    text = sys.stdin.read() if sparql == "-" else sparql
    request = QueryRequest(sparql=text, allow_service=allow_service)
    with folder_at(crawl, at) as queried:
        code = run_with_timeout(timeout, lambda: _run_query(queried, request, output))
    if code is None:
        advice = "use LIMIT, a narrower pattern or --timeout"
        stop(f"no result within {timeout:g} s, so the query was stopped: {advice}", code=FAILED)
    if code:
        raise typer.Exit(code)


@contextmanager
def folder_at(crawl: CrawlFolder, at: str) -> Iterator[CrawlFolder]:
    """Yield the folder whose store has the pages as they were at a time: the crawl itself, with all pages, for ""."""
    if not at:
        update_index(crawl)
        yield crawl
        return
    moment = parse_moment(at, "--at")
    with tempfile.TemporaryDirectory(prefix="motherlode-") as name:
        past = CrawlFolder(Path(name))
        code = run_with_timeout(None, lambda: _build_store(crawl, moment, past))  # a store must not outlive a fork
        if code:
            raise typer.Exit(code)
        yield past


def _build_store(crawl: CrawlFolder, moment: datetime, past: CrawlFolder) -> int:
    from motherlode.crawler.index_later import build_store_at

    try:
        build_store_at(crawl, moment, past.store)
    except (OSError, RuntimeError, ValueError) as error:
        stop(str(error), code=FAILED)
    return 0


def run_with_timeout(seconds: float | None, work: Callable[[], int]) -> int | None:
    """Run a function in a child process, which can be killed. Return its exit code, or None after the timeout."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _run_in_child(work)
    handle = os.pidfd_open(child)
    try:
        has_ended, _, _ = select.select([handle], [], [], seconds)
        if not has_ended:
            _kill(child)
            return None
    except BaseException:  # Ctrl-C: the child must not outlive us
        _kill(child)
        raise
    finally:
        os.close(handle)
    return _exit_code(os.waitpid(child, 0)[1])


def _run_in_child(work: Callable[[], int]) -> None:
    code = FAILED
    try:
        code = work()
        sys.stdout.flush()
    except typer.Exit as leaving:
        code = leaving.exit_code
    except BrokenPipeError:
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException:  # noqa: BLE001 - os._exit below would hide it
        traceback.print_exc()
    finally:
        os._exit(code)  # the exit handlers of the parent must not run here


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


_SIGNAL_CAUSES = {
    "SIGABRT": "its result is too large for the engine",
    "SIGSEGV": "it is too long or too deeply nested for the engine; write a long list with VALUES",
}


def _exit_code(status: int) -> int:
    """Return the exit code of a child process, or exit with an error if a signal ended it."""
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        cause = _SIGNAL_CAUSES.get(name, "it may have needed too much memory")
        stop(f"the query was ended by {name}: {cause}", code=FAILED)
    return os.waitstatus_to_exitcode(status)


def _run_query(folder: CrawlFolder, request: QueryRequest, output: QueryFormat) -> int:
    if not request.allow_service:
        isolate_from_network()
    try:
        executor = QueryExecutor(folder.store, folder.words)
    except OSError as error:
        stop(str(error), code=FAILED)
    try:
        print_result(executor.execute(request), output, request.sparql)
    except (typer.Exit, BrokenPipeError):
        raise
    except QueryError as error:
        stop(str(error))
    except (OSError, ValueError, RuntimeError) as error:
        stop(executor.damage(error) or f"the query failed: {error}", code=FAILED)
    finally:
        executor.close()
    return 0


_RESULT_FORMATS = {
    "json": ox.QueryResultsFormat.JSON,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}


def print_result(
    result: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples, output: QueryFormat, sparql: str
) -> None:
    if isinstance(result, ox.QueryTriples):
        _print_triples(result, output)
        return
    if output == "nquads":
        stop("--format nquads is for CONSTRUCT and DESCRIBE; use table, json, csv or tsv for SELECT and ASK")
    if isinstance(result, ox.QueryBoolean) and output != "json":
        words = ("yes", "no") if output == "table" else ("true", "false")
        sys.stdout.write(f"{words[0] if result else words[1]}\n")
    elif output == "table":
        print_solutions(result, sparql)
    else:
        result.serialize(sys.stdout.buffer, format=_RESULT_FORMATS[output])
        sys.stdout.buffer.write(b"\n" if output == "json" else b"")


def _print_triples(result: ox.QueryTriples, output: QueryFormat) -> None:
    if output in _RESULT_FORMATS:
        stop(f"--format {output} is for SELECT and ASK; CONSTRUCT and DESCRIBE give nquads")
    for triple in result:
        sys.stdout.write(f"{triple} .\n")


def print_solutions(result: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples, sparql: str) -> int:
    """Print the solutions of a SELECT as a table and return their number."""
    if not isinstance(result, ox.QuerySolutions):
        raise ValueError("internal error: only a SELECT has a table")
    names = order_variables([variable.value for variable in result.variables], sparql)
    rows = [[_cell(solution[name]) for name in names] for solution in result]
    print_table(names, rows)
    say(format_count(len(rows), "row"))
    for hint in () if rows else find_unknown_classes(sparql):
        say(hint)
    return len(rows)


def _cell(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    if term is None:
        return ""
    return term.value if isinstance(term, (ox.NamedNode, ox.Literal)) else str(term)
