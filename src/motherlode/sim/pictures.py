"""The curves of a study: harvest, focus, hosts, time to pick; each the mean of a policy's repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

from motherlode.crawl.plot import HARVEST, Axes, Curve
from motherlode.sim.run import SimResult
from motherlode.sim.scores import relevant_at
from motherlode.sim.study import Study

_POINTS = 200
_SIZES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Curves with all that is needed to draw them."""

    name: str
    """Of its file."""
    title: str
    explanation: str
    axes: Axes
    curves: tuple[Curve, ...]


def pictures(study: Study) -> list[Picture]:
    """All pictures of a study that have something to show."""
    made = [_harvest(study), _focus(study), _hosts(study), _picking(study)]
    return [picture for picture in made if any(curve.points for curve in picture.curves)]


def results_by_policy(study: Study) -> dict[str, list[SimResult]]:
    """The policies that were asked for, and then the yardsticks that were not."""
    found: dict[str, list[SimResult]] = {}
    for row in study.rows:
        found.setdefault(row.policy, []).append(row.result)
    return found | {name: results for name, results in study.yardsticks.items() if results and name not in found}


def found_by_host(results: Sequence[SimResult], host: str) -> float:
    """Relevant pages of a host that were found, on average."""
    return mean(result.hosts.get(host, (0, 0))[1] for result in results)


def _harvest(study: Study) -> Picture:
    curves = [
        _averaged(name, _budgets(results), results, lambda one, x: relevant_at(one.curve, x))
        for name, results in results_by_policy(study).items()
    ]
    return Picture(
        name="harvest",
        title="Harvest",
        explanation="Relevant pages found by requests made; the band holds all repetitions. Steeper is better.",
        axes=HARVEST,
        curves=tuple(curves),
    )


def _focus(study: Study) -> Picture:
    curves = []
    for name, results in results_by_policy(study).items():
        budgets = [x for x in _budgets(results) if study.focus_at(results[0], x) is not None]
        curves.append(_averaged(name, budgets, results, lambda one, x: 100 * (study.focus_at(one, x) or 0.0)))
    return Picture(
        name="focus",
        title="Focus by budget",
        explanation="The share of the oracle's lead over breadth-first that a policy makes good, had the budget been "
        "smaller. 0 % is no better than breadth-first, 100 % is as good as full knowledge.",
        axes=Axes(x="budget, in requests", y="focus", unit=" %"),
        curves=tuple(curves),
    )


def _hosts(study: Study) -> Picture:
    available = study.available or {}
    curves = []
    for name, results in results_by_policy(study).items():
        shares = sorted((100 * found_by_host(results, host) / count for host, count in available.items()), reverse=True)
        points = tuple((rank, round(share)) for rank, share in enumerate(shares, 1))
        curves.append(Curve(name=name, points=points))
    return Picture(
        name="hosts",
        title="Discovery by host",
        explanation="For each host that has relevant pages, the share of them that was found; for each policy from the "
        "host that was found best to the one that was found least.",
        axes=Axes(x="hosts with relevant pages", y="found", unit=" %"),
        curves=tuple(curves),
    )


def _picking(study: Study) -> Picture:
    curves = [Curve(name=name, points=_by_size(results)) for name, results in results_by_policy(study).items()]
    return Picture(
        name="picking",
        title="Time to pick by frontier size",
        explanation="Nanoseconds that the choice of one URL took, by the number of URLs that waited.",
        axes=Axes(x="URLs waiting", y="time to pick", unit=" ns"),
        curves=tuple(curves),
    )


def _by_size(results: Sequence[SimResult]) -> tuple[tuple[int, int], ...]:
    samples = [sample for result in results for sample in result.picking]
    width = max(1, max((waiting for waiting, _ in samples), default=0) // _SIZES)
    bins: dict[int, list[float]] = {}
    for waiting, seconds in samples:
        bins.setdefault(waiting // width, []).append(seconds)
    return tuple((number * width + width // 2, round(1e9 * mean(bins[number]))) for number in sorted(bins))


def _budgets(results: Sequence[SimResult]) -> list[int]:
    most = max(result.fetched for result in results)
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
