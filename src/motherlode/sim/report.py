"""The report of an experiment: curves as SVG, tables as CSV, and one HTML page without scripts or external files.

The curves show harvest, focus, hosts and time per pick. Each curve is the mean of a policy's repetitions.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, pstdev

from markupsafe import Markup

from motherlode.crawler.report import open_templates
from motherlode.crawler.report.plot import CHART_STYLE, HARVEST, Axes, Curve, line_chart, write_svg
from motherlode.sim.calibration import BINS, Calibration
from motherlode.sim.experiment import Experiment, Row, relevant_at
from motherlode.sim.simulator import SimResult

_POINTS = 200
_SIZES = 40


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its curves, axes and title."""

    name: str
    """File name of the chart, without its extension."""
    title: str
    explanation: str
    axes: Axes
    curves: tuple[Curve, ...]


def results_by_policy(experiment: Experiment) -> dict[str, list[SimResult]]:
    """Return the results by policy: those that the user named first, then the baselines."""
    found: dict[str, list[SimResult]] = {}
    for row in experiment.rows:
        found.setdefault(row.policy, []).append(row.result)
    return found | {name: results for name, results in experiment.baselines.items() if results and name not in found}


def found_by_host(results: Sequence[SimResult], host: str) -> float:
    """Return the mean number of relevant pages found per host."""
    return mean(result.hosts.get(host, (0, 0))[1] for result in results)


def _harvest(experiment: Experiment, name: str, results: Sequence[SimResult]) -> Curve:
    return _averaged(name, _budgets(results), results, lambda one, x: relevant_at(one.request_curve, x))


def _focus(experiment: Experiment, name: str, results: Sequence[SimResult]) -> Curve:
    budgets = [x for x in _budgets(results) if experiment.focus_at(results[0], x) is not None]
    return _averaged(name, budgets, results, lambda one, x: 100 * (experiment.focus_at(one, x) or 0.0))


def _hosts_found(experiment: Experiment, name: str, results: Sequence[SimResult]) -> Curve:
    available = (experiment.available or {}).items()
    shares = sorted((100 * found_by_host(results, host) / count for host, count in available), reverse=True)
    return Curve(name=name, points=tuple((rank, round(share)) for rank, share in enumerate(shares, 1)))


