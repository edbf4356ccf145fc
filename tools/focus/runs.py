"""Simulated crawls for the comparison of policies. Each result is appended to a file, so that a run can be resumed.

A result belongs to one web, one policy and the source code that can change it: if the code of our policy changes, only
its own runs are repeated; if the code of the frontier or of the simulator changes, all runs are.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from functools import lru_cache
from multiprocessing import active_children, get_context
from pathlib import Path
from random import Random

import msgspec

from motherlode.crawler import canonical_seeds
from motherlode.crawler.config.job_file import read_seeds
from motherlode.model import FailureKind, Policy
from motherlode.policies import largest_web, policy_from, target_from
from motherlode.sim.experiment import in_host_order, relevant_at
from motherlode.sim.oracle import LinkGraph, OraclePolicy
from motherlode.sim.simulator import IN_ORDER, SimResult, Simulation, Timing
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.files import read_parts
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.sim.web_protocol import HostSubset, SimulatedWeb
from motherlode.www.urls import host_of, registrable_domain

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "sites.warc.gz"
BUDGETS = (0.05, 0.12, 0.25)
MAIN = 0.12
"""The budget of the goals, and of the choice of webs."""
OURS = "motherlode"
BASELINES = ("bfs", "oracle")
HOME, FROM_SEEDS = "home", "seeds"
MIN_ORACLE_GAIN = 20
"""Minimum number of relevant pages by which the oracle must beat breadth-first; other webs are left out as noise."""
_SHARED_CODE = ("frontier", "model", "sim", "www", "crawler/engine/scheduler.py")
_LOOK_SECONDS = 2.0


class Web(msgspec.Struct, frozen=True, kw_only=True):
    """One web with one target, described so that another process can open it."""

    name: str
    target: str
    trace: str = ""
    """Folder of the trace; "" for a synthetic web."""
    content: str = ""
    """Fingerprint of the content of the trace and of the seeds."""
    part: int = -1
    """Number of the fold of owners; -1 for the whole web."""
    start: str = HOME
    """`home`: home pages, without dead links; `seeds`: the URLs of `seeds`, with dead links."""
    seeds: str = ""
    """File of the seeds of a recorded web; "" for its home pages."""
    pages: int = 0
    """Pages of a synthetic web."""
    seed: int = 0
    """Seed of a synthetic web."""
    order: int = 0
    """Seed of the order of the hosts, and of the policies."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one policy on one web."""

    key: str
    policy: str
    pages: int
    """Pages of the web."""
    relevant: int
    """Relevant pages of the web."""
    found: list[float]
    """Relevant pages found at each budget."""
    hosts: int
    """Hosts on which relevant pages were found, at the largest budget."""
    calibration: list[tuple[float, float, int]]
    """Mean predicted probability, share of relevant pages and number of requests, for each tenth."""
    brier: float | None
    seconds: float
    """CPU time, with that of opening the web for the first run on it."""


# ── webs


def find_seeds(corpus: Path) -> str:
    """Return the file of seeds beside a WARC file or trace, `seeds.txt`, or "" if it does not exist."""
    path = corpus.with_name("seeds.txt")
    return str(path) if path.exists() else ""


def fingerprint(trace: str, seeds: str) -> str:
    """Return a fingerprint of the content of a trace and of a file of seeds."""
    parts = [part.fingerprint.rpartition("/")[2] for part in read_parts(Path(trace))]
    return " ".join((*parts, hashlib.sha256(Path(seeds).read_bytes()).hexdigest()[:16] if seeds else ""))


@lru_cache(maxsize=2)
def _open_trace(trace: str, target: str, *, dead: bool) -> TraceWeb:
    return TraceWeb(Path(trace), target_from(target), dead=float(dead))


@lru_cache(maxsize=1)
def open_web(web: Web) -> SimulatedWeb:
    """Open the web, or return the one that this process has opened last."""
    if not web.trace:
        return SyntheticSimWeb(pages=web.pages, seed=web.seed, target=target_from(web.target))
    dead = web.start == FROM_SEEDS
    whole = _open_trace(web.trace, web.target, dead=dead)
    if web.part < 0:
        return whole
    hosts = sorted({host_of(url) for url in whole.home_pages()})
    owners = sorted({registrable_domain(host) for host in hosts})
    Random(f"folds {web.part // 2}").shuffle(owners)
    fold = set(owners[web.part % 2 :: 2])
    return HostSubset(whole, [host for host in hosts if registrable_domain(host) in fold], keeps_outside=dead)


@lru_cache(maxsize=1)
def _graph(web: Web) -> LinkGraph:
    return LinkGraph(open_web(web))


@lru_cache(maxsize=1)
def _count_relevant(web: Web) -> int:
    return sum(relevant for _, relevant in open_web(web).labels())


def find_starts(web: Web) -> Sequence[str]:
    """Return the URLs at which crawls of a web start, with its hosts in a random order."""
    known = open_web(web)
    if web.start == HOME:
        starts = known.home_pages()
    elif isinstance(known, SyntheticSimWeb):
        starts = known.seeds()
    else:
        seeds = canonical_seeds(read_seeds(Path(web.seeds))) if web.seeds else ()
        spelled = dict.fromkeys(map(known.spelling, seeds))
        starts = [url for url in spelled if known.page(url).failure is not FailureKind.NOT_FOUND]
    return in_host_order(starts or known.home_pages(), web.order)


# ── runs


