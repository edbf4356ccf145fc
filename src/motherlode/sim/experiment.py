"""Experiments: several policies on one web, with breadth-first and the oracle as baselines, and the scores of each."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from motherlode.crawler import canonical_seeds
from motherlode.crawler.engine.recovery import read_model, warn_other_target
from motherlode.crawler.scoring import check_scorers
from motherlode.model import FailureKind
from motherlode.policies import DEFAULT_REWARD, policy_from, reward_from, target_from
from motherlode.policies.model_io import Model, check_fits, policy_family
from motherlode.policies.scorers import ScorerLimits
from motherlode.sim.anthelion_web import ANTHELION
from motherlode.sim.kept_crawl import folder_name
from motherlode.sim.runner import ORACLE, SYNTHETIC, Trial, TrialProgress, WebSpec, open_web, run_trials
from motherlode.sim.simulator import IN_ORDER, SimResult, Timing
from motherlode.sim.trace.page_scores import score_pages
from motherlode.sim.web_protocol import SimulatedWeb
from motherlode.www.urls import host_of

Points = Sequence[tuple[int, int]]
"""A harvest curve: pairs of the number of requests and the relevant pages found by then."""


def relevant_at(curve: Points, fetched: float) -> float:
    """Return the relevant pages found after a number of requests, by linear interpolation of the curve.

    >>> relevant_at([(100, 50), (200, 60)], 150), relevant_at([(100, 50)], 20), relevant_at([(100, 50)], 500)
    (55.0, 10.0, 50.0)
    """
    before = (0, 0)
    for point in curve:
        if point[0] >= fetched:
            share = (fetched - before[0]) / max(1, point[0] - before[0])
            return before[1] + share * (point[1] - before[1])
        before = point
    return float(before[1])


def area(curve: Points, pages: int) -> float:
    """Return the area under the harvest curve up to the budget. A crawl that ended early keeps its last value.

    >>> area([(100, 50)], 100), area([(100, 50)], 200)
    (2500.0, 7500.0)
    """
    points = [(0, 0), *curve, (pages, curve[-1][1] if curve else 0)]
    return sum((after[0] - before[0]) * (after[1] + before[1]) / 2 for before, after in pairwise(points))


def focus(policy: float, bfs: float, oracle: float) -> float | None:
    """Return the share of the oracle's gain over breadth-first that a policy reaches, or None if there is no gain.

    >>> focus(80, 30, 100)
    0.7142857142857143
    """
    return (policy - bfs) / (oracle - bfs) if oracle > bfs else None


# ── experiments

DEFAULT_SHARE = 0.12
BFS = "bfs"
_SMALL = 200_000
"""Largest web, in pages, for which recall and the oracle are computed by default. Both read every page."""

_REPORT_EVERY = 500
"""Number of pages between two progress reports while the whole web is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentProgress:
    """Progress of an experiment, for display."""

    what: str
    done: int
    of: int
    unit: str
    under_way: tuple[str, ...] = ()
    """The running trials, each with its number of requests so far."""