def _picking(experiment: Experiment, name: str, results: Sequence[SimResult]) -> Curve:
    samples = [sample for result in results for sample in result.picking]
    width = max(1, max((waiting for waiting, _ in samples), default=0) // _SIZES)
    bins: dict[int, list[float]] = {}
    for waiting, seconds in samples:
        bins.setdefault(waiting // width, []).append(seconds)
    points = ((number * width + width // 2, round(1e9 * mean(bins[number]))) for number in sorted(bins))
    return Curve(name=name, points=tuple(points))


def _merge_calibrations(results: Sequence[SimResult]) -> Calibration:
    total = Calibration()
    for result in results:
        total.merge(result.calibration)
    return total


def _reliability(experiment: Experiment, name: str, results: Sequence[SimResult]) -> Curve:
    total = _merge_calibrations(results)
    score = "" if total.brier_score is None else f" (Brier score {total.brier_score:.3f})"
    points = ((round(100 * predicted), round(100 * observed)) for predicted, observed, _ in total.bins())
    return Curve(name=f"{name}{score}", points=tuple(points))


def _budgets(results: Sequence[SimResult]) -> list[int]:
    most = max(result.fetched + result.heads for result in results)
    return sorted({round(most * number / _POINTS) for number in range(1, _POINTS + 1)} - {0})


def _averaged(
    name: str, budgets: Sequence[int], results: Sequence[SimResult], value: Callable[[SimResult, int], float]
) -> Curve:
    points, band = [], []
    for budget in budgets:
        values = [value(result, budget) for result in results]
        points.append((budget, round(mean(values))))
        band.append((budget, round(min(values)), round(max(values))))
    return Curve(name=name, points=tuple(points), band=tuple(band) if len(results) > 1 else ())


_CHARTS = (
    (
        ("harvest", "Harvest"),
        "Relevant pages found by requests made; the band holds all repetitions. Steeper is better.",
        HARVEST,
        _harvest,
    ),
    (
        ("focus", "Focus by budget"),
        "The share of the oracle's lead over breadth-first that a policy makes good, had the budget been smaller. 0 % "
        "is no better than breadth-first, 100 % is as good as full knowledge.",
        Axes(x="budget, in requests", y="focus", unit=" %"),
        _focus,
    ),
    (
        ("hosts", "Discovery by host"),
        "For each host that has relevant pages, the share of them that was found; for each policy from the host that "
        "was found best to the one that was found least.",
        Axes(x="hosts with relevant pages", y="found", unit=" %"),
        _hosts_found,
    ),
    (
        ("picking", "Time to pick by frontier size"),
        "Nanoseconds that the choice of one URL took, by the number of URLs that waited.",
        Axes(x="URLs waiting", y="time to pick", unit=" ns"),
        _picking,
    ),
    (
        ("calibration", "Calibration"),
        "Of the requests to which a policy gave about the same probability of a relevant page, the share that returned "
        "one. On the diagonal, probabilities are right.",
        Axes(x="predicted probability, in %", y="relevant", unit=" %"),
        _reliability,
    ),
)
"""File name, title, explanation and axes of each chart, and the function that makes the curve of a policy."""


_DIAGONAL = Curve(name="predicted = observed", points=((0, 0), (100, 100)))


def make_charts(experiment: Experiment) -> list[Chart]:
    results = results_by_policy(experiment).items()
    made = [
        Chart(name, title, explanation, axes, tuple(draw(experiment, policy, own) for policy, own in results))
        for (name, title), explanation, axes, draw in _CHARTS
    ]
    shown = [chart for chart in made if any(curve.points for curve in chart.curves)]
    return [
        replace(chart, curves=(*chart.curves, _DIAGONAL)) if chart.name == "calibration" else chart for chart in shown
    ]


# ── files of the report

_MOST_HOSTS = 60
"""Maximum number of rows in the table of hosts. The CSV file has all hosts."""
_HEADS = ("policy", "runs", "fetched", "relevant", "harvest rate", "recall", "focus", "area focus", "hosts", "pick µs")


def write_outputs(folder: Path, experiment: Experiment) -> Path:
    """Write all files into a folder and return the path of the HTML report."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = make_charts(experiment)
    for chart in shown:
        write_svg(folder / f"{chart.name}.svg", chart.curves, chart.title, axes=chart.axes)
    _write_csv(folder / "rows.csv", _rows(experiment))
    _write_csv(folder / "curves.csv", _curves(experiment))
    _write_csv(folder / "hosts.csv", _hosts(experiment))
    if any(row.result.calibration.predictions for row in experiment.rows):
        _write_csv(folder / "calibration.csv", _calibration(experiment))
    report = folder / "report.html"
    report.write_text(_page(experiment, shown), encoding="utf-8")
    return report


def _write_csv(path: Path, lines: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)


def _rows(experiment: Experiment) -> Iterable[Sequence[object]]:
    rows = [row.as_json() for row in experiment.rows]
    names = [name for name in rows[0] if name not in ("curve", "failures", "calibration")] if rows else []
    yield [*names, "failures"]
    for row in rows:
        failures = " ".join(f"{kind}:{count}" for kind, count in sorted(row["failures"].items()))
        yield [*(row[name] for name in names), failures]


def _curves(experiment: Experiment) -> Iterable[Sequence[object]]:
    yield "policy", "seed", "fetched", "relevant"
    for row in experiment.rows:
        for fetched, relevant in row.result.curve:
            yield row.policy, row.seed, fetched, relevant


def _hosts(experiment: Experiment) -> Iterable[Sequence[object]]:
    yield "policy", "seed", "host", "fetched", "found", "available"
    available = experiment.available or {}
    for row in experiment.rows:
        for host in sorted(row.result.hosts | dict.fromkeys(available)):
            fetched, found = row.result.hosts.get(host) or (0, 0)
            yield (
                row.policy,
                row.seed,
                host,
                fetched,
                found,
                "" if experiment.available is None else available.get(host, 0),
            )


def _calibration(experiment: Experiment) -> Iterable[Sequence[object]]:
    yield "policy", "target", "seed", "predicted", "observed", "requests"
    for row in experiment.rows:
        for predicted, observed, requests in row.result.calibration.bins():
            yield row.policy, row.target, row.seed, predicted, observed, requests


def _calibration_rows(experiment: Experiment) -> list[tuple[str, list[str]]]:
    """Return a row for each policy that predicts probabilities, target, scores, and observed shares by tenth."""
    rows = []
    for name, results in results_by_policy(experiment).items():
        total = _merge_calibrations(results)
        if total.brier_score is None or total.error is None:
            continue
        by_tenth = {min(BINS - 1, int(BINS * predicted)): observed for predicted, observed, _ in total.bins()}
        observed = [f"{100 * by_tenth[n]:.0f} %" if n in by_tenth else "–" for n in range(BINS)]
        figures = [f"{total.predictions:,}", f"{total.brier_score:.3f}", f"{total.error:.3f}"]
        rows.append((_short(name), [_short(experiment.setup.target), *figures, *observed]))
    return rows


_CALIBRATION_HEADS = (
    *("policy", "target", "requests", "Brier score", "calibration error"),
    *(f"{100 * n // BINS}–{100 * (n + 1) // BINS} %" for n in range(BINS)),
)


def _page(experiment: Experiment, shown: Sequence[Chart]) -> str:
    rows = {
        name: [row for row in experiment.rows if row.policy == name]
        for name in dict.fromkeys(r.policy for r in experiment.rows)
    }
    template = open_templates("motherlode.sim").get_template("experiment.html")
    return template.render(
        title=f"Simulation: {_short(Path(experiment.setup.web).name)}",
        chart_style=Markup(CHART_STYLE),
        setup=_describe_setup(experiment),
        notes=experiment.notes,
        policy_heads=_HEADS,
        policies=[(_short(name), _figures(own)) for name, own in rows.items()],
        charts=[(chart, _render(chart)) for chart in shown],
        calibration_heads=_CALIBRATION_HEADS,
        calibration=_calibration_rows(experiment),
        host_heads=("host", "available", *(_short(name) for name in results_by_policy(experiment))),
        hosts=_host_rows(experiment),
        host_count=len(experiment.available or {}),
    )


def _describe_setup(experiment: Experiment) -> str:
    setup = experiment.setup
    relevant = "" if experiment.available is None else f", {sum(experiment.available.values()):,} of them relevant"
    return (
        f"Target {_short(setup.target)}; {experiment.page_count:,} pages{relevant}; "
        f"a budget of {experiment.budget:,} requests; seeds {setup.seed} to {setup.seed + setup.repeat - 1}."
    )


def _figures(own: Sequence[Row]) -> list[str]:
    return [
        f"{len(own)}",
        f"{mean(row.result.fetched for row in own):,.0f}",
        f"{mean(row.result.relevant for row in own):,.0f}",
        spread([row.result.harvest_rate for row in own]),
        spread([row.recall for row in own]),
        spread([row.focus for row in own]),
        spread([row.area_focus for row in own]),
        f"{mean(row.result.relevant_hosts for row in own):,.1f}",
        f"{mean(row.result.select_us_mean for row in own):.1f}",
    ]


def spread(values: Sequence[float | None]) -> str:
    """Return the mean and standard deviation of the known values as text.

    >>> spread([0.5, 0.7]), spread([0.5]), spread([None])
    ('0.600 ±0.100', '0.500', '—')
    """
    known = [value for value in values if value is not None]
    if not known:
        return "—"
    return f"{mean(known):.3f}" + (f" ±{pstdev(known):.3f}" if len(known) > 1 else "")


def _render(chart: Chart) -> Markup:
    return line_chart(chart.curves, title=chart.title, width=860, height=400, name=chart.name, axes=chart.axes)


def _host_rows(experiment: Experiment) -> list[tuple[str, list[str]]]:
    """Return the hosts that have most relevant pages, with the numbers available and found by each policy."""
    available, results = experiment.available or {}, results_by_policy(experiment)
    hosts = sorted(available, key=lambda host: (-available[host], host))[:_MOST_HOSTS]
    found = {host: [f"{found_by_host(own, host):,.0f}" for own in results.values()] for host in hosts}
    return [(_short(host), [f"{available[host]:,}", *found[host]]) for host in hosts]


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
