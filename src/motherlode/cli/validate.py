"""The command `validate`: whether structured data follows the rules of a profile or of SHACL shapes."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pyoxigraph as ox
import typer
from rich.text import Text

from motherlode.cli.extract import Network, open_source
from motherlode.cli.index import update_index
from motherlode.cli.options import OUTPUT, Allow, AsJson, argument, flag, open_crawl, option
from motherlode.cli.terminal import FAILED, folding_printer, print_json, replace_controls, say, stop
from motherlode.crawler import CrawlFolder, JobError
from motherlode.crawler.config.values import format_count
from motherlode.crawler.parallel_validation import validate_in_processes
from motherlode.crawler.report.provider_report import write_reports
from motherlode.crawler.single_page import InputLimits, read_source
from motherlode.crawler.validation import (
    FINDING_COLUMNS,
    Finding,
    PageFindings,
    finding_row,
    report_quads,
    store_reports,
    triples_of,
    validate_page,
)
from motherlode.crawler.validation_summary import SEVERITIES, ValidationSummary, save_counts, sorted_hosts
from motherlode.index.export.table_files import TABLE_SUFFIXES, TableFormat, write_table
from motherlode.index.snapshot import DamagedError
from motherlode.quality.page_graph import Triple
from motherlode.quality.shape_profiles import PROFILES, PageValidator, load_validator
from motherlode.quality.validation import ShapeError

Severity = Literal["violation", "warning", "info"]
OutputFormat = Literal["turtle", "ntriples", "nquads", "parquet", "csv", "json", "sqlite"]
_FORMATS: dict[str, OutputFormat] = {
    ".ttl": "turtle",
    ".nt": "ntriples",
    ".nq": "nquads",
    **TABLE_SUFFIXES,
}
"""Formats by the suffix of a file name."""
_RDF = {"turtle": ox.RdfFormat.TURTLE, "ntriples": ox.RdfFormat.N_TRIPLES, "nquads": ox.RdfFormat.N_QUADS}
_PREFIXES = {
    "sh": "http://www.w3.org/ns/shacl#",
    "schema": "http://schema.org/",
    "dcterms": "http://purl.org/dc/terms/",
}
_MAX_BYTES = 100_000_000
"""Maximum size of a file or page. Its statements must fit into memory."""
_COLOURS = {"violation": "red", "warning": "yellow", "info": "cyan"}
_MAX_SHOWN_KINDS = 30
_MAX_SHOWN_HOSTS = 10


def validate(
    source: Annotated[str, argument("DIR|FILE|URL", "The folder of a crawl, a file, a URL, or - for stdin.")],
    *,
    shapes: Annotated[
        list[str] | None,
        option("FILE|PROFILE", f"A file of SHACL shapes, or a profile; repeatable: {', '.join(PROFILES)}."),
    ] = None,
    base: Annotated[str | None, option("URL", "Base URL of a file for relative references.")] = None,
    output: Annotated[
        Path | None, option("FILE", "All results: .ttl, .nt, .nq (SHACL report), .parquet, .csv, .jsonl, .db.", *OUTPUT)
    ] = None,
    form: Annotated[
        OutputFormat | None, option("FORMAT", "Format of -o, if its name does not show it.", "--format")
    ] = None,
    report: Annotated[Path | None, option("DIR", "Write an HTML report per provider into a folder.")] = None,
    store: Annotated[bool, flag("--store", "Write the SHACL reports to the store of a crawl, to query them.")] = False,
    processes: Annotated[int | None, option("N", "Processes for a crawl; one per CPU by default.", min=1)] = None,
    fail_on: Annotated[Severity, typer.Option(help="The lowest severity that gives the exit code 1.")] = "violation",
    as_json: AsJson = False,
    allow: Allow = None,
) -> None:
    """Validate structured data with SHACL shapes or a profile.

    \b
    Profiles:
      google             required and recommended properties of Google's rich results
      schema.org         unknown, misspelt and superseded terms, and types of values
      bioschemas, science-on-schema, dcat-ap

    Without --shapes, google and schema.org are used. Required properties are violations, recommended ones warnings.

    \b
    Examples:
      motherlode validate page.html
      motherlode validate https://example.org/product/1 --shapes google
      motherlode validate out --shapes google --shapes own-shapes.ttl --report reports
      motherlode validate out --shapes schema.org -o results.parquet
      motherlode validate data.ttl --shapes dcat-ap -o report.ttl

    The exit code is 0 if there are no violations, 1 if there are some or nothing could be read, 2 after wrong usage.
    More in docs/validate.md.
    """
    chosen = _choose_format(output, form)
    names = tuple(shapes or ("google", "schema.org"))
    has_reports = store or chosen in _RDF
    validator = _load(names)
    if _is_crawl(source):
        crawl = open_crawl(Path(source))
        summary = _validate_crawl(
            crawl, names, output, chosen, store=store, has_reports=has_reports, processes=processes
        )
        _show_summary(summary, as_json=as_json)
    elif store or processes:
        stop("--store and --processes are for a crawl: give its folder")
    else:
        summary = ValidationSummary()
        try:
            page = _validate_source(source, validator, base=base, allow=allow, has_report=has_reports)
        except JobError as error:
            stop(str(error), code=FAILED)
        summary.add(page)
        _show_page(page, source, as_json=as_json)
        _write([page], output, chosen)
    if report is not None:
        count = write_reports(summary, report, profile=", ".join(names))
        say(f"{format_count(count, 'report')} in {report}")
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    if any(summary.severities[severity] for severity in failing):
        raise typer.Exit(FAILED)


def _load(sources: Iterable[str]) -> PageValidator:
    try:
        return load_validator(*sources)
    except ShapeError as error:
        stop(f"--shapes: {error}")


def _choose_format(output: Path | None, form: OutputFormat | None) -> OutputFormat | None:
    if output is None:
        if form is not None:
            stop("--format is the format of -o FILE: give both")
        return None
    chosen = form or _FORMATS.get(output.suffix.lower())
    if chosen is None:
        stop(f"-o {output}: the format is not known from the name; give --format, or one of {', '.join(_FORMATS)}")
    return chosen


def _is_crawl(source: str) -> bool:
    return Path(source).is_dir()


def _validate_crawl(
    crawl: CrawlFolder,
    shapes: tuple[str, ...],
    output: Path | None,
    form: OutputFormat | None,
    *,
    store: bool,
    has_reports: bool,
    processes: int | None,
) -> ValidationSummary:
    """Validate all pages once, write their results, and save the counts for `stats`."""
    try:
        update_index(crawl)
        summary = ValidationSummary(crawl.read_job().source_list())
        pages = validate_in_processes(crawl, shapes, has_reports=has_reports, processes=processes)
        watched = summary.watch(store_reports(pages, crawl) if store else pages)
        _write(watched, output, form)
        save_counts(summary, crawl, shapes)
    except (JobError, DamagedError) as error:
        stop(str(error), code=FAILED)
    except ValueError as error:
        stop(str(error))
    return summary


def _validate_source(
    source: str, validator: PageValidator, *, base: str | None, allow: list[str] | None, has_report: bool
) -> PageFindings:
    """Validate a file or a URL."""
    with closing(Network(tuple(allow or ()), 1.0, _MAX_BYTES)) as network:
        document = open_source(source, base=base, media_type="", network=network)
        triples: list[Triple] = []
        text = ""
        for part in read_source(document, None, None, InputLimits(max_bytes=_MAX_BYTES)):
            triples.extend(triples_of(part.result))
            text = part.document.text if part.document is not None else ""
            for problem in part.result.all_problems():
                if not problem.repaired:
                    say(f"{source}:{problem.line or 1}:{problem.column or 1}: {problem.message}")
    found = validate_page(validator, document.url, triples, text, has_report=has_report)
    if not found.nodes:
        say(f"{source}: {format_count(len(triples), 'statement')}, and nothing that the shapes are about")
    return found


def _write(pages: Iterable[PageFindings], output: Path | None, form: OutputFormat | None) -> None:
    """Read all pages once, and write their results to the output, if there is one."""
    if output is None or form is None:
        deque(pages, maxlen=0)
    elif form in _RDF:
        quads: Iterator[Any] = report_quads(pages, has_graph=form == "nquads")
        with output.open("wb") as file:
            statements = quads if form == "nquads" else (quad.triple for quad in quads)
            ox.serialize(statements, file, _RDF[form], prefixes=_PREFIXES if form == "turtle" else None)
    else:
        rows = (finding_row(finding) for page in pages for finding in page.findings)
        write_table(FINDING_COLUMNS, rows, output, form=_table_format(form), name="results")


def _table_format(form: OutputFormat) -> TableFormat:
    match form:
        case "parquet" | "csv" | "json" | "sqlite":
            return form
        case _:
            raise ValueError(f"internal error: {form} is not the format of a table")


# ── Output ───────────────────────────────────────────────────────────────────────────────────────────


def _show_page(page: PageFindings, source: str, *, as_json: bool) -> None:
    """Print the findings of a single page, one per line, or as JSON."""
    counts = {severity: sum(one.severity == severity for one in page.findings) for severity in SEVERITIES}
    if as_json:
        totals = {"violations": counts["violation"], "warnings": counts["warning"], "infos": counts["info"]}
        results = msgspec.to_builtins(page.findings)
        print_json(
            {"page": page.page, "conforms": not page.findings, "nodes": page.nodes, **totals, "results": results}
        )
        return
    printer = folding_printer()
    for finding in page.findings:
        printer.print(_describe(finding, source), soft_wrap=True)
    if page.nodes:
        say(", ".join(format_count(counts[severity], severity) for severity in SEVERITIES))


def _describe(finding: Finding, source: str) -> Text:
    place = f"{source}:{finding.line}:{finding.column}: " if finding.line is not None else f"{source}: "
    value = f" [{finding.value}]" if finding.value and not finding.value.startswith("_:") else ""
    about = f"{finding.path}: " if finding.path else ""
    rest = f" {finding.subject}: {about}{finding.message}{value}"
    return Text.assemble(place, (finding.severity, _COLOURS.get(finding.severity, "")), replace_controls(rest))


def _show_summary(summary: ValidationSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(summary.to_dict())
        return
    printer = folding_printer()
    counts = ", ".join(format_count(summary.severities[severity], severity) for severity in SEVERITIES)
    share = f"{summary.conforming:,} of {format_count(summary.pages, 'page')} without violations"
    printer.print(f"{share}; {counts}", markup=False)
    kinds = summary.kinds()
    for kind in kinds[:_MAX_SHOWN_KINDS]:
        about = f"{kind.path}: " if kind.path else ""
        line = f" {kind.count:>8,} on {format_count(kind.pages, 'page')}  {kind.types}: {about}{kind.message}"
        example = f"  {kind.examples[0].page}" if kind.examples else ""
        text = Text.assemble((f"{kind.severity:<9}", _COLOURS.get(kind.severity, "")), replace_controls(line + example))
        printer.print(text, soft_wrap=True)
    if len(kinds) > _MAX_SHOWN_KINDS:
        printer.print(f"… and {len(kinds) - _MAX_SHOWN_KINDS:,} other kinds: --json and -o have all", markup=False)
    sources = [found for _, found in summary.sources()]
    for host in sources or sorted_hosts(summary.hosts.values())[:_MAX_SHOWN_HOSTS]:
        found = ", ".join(format_count(host.severities[severity], severity) for severity in SEVERITIES)
        printer.print(replace_controls(f"{host.host}: {format_count(host.pages, 'page')}, {found}"), markup=False)
