"""Policies × repetitions on one web, side by side on the cores, with a word for who waits on how far each one is.

Trials count their requests in memory that all processes share: nothing is sent, nothing is locked, and the process that
began them looks at the numbers when it likes.
"""

from __future__ import annotations

import os
import shutil
import signal
import zlib
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import active_children, get_context, resource_tracker
from pathlib import Path

from motherlode.crawler.model_files import read_model
from motherlode.model import Policy
from motherlode.policies import (
    DEFAULT_REWARD,
    default_wait_threshold,
    policy_from,
    reward_from,
    set_wait_threshold,
    target_from,
)
from motherlode.policies.model_io import start_from
from motherlode.policies.registry import ORACLE as ORACLE
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulated_web import SimPage, SimulatedWeb
from motherlode.sim.simulator import IN_ORDER, SimResult, Simulation, Timing
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.files import TraceError, read_parts
from motherlode.sim.trace.recorder import Progress, record
from motherlode.sim.trace.trace_web import TraceWeb

SYNTHETIC = "synthetic:"
_LEAST_SYNTHETIC = 200
_LOOK_SECONDS = 0.2
"""How often other processes are looked at."""
_TELL_EVERY = 50
"""Requests after which a trial in this very process tells how far it is."""


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
class TrialResult:
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


def synthetic_pages(name: str) -> int:
    """How many pages `synthetic:PAGES` asks for.

    >>> synthetic_pages("synthetic:1_000_000")
    1000000
    """
    text = name.removeprefix(SYNTHETIC).replace("_", "").replace(",", "")
    if not (text.isascii() and text.isdigit()) or int(text) < _LEAST_SYNTHETIC:
        raise ValueError(f"{name!r} should look like synthetic:100000 (at least {_LEAST_SYNTHETIC} pages)")
    return int(text)


# ── how far a trial is ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """How far a trial is."""

    trial: Trial
    asked: int = 0
    """Requests so far."""
    seen: int = 0
    """Pages that the oracle has looked at; it looks at the whole web before its first request."""
    has_ended: bool = False


Watch = Callable[[Sequence[TrialProgress]], None]
Counts = MutableSequence[int]
"""Two numbers for each trial: requests, and pages that were looked at beforehand."""
_shared: list[Counts] = []
"""In a process that others have begun: the numbers of all trials."""


class _Pace:
    """Writes down how far one trial is."""

    def __init__(self, counts: Counts, number: int, tell: Callable[[], None] = lambda: None) -> None:
        self._counts = counts
        self._first = 2 * number
        self._tell = tell

    def asked(self) -> None:
        self._count(self._first)

    def saw(self) -> None:
        self._count(self._first + 1)

    def _count(self, place: int) -> None:
        self._counts[place] = count = self._counts[place] + 1
        if count % _TELL_EVERY == 0:
            self._tell()


class _Counted:
    """A web that says when it is asked for a page; the rest is as it is."""

    def __init__(self, web: SimulatedWeb, tell: Callable[[], None]) -> None:
        self._web = web
        self._tell = tell
        self.spelling = web.spelling
        self.home_pages = web.home_pages
        self.labels = web.labels

    @property
    def page_count(self) -> int:
        return self._web.page_count

    def page(self, url: str) -> SimPage:
        self._tell()
        return self._web.page(url)

    def everything(self) -> Iterator[SimPage]:
        for page in self._web.everything():
            self._tell()
            yield page


def _standings(trials: Sequence[Trial], counts: Counts, ended: Callable[[int], bool]) -> list[TrialProgress]:
    return [
        TrialProgress(trial, asked=counts[2 * number], seen=counts[2 * number + 1], has_ended=ended(number))
        for number, trial in enumerate(trials)
    ]


# ── trials ───────────────────────────────────────────────────────────────────────────────────────────────


_graphs: dict[WebSpec, LinkGraph] = {}
"""The last one that was made."""


def _graph(spec: WebSpec, pace: _Pace) -> LinkGraph:
    """All links of the web, kept by the process that made it for the oracles of other repetitions."""
    graph = _graphs.get(spec)
    if graph is None:
        _graphs.clear()
        graph = _graphs[spec] = LinkGraph(_Counted(open_web(spec), pace.saw))
    return graph


