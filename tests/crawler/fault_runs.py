"""Crawls with one fault each: after every one `resume` must end well, `verify` must find nothing, the result be equal.

    python -m tests.crawler.fault_runs            every call of a small crawl, of each kind
    python -m tests.crawler.fault_runs --every 10 one call in ten, and the first and last of each kind
    python -m tests.crawler.fault_runs --done faults.txt --minutes 60
                                                  for an hour; the next run with this file continues

The crawl has some dozens of pages of a web on loopback, with journal, WARC files, frontier (LMDB), quad store (RocksDB)
and word index (tantivy). Numbers of calls differ a little between runs, because checkpoints depend on time. So the last
faults may not be reached; these are counted apart.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from aiohttp import web

from motherlode.crawler import CrawlFolder, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from tests.crawler.fault_state import Action, Fault, FaultState, Kind, Loss, build_library
from tests.crawler.logged_web import CHANCE, LoggedWeb
from tests.crawler.offspring import Offspring

HOSTS, PAGES = 3, 12
TIMEOUT_SECONDS = 120.0
"""A run that takes longer hangs."""
MEMORY_STEPS = 20
_MAPPED_BYTES = 1 << 40
"""Address space that the frontier maps."""
_FAILING_KINDS = (Kind.WRITE, Kind.SYNC, Kind.RENAME, Kind.TRUNCATE, Kind.MSYNC, Kind.UNLINK)
_STATS = ("fetched", "relevant", "quads", "redirects", "hosts", "known_urls", "refused", "failures", "syntaxes")
"""Keys of `stats --json` that do not depend on timing."""
_TIMED = re.compile(rf"^\S+ <[^>]*(?:{'|'.join(CHANCE)})> ")


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of one run of the command line."""

    code: int
    stderr: str

    def __str__(self) -> str:
        return f"exit code {self.code}: {self.stderr.strip()[-1500:]}"


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """The result of a crawl, without values that depend on timing."""

    pages: frozenset[str]
    quads: frozenset[str]
    stats: dict[str, Any]


@dataclass(slots=True)
class Account:
    """The results of many faults."""

    exercised: Counter[str] = field(default_factory=Counter)
    """Faults that occurred, by kind."""
    unreached: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    """Faults by the part of the folder in which they occurred."""
    problems: list[str] = field(default_factory=list)

    def add(self, other: Account) -> None:
        """Add the results of other faults."""
        self.exercised.update(other.exercised)
        self.parts.update(other.parts)
        self.unreached += other.unreached
        self.problems += other.problems

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.exercised.items()))
        parts = ", ".join(f"{name} {count}" for name, count in self.parts.most_common())
        return (
            f"{self.exercised.total()} faults exercised ({kinds}; in {parts}), {self.unreached} not reached, "
            f"{len(self.problems)} not recovered"
        )


class SteadyWeb(LoggedWeb):
    """A web whose responses do not depend on earlier requests, because a power loss forgets some of them."""

    def _response(self, host: int, path: str, times: int) -> web.Response:
        return super()._response(host, path, times=2)


