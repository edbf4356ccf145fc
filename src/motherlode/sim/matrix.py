"""Policies × repetitions on one web, side by side on the cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

from motherlode.crawl.models import read_model
from motherlode.model import Policy
from motherlode.policy import DEFAULT_CHOOSY, DEFAULT_REWARD, make_choosy, policy_from, reward_from, target_from
from motherlode.policy.models import start_from
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.recorded import TraceWeb
from motherlode.sim.run import IN_ORDER, SimResult, Simulation, Timing
from motherlode.sim.synthetic import SyntheticSimWeb
from motherlode.sim.webs import SimulatedWeb

ORACLE = "oracle"
SYNTHETIC = "synthetic:"
_LEAST_SYNTHETIC = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSpec:
    """Which web, judged by which target. Picklable: each process opens the web itself."""

    web: str
    """`synthetic:PAGES`, or the folder of a trace."""
    target: str = "any"
    web_seed: int = 1
    """Of a synthetic web."""
    keep_missing: bool = False
    """Links to what the web does not hold are 404s instead of left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One policy, once."""

    policy: str
    seed: int
    pages: int
    seeds: tuple[str, ...]
    timing: Timing = IN_ORDER
    model: str = ""
    """A file or a folder that the policy starts from."""
    reward: str = DEFAULT_REWARD


@dataclass(frozen=True, slots=True)
class Trialled:
    """A trial with its outcome."""

    trial: Trial
    result: SimResult


@lru_cache(maxsize=1)
def open_web(spec: WebSpec) -> SimulatedWeb:
    """The web of a spec, kept by the process that opened it."""
    target = target_from(spec.target)
    if spec.web.startswith(SYNTHETIC):
        return SyntheticSimWeb(pages=synthetic_pages(spec.web), seed=spec.web_seed, target=target)
    return TraceWeb(Path(spec.web), target, keep_missing=spec.keep_missing)


@lru_cache(maxsize=1)
def _graph(spec: WebSpec) -> LinkGraph:
    return LinkGraph(open_web(spec))


def synthetic_pages(name: str) -> int:
    """How many pages `synthetic:PAGES` asks for.

    >>> synthetic_pages("synthetic:1_000_000")
    1000000
    """
    text = name.removeprefix(SYNTHETIC).replace("_", "").replace(",", "")
    if not (text.isascii() and text.isdigit()) or int(text) < _LEAST_SYNTHETIC:
        raise ValueError(f"{name!r} should look like synthetic:100000 (at least {_LEAST_SYNTHETIC} pages)")
    return int(text)


def run_trial(spec: WebSpec, trial: Trial, *, keep_picks: bool = False) -> Trialled:
    """Simulate one policy on the web."""
    web = open_web(spec)
    policy: Policy = OraclePolicy(_graph(spec)) if trial.policy == ORACLE else policy_from(trial.policy, trial.seed)
    if trial.model:
        start_from(policy, read_model(Path(trial.model)), name=trial.model)
    make_choosy(policy, 1.0 if trial.policy == ORACLE else DEFAULT_CHOOSY)  # as a crawl with a budget of pages does
    reward = None if trial.reward == DEFAULT_REWARD else reward_from(trial.reward)
    simulation = Simulation(web, policy, scope=lambda url: "", timing=trial.timing, seed=trial.seed, reward=reward)
    return Trialled(trial, simulation.run(trial.seeds, pages=trial.pages, keep_picks=keep_picks))


def run_trials(spec: WebSpec, trials: Sequence[Trial], *, processes: int | None = None) -> Iterator[Trialled]:
    """Every trial in order, as they end; one process a core."""
    count = min(len(trials), processes or os.cpu_count() or 1)
    if count <= 1:
        for trial in trials:
            yield run_trial(spec, trial)
        return
    with ProcessPoolExecutor(count, mp_context=get_context("forkserver")) as pool:
        yield from pool.map(run_trial, [spec] * len(trials), trials)