def run_trial(spec: WebSpec, trial: Trial, *, keep_picks: bool = False, pace: _Pace | None = None) -> TrialResult:
    """Simulate one policy on the web."""
    pace = pace or _Pace([0, 0], 0)
    web = _Counted(open_web(spec), pace.asked)
    is_oracle = trial.policy == ORACLE
    policy: Policy = (
        OraclePolicy(_graph(spec, pace))
        if is_oracle
        else policy_from(trial.policy, trial.seed, target=target_from(spec.target))
    )
    if trial.model:
        start_from(policy, read_model(Path(trial.model)), name=trial.model)
    # as a crawl with a budget of pages does
    set_wait_threshold(policy, 1.0 if is_oracle else default_wait_threshold(trial.timing.delay))
    reward = None if trial.reward == DEFAULT_REWARD else reward_from(trial.reward)
    simulation = Simulation(web, policy, scope=lambda url: "", timing=trial.timing, seed=trial.seed, reward=reward)
    return TrialResult(trial, simulation.run(trial.seeds, pages=trial.pages, keep_picks=keep_picks))


def run_trials(
    spec: WebSpec, trials: Sequence[Trial], *, processes: int | None = None, watch: Watch = lambda standings: None
) -> Iterator[TrialResult]:
    """Every trial in order, as they end; one process a core. `watch` is told how far they are, several times a second.

    Whoever stops asking for more, be it by Ctrl-C, ends what is under way at once.
    """
    count = min(len(trials), processes or os.cpu_count() or 1)
    return _one_by_one(spec, trials, watch) if count <= 1 else _side_by_side(spec, trials, count, watch)


def _one_by_one(spec: WebSpec, trials: Sequence[Trial], watch: Watch) -> Iterator[TrialResult]:
    counts = [0] * (2 * len(trials))
    ended = 0

    def tell() -> None:
        watch(_standings(trials, counts, lambda number: number < ended))

    for number, trial in enumerate(trials):
        yield run_trial(spec, trial, pace=_Pace(counts, number, tell))
        ended = number + 1


def _side_by_side(spec: WebSpec, trials: Sequence[Trial], processes: int, watch: Watch) -> Iterator[TrialResult]:
    context = get_context("forkserver")
    counts: Counts = context.RawArray("q", 2 * len(trials))
    others = set(active_children())
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(counts,))
    try:
        with _interrupts_for_us_alone():
            running = [pool.submit(_run_numbered, spec, trial, number) for number, trial in enumerate(trials)]
        for one in running:
            while not _has_ended(one):
                watch(_standings(trials, counts, lambda number: running[number].done()))
            yield one.result()
    except BaseException:  # Ctrl-C among others: nobody wants to wait for what is under way
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _has_ended(one: Future[TrialResult]) -> bool:
    """Whether a trial ends before it is time to look at all of them."""
    return bool(wait([one], timeout=_LOOK_SECONDS).done)


@contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Processes that are begun here are deaf to Ctrl-C from the first moment on: who began them ends them.

    They have the mask of the fork server, which has ours when it begins. An interrupt that comes meanwhile comes to us
    afterwards. `_begin` sees to a fork server that was there before.
    """
    resource_tracker.ensure_running()  # the fork server would begin it, and it takes the mask off again
    ours = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, ours)


def _begin(counts: Counts) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared[:] = [counts]


def _run_numbered(spec: WebSpec, trial: Trial, number: int) -> TrialResult:
    return run_trial(spec, trial, pace=_Pace(_shared[0], number))


# ── From what the user names to a web that can be opened: synthetic, a trace, or a WARC file that becomes one.


def prepared(name: str, cache: Path, progress: Progress) -> str:
    """The web as a `WebSpec` wants it; a WARC file is recorded first, and its trace kept for the next time."""
    if name.startswith(SYNTHETIC):
        synthetic_pages(name)
        return name
    path = Path(name)
    if path.is_dir():
        return name
    if not path.exists():
        raise TraceError(f"{name} does not exist: give a trace, a WARC file or synthetic:PAGES")
    trace = cache / f"{path.name}-{zlib.crc32(str(path.resolve()).encode()):08x}"
    try:
        read_parts(trace)
    except TraceError:  # of an older version: nobody asked for it to be kept
        shutil.rmtree(trace)
    try:
        record([path], trace, progress=progress)
    except OSError as error:
        raise TraceError(
            f"{name} cannot be recorded into {trace}: {error.strerror or error}; "
            f"`motherlode record {name} -o TRACE` makes a trace elsewhere"
        ) from error
    return str(trace)
