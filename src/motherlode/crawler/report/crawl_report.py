"""The report of a crawl: its contents, computed from the statistics, and its page, one HTML file without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from heapq import nsmallest
from importlib import resources
from itertools import pairwise
from pathlib import Path

import msgspec
from jinja2 import Template
from markupsafe import Markup

from motherlode.crawler.config.job import Job
from motherlode.crawler.config.values import format_count, format_duration, format_size
from motherlode.crawler.report import open_templates
from motherlode.crawler.report.plot import CHART_STYLE, Curve, compact, line_chart, percent, thin_out
from motherlode.crawler.stats.counters import Counters
from motherlode.crawler.stats.reader import CrawlStats, SourceFigures
from motherlode.frontier import HostRecord
from motherlode.frontier.admission import TOO_MANY_HOSTS
from motherlode.frontier.leases import NO_RULES, TOO_MANY_FAILURES
from motherlode.model import Syntax
from motherlode.project import VERSION
from motherlode.www.urls import OUT_OF_SCOPE, canonical, host_of

BREADTH_FIRST = "bfs (estimate)"
"""Name of the curve of `crawler.explain.breadth_first`."""
MAX_HOSTS = 200
"""Maximum number of rows of hosts. The other hosts are one row, so that the report of a large crawl stays small."""
_OPEN_HOSTS = 20
MAX_COUNTS = 40
MAX_CURVES = 24
_MAX_TEXT_LENGTH = 240
_TABLE_ROWS = 10
_TEXTS: dict[str, dict[str, str]] = msgspec.json.decode(
    resources.files("motherlode.crawler.report").joinpath("names.json").read_bytes()
)
SYNTAX_NAMES = _TEXTS["syntaxes"]
EXPLANATIONS = _TEXTS["failures"] | {
    TOO_MANY_FAILURES: "The host did not respond, or broke the connection, many times in a row.",
    NO_RULES: "The host's robots.txt could not be fetched for hours, because the server failed or was busy.",
    TOO_MANY_HOSTS: "Thousands of hosts of the same domain are waiting, and too few of those contacted were relevant.",
    OUT_OF_SCOPE: "The link leads out of the scope of the crawl. Each such link is counted.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One of the large numbers at the top."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxRow:
    """Pages and statements of one syntax."""

    name: str
    pages: int
    statements: int
    plain: bool = False
    """Whether statements of this syntax never make a page relevant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often something happened, with an explanation of it."""

    name: str
    count: int
    explanation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """Contents of the report. Any string may come from a hostile page."""

    title: str
    generated: str = ""
    """Version of the program, and the time at which the report was made."""
    settings: tuple[tuple[str, str], ...] = ()
    figures: tuple[Figure, ...] = ()
    """The most important figure is the first."""
    curves: tuple[Curve, ...] = ()
    hosts: tuple[HostRecord, ...] = ()
    sources: tuple[SourceFigures, ...] = ()
    syntaxes: tuple[SyntaxRow, ...] = ()
    failures: tuple[Count, ...] = ()
    refused: tuple[Count, ...] = ()
    problems: tuple[Count, ...] = ()


def build_report(
    job: Job, stats: CrawlStats, *, made_at: float | None = None, others: Sequence[Curve] = ()
) -> CrawlReport:
    """Return the report of a running or finished crawl. `made_at` is in seconds since the epoch.

    `others` are harvest curves that are shown beside that of the crawl.
    """
    totals = stats.totals
    return CrawlReport(
        title=_format_title(job.all_seeds),
        generated=_format_generated(made_at),
        settings=_list_settings(job),
        figures=_compute_figures(stats),
        curves=(build_harvest_curve(job.policy, totals), *(curve for curve in others if curve.points)),
        hosts=tuple(host for host in stats.hosts if host.fetched),
        sources=stats.sources,
        syntaxes=tuple(
            SyntaxRow(
                name=SYNTAX_NAMES.get(name, name), pages=pages, statements=statements, plain=name == Syntax.PAGE.value
            )
            for name, (pages, statements) in totals.syntaxes.items()
        ),
        failures=_explain_counts(totals.failures),
        refused=_explain_counts(stats.refused),
        problems=_explain_counts(stats.problem_kinds),
    )


def build_harvest_curve(name: str, totals: Counters) -> Curve:
    """Return the harvest curve of a crawl up to its last page, without revisits, as in the harvest rate."""
    before = tuple((fetched, relevant) for fetched, relevant in totals.curve if fetched < totals.first)
    return Curve(name=name, points=(*before, (totals.first, totals.relevant)) if totals.first else before)


def _format_title(seeds: Sequence[str]) -> str:
    hosts = list(dict.fromkeys(_host(seed) for seed in seeds))
    if not hosts:
        return "A crawl"
    more = len(hosts) - 1
    return f"Crawl of {hosts[0]}" + (f" and {format_count(more, 'more host')}" if more else "")


def _host(seed: str) -> str:
    url = canonical(seed if "://" in seed else f"https://{seed}")
    return seed if url is None else host_of(url)


def _format_generated(made_at: float | None) -> str:
    when = "" if made_at is None else f" on {datetime.fromtimestamp(made_at, UTC):%d %B %Y at %H:%M} UTC"
    return f"Written by Motherlode {VERSION}{when.replace(' on 0', ' on ')}"


def _explain_counts(counts: Mapping[str, int]) -> tuple[Count, ...]:
    return tuple(
        Count(name=name, count=count, explanation=EXPLANATIONS.get(name, "")) for name, count in counts.items()
    )


def _list_settings(job: Job) -> tuple[tuple[str, str], ...]:
    limits = (
        "" if job.pages is None else f"{job.pages:,} pages",
        "" if job.time is None else format_duration(job.time),
        "" if job.bytes is None else format_size(job.bytes),
    )
    settings = {
        "Policy": job.policy,
        "Target": job.target,
        "Scope": job.scope,
        "Seeds": f"{len(job.all_seeds):,}",
        "Own hosts, robots.txt not applied": ", ".join(job.own_hosts),
        "Certificates not verified": ", ".join(job.any_certificate),
        "Budget": ", ".join(limit for limit in limits if limit) or "none",
        "Recorded web": "" if job.web is None else job.web.rpartition("/")[2],
    }
    return tuple((name, value) for name, value in settings.items() if value)


def _compute_figures(stats: CrawlStats) -> tuple[Figure, ...]:
    totals = stats.totals
    failed = sum(totals.failures.values())
    relevant_hosts = sum(1 for host in stats.hosts if host.relevant)
    pages_per_second = totals.fetched / totals.seconds if totals.seconds else 0.0
    quads_per_page = totals.quads / totals.relevant if totals.relevant else 0.0
    revisits = f", {_format_number(totals.refreshed)} revisits" if totals.refreshed else ""
    rows = (
        (
            "Harvest rate",
            percent(totals.relevant, totals.first),
            "without revisits" if totals.refreshed else "of pages fetched",
        ),
        ("Relevant", _format_number(totals.relevant), f"on {format_count(relevant_hosts, 'host')}"),
        (
            "Fetched",
            _format_number(totals.fetched),
            f"{_format_number(failed)} failed, {_format_number(totals.redirects)} redirected{revisits}",
        ),
        ("Quads", _format_number(totals.quads), f"{quads_per_page:,.1f} per relevant page"),
        (
            "Contacted hosts",
            _format_number(len(stats.hosts)),
            f"{percent(relevant_hosts, len(stats.hosts))} with relevant pages",
        ),
        ("Known URLs", _format_number(stats.known_urls), f"{_format_number(totals.links)} links seen"),
        ("Time", format_duration(totals.seconds), f"{pages_per_second:,.1f} pages per second"),
        ("Received", format_size(totals.bytes), f"{format_size(stats.disk)} on disk"),
    )
    return tuple(Figure(label=label, value=value, note=note) for label, value, note in rows)


def _format_number(number: int) -> str:
    return f"{number:,}" if number < 10**7 else compact(number)


# The page


def write_report(path: Path, report: CrawlReport) -> None:
    """Write the report as one self-contained HTML file. OSError if that fails."""
    try:
        path.write_text(_render(report), encoding="utf-8")
    except OSError as error:
        raise OSError(f"the report {path} could not be written: {error.strerror}") from error


def _render(report: CrawlReport) -> str:
    hosts = _rank_hosts(report.hosts)
    curves = [Curve(name=_cut(curve.name), points=curve.points) for curve in report.curves[:MAX_CURVES]]
    curves = [curve for curve in curves if curve.end[0]]
    return _template().render(
        report=report,
        chart_style=Markup(CHART_STYLE),
        charts=draw_harvest(curves, wide_height=380),
        has_estimate=any(curve.name == BREADTH_FIRST for curve in curves),
        curve_tables=[(curve.name, _curve_rows(curve)) for curve in curves],
        syntaxes=sorted(report.syntaxes, key=lambda row: (row.plain, -row.pages, row.name)),
        max_pages=max((row.pages for row in report.syntaxes), default=0),
        hosts=hosts[:_OPEN_HOSTS],
        folded_hosts=hosts[_OPEN_HOSTS:],
        folded_count=len(report.hosts) - _OPEN_HOSTS,
        failures=_rank_counts(report.failures),
        refused=_rank_counts(report.refused),
        problems=_rank_counts(report.problems),
    )


@cache
def _template() -> Template:
    templates = open_templates("motherlode.crawler.report")
    templates.filters |= {"cut": _cut, "exact": _format_exact, "size": format_size, "plural": _plural_suffix}
    templates.globals["percent"] = percent
    return templates.get_template("report.html")


def draw_harvest(curves: Sequence[Curve], *, wide_height: int) -> list[tuple[str, Markup]]:
    """Return a wide and a narrow chart with their CSS classes, because text shrinks with a chart."""
    title = "Harvest: relevant pages found by pages fetched"
    sizes = (("wide", 860, wide_height), ("narrow", 350, 300 + 22 * (len(curves) // 2)))
    return [
        (name, line_chart(curves, title=title, width=width, height=height, name=name))
        for name, width, height in sizes
        if curves
    ]


def _curve_rows(curve: Curve) -> list[tuple[str, ...]]:
    return [
        (
            _format_exact(fetched),
            _format_exact(relevant),
            percent(relevant, fetched),
            percent(relevant - relevant_before, fetched - fetched_before),
        )
        for (fetched_before, relevant_before), (fetched, relevant) in pairwise(thin_out(curve.points, _TABLE_ROWS))
    ]


def _rank_hosts(hosts: Sequence[HostRecord]) -> list[HostRecord]:
    """Return the hosts with most relevant pages, and one row for all others."""
    shown = nsmallest(MAX_HOSTS, hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))
    if len(hosts) == len(shown):
        return shown
    sums = {
        name: sum(getattr(host, name) for host in hosts) - sum(getattr(host, name) for host in shown)
        for name in ("fetched", "relevant", "quads", "received")
    }
    return [*shown, HostRecord(name=f"{len(hosts) - len(shown):,} others together", **sums)]


def _rank_counts(counts: Sequence[Count]) -> list[Count]:
    """Return the largest counts, and one row for all others."""
    ranked = sorted(counts, key=lambda count: (-count.count, count.name))
    shown, others = ranked[:MAX_COUNTS], ranked[MAX_COUNTS:]
    if others:
        name = f"{len(others):,} other kinds together"
        shown.append(Count(name=name, count=sum(count.count for count in others)))
    return shown


def _format_exact(number: int) -> str:
    return f"{number:,}" if number < 10**9 else compact(number)


def _plural_suffix(count: int) -> str:
    return "" if count == 1 else "s"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_LENGTH else text[: _MAX_TEXT_LENGTH - 1] + "…"
