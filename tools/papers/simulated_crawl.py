"""Simulated crawls as jobs, and their curves for figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean
from typing import Any

from tools.papers.lab import Arguments, Lab
from tools.papers.observed_policy import observe
from tools.papers.scale import Web
from tools.papers.static_crawlers import named_policy
from tools.papers.webs import opened, starts

from motherlode.crawler.report.plot import Axes, Curve
from motherlode.model import Link, Outcome
from motherlode.policies import largest_web
from motherlode.sim.experiment import relevant_at
from motherlode.sim.runner import SYNTHETIC, synthetic_pages
from motherlode.sim.simulator import SimResult, Simulation

POINTS = 200
"""Maximum number of points per curve."""
SHARE = Axes(x="requests", y="share of relevant pages", unit=" ‰")
"""Axes of the papers' figures; the share is drawn in thousandths."""

Answer = dict[str, Any]
_DRAWS = ("random", "ldcoc", "bandit:", "sb-classifier", "tres")


def crawl(*, web: str, target: str, policy: str, seed: int, pages: int, start: str) -> Answer:
    """Run one policy once. `right` contains the number of correctly classified pages along the crawl."""
    known = opened(web, target)
    step = max(1, pages // POINTS)
    judged = [0, 0]
    right: list[tuple[int, int]] = []

    def seen(link: Link, parent: Outcome | None, outcome: Outcome) -> None:
        judged[0] += 1
        judged[1] += (outcome.score > 0.5) is outcome.relevant
        if judged[0] % step == 0:
            right.append((judged[0], judged[1]))

    watched = observe(named_policy(policy, web=web, target=target, seed=seed), seen)
    result = Simulation(known, watched, scope=lambda url: "", seed=seed).run(starts(known, start), pages=pages)
    return {
        "requests": result.fetched + result.heads,
        "fetched": result.fetched,
        "heads": result.heads,
        "relevant": result.relevant,
        "harvest_rate": result.harvest_rate,
        "failures": result.failures,
        "curve": _thinned(result),
        "right": right,
    }


def _thinned(result: SimResult) -> list[tuple[int, int]]:
    """Return some points of the curve over all requests, GET and HEAD."""
    curve = result.request_curve
    kept = curve[:: max(1, len(curve) // POINTS)]
    return kept if kept[-1] == curve[-1] else [*kept, curve[-1]]


def crawls(
    lab: Lab, web: Web, policies: Iterable[str], *, target: str = "any", pages: int = 0
) -> dict[str, list[Answer]]:
    """Run the crawls of the web for each policy, with as many repetitions as the policy needs.

    A policy that does not fit the size of the web is left out.
    """
    asked = [
        (policy, crawl_arguments(web, policy, seed=seed, target=target, pages=pages or web.requests))
        for policy in dict.fromkeys(policies)
        if fits(policy, web.web)
        for seed in range(repetitions(policy, web.repeat))
    ]
    found: dict[str, list[Answer]] = {}
    for (policy, _), answer in zip(asked, lab.run(crawl, [arguments for _, arguments in asked]), strict=True):
        found.setdefault(policy, []).append(answer)
    return found


def fits(policy: str, web: str) -> bool:
    """Return whether comparisons on the web include the policy: slow ones are left out on large synthetic webs."""
    most = largest_web(policy)
    return most is None or not web.startswith(SYNTHETIC) or synthetic_pages(web) <= most


def too_large_webs(policies: Iterable[str]) -> str:
    """Return the policies that are left out on large webs, with the number of pages up to which they take part.

    >>> too_large_webs(["bfs", "sb-classifier", "tres"])
    'sb-classifier (up to 50,000 pages) and tres (up to 50,000 pages)'
    """
    limits = {policy: most for policy in policies if (most := largest_web(policy)) is not None}
    return " and ".join(f"{policy} (up to {most:,} pages)" for policy, most in limits.items())


def crawl_arguments(web: Web, policy: str, *, seed: int, target: str, pages: int) -> Arguments:
    return {
        "web": web.web,
        "target": target,
        "policy": policy,
        "seed": seed,
        "pages": pages,
        "start": web.start,
    }


def repetitions(policy: str, repeat: int) -> int:
    """Return the number of repetitions: one for a policy without randomness, because all runs would be equal."""
    greedy = policy.endswith(":0") and "thompson" not in policy
    return repeat if policy.startswith(_DRAWS) and not greedy else 1


def harvest(answers: Sequence[Answer]) -> float:
    """Return the mean harvest rate."""
    rates: list[float] = [answer["harvest_rate"] for answer in answers]
    return mean(rates)


def share_curve(name: str, answers: Sequence[Answer], upto: int = 0) -> Curve:
    """Return the share of relevant pages by requests, in thousandths."""
    most = min(upto or 10**12, min(answer["requests"] for answer in answers))
    places = [round(most * number / POINTS) for number in range(1, POINTS + 1)]
    first = places[POINTS // 50]  # the first few pages are noise that would fill the picture
    points = [
        (place, round(mean(1000 * relevant_at(answer["curve"], place) / place for answer in answers)))
        for place in dict.fromkeys(places)
        if place >= max(first, 1)
    ]
    return Curve(name=name, points=tuple(points))


def accuracy_curve(name: str, answers: Sequence[Answer]) -> Curve:
    """Return the share of correctly classified pages, in thousandths."""
    points = [(judged, round(1000 * right / judged)) for judged, right in answers[0]["right"]]
    return Curve(name=name, points=tuple(points[POINTS // 50 :]))