def simulate(
    web: Web,
    name: str,
    key: str,
    *,
    policy: Policy | None = None,
    timing: Timing = IN_ORDER,
    share: float = BUDGETS[-1],
) -> Run:
    """Simulate one policy on one web, up to a share of its pages. The first run on a web has the time of opening it.

    The policy is the one with this name, unless another is given.
    """
    began = time.process_time()
    known = open_web(web)
    if policy is None and name == "oracle":
        policy = OraclePolicy(_graph(web))
    elif policy is None:
        policy = policy_from(name, web.order, target=target_from(web.target))
    simulation = Simulation(known, policy, scope=lambda url: "", timing=timing)
    return make_run(web, name, key, simulation.run(find_starts(web), pages=round(share * known.page_count)), began)


def make_run(web: Web, name: str, key: str, result: SimResult, began: float) -> Run:
    """Return the figures of a simulated crawl that are kept. `began` is the CPU time at its beginning."""
    pages, relevant = open_web(web).page_count, _count_relevant(web)
    return Run(
        key=key,
        policy=name,
        pages=pages,
        relevant=relevant,
        found=[relevant_at(result.request_curve, budget * pages) for budget in BUDGETS],
        hosts=result.relevant_hosts,
        calibration=result.calibration.bins(),
        brier=result.calibration.brier_score,
        seconds=time.process_time() - began,
    )


_fingerprints: dict[str, str] = {}
"""The fingerprints at the beginning of a comparison, in the processes that run it: files may change meanwhile, but the
modules are imported."""


def _fix_fingerprints(known: Mapping[str, str]) -> None:
    _fingerprints.update(known)


def fingerprints(policies: Sequence[str]) -> dict[str, str]:
    """Return the code fingerprints of policies and baselines."""
    return {name: code_fingerprint(name) for name in (*BASELINES, *policies)}


@lru_cache(maxsize=64)
def code_fingerprint(policy: str) -> str:
    """Return a hash of the source code on which the results of a policy depend."""
    if policy in _fingerprints:
        return _fingerprints[policy]
    source = ROOT / "src" / "motherlode"
    files = [path for name in _SHARED_CODE for path in _python_files(source / name)]
    own = source / "policies" / OURS
    is_ours = policy.partition(":")[0] == OURS
    files += [path for path in _python_files(source / "policies") if is_ours or own not in path.parents]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def run_key(web: Web, policy: str) -> str:
    """Return the name under which the result of a policy on a web is kept. Names of files do not matter."""
    nameless = msgspec.structs.replace(web, trace="trace" if web.trace else "", seeds="")
    about = msgspec.json.encode((nameless, policy, BUDGETS))
    return hashlib.sha256(about + code_fingerprint(policy).encode()).hexdigest()[:24]


class RunCache:
    """The results so far: one line of JSON per run. Several processes append to the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.runs: dict[str, Run] = {}

    def read(self) -> None:
        """Read the file. A line that is not complete, because the process was killed, is skipped."""
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        for line in lines:
            try:
                run = msgspec.json.decode(line, type=Run)
            except msgspec.DecodeError:
                continue
            self.runs[run.key] = run

    def add(self, run: Run) -> None:
        """Append a result, in one write, so that lines of several processes do not mix."""
        self.runs[run.key] = run
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, b"\n" + msgspec.json.encode(run) + b"\n")
        finally:
            os.close(file)


def oracle_gain(bfs: Run, oracle: Run) -> float:
    """Return the relevant pages that the oracle finds more than breadth-first at 12 %."""
    at = BUDGETS.index(MAIN)
    return oracle.found[at] - bfs.found[at]


def measure(web: Web, policies: Sequence[str], cache: Path) -> None:
    """Run what is missing in the cache for one web. Webs on which the oracle gains little need only the baselines."""
    known = RunCache(cache)
    known.read()

    def run(name: str) -> Run:
        key = run_key(web, name)
        if key not in known.runs:
            known.add(simulate(web, name, key))
        return known.runs[key]

    if oracle_gain(run("bfs"), run("oracle")) < MIN_ORACLE_GAIN:
        return
    for name in policies:
        limit = largest_web(name) if name not in BASELINES else None
        if limit is None or open_web(web).page_count <= limit:
            run(name)


Progress = Callable[[int, int], None]
"""Called with the number of webs that are done and of all."""


def measure_all(
    webs: Sequence[Web], policies: Sequence[str], cache: Path, *, processes: int, progress: Progress
) -> None:
    """Run what is missing for all webs. Results are kept one by one, so it can be interrupted at any time."""
    known = RunCache(cache)
    known.read()
    wanted = [web for web in webs if any(missing_runs(web, policies, known))]
    pool = ProcessPoolExecutor(
        processes, get_context("forkserver"), initializer=_fix_fingerprints, initargs=(fingerprints(policies),)
    )
    try:
        pending = {pool.submit(measure, web, policies, cache) for web in wanted}
        while pending:
            done, pending = wait(pending, timeout=_LOOK_SECONDS)
            for one in done:
                one.result()
            progress(len(webs) - len(pending), len(webs))
    except BaseException:
        for child in active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def missing_runs(web: Web, policies: Sequence[str], known: RunCache) -> Iterator[str]:
    """Yield the policies that have no result yet on a web, as far as that is known before it is opened."""
    baselines = [known.runs.get(run_key(web, name)) for name in BASELINES]
    bfs, oracle = baselines
    if bfs is None or oracle is None:
        yield from BASELINES
        return
    if oracle_gain(bfs, oracle) < MIN_ORACLE_GAIN:
        return
    for name in policies:
        limit = largest_web(name) if name not in BASELINES else None
        if (limit is None or bfs.pages <= limit) and run_key(web, name) not in known.runs:
            yield name
