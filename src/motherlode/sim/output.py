"""What a study leaves in a folder: a report that loads nothing and runs nothing, pictures as SVG, and tables as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean, pstdev

from motherlode.crawl.markup import Markup, element, joined
from motherlode.crawl.plot import CHART_STYLE, COLOURS, line_chart, write_svg
from motherlode.sim.pictures import Picture, found_by_host, pictures, results_by_policy
from motherlode.sim.study import Row, Study

_MOST_HOSTS = 60
"""Rows of the table of hosts; all are in the CSV."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_HEADS = ("policy", "runs", "fetched", "relevant", "harvest rate", "recall", "focus", "area focus", "pick µs")


def write_outputs(folder: Path, study: Study) -> Path:
    """Write everything; gives the path of the report."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = pictures(study)
    for picture in shown:
        write_svg(folder / f"{picture.name}.svg", picture.curves, picture.title, axes=picture.axes)
    _write_csv(folder / "rows.csv", _rows(study))
    _write_csv(folder / "curves.csv", _curves(study))
    _write_csv(folder / "hosts.csv", _hosts(study))
    report = folder / "report.html"
    report.write_text(_page(study, shown), encoding="utf-8")
    return report


# ── tables as files ──────────────────────────────────────────────────────────────────────────────────────


def _write_csv(path: Path, lines: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)


def _rows(study: Study) -> Iterable[Sequence[object]]:
    rows = [row.as_json() for row in study.rows]
    names = [name for name in rows[0] if name not in ("curve", "failures")] if rows else []
    yield [*names, "failures"]
    for row in rows:
        failures = " ".join(f"{kind}:{count}" for kind, count in sorted(row["failures"].items()))
        yield [*(row[name] for name in names), failures]


def _curves(study: Study) -> Iterable[Sequence[object]]:
    yield "policy", "seed", "fetched", "relevant"
    for row in study.rows:
        for fetched, relevant in row.result.curve:
            yield row.policy, row.seed, fetched, relevant


def _hosts(study: Study) -> Iterable[Sequence[object]]:
    yield "policy", "seed", "host", "fetched", "found", "available"
    available = study.available or {}
    for row in study.rows:
        for host in sorted(row.result.hosts | dict.fromkeys(available)):
            fetched, found = row.result.hosts.get(host) or (0, 0)
            yield row.policy, row.seed, host, fetched, found, "" if study.available is None else available.get(host, 0)


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────


def _page(study: Study, shown: Sequence[Picture]) -> str:
    title = f"Simulation: {_short(Path(study.question.web).name)}"
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        element("title", title),
        element("style", Markup(COLOURS + _STYLE + CHART_STYLE)),
    )
    body = element(
        "main",
        element("h1", title),
        element("p", _asked(study), class_="muted"),
        *(element("p", note, class_="note") for note in study.notes),
        _scores(study),
        *(_drawn(picture) for picture in shown),
        _host_table(study),
        element("footer", "This page loads nothing and runs nothing. The figures are in the CSV files beside it."),
    )
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def _asked(study: Study) -> str:
    question = study.question
    relevant = "" if study.available is None else f", {sum(study.available.values()):,} of them relevant"
    return (
        f"Target {_short(question.target)}; {study.page_count:,} pages{relevant}; "
        f"a budget of {study.budget:,} requests; seeds {question.seed} to {question.seed + question.repeat - 1}."
    )


def _scores(study: Study) -> Markup:
    lines = []
    for name in dict.fromkeys(row.policy for row in study.rows):
        own = [row for row in study.rows if row.policy == name]
        cells = (element("td", text, class_="number") for text in _figures(own))
        lines.append(element("tr", element("th", _short(name), scope="row"), *cells))
    return element("section", element("h2", "Policies"), _table(_HEADS, lines))


def _figures(own: Sequence[Row]) -> list[str]:
    return [
        f"{len(own)}",
        f"{mean(row.result.fetched for row in own):,.0f}",
        f"{mean(row.result.relevant for row in own):,.0f}",
        spread([row.result.harvest_rate for row in own]),
        spread([row.recall for row in own]),
        spread([row.focus for row in own]),
        spread([row.area_focus for row in own]),
        f"{mean(row.result.select_us_mean for row in own):.1f}",
    ]


def spread(values: Sequence[float | None]) -> str:
    """Mean and standard deviation of what is known.

    >>> spread([0.5, 0.7]), spread([0.5]), spread([None])
    ('0.600 ±0.100', '0.500', '—')
    """
    known = [value for value in values if value is not None]
    if not known:
        return "—"
    return f"{mean(known):.3f}" + (f" ±{pstdev(known):.3f}" if len(known) > 1 else "")


def _drawn(picture: Picture) -> Markup:
    chart = line_chart(picture.curves, title=picture.title, width=860, height=400, name=picture.name, axes=picture.axes)
    return element("section", element("h2", picture.title), element("p", picture.explanation, class_="muted"), chart)


def _host_table(study: Study) -> Markup:
    """Relevant pages found of those available, for the hosts that have most."""
    available = study.available or {}
    if not available:
        return Markup()
    results = results_by_policy(study)
    hosts = sorted(available, key=lambda host: (-available[host], host))[:_MOST_HOSTS]
    lines = [
        element(
            "tr",
            element("th", element("bdi", _short(host)), scope="row"),
            element("td", f"{available[host]:,}", class_="number"),
            *(element("td", f"{found_by_host(own, host):,.0f}", class_="number") for own in results.values()),
        )
        for host in hosts
    ]
    note = f"Relevant pages found, on average, of those available; {len(hosts):,} of {len(available):,} hosts."
    heads = ("host", "available", *(_short(name) for name in results))
    return element(
        "section", element("h2", "Hosts"), element("p", note, class_="muted"), _table(heads, lines), class_="wide"
    )


def _table(heads: Sequence[str], lines: Sequence[Markup]) -> Markup:
    head = element(
        "tr", *(element("th", text, scope="col", class_="number" if n else "") for n, text in enumerate(heads))
    )
    return element("div", element("table", element("thead", head), element("tbody", *lines)), class_="scroll")


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"


_STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; }
h1 { font-size: 1.85rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
p { margin: .25rem 0 .75rem; } .muted, footer, thead th { color: var(--muted); }
.note { border-left: 3px solid var(--s0); padding-left: .75rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem 0 .35rem 1rem; border-bottom: 1px solid var(--line); text-align: left; font-weight: 400; }
th:first-child { padding-left: 0; white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
footer { margin-top: 3rem; font-size: .85rem; }
"""
