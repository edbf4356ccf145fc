"""Run trials (policies × repetitions) on one web, one process per core, and report their progress.

Trials count their requests in shared memory without locks or messages. The parent process reads these numbers whenever
it reports progress. This module also opens the web that the user names: synthetic, a trace, a WARC file, or
the data files of Anthelion.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import zlib
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import active_children, get_context, resource_tracker
from pathlib import Path
from types import ModuleType

from motherlode.crawler import Job
from motherlode.crawler.engine.recovery import read_model
from motherlode.model import Policy
from motherlode.policies import (
    DEFAULT_REWARD,
    default_wait_threshold,
    policy_from,
    reward_from,
    set_wait_threshold,
    target_from,
)
from motherlode.policies.extensions import AddedPolicy, added_policies
from motherlode.policies.model_io import start_from
from motherlode.policies.registry import ORACLE as ORACLE
from motherlode.sim.anthelion_web import ANTHELION, open_converted, prepare
from motherlode.sim.kept_crawl import KeptCrawl
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import IN_ORDER, SimResult, Simulation, Timing
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.files import TraceError, read_parts
from motherlode.sim.trace.page_scores import PageScores
from motherlode.sim.trace.recorder import Progress, record
from motherlode.sim.trace.trace_web import NO_SCORES, TraceWeb
from motherlode.sim.web_protocol import SimulatedWeb

SYNTHETIC = "synthetic:"
_LEAST_SYNTHETIC = 200
_DEFAULT_WEB_SEED = 1
_LOOK_SECONDS = 0.2
"""Seconds between two readings of the progress of the other processes."""
_REPORT_EVERY = 50
"""Requests between two progress reports of a trial that runs in the parent process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSpec:
    """The web and the target. It is picklable, because each process opens the web itself."""

    web: str
    """`synthetic:PAGES`, `synthetic:PAGES:SEED`, or the folder of a trace."""
    target: str = "any"
    dead: float = 0.0
    """Share of dead links (to URLs that a recorded web does not hold) that are kept. A request for one gets a 404. The
    other dead links are left out."""
    hashed: str = ""
    """The parts of pages whose hashes the reward needs. Only traces know them."""
    scores: str = ""
    """File with the scores of the user's scorers, if target or reward need one."""

    @property
    def web_seed(self) -> int:
        """Seed of a synthetic web."""
        return synthetic_size_and_seed(self.web)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One repetition of one policy."""

    policy: str
    seed: int
    pages: int
    seeds: tuple[str, ...]
    timing: Timing = IN_ORDER
    model: str = ""
    """The model file or crawl folder that the policy starts from."""
    reward: str = DEFAULT_REWARD
    keep: str = ""
    """The folder in which the crawl is kept; "" if it is not."""


@lru_cache(maxsize=1)
def open_web(spec: WebSpec) -> SimulatedWeb:
    """Return the web of a spec. Each process opens it once and keeps it."""
    if spec.web.startswith(ANTHELION):
        return open_converted(spec.web, spec.target)
    target = target_from(spec.target)
    if spec.web.startswith(SYNTHETIC):
        pages, seed = synthetic_size_and_seed(spec.web)
        return SyntheticSimWeb(pages=pages, seed=seed, target=target)
    scores = PageScores.read(Path(spec.scores)) if spec.scores else NO_SCORES
    return TraceWeb(Path(spec.web), target, dead=spec.dead, hashed=spec.hashed, scores=scores)


def synthetic_size_and_seed(name: str) -> tuple[int, int]:
    """Return the number of pages and the seed of `synthetic:PAGES` or `synthetic:PAGES:SEED`; the default seed is 1.

    >>> synthetic_size_and_seed("synthetic:1_000_000"), synthetic_size_and_seed("synthetic:5000:7")
    ((1000000, 1), (5000, 7))
    """
    text, colon, seed = name.removeprefix(SYNTHETIC).replace("_", "").replace(",", "").partition(":")
    numbers = [text, seed] if colon else [text]
    if not all(part.isascii() and part.isdigit() for part in numbers) or int(text) < _LEAST_SYNTHETIC:
        raise ValueError(
            f"{name!r} should look like synthetic:100000 (at least {_LEAST_SYNTHETIC} pages) or synthetic:100000:SEED"
        )
    return int(text), int(seed) if colon else _DEFAULT_WEB_SEED


def synthetic_pages(name: str) -> int:
    """Return the number of pages of a synthetic web by its name."""
    return synthetic_size_and_seed(name)[0]


# ── progress of trials


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """Progress of one trial."""

    trial: Trial
    requests: int = 0
    """Number of requests so far."""
    seen: int = 0
    """Pages that the oracle has read. It reads the whole web before its first request."""
    has_ended: bool = False


Watch = Callable[[Sequence[TrialProgress]], None]
Counts = MutableSequence[int]
"""Two numbers per trial: requests, and pages that the oracle read beforehand."""
_shared: list[Counts] = []
"""In a child process: the shared numbers of all trials."""


def _counter(counts: Counts, index: int, report: Callable[[], None]) -> Callable[[], None]:
    """Return a function that adds 1 to one of the shared numbers, and reports progress from time to time."""

    def count() -> None:
        counts[index] = number = counts[index] + 1
        if number % _REPORT_EVERY == 0:
            report()

    return count


def _progress(trials: Sequence[Trial], counts: Counts, ended: Callable[[int], bool]) -> list[TrialProgress]:
    return [
        TrialProgress(trial, requests=counts[2 * number], seen=counts[2 * number + 1], has_ended=ended(number))
        for number, trial in enumerate(trials)
    ]


# ── trials


_graphs: dict[WebSpec, LinkGraph] = {}
"""The link graph that was built last."""


def _graph(spec: WebSpec, on_page: Callable[[], None]) -> LinkGraph:
    """Return the link graph of the web, which the oracle policy needs.

    It is built once per process, because every repetition of the oracle uses the same graph.
    """
    graph = _graphs.get(spec)
    if graph is None:
        _graphs.clear()
        graph = _graphs[spec] = LinkGraph(open_web(spec), on_page)
    return graph


def run_trial(
    spec: WebSpec,
    trial: Trial,
    *,
    keep_picks: bool = False,
    counts: Counts | None = None,
    number: int = 0,
    report: Callable[[], None] = lambda: None,
) -> SimResult:
    """Simulate one policy on the web.

    `counts` has the progress of all trials, and `number` is the index of this trial.
    """
    counts = [0, 0] if counts is None else counts
    is_oracle = trial.policy == ORACLE
    policy: Policy = (
        OraclePolicy(_graph(spec, _counter(counts, 2 * number + 1, report)))
        if is_oracle
        else policy_from(trial.policy, trial.seed, target=target_from(spec.target))
    )
    if trial.model:
        start_from(policy, read_model(Path(trial.model)), name=trial.model)
    # as in a crawl with a budget of pages
    set_wait_threshold(policy, 1.0 if is_oracle else default_wait_threshold(trial.timing.delay))
    reward = None if trial.reward == DEFAULT_REWARD and not spec.scores else reward_from(trial.reward)
    simulation = Simulation(
        open_web(spec),
        policy,
        scope=lambda url: "",
        timing=trial.timing,
        seed=trial.seed,
        reward=reward,
        on_request=_counter(counts, 2 * number, report),
        keep=_keep(spec, trial) if trial.keep else None,
    )
    return simulation.run(trial.seeds, pages=trial.pages, keep_picks=keep_picks)


def _keep(spec: WebSpec, trial: Trial) -> KeptCrawl:
    job = Job(
        seeds=trial.seeds,
        policy=trial.policy,
        target=spec.target,
        reward=trial.reward,
        seed=trial.seed,
        pages=trial.pages,
        web=spec.web,
    )
    return KeptCrawl(Path(trial.keep), job)


def run_trials(
    spec: WebSpec, trials: Sequence[Trial], *, processes: int | None = None, watch: Watch = lambda trials: None
) -> Iterator[SimResult]:
    """Yield the result of every trial in order, with one process per core.

    `watch` gets the progress several times per second.

    If the caller stops iterating, for example after Ctrl-C, the running trials end at once.
    """
    count = min(len(trials), processes or os.cpu_count() or 1)
    if not all(added.is_importable for added in added_policies(trial.policy for trial in trials)):
        count = 1  # other processes cannot import a class of a script or a notebook
    return _one_by_one(spec, trials, watch) if count <= 1 else _side_by_side(spec, trials, count, watch)


def _one_by_one(spec: WebSpec, trials: Sequence[Trial], watch: Watch) -> Iterator[SimResult]:
    counts = [0] * (2 * len(trials))
    ended = 0

    def report() -> None:
        watch(_progress(trials, counts, lambda number: number < ended))

    for number, trial in enumerate(trials):
        yield run_trial(spec, trial, counts=counts, number=number, report=report)
        ended = number + 1


def _side_by_side(spec: WebSpec, trials: Sequence[Trial], processes: int, watch: Watch) -> Iterator[SimResult]:
    context = get_context("forkserver")
    counts: Counts = context.RawArray("q", 2 * len(trials))
    others = set(active_children())
    initial = counts, added_policies(trial.policy for trial in trials)
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=initial)
    try:
        with _interrupts_for_us_alone(), _main_hidden():
            running = [pool.submit(_run_numbered, spec, trial, number) for number, trial in enumerate(trials)]
        for one in running:
            while not wait([one], timeout=_LOOK_SECONDS).done:
                watch(_progress(trials, counts, lambda number: running[number].done()))
            yield one.result()
    except BaseException:  # Ctrl-C, for example: do not wait for the running trials
        for child in set(active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Start child processes with SIGINT blocked from their first moment, because the parent ends them.

    They inherit the signal mask of the fork server, which inherits ours when it starts. An interrupt that arrives
    meanwhile is delivered to the parent afterwards. `_begin` handles a fork server that was started earlier.
    """
    resource_tracker.ensure_running()  # the fork server would start it, and it removes the mask again
    ours = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, ours)


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Start child processes that do not run the user's script again, so that it needs no `if __name__ == "__main__"`.

    They run only code of importable modules.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _begin(counts: Counts, added: Sequence[AddedPolicy]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for policy in added:
        policy.register()
    _shared[:] = [counts]


def _run_numbered(spec: WebSpec, trial: Trial, number: int) -> SimResult:
    return run_trial(spec, trial, counts=_shared[0], number=number)


# ── webs by name


def default_cache() -> Path:
    """Return the folder in which `prepared` keeps converted webs, in the user's cache directory."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "motherlode" / "traces"


def prepared(name: str, cache: Path, progress: Progress) -> str:
    """Return the name by which `WebSpec` opens a web that the user named.

    WARC files and Anthelion's files are converted first, and the result is kept for later runs.
    """
    if name.startswith(SYNTHETIC):
        synthetic_pages(name)
        return name
    if name.startswith(ANTHELION):
        return prepare(name, cache, progress)
    path = Path(name)
    if path.is_dir():
        return name
    if not path.exists():
        raise TraceError(f"{name} does not exist: give a trace, a WARC file, synthetic:PAGES or anthelion:DIR")
    trace = cache / f"{path.name}-{zlib.crc32(str(path.resolve()).encode()):08x}"
    try:
        read_parts(trace)
    except TraceError:  # a trace of an older version that this function made itself
        shutil.rmtree(trace)
    try:
        record([path], trace, progress=progress)
    except OSError as error:
        raise TraceError(
            f"{name} cannot be recorded into {trace}: {error.strerror or error}; "
            f"`motherlode record {name} -o TRACE` makes a trace elsewhere"
        ) from error
    return str(trace)