Progress = Callable[[ExperimentProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSetup:
    """The parameters of an experiment."""

    web: str
    """`synthetic:PAGES`, `synthetic:PAGES:SEED`, or the folder of a trace."""
    policies: tuple[str, ...]
    seeds: tuple[str, ...] = ()
    """Start URLs. If empty, the home page of every host."""
    target: str = "any"
    pages: int | None = None
    share: float | None = None
    repeat: int = 1
    """Number of repetitions. Each has another seed, and with it another order of the hosts among the start URLs."""
    seed: int = 0
    timing: Timing = IN_ORDER
    dead: float = 1.0
    """Share of dead links (to URLs that a recorded web does not hold) that are kept. A request for one gets a 404."""
    model: str = ""
    """A model file or a crawl folder, used by the policies that can start from a model."""
    reward: str = DEFAULT_REWARD
    keep: str = ""
    """A folder in which the first crawl of each policy is kept; "" to keep none."""

    def __post_init__(self) -> None:
        for name in self.policies:
            if name != ORACLE:
                policy_from(name)
        self._check_statements()
        if self.model:
            self._check_model(read_model(Path(self.model)))
        if self.pages is not None and self.share is not None:
            raise ValueError("give the budget in pages or as a share, not both")
        for name, number in (("share", self.share), ("delay", self.timing.delay), ("latency", self.timing.latency)):
            if number is not None and not isfinite(number):
                raise ValueError(f"--{name} {number} is no number that a crawl could come to the end of")
        if self.share is not None and self.share > 1:
            hint = f"{self.share:g} % of them is --share {self.share / 100:g}" if self.share <= 100 else "at most 1"
            raise ValueError(f"--share {self.share:g} is more than all pages: {hint}")

    def _check_statements(self) -> None:
        """Raise ValueError if target or reward need the statements of pages, and the web does not have them."""
        scorer, reward = target_from(self.target).scorer, reward_from(self.reward)
        needs = "a scorer" if scorer or reward.scorer else f"the reward {self.reward}" if reward.hashed else ""
        if needs and self.web.startswith((SYNTHETIC, ANTHELION)):
            raise ValueError(
                f"{needs} needs the statements of pages, which the web {self.web} does not have: simulate on a trace "
                "or a WARC file"
            )

    def _check_model(self, model: Model) -> None:
        if not any(self.starts_from(name, model) for name in self.policies):
            check_fits(model, policy=self.policies[0], name=self.model)
        check_fits(model, policy=model.policy, name=self.model)

    @staticmethod
    def starts_from(policy: str, model: Model) -> bool:
        """Return whether a policy can start from the model. Other policies take part without a model."""
        return policy_family(policy) == policy_family(model.policy)

    def on(self, web: str) -> ExperimentSetup:
        return replace(self, web=web)

    def folder_of(self, policy: str) -> str:
        """Return the folder for the first crawl of a policy; "" if it is not kept. That of the oracle never is."""
        return str(Path(self.keep) / folder_name(policy)) if self.keep and policy != ORACLE else ""

    @property
    def spec(self) -> WebSpec:
        return WebSpec(web=self.web, target=self.target, dead=self.dead, hashed=reward_from(self.reward).hashed)

    def budget(self, page_count: int) -> int:
        """Return the budget in requests: at least one if the web holds a page and the share is above 0."""
        share = DEFAULT_SHARE if self.share is None else self.share
        budget = max(round(share * page_count), min(1, page_count) if share > 0 else 0)
        if self.pages is not None:
            budget = self.pages
        if budget < 1:
            raise ValueError(
                f"a budget of {budget} requests is too small: the web holds {page_count:,} pages; give --pages N, N at "
                "least 1, or --share F, F above 0"
            )
        return budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One repetition of one policy, with its scores."""

    policy: str
    target: str
    seed: int
    result: SimResult
    recall: float | None
    """None if the web is too large to be read completely."""
    focus: float | None
    """None without baselines, and if the oracle gains nothing over breadth-first."""
    area_focus: float | None
    host_recall: float | None
    """Share of the hosts with relevant pages on which at least one was found; None if the web is too large."""

    def as_json(self) -> dict[str, Any]:
        result = self.result
        return {
            "policy": self.policy,
            "target": self.target,
            "seed": self.seed,
            "fetched": result.fetched,
            "relevant": result.relevant,
            "harvest_rate": _rounded(result.harvest_rate),
            "recall": _rounded(self.recall),
            "focus": _rounded(self.focus),
            "area_focus": _rounded(self.area_focus),
            "relevant_hosts": result.relevant_hosts,
            "host_recall": _rounded(self.host_recall),
            "brier_score": _rounded(result.calibration.brier_score),
            "calibration_error": _rounded(result.calibration.error),
            "calibration": result.calibration.bins(),
            "heads": result.heads,
            "known_urls": result.known_urls,
            "failures": result.failures,
            "virtual_seconds": round(result.seconds, 3),
            "select_us_mean": round(result.select_us_mean, 2),
            "wall_seconds": round(result.wall_seconds, 3),
            "curve": result.curve,
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The results of an experiment."""

    setup: ExperimentSetup
    budget: int
    page_count: int
    rows: tuple[Row, ...]
    baselines: dict[str, list[SimResult]]
    """The results of the baselines breadth-first and oracle, one per repetition, if they were run, whether or not the
    user named them."""
    available: dict[str, int] | None
    """Relevant pages per host, for hosts that have any. None if the web is too large to be read completely."""
    notes: tuple[str, ...] = field(default=())
    """Notices for the user."""

    def focus_at(self, result: SimResult, requests: float) -> float | None:
        """Return the focus of a crawl after some of its requests, compared with the mean curves of the baselines."""
        if not all(self.baselines.values()):
            return None
        bfs, oracle = (
            mean(relevant_at(one.request_curve, requests) for one in self.baselines[name]) for name in (BFS, ORACLE)
        )
        return focus(relevant_at(result.request_curve, requests), bfs, oracle)


def run_experiment(
    setup: ExperimentSetup, *, processes: int | None = None, progress: Progress = lambda step: None
) -> Experiment:
    """Run every policy and repetition, and the baselines if the web is small enough."""
    with tempfile.TemporaryDirectory() as folder:
        spec, notes = _score_web(setup, Path(folder) / "scores", progress)
        return _run_on(setup, spec, notes, processes=processes, progress=progress)


def _score_web(setup: ExperimentSetup, path: Path, progress: Progress) -> tuple[WebSpec, list[str]]:
    """Score the pages of the web if target or reward need a scorer. Return the web and notices about failures."""
    target, reward = target_from(setup.target), reward_from(setup.reward)
    if target.scorer is None and reward.scorer is None:
        return setup.spec, []
    check_scorers(target, reward)

    def show(done: int, of: int) -> None:
        progress(ExperimentProgress(what="scoring the pages", done=done, of=of, unit="pages"))

    limits = ScorerLimits(workers=os.cpu_count() or 1)
    scores = score_pages(Path(setup.web), target, reward, limits, show)
    scores.write(path)
    failed = f"the scorer gave {scores.failed:,} of {scores.pages:,} pages no score, for example: {scores.example}"
    return replace(setup.spec, scores=str(path)), [failed] if scores.failed else []


def _run_on(
    setup: ExperimentSetup, spec: WebSpec, notes: list[str], *, processes: int | None, progress: Progress
) -> Experiment:
    web = open_web(spec)
    budget = setup.budget(web.page_count)
    starts, seed_notes = _starts(web, setup.seeds)
    small = web.page_count <= _SMALL
    available = _available(web, progress) if small else None
    added = [name for name in (BFS, ORACLE) if small and name not in setup.policies]
    model = read_model(Path(setup.model)) if setup.model else None
    trials = [
        Trial(
            policy=name,
            seed=setup.seed + repetition,
            pages=budget,
            seeds=in_host_order(starts, setup.seed + repetition),
            timing=setup.timing,
            model=setup.model if model is not None and setup.starts_from(name, model) else "",
            reward=DEFAULT_REWARD if name in (BFS, ORACLE) else setup.reward,
            keep=setup.folder_of(name) if repetition == 0 and name not in added else "",
        )
        for name in [*added, *setup.policies]
        for repetition in range(setup.repeat)
    ]
    results = list(run_trials(spec, trials, processes=processes, watch=lambda now: progress(_step(now))))
    done = list(zip(trials, results, strict=True))
    baselines = {name: [result for trial, result in done if trial.policy == name] for name in (BFS, ORACLE)}
    return Experiment(
        setup=setup,
        budget=budget,
        page_count=web.page_count,
        rows=tuple(_row(*one, setup, baselines, available) for one in done if one[0].policy not in added),
        baselines=baselines,
        available=available,
        notes=(*notes, *seed_notes, *_notes(setup, model, budget, web.page_count, available, results)),
    )


def _starts(web: SimulatedWeb, seeds: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the seeds in the canonical form of the web, and notices about seeds that it lacks."""
    if not seeds:
        return tuple(web.home_pages()), []
    starts = tuple(dict.fromkeys(web.spelling(url) for url in canonical_seeds(tuple(seeds))))
    missing = [url for url in starts if web.page(url).failure in (FailureKind.NOT_FOUND, FailureKind.DNS)]
    if len(missing) == len(starts):
        raise ValueError(f"none of the {len(starts):,} seeds is in this web, for example {missing[0]}")
    if missing:
        return starts, [f"{len(missing):,} of {len(starts):,} seeds are not in this web, for example {missing[0]}"]
    return starts, []


def in_host_order(urls: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return URLs with their hosts in a random order that the seed determines. URLs of one host keep their order.

    Policies that treat hosts alike begin with the first, so one order alone would decide a figure by chance.
    """
    by_host: dict[str, list[str]] = {}
    for url in urls:
        by_host.setdefault(host_of(url), []).append(url)
    hosts = sorted(by_host)
    Random(f"host order {seed}").shuffle(hosts)
    return tuple(url for host in hosts for url in by_host[host])


def _available(web: SimulatedWeb, progress: Progress) -> dict[str, int]:
    """Return the relevant pages per host. This is slow on a synthetic web, because its pages are computed."""
    found: Counter[str] = Counter()
    for number, (url, relevant) in enumerate(web.labels()):
        if number % _REPORT_EVERY == 0:
            progress(ExperimentProgress(what="looking through the web", done=number, of=web.page_count, unit="pages"))
        if relevant:
            found[host_of(url)] += 1
    return dict(found)


def _step(trials: Sequence[TrialProgress]) -> ExperimentProgress:
    """Return the progress of the whole experiment.

    A trial that has ended counts with its whole budget, even if it made fewer requests.
    """
    ended = sum(one.has_ended for one in trials)
    return ExperimentProgress(
        what=f"simulating, {ended} of {len(trials)} runs ended",
        done=sum(one.trial.pages if one.has_ended else one.requests for one in trials),
        of=sum(one.trial.pages for one in trials),
        unit="requests",
        under_way=tuple(_run(one) for one in trials if not one.has_ended and (one.requests or one.seen)),
    )


def _run(one: TrialProgress) -> str:
    """Return the progress of one trial as text: policy, seed and requests so far.

    >>> _run(TrialProgress(Trial(policy="bfs", seed=2, pages=9000, seeds=()), requests=1200))
    'bfs (seed 2) 1,200 of 9,000'
    """
    trial = one.trial
    how_far = (
        f"{one.requests:,} of {trial.pages:,}" if one.requests else f"looks at the whole web, {one.seen:,} pages so far"
    )
    return f"{trial.policy} (seed {trial.seed}) {how_far}"


def _notes(
    setup: ExperimentSetup,
    model: Model | None,
    budget: int,
    page_count: int,
    available: dict[str, int] | None,
    results: Sequence[SimResult],
) -> list[str]:
    warning = "" if model is None else warn_other_target(model, target=setup.target, name=setup.model)
    notes = [warning] if warning else []
    if budget > page_count:
        notes.append(
            f"the budget of {budget:,} requests is larger than the web ({page_count:,} pages): "
            "a policy ends when it has fetched all that it can reach"
        )
    if available is not None and not available:
        notes.append(f"no page of this web matches the target {setup.target!r}: there is nothing to find")
    elif not any(result.relevant for result in results):
        notes.append(f"no policy found a page that matches the target {setup.target!r}")
    return notes


def _row(
    trial: Trial,
    result: SimResult,
    setup: ExperimentSetup,
    baselines: dict[str, list[SimResult]],
    available: dict[str, int] | None,
) -> Row:
    total = None if available is None else sum(available.values())
    own = {name: results[trial.seed - setup.seed] for name, results in baselines.items() if results}
    return Row(
        policy=trial.policy,
        target=setup.target,
        seed=trial.seed,
        result=result,
        recall=None if total is None else result.relevant / total if total else 0.0,
        focus=_focus(own, lambda one: one.relevant, result),
        area_focus=_focus(own, lambda one: area(one.request_curve, trial.pages), result),
        host_recall=None if available is None else result.relevant_hosts / len(available) if available else 0.0,
    )


def _focus(baselines: dict[str, SimResult], measure: Callable[[SimResult], float], result: SimResult) -> float | None:
    """Return the focus of a crawl by the baselines with the same seed; None if one of them was not run."""
    if len(baselines) < 2:
        return None
    return focus(measure(result), measure(baselines[BFS]), measure(baselines[ORACLE]))