class FaultyCrawl:
    """Runs the crawl of a small web with faults, one run at a time."""

    def __init__(self, room: Path, site: SteadyWeb, offspring: Offspring, state: FaultState, **settings: Any) -> None:
        self._room, self._web, self._offspring, self._state = room, site, offspring, state
        self._config = room / "job.toml"
        self._config.write_text(
            job_to_toml(site.job(**{"retry_wait": 0.02, "contexts": "fetch", "warc": True} | settings))
        )
        self.folder = room / "crawl"
        self.counts: dict[Kind, int] = {}
        self.expected = self._crawl_without_fault()

    def _crawl_without_fault(self) -> CrawlResult:
        ended = self._begin(Fault())
        self.counts = self._state.counts
        if ended.code:
            raise RuntimeError(f"the crawl without a fault failed: {ended}")
        found = self._read_result()
        if len(found.pages) < HOSTS * PAGES or not found.quads:
            raise RuntimeError(f"the crawl without a fault has {len(found.pages)} pages")
        return found

    def check(self, fault: Fault, account: Account) -> str:
        """Crawl with a fault, and continue without. Return what is wrong then; "" if nothing is."""
        first = self._begin(fault)
        hits, path = self._state.hits, self._state.hit_path
        is_hit = bool(hits or fault.action is Action.NOTHING)
        account.exercised[fault.name] += is_hit
        account.unreached += not is_hit
        if hits:
            account.parts[_part_of(path, self.folder)] += 1
        if fault.action is Action.LOSE_POWER:
            self._state.roll_back(self.folder, fault.loss, Random(fault.at))
        problem = self._first_problem(first, fault) or self._continue()
        if problem:
            problem = f"{fault} ({path.removeprefix(str(self.folder))}; first run: {first}): {problem}"
            account.problems.append(problem)
        return problem

    def _begin(self, fault: Fault) -> Ended:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._web.forget()
        return self._run("crawl", "--config", str(self._config), "--quiet", "-o", str(self.folder), fault=fault)

    def _first_problem(self, first: Ended, fault: Fault) -> str:
        """Return what is wrong with the end of the run that had the fault."""
        is_killed = fault.action is Action.LOSE_POWER and first.code == -signal.SIGKILL
        if first.code < 0 and not is_killed:
            return f"the crawl ended with signal {-first.code}"
        if first.code > 0 and not first.stderr.rstrip().rpartition("\n")[2].startswith("error: "):
            return "the crawl ended without a message"
        if (
            "Traceback" in first.stderr and fault.action is not Action.NOTHING
        ):  # without memory, child processes print it
            return "the crawl printed a traceback"
        return ""

    def _continue(self) -> str:
        if CrawlFolder(self.folder).has_crawl:
            again = self._run("resume", str(self.folder), "--quiet")
        else:  # the fault came before the crawl was created
            again = self._run("crawl", "--config", str(self._config), "--quiet", "-o", str(self.folder))
        if again.code:
            return f"resume failed with {again}"
        verified = self._run("verify", str(self.folder))
        if verified.code:
            return f"verify failed with {verified}"
        return self._compare(self._read_result())

    def _compare(self, found: CrawlResult) -> str:
        expected = self.expected
        for name in ("pages", "quads"):
            wanted, has = getattr(expected, name), getattr(found, name)
            if wanted != has:
                lost, new = sorted(wanted - has), sorted(has - wanted)
                return f"{len(lost)} {name} are lost ({lost[:3]}), {len(new)} are new ({new[:3]})"
        differing = {
            key: (expected.stats[key], found.stats[key]) for key in _STATS if expected.stats[key] != found.stats[key]
        }
        return f"stats differ: {differing}" if differing else ""

    def _read_result(self) -> CrawlResult:
        exported = self._room / "all.nq"
        exported.unlink(missing_ok=True)
        ended = self._run("export", str(self.folder), "-o", str(exported))
        if ended.code:
            raise RuntimeError(f"export failed with {ended}")
        lines = exported.read_text().splitlines()
        quads = frozenset(line for line in lines if not line.startswith("<urn:motherlode:") and not _TIMED.match(line))
        folder = CrawlFolder(self.folder)
        pages = frozenset(visit.url for visit in read_visits(folder) if visit.failure is None)
        return CrawlResult(pages, quads, read_stats(folder).summary())

    def _run(self, *arguments: str, fault: Fault | None = None) -> Ended:
        errors = self._room / "stderr"
        if fault is None:
            self._state.disarm()
        else:
            self._state.arm(self.folder, fault)
        is_late = threading.Event()
        child = self._offspring.start(*arguments, errors=errors)
        timer = threading.Timer(TIMEOUT_SECONDS, _kill, (child, is_late))
        timer.start()
        code = self._offspring.wait()
        timer.cancel()
        told = errors.read_text(errors="replace")
        return Ended(code, f"it hung for {TIMEOUT_SECONDS:.0f} s: {told[:1400]}" if is_late.is_set() else told)


def _kill(process: int, is_late: threading.Event) -> None:
    """Let a process that hangs print the stacks of its threads, and end it."""
    is_late.set()
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGUSR1)
        time.sleep(1.0)
        os.kill(process, signal.SIGABRT)


def _part_of(path: str, folder: Path) -> str:
    name = path.removeprefix(f"{folder}/").partition("/")[0] if path.startswith(str(folder)) else "process starts"
    return name.removesuffix(".new")


# ── the faults


def list_faults(counts: dict[Kind, int], *, every: int = 1) -> list[Fault]:
    """Return the faults for numbers of calls: each `every`-th call of each kind, and always the first and the last."""
    found = [
        replace(fault, at=at)
        for kind in _FAILING_KINDS
        for fault in _error_faults(kind)
        for at in _spread(counts[kind], every)
    ]
    for kind in (Kind.FORK, Kind.EXEC):
        found += _start_faults(kind, counts[kind])
    return [*found, *_power_faults(_spread(counts[Kind.ANY_IO], every)), *memory_faults()]


