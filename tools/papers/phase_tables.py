"""MultiCrawler: Table 2 (pages per second of each phase), the complexity of each phase, and Figures 2 to 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from bench.pipeline_simulation import CALL_SECONDS
from tools.papers.lab import Lab
from tools.papers.markdown import MISSING, claims, note, number, section, table
from tools.papers.phase_workers import SIMULATED, WORKERS, handing_time, transform_rates, worker_times
from tools.papers.phases import BATCH, PHASES, phase_times

from motherlode.crawler.report.plot import Axes, Curve

PUBLISHED = {
    ("fetch", "1"): (38, 0.082),
    ("detect", "1"): (460, 1.0),
    ("transform", "1"): (5, 0.011),
    ("transform", "1+2"): (13, 0.028),
    ("transform", "1+4"): (21, 0.045),
    ("index", "1"): (92, 0.2),
    ("extract", "1"): (260, 0.565),
}
"""Table 2: phase and servers; pages per second, and the ratio to the fastest phase, as printed."""
REMOTE = {"1+2": 2, "1+4": 4}
"""Rows with further machines, and their number."""
COMPLEXITY = {
    "fetch": "O(N)",
    "detect": "O(N)",
    "transform": "O(N · M)",
    "index": "O(N · log N_T)",
    "extract": "O(log N_T), and the results",
}
"""Sections 3.1 to 3.5: N is the size of the input, M that of the stylesheet, N_T the number of stored quads."""
_FIGURES = {"fetch": "2", "detect": "3", "transform": "4", "index": "5", "extract": "6"}
_BINS = 10
_POINTS = 100
Answers = Mapping[str, dict[str, Any]]


def phases(lab: Lab) -> str:
    """Return the section: Table 2, complexity, workers and Figures 2 to 7."""
    webs = lab.scale.webs
    pages = lab.scale.phase_pages
    found = _by_web(lab, phase_times, [{"web": web.web, "pages": pages} for web in webs])
    handing = _by_web(lab, handing_time, [{"web": web.web, "pages": pages} for web in webs])
    remote = _by_web(
        lab,
        transform_rates,
        [{"seconds": found[web.name]["seconds"]["transform"], "handing": handing[web.name]} for web in webs],
    )
    rates = {web: _rates(answer) for web, answer in found.items()}
    return section(
        "### Table 2: pages per second of each phase",
        _what(found),
        _table_2(rates, remote),
        claims(_claims(rates, remote)),
        note("multicrawler-table-2"),
        "### Complexity of each phase",
        "The exponent *b* of time ~ sizeᵇ: pages are put into ten bins by their size, and a line is fitted to the "
        "logarithms of the mean size and the mean CPU time of the bins; 1 is linear, and a fixed cost per page makes "
        "the exponent smaller. Index: CPU time per quad in the last third of the pages, as a multiple of the first.",
        _complexity(found),
        note("multicrawler-complexity"),
        "### Figures 2 to 7",
        "Pages by CPU time of one core. The paper draws pages by time, too, and prints no numbers beside those of "
        "Table 2.",
        *(_figure(lab, phase, found) for phase in PHASES),
        *_workers(lab),
        _figure_7(lab, remote),
        _simulated(remote),
        note("multicrawler-figures"),
    )


def _by_web(lab: Lab, job: Any, asked: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = [web.name for web in lab.scale.webs]
    return dict(zip(names, lab.run(job, asked), strict=True))


def _what(found: Answers) -> str:
    told = "; ".join(
        f"{web}: {len(answer['sizes']['detect']):,} responses of "
        f"{sum(answer['sizes']['detect']) / len(answer['sizes']['detect']) / 1000:.0f} KB, "
        f"{sum(answer['sizes']['index']):,} quads, {answer['links']:,} links"
        for web, answer in found.items()
    )
    return (
        f"CPU time of one core; batches of {BATCH} pages pass all phases, as in a crawl. *fetch* reads from the "
        "archive of the recorded web, and over loopback HTTP from a server in another process for the synthetic one; "
        "only our side counts, and the network itself costs nothing here. *transform* includes parsing the HTML. "
        "*index* stores quads with provenance and the words of literals. *extract* collects the links of a page; the "
        "query over the whole index, which MultiCrawler has instead, is optional here (`index_query`) and not "
        "measured. The rows 1+2 and 1+4 are simulated with the measured times of pages, because two cores cannot show "
        "them: one process hands out pages to two or four transform workers with a core each, and a call to a worker "
        f"takes {1000 * CALL_SECONDS:.0f} ms. {told}."
    )


def _rates(answer: Mapping[str, Any]) -> dict[str, float]:
    """Return pages per CPU second of each phase."""
    seconds: dict[str, list[float]] = answer["seconds"]
    counts = {phase: len(times) for phase, times in seconds.items()} | {"index": len(seconds["transform"])}
    return {phase: counts[phase] / sum(times) for phase, times in seconds.items()}


def _remote_rate(remote: Mapping[str, Any], servers: str, policy: str = "queue") -> float:
    return float(remote[policy][str(REMOTE[servers])])


def _table_2(rates: Mapping[str, Mapping[str, float]], remote: Answers) -> str:
    rows = []
    for (phase, servers), (published, ratio) in PUBLISHED.items():
        cells = []
        for web, rate in rates.items():
            value = _remote_rate(remote[web], servers) if servers in REMOTE else rate[phase]
            cells += [f"{value:,.0f}", number(value / max(rate.values()))]
        rows.append((phase, servers, published, number(ratio), *cells))
    head = ("phase", "servers", "published", "ratio", *(f"{web}{what}" for web in rates for what in ("", ", ratio")))
    return table(head, rows)


def _claims(rates: Mapping[str, Mapping[str, float]], remote: Answers) -> list[tuple[str, dict[str, bool]]]:
    order = ["transform", "fetch", "index", "extract", "detect"]

    def on_each(holds: Any) -> dict[str, bool]:
        return {web: bool(holds(rate)) for web, rate in rates.items()}

    scaled = {web: _remote_rate(remote[web], "1+4") < 1.9 * _remote_rate(remote[web], "1+2") for web in rates}
    return [
        ("transform is the slowest phase", on_each(lambda rate: min(rate, key=rate.get) == "transform")),
        ("detect is the fastest phase", on_each(lambda rate: max(rate, key=rate.get) == "detect")),
        ("extract is faster than index", on_each(lambda rate: rate["extract"] > rate["index"])),
        (f"the whole order ({' < '.join(order)})", on_each(lambda rate: sorted(rate, key=rate.get) == order)),
        ("four transform machines are less than 1.9 times as fast as two (published: 1.6)", scaled),
    ]


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Return b of time ~ size^b by least squares over bins of pages of similar size.

    >>> round(exponent([10 * n for n in range(1, 101)], [3.0 * n for n in range(1, 101)]), 2)
    1.0
    """
    order = np.argsort(np.array(sizes), kind="stable")
    bins = [part for part in np.array_split(order, _BINS) if len(part)]
    points = [(float(np.array(sizes)[part].mean()), float(np.array(seconds)[part].mean())) for part in bins]
    points = [(size, time) for size, time in points if size > 0 and time > 0]
    if len(points) < 3:
        return None
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def growth(quads: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Return the time per quad in the last third of the batches as a multiple of that in the first third."""
    third = len(quads) // 3
    if not third or not sum(quads[:third]) or not sum(quads[-third:]):
        return None
    first, last = sum(seconds[:third]) / sum(quads[:third]), sum(seconds[-third:]) / sum(quads[-third:])
    return last / first


def _complexity(found: Answers) -> str:
    rows = []
    for phase in PHASES:
        cells = []
        for answer in found.values():
            sizes, seconds = answer["sizes"][phase], answer["seconds"][phase]
            if phase == "index":
                cells.append(f"{MISSING} (per quad × {number(growth(sizes, seconds), 2)})")
            else:
                cells.append(number(exponent(sizes, seconds), 2))
        rows.append((phase, COMPLEXITY[phase], *cells))
    return table(("phase", "published", *(f"{web}, exponent" for web in found)), rows)


def _figure(lab: Lab, phase: str, found: Answers) -> str:
    curves = []
    for web, answer in found.items():
        seconds = answer["seconds"][phase]
        each = len(answer["seconds"]["transform"]) / len(seconds) if phase == "index" else 1
        points = [(round(1000 * at), round(place * each)) for place, at in enumerate(accumulate(seconds), 1)]
        thinned = points[:: max(1, len(points) // _POINTS)]
        curves.append(Curve(name=web, points=tuple(dict(thinned).items())))
    key = _FIGURES[phase]
    title = f"Figure {key}: {phase}, pages by CPU time"
    return lab.figure(f"multicrawler-{key}", title, curves, Axes(x="CPU time, ms", y="pages"))


def _workers(lab: Lab) -> list[str]:
    """Return the table of several pipelines on this machine."""
    keys = [(web, workers) for web in lab.scale.webs for workers in WORKERS]
    asked = [{"web": web.web, "pages": lab.scale.phase_pages, "workers": workers} for web, workers in keys]
    answers = lab.run(worker_times, asked, alone=True)
    rows = []
    for (web, workers), answer in zip(keys, answers, strict=True):
        cpu = answer["cpu_per_page"]
        per_page = sum(cpu.values())
        cells = [f"{1000 * cpu[phase]:.2f}" for phase in PHASES[1:]]
        rows.append((f"{web.name}, {workers}", f"{answer['per_second']:,.0f}", *cells, f"{workers / per_page:,.0f}"))
    return [
        "**Pipelines side by side on this machine** (two cores): each worker runs all phases after fetch on its share "
        "of the pages and has a store of its own. *Here* is by wall-clock time and depends on what else the machine "
        "does; the CPU time per page shows whether workers disturb each other. *With a core each* is what this CPU "
        "time gives.",
        table(
            (
                "web, workers",
                "pages/s here",
                *(f"{phase}, CPU ms per page" for phase in PHASES[1:]),
                "pages/s with a core each",
            ),
            rows,
        ),
    ]


def _figure_7(lab: Lab, remote: Answers) -> str:
    curves = [
        Curve(
            name=f"{web}, {'free worker' if policy == 'queue' else 'hash'}",
            points=tuple((workers, round(found[policy][str(workers)])) for workers in SIMULATED),
        )
        for web, found in remote.items()
        for policy in ("queue", "hash")
    ]
    title = "Figure 7: transform by the number of remote workers, simulated"
    return lab.figure("multicrawler-7", title, curves, Axes(x="transform workers", y="pages per second"))


def _simulated(remote: Answers) -> str:
    rows = []
    for workers in SIMULATED:
        cells = []
        for found in remote.values():
            for policy in ("queue", "hash"):
                rate = found[policy][str(workers)]
                cells += [f"{rate:,.0f}", f"{rate / found[policy]['1']:.2f}"]
        rows.append((workers, *cells))
    told = [f"{web}, {name}" for web in remote for name in ("free worker", "hash")]
    return table(("transform workers", *(cell for name in told for cell in (name, "× one"))), rows)
