"""The report of a crawl: one HTML file without scripts and external resources.

The template escapes every value. The Content-Security-Policy of the page is a second protection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Template
from markupsafe import Markup

from motherlode.crawler.config.values import format_size
from motherlode.crawler.report.markup import open_templates
from motherlode.crawler.report.plot import CHART_STYLE, COLOURS, Curve, compact, line_chart, percent, thin_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One of the large numbers at the top."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """Counters of one host."""

    name: str
    fetched: int
    relevant: int
    quads: int
    bytes: int


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
    """Program and time."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings of the crawl: names and values."""
    figures: tuple[Figure, ...] = ()
    """The most important figure is the first."""
    curves: tuple[Curve, ...] = ()
    hosts: tuple[HostRow, ...] = ()
    syntaxes: tuple[SyntaxRow, ...] = ()
    failures: tuple[Count, ...] = ()
    refused: tuple[Count, ...] = ()
    problems: tuple[Count, ...] = ()


MAX_HOSTS = 200
"""Rows of hosts. The other hosts are one row, so that the report of a large crawl stays small."""
_OPEN_HOSTS = 20
"""Rows of hosts that are visible at once."""
MAX_COUNTS = 40
MAX_CURVES = 24
_MAX_TEXT_LENGTH = 240
_CURVE_TABLE_ROWS = 10


def write_report(path: Path, report: CrawlReport) -> None:
    """Write the report as one self-contained HTML file."""
    path.write_text(_render(report), encoding="utf-8")


def _render(report: CrawlReport) -> str:
    hosts = _rank_hosts(report.hosts)
    return _template().render(
        report=report,
        colours=Markup(COLOURS),
        chart_style=Markup(CHART_STYLE),
        **_curve_values(report.curves),
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
    templates.globals |= {"percent": percent, "share": _share}
    return templates.get_template("report.html")


def _curve_values(curves: Sequence[Curve]) -> dict[str, Any]:
    """Return the charts and tables of the curves. There are two charts, because text in a chart shrinks with it."""
    shown = [Curve(name=_cut(curve.name), points=curve.points) for curve in curves[:MAX_CURVES] if curve.end[0] > 0]
    title = "Harvest: relevant pages found by pages fetched"
    height = 300 + 22 * (len(shown) // 2)
    return {
        "curves": shown,
        "wide_chart": line_chart(shown, title=title, width=860, height=380, name="wide"),
        "narrow_chart": line_chart(shown, title=title, width=350, height=height, name="narrow"),
        "curve_tables": [(curve.name, _curve_rows(curve)) for curve in shown],
    }


def _curve_rows(curve: Curve) -> list[tuple[str, ...]]:
    return [
        (
            _format_exact(fetched),
            _format_exact(relevant),
            percent(relevant, fetched),
            percent(relevant - relevant_before, fetched - fetched_before),
        )
        for (fetched_before, relevant_before), (fetched, relevant) in pairwise(
            thin_out(curve.points, _CURVE_TABLE_ROWS)
        )
    ]


def _rank_hosts(hosts: Sequence[HostRow]) -> list[HostRow]:
    """Return the hosts with most relevant pages, and one row for all others."""
    shown = nsmallest(MAX_HOSTS, hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))
    if len(hosts) == len(shown):
        return shown
    others = HostRow(
        name=f"{len(hosts) - len(shown):,} others together",
        fetched=sum(host.fetched for host in hosts) - sum(host.fetched for host in shown),
        relevant=sum(host.relevant for host in hosts) - sum(host.relevant for host in shown),
        quads=sum(host.quads for host in hosts) - sum(host.quads for host in shown),
        bytes=sum(host.bytes for host in hosts) - sum(host.bytes for host in shown),
    )
    return [*shown, others]


def _rank_counts(counts: Sequence[Count]) -> list[Count]:
    """Return the largest counts, and one row for all others."""
    ranked = sorted(counts, key=lambda count: (-count.count, count.name))
    shown, others = ranked[:MAX_COUNTS], ranked[MAX_COUNTS:]
    if others:
        name = f"{len(others):,} other kinds together"
        shown.append(Count(name=name, count=sum(count.count for count in others)))
    return shown


def _share(part: int, whole: int) -> float:
    """Return a share in percent for the width of a bar."""
    return min(100.0, 100 * part / whole) if whole else 0.0


def _format_exact(number: int) -> str:
    return f"{number:,}" if number < 10**9 else compact(number)


def _plural_suffix(count: int) -> str:
    return "" if count == 1 else "s"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_LENGTH else text[: _MAX_TEXT_LENGTH - 1] + "…"
