"""The page that a crawl leaves in its folder: one HTML file that loads nothing, runs nothing and can be mailed around.

Every string goes through `plot.element`, which escapes it; the Content-Security-Policy is the second wall.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from pathlib import Path

from motherlode.crawler.config.units import format_size
from motherlode.crawler.report.plot import (
    CHART_STYLE,
    COLOURS,
    Curve,
    Markup,
    compact,
    element,
    joined,
    line_chart,
    percent,
    thinned,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One of the big numbers on top, as text for people."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """What one host gave."""

    name: str
    fetched: int
    relevant: int
    quads: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxRow:
    """Where statements came from."""

    name: str
    pages: int
    statements: int
    plain: bool = False
    """True for facts that never make a page relevant by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often something happened, and what it means."""

    name: str
    count: int
    explanation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """All that the page tells. Any string may come from a hostile page."""

    title: str
    generated: str = ""
    """By what, and when."""
    asked: tuple[tuple[str, str], ...] = ()
    """What the user asked for: names and values."""
    figures: tuple[Figure, ...] = ()
    """The first is the one that matters most."""
    curves: tuple[Curve, ...] = ()
    hosts: tuple[HostRow, ...] = ()
    syntaxes: tuple[SyntaxRow, ...] = ()
    failures: tuple[Count, ...] = ()
    refused: tuple[Count, ...] = ()
    problems: tuple[Count, ...] = ()


MOST_HOSTS = 200
"""Rows; the others are summed up in one, so that the page stays small whatever was crawled."""
_OPEN_HOSTS = 20
"""Rows that are seen at once; those after them unfold."""
MOST_COUNTS = 40
MOST_CURVES = 24
_MOST_TEXT = 240
_STRETCHES = 10
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_report(path: Path, report: CrawlReport) -> None:
    """Write the report as one self-contained HTML file."""
    path.write_text(_page(report), encoding="utf-8")


def _page(report: CrawlReport) -> str:
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        element("title", _short(report.title)),
        element("style", Markup(COLOURS + _STYLE + CHART_STYLE)),
    )
    body = element(
        "main",
        _header(report),
        _curve_section(report.curves),
        element(
            "div",
            _syntax_section(report.syntaxes),
            _section("Failures", _counts(report.failures, "No request failed.")),
            class_="pair",
        ),
        _host_section(report.hosts),
        element(
            "div",
            _section("Refused links", _counts(report.refused, "No link was refused.")),
            _section("Problems on pages", _counts(report.problems, "None was met.")),
            class_="pair",
        ),
        element("footer", "This page loads nothing and runs nothing: one file, to keep, print or send."),
    )
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def _header(report: CrawlReport) -> Markup:
    asked = [element("div", element("dt", _short(name)), element("dd", _short(value))) for name, value in report.asked]
    tiles = [
        element(
            "div",
            element("dt", _short(figure.label)),
            element("dd", _short(figure.value), class_="value"),
            element("dd", _short(figure.note), class_="note"),
        )
        for figure in report.figures
    ]
    return element(
        "header",
        element("h1", _short(report.title)),
        element("p", _short(report.generated), class_="muted") if report.generated else Markup(),
        element("dl", *asked, class_="asked") if asked else Markup(),
        element("dl", *tiles, class_="figures") if tiles else Markup(),
    )


def _section(heading: str, *contents: str, note: str = "") -> Markup:
    return element(
        "section", element("h2", heading), element("p", note, class_="muted") if note else Markup(), *contents
    )


# ── the harvest ──────────────────────────────────────────────────────────────────────────────────────────


def _curve_section(curves: Sequence[Curve]) -> Markup:
    """The picture twice, for wide and for narrow windows, because text in a picture shrinks with it."""
    shown = [Curve(name=_short(curve.name), points=curve.points) for curve in curves[:MOST_CURVES] if curve.end[0] > 0]
    if not shown:
        return _section("Harvest", element("p", "Nothing was fetched."))
    title = "Harvest: relevant pages found by pages fetched"
    tall = 300 + 22 * (len(shown) // 2)
    return _section(
        "Harvest",
        element(
            "div",
            element("div", line_chart(shown, title=title, width=860, height=380, name="wide"), class_="wide"),
            element("div", line_chart(shown, title=title, width=350, height=tall, name="narrow"), class_="narrow"),
        ),
        element("details", element("summary", "In figures"), *(_stretch_table(curve) for curve in shown)),
        note="How many relevant pages were found, page by page. The steeper, the better the links were chosen.",
    )


def _stretch_table(curve: Curve) -> Markup:
    rows = []
    for (fetched_before, relevant_before), (fetched, relevant) in pairwise(thinned(curve.points, _STRETCHES)):
        since = percent(relevant - relevant_before, fetched - fetched_before)
        cells = (_exact(fetched), _exact(relevant), percent(relevant, fetched), since)
        rows.append(element("tr", *(element("td", cell, class_="number") for cell in cells)))
    heads = ("Fetched", "Relevant", "Share so far", "Share since the row above")
    head = element("tr", *(element("th", text, scope="col", class_="number") for text in heads))
    return element(
        "table", element("caption", curve.name), element("thead", head), element("tbody", *rows), class_="stretches"
    )


# ── hosts ────────────────────────────────────────────────────────────────────────────────────────────────


def _host_section(hosts: Sequence[HostRow]) -> Markup:
    if not hosts:
        return _section("Hosts", element("p", "No host was asked."))
    shown = nsmallest(MOST_HOSTS, hosts, key=lambda host: (-host.relevant, -host.fetched, host.name))
    rows = [_host_row(host) for host in shown]
    if len(hosts) > len(shown):
        rows.append(_host_row(_others(hosts, shown)))
    hidden = rows[_OPEN_HOSTS:]
    more = element("details", element("summary", f"{len(hosts) - _OPEN_HOSTS:,} more hosts"), _host_table(hidden))
    return _section(
        "Hosts",
        _host_table(rows[:_OPEN_HOSTS]),
        more if hidden else Markup(),
        note="Those that gave most first. The bar is the share of a host's answers that were relevant.",
    )


def _others(hosts: Sequence[HostRow], shown: Sequence[HostRow]) -> HostRow:
    return HostRow(
        name=f"{len(hosts) - len(shown):,} others together",
        fetched=sum(host.fetched for host in hosts) - sum(host.fetched for host in shown),
        relevant=sum(host.relevant for host in hosts) - sum(host.relevant for host in shown),
        quads=sum(host.quads for host in hosts) - sum(host.quads for host in shown),
        bytes=sum(host.bytes for host in hosts) - sum(host.bytes for host in shown),
    )


def _host_table(rows: Iterable[Markup]) -> Markup:
    heads = (("Host", "name"), ("Relevant", "share"), ("Fetched", "number"), ("Quads", "number"), ("Data", "number"))
    head = element("tr", *(element("th", text, scope="col", class_=kind) for text, kind in heads))
    return element("table", element("thead", head), element("tbody", *rows), class_="hosts")


def _host_row(host: HostRow) -> Markup:
    share = element(
        "div",
        element("span", _exact(host.relevant), class_="count"),
        _bar(host.relevant, host.fetched),
        element("span", percent(host.relevant, host.fetched), class_="percent"),
        class_="shared",
    )
    return element(
        "tr",
        element("th", element("bdi", _short(host.name)), scope="row", class_="name"),
        element("td", share, class_="share"),
        element("td", _exact(host.fetched), class_="number"),
        element("td", _exact(host.quads), class_="number"),
        element("td", format_size(host.bytes), class_="number"),
    )


# ── syntaxes, failures, refusals, problems ───────────────────────────────────────────────────────────────


def _syntax_section(syntaxes: Sequence[SyntaxRow]) -> Markup:
    most = max((row.pages for row in syntaxes), default=0)
    ranked = sorted(syntaxes, key=lambda row: (row.plain, -row.pages, row.name))
    return _section("Syntaxes", _items([_syntax_item(row, most) for row in ranked], "No page held structured data."))


def _syntax_item(row: SyntaxRow, most: int) -> Markup:
    statements = f"{_exact(row.statements)} {_plural(row.statements, 'statement')}"
    return element(
        "li",
        element("span", _short(row.name), class_="name"),
        element("span", f"{_exact(row.pages)} {_plural(row.pages, 'page')}", class_="number"),
        _bar(row.pages, most),
        element("span", statements + (", which make no page relevant" if row.plain else ""), class_="explanation"),
        class_="plain" if row.plain else "rich",
    )


def _counts(counts: Sequence[Count], nothing: str) -> Markup:
    ranked = sorted(counts, key=lambda count: (-count.count, count.name))
    shown, others = ranked[:MOST_COUNTS], ranked[MOST_COUNTS:]
    if others:
        name = f"{len(others):,} other kinds together"
        shown.append(Count(name=name, count=sum(count.count for count in others)))
    items = [
        element(
            "li",
            element("span", element("bdi", _short(count.name)), class_="name"),
            element("span", _exact(count.count), class_="number"),
            element("span", _short(count.explanation), class_="explanation") if count.explanation else Markup(),
        )
        for count in shown
    ]
    return _items(items, nothing)


def _items(items: Sequence[Markup], nothing: str) -> Markup:
    return element("ul", *items, class_="counts") if items else element("p", nothing)


def _bar(part: int, whole: int) -> Markup:
    """A bar as long as the share; the figure stands beside it, so it says nothing to those who do not see it."""
    share = min(100.0, 100 * part / whole) if whole else 0.0
    return element("span", element("i", style=f"width:{share:.1f}%"), class_="bar", aria_hidden="true")


def _exact(number: int) -> str:
    return f"{number:,}" if number < 10**9 else compact(number)


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"


_STYLE = """
* { box-sizing: border-box; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
body { margin: 0; background: var(--page); color: var(--ink); -webkit-text-size-adjust: 100%;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1, h2, p, dl, dd, ul { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere; }
h1 { font-size: 1.85rem; line-height: 1.25; letter-spacing: -.015em; } h2 { font-size: 1.2rem; line-height: 1.5; }
section { margin-top: 3rem; min-width: 0; }
section > h2 + :not(.muted), section > p.muted + * { margin-top: .9rem; }
.muted, .note, .explanation, footer, dt, caption { color: var(--muted); }
.note, .explanation, footer, caption, thead th, .figures dt { font-size: .85rem; line-height: 1.4; }
.asked, table, summary, .counts { font-size: .925rem; }
.asked { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin-top: .75rem; }
.asked div { display: flex; gap: .4rem; min-width: 0; }
.figures { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 1px; margin-top: 1.75rem;
  background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.figures div { background: var(--surface); padding: 1rem 1.1rem .9rem; }
.value { font-size: 1.65rem; font-weight: 600; line-height: 1.3; letter-spacing: -.015em; }
.figures div:first-child .value { color: var(--s0); }
.narrow { display: none; }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 3rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem 0 .4rem 1.25rem; border-bottom: 1px solid var(--line); text-align: left; font-weight: 400; }
th:first-child, td:first-child { padding-left: 0; }
thead th { color: var(--muted); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.hosts { table-layout: fixed; }
.name { overflow-wrap: anywhere; }
.hosts thead .share { width: 17rem; } .hosts thead .number { width: 7rem; }
.shared { display: flex; align-items: center; gap: .75rem; }
.count { flex: 0 0 4.2em; text-align: right; }
.percent { flex: 0 0 4em; text-align: right; color: var(--muted); }
.bar { display: block; flex: 1; height: .5rem; background: var(--track); border-radius: 2px; overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--s0); border-radius: 2px; }
.plain .bar i { background: var(--muted); }
details { margin-top: .9rem; }
summary { cursor: pointer; color: var(--muted); } summary:hover { color: var(--ink); }
details table { margin-top: .6rem; }
caption { text-align: left; overflow-wrap: anywhere; }
.stretches { max-width: 34rem; }
.counts li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .2rem 1.25rem; padding: .5rem 0;
  border-bottom: 1px solid var(--line); }
.counts .bar, .explanation { grid-column: 1 / -1; overflow-wrap: anywhere; }
footer { margin-top: 3.5rem; }
@media (max-width: 44rem) {
  main { padding: 1.75rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  section { margin-top: 2.25rem; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .value { font-size: 1.35rem; } .figures div { padding: .8rem .85rem .7rem; }
  .pair { grid-template-columns: minmax(0, 1fr); }
  .wide { display: none; }
  .narrow, .hosts, .hosts tbody, .hosts thead { display: block; }
  .hosts tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); padding: .5rem 0;
    border-bottom: 1px solid var(--line); }
  .hosts tr > * { border: 0; padding: 0; }
  .hosts .name, .hosts .share { grid-column: 1 / -1; }
  .hosts tr > .number { color: var(--muted); font-size: .85rem; }
  .hosts tr > .number:nth-child(3) { text-align: left; }
  .hosts tr > .number:nth-child(4) { text-align: center; }
  .hosts thead .share, .hosts thead .number { width: auto; }
  .hosts thead .name { grid-column: 1 / 3; }
  .hosts thead .share { grid-column: 3; text-align: right; }
  .count { flex-basis: 3em; text-align: left; }
}
@media print {
  :root { --page: #fff; font-size: 12px; }
  .hosts thead .share { width: 15rem; } .hosts thead .number { width: 5.5rem; }
  main { max-width: none; padding: 0; }
  tr, li, svg, .figures { break-inside: avoid; }
  h2, h2 + p { break-after: avoid; }
  details:not([open]), footer { display: none; }
}
"""