def sample_failing_calls(counts: dict[Kind, int]) -> list[Fault]:
    """Return some failing calls, for `make test`: the first and last of each kind, and a full disk half-way."""
    found = []
    for kind in _FAILING_KINDS:
        once, full = _error_faults(kind)
        found += [replace(once, at=at) for at in _spread(counts[kind], max(1, counts[kind] - 1))]
        found += [replace(full, at=counts[kind] // 2)] if kind is Kind.WRITE else []
    return [*found, *(_start_faults(kind, counts[kind])[-1] for kind in (Kind.FORK, Kind.EXEC))]


def sample_power_losses(counts: dict[Kind, int]) -> list[Fault]:
    """Return some power losses, for `make test`: at the first and last call, and between."""
    return _power_faults(_spread(counts[Kind.ANY_IO], max(1, counts[Kind.ANY_IO] // 5)))


def _error_faults(kind: Kind) -> tuple[Fault, Fault]:
    """Return an error of the device at one call, and a disk that is full from one call on."""
    once = Fault(kind=kind, action=Action.FAIL_ONCE, error=errno.EIO)
    return once, replace(once, action=Action.FAIL_FROM, error=errno.ENOSPC)


def _start_faults(kind: Kind, count: int) -> list[Fault]:
    """Return faults of process starts: each fails alone, then all of them fail."""
    once = Fault(kind=kind, action=Action.FAIL_ONCE, error=errno.EAGAIN)
    return [*(replace(once, at=at) for at in range(1, count + 1)), replace(once, action=Action.FAIL_FROM, at=1)]


def _power_faults(calls: list[int]) -> list[Fault]:
    once = Fault(kind=Kind.ANY_IO, action=Action.LOSE_POWER)
    return [replace(once, at=at, loss=list(Loss)[index % len(Loss)]) for index, at in enumerate(calls)]


def memory_faults() -> Iterator[Fault]:
    """Yield limits of the address space: of all processes, around what the frontier maps, and of child processes."""
    for step in range(MEMORY_STEPS // 2):
        yield Fault(tree_bytes=_MAPPED_BYTES + (300 << 20) + (step * 120 << 20))
        yield Fault(child_bytes=(60 << 20) + (step * 100 << 20))


def _spread(count: int, every: int) -> list[int]:
    return sorted({*range(1, count + 1, every), *([count] if count else [])})


def fault_environment(room: Path) -> dict[str, str]:
    """Build the library, and return the variables with which a process and its children use it."""
    return {
        "LD_PRELOAD": str(build_library(room)),
        "FAULT_STATE": str(room / "state"),
        "PYTHONDONTWRITEBYTECODE": "",  # or else every process of every run compiles all modules
        "SSL_CERT_FILE": os.devnull,  # reading the machine's authorities takes a tenth of a run
    }


@contextmanager
def faulty_crawl(room: Path, **settings: Any) -> Iterator[FaultyCrawl]:
    """Start the web and the process that runs the command line with the library. `settings` are keys of the job."""
    room = room.resolve()
    state = FaultState(room / "state")
    environment = fault_environment(room)
    with SteadyWeb(hosts=HOSTS, pages=PAGES) as site, Offspring("tests.crawler.fault_server", environment) as offspring:
        yield FaultyCrawl(room, site, offspring, state, **settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The faults of one run of this module."""

    every: int = 1
    only: str = ""
    """Text that the descriptions of the faults have."""
    jobs: int = 1
    ends_at: float = inf
    """Time from which no further fault is checked, in seconds since the epoch."""
    done: Path | None = None
    """File with the descriptions of the faults that were recovered in earlier runs. Further ones are appended."""

    def choose(self, counts: dict[Kind, int], part: int) -> list[Fault]:
        """Return the faults of one of the jobs that are still to be checked, mixed, so that all kinds come soon."""
        known = set(self.done.read_text().splitlines()) if self.done is not None and self.done.exists() else set()
        found = [one for one in list_faults(counts, every=self.every) if self.only in str(one)]
        left = [one for one in found[part :: self.jobs] if str(one) not in known]
        return Random(0).sample(left, len(left))

    def note(self, fault: Fault) -> None:
        """Append a fault to the file. One write per line, so that several jobs may do so."""
        if self.done is not None:
            with self.done.open("a") as file:
                file.write(f"{fault}\n")


def check_part(part: int, selection: Selection) -> Account:
    """Check the faults of one of several jobs, and print a line for each."""
    account = Account()
    with tempfile.TemporaryDirectory() as room, faulty_crawl(Path(room)) as crawl:
        faults = selection.choose(crawl.counts, part)
        print(f"{len(faults)} faults; calls of the crawl: {crawl.counts}", flush=True)
        for number, fault in enumerate(faults, 1):
            if time.time() >= selection.ends_at:
                print(f"{len(faults) - number + 1} faults are left", flush=True)
                break
            began, unreached = time.monotonic(), account.unreached
            problem = crawl.check(fault, account)
            if not problem:
                selection.note(fault)
            told = problem or f"{fault}: {'not reached' if account.unreached > unreached else 'recovered'}"
            print(f"{number} of {len(faults)}, {time.monotonic() - began:.1f} s: {told}", flush=True)
    return account


def main() -> None:
    parser = argparse.ArgumentParser(description="Let every call of a small crawl fail once, and check what is left.")
    parser.add_argument("--every", type=int, default=1, help="only one call in so many")
    parser.add_argument("--only", default="", help="only faults whose description has this text")
    parser.add_argument("--jobs", type=int, default=2, help="crawls at a time")
    parser.add_argument("--minutes", type=float, default=inf, help="begin no further fault after so many minutes")
    parser.add_argument("--done", type=Path, help="file with recovered faults, which are not checked again")
    arguments = parser.parse_args()
    selection = Selection(
        every=arguments.every,
        only=arguments.only,
        jobs=arguments.jobs,
        ends_at=time.time() + 60 * arguments.minutes,
        done=arguments.done,
    )
    account = Account()
    with ProcessPoolExecutor(selection.jobs, mp_context=get_context("spawn")) as pool:
        results = [pool.submit(check_part, part, selection) for part in range(selection.jobs)]
        for result in results:
            account.add(result.result())
    print(account)
    raise SystemExit(1 if account.problems else 0)


if __name__ == "__main__":
    main()
