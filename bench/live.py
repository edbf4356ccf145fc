"""Crawls of an internet in a box: how much of what the delays allow is reached, against Scrapy in the same box.

    python bench/live.py [--hosts 100,1000,5000] [--modes crawl,fetch] [--seconds 120] [--no-record]

The box (tools/box) has a name server that needs 200 ms, a round trip of 30 ms, 1 % lost packets in each direction, 3 %
names that do not exist, 5 % hosts that do not answer, and TLS on all hosts. Every host has an IP address of its own.

- crawl: a whole crawl with a delay of 4 s, against Scrapy + extruct + PyLD, which follow the same links;
- fetch: fetching alone with a delay of 1 s from a list of all pages, against Scrapy that only fetches.

Both sides have the same delay, the same robots.txt rules and as many slots as there are hosts. Pages are counted in the
log of the web servers, between the 10th and the 90th per cent of the pages of a run. The share is the rate divided by
live hosts ÷ delay. The resolver is restarted before each run, so that no run finds the names of another in its cache.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from motherlode.model import FailureKind
from results import record, table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.box import Box, BoxPlan, Fault, missing_part  # noqa: E402 - the folder above is not on the path before
from tools.box.box import Conditions  # noqa: E402
from tools.box.web import page_path  # noqa: E402

PEERS = Path(__file__).parent / "peers"
DELAYS = {"crawl": 4.0, "fetch": 1.0}
PAGES_PER_HOST = {"crawl": 12, "fetch": 40}
MAX_PAGES = {"crawl": 20_000, "fetch": 40_000}
"""Budget of a run. More hosts than slots for these pages get fewer pages each."""
GRACE_SECONDS = 20.0
"""Seconds after the time limit of a run in which a crawler may end by itself."""
NAMES = {
    ("ours", "crawl"): "Motherlode, whole crawl",
    ("scrapy", "crawl"): "Scrapy + extruct + PyLD",
    ("ours", "fetch"): "Motherlode, fetching only",
    ("scrapy", "fetch"): "Scrapy, fetching only",
}
OUR_CRAWL = """allow = ["127.0.0.0/8"]
concurrency = {slots}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Results of one crawler in one box."""

    side: str
    mode: str
    hosts: int
    pages: int
    rate: float
    """Pages per second between the 10th and the 90th per cent of the pages."""
    allowed: float
    """Live hosts ÷ delay."""
    cpu: float
    """CPU seconds of the crawler."""
    box_cpu: dict[str, float]
    """CPU seconds of web servers, name servers and delay layer."""
    blamed: dict[str, int]
    """Failures of healthy hosts by kind; of our side only."""
    load: float
    """Load average of the machine before the run. Above one per core, other programs slowed the run down."""

    @property
    def share(self) -> float:
        return self.rate / self.allowed

    def row(self) -> tuple[str, ...]:
        per_page = [1000 * seconds / max(1, self.pages) for seconds in (self.cpu, *self.box_cpu.values())]
        share, count = f"{100 * self.share:.0f} %", f"{self.pages:,}"
        cpu = (f"{milliseconds:.2f}" for milliseconds in per_page)
        return (NAMES[self.side, self.mode], f"{self.hosts:,}", count, f"{self.rate:.0f}", share, *cpu)


def plan(hosts: int) -> BoxPlan:
    return BoxPlan(
        hosts=hosts,
        pages=16 if hosts <= 1000 else 8,
        round_trip=0.03,
        jitter=0.004,
        loss=0.01,
        look_up=0.2,
        faults={Fault.DEAD_NAME: 0.03, Fault.DEAD_ADDRESS: 0.05},
    )


def run_side(box: Box, side: str, mode: str, seconds: float) -> Run:
    """Let one crawler run in the box, and count its pages in the log of the web servers."""
    load = os.getloadavg()[0]
    box.restart_resolvers()
    hosts = len(box.hosts)
    folder = Path(tempfile.mkdtemp(dir=box.folder))
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(box.seeds if mode == "crawl" else all_urls(box)))
    pages = min(MAX_PAGES[mode], hosts * PAGES_PER_HOST[mode])
    logged, cpu_before, before = len(box.requests()), box.cpu_seconds(), os.times()
    command = COMMANDS[side, mode](folder, seeds, pages, max(64, hosts), seconds)
    process = box.start(command, stdout=subprocess.PIPE, stderr=(folder / "stderr").open("w"))
    out = finish(process, seconds + GRACE_SECONDS)
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(f"{NAMES[side, mode]} ended with {process.returncode}: {(folder / 'stderr').read_text()[-3000:]}")
    after = os.times()
    box_cpu = {name: seconds - cpu_before.get(name, 0.0) for name, seconds in box.cpu_seconds().items()}
    box.flush_log()
    rate, count = measure(box, logged)
    failures = our_failures(box, side, mode, out, folder)
    live = sum(host.is_live for host in box.hosts)
    run = Run(
        side=side,
        mode=mode,
        hosts=hosts,
        pages=count,
        rate=rate,
        allowed=live / DELAYS[mode],
        cpu=after.children_user + after.children_system - before.children_user - before.children_system,
        box_cpu=group_cpu(box_cpu),
        blamed=failures,
        load=load,
    )
    shutil.rmtree(folder)
    return run


def finish(process: subprocess.Popen[str], seconds: float) -> str:
    """Return the output of a crawler, which is killed after the given time: Scrapy waits for dead hosts to the end."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def all_urls(box: Box) -> Iterator[str]:
    """Yield the URLs to fetch: first the home pages of all hosts, then the second page of each, and so on.

    A page has several URLs, because fetching alone does not look at it.
    """
    for number in range(min(PAGES_PER_HOST["fetch"], MAX_PAGES["fetch"] // len(box.hosts))):
        turn, page = divmod(number, box.plan.pages)
        yield from (f"{url}{page_path(page)[1:]}?{turn}" for url in box.seeds)


def measure(box: Box, skip: int) -> tuple[float, int]:
    """Return pages per second between the 10th and the 90th per cent of the pages, and the number of pages."""
    times = sorted(one.ended for one in box.requests()[skip:] if one.status == 200 and one.path != "/robots.txt")
    window = times[len(times) // 10 : len(times) * 9 // 10]
    return slope(window), len(times)


def slope(times: Sequence[float]) -> float:
    """Return events per second as the slope of the least-squares line through their numbers.

    Many hosts are ready in the same moment, once per delay, so that events come in waves: a quotient of number and time
    would depend on whether the window begins before or after a wave.

    >>> round(slope([0.0, 0.5, 1.0, 1.5]), 6)
    2.0
    """
    if len(times) < 2 or times[0] == times[-1]:
        return 0.0
    return statistics.linear_regression(times, range(len(times))).slope


def group_cpu(seconds: dict[str, float]) -> dict[str, float]:
    """Return the CPU time of web servers, name servers and delay layer."""
    names = sum(cpu for name, cpu in seconds.items() if name.startswith(("resolver", "zone")))
    return {"nginx": seconds["nginx"], "names": names, "delay": seconds.get("delay", 0.0)}


def our_failures(box: Box, side: str, mode: str, out: str, folder: Path) -> dict[str, int]:
    """Return the failures of our crawler that it blames on healthy hosts."""
    if side != "ours":
        return {}
    healthy = {host.name for host in box.hosts if host.fault is Fault.NONE}
    if mode == "fetch":
        failed = json.loads(out)["failures"]
        return dict(Counter(kind for host, kinds in failed.items() if host in healthy for kind in kinds))
    return dict(Counter(kind for host, kind in logged_failures(folder / "out" / "crawl.log") if host in healthy))


def logged_failures(log: Path) -> Iterator[tuple[str, str]]:
    """Yield host and kind of each failure in a crawl.log. Its lines are: time, level, URL, status or failure."""
    kinds = {kind.value for kind in FailureKind}
    for line in log.read_text().splitlines():
        fields = line.split(" ")
        if len(fields) > 3 and fields[2].startswith("https://") and fields[3] in kinds:
            yield fields[2].split("/")[2], fields[3]


def our_crawl(folder: Path, seeds: Path, pages: int, slots: int, seconds: float) -> list[str]:
    (folder / "job.toml").write_text(OUR_CRAWL.format(slots=slots))
    command = [sys.executable, "-m", "motherlode", "crawl", "--config", str(folder / "job.toml"), "--quiet"]
    budget = ["--pages", str(pages), "--time", f"{seconds:.0f}s", "--delay", str(DELAYS["crawl"])]
    return [*command, "--seeds", str(seeds), *budget, "-o", str(folder / "out")]


def our_fetch(folder: Path, seeds: Path, pages: int, slots: int, seconds: float) -> list[str]:
    script = Path(__file__).with_name("fetch_politely.py")
    return [sys.executable, str(script), str(seeds), str(DELAYS["fetch"]), str(slots), str(seconds)]


def scrapy(mode: str, folder: Path, seeds: Path, pages: int, slots: int, seconds: float) -> list[str]:
    settings = [mode, DELAYS[mode], slots, pages, seconds]
    return [sys.executable, str(PEERS / "scrapy_live.py"), str(seeds), str(folder / "quads.nq"), *map(str, settings)]


COMMANDS = {
    ("ours", "crawl"): our_crawl,
    ("ours", "fetch"): our_fetch,
    ("scrapy", "crawl"): lambda *arguments: scrapy("crawl", *arguments),
    ("scrapy", "fetch"): lambda *arguments: scrapy("fetch", *arguments),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="100,1000,5000")
    parser.add_argument("--modes", default="crawl,fetch")
    parser.add_argument("--sides", default="ours,scrapy")
    parser.add_argument("--seconds", type=float, default=150.0, help="the longest time of a run")
    parser.add_argument("--no-record", action="store_true", help="only print the results")
    options = parser.parse_args()
    if reason := missing_part():
        sys.exit(reason)
    runs: list[Run] = []
    conditions: list[tuple[int, Conditions]] = []
    for hosts in map(int, options.hosts.split(",")):
        with tempfile.TemporaryDirectory() as folder, Box(plan(hosts), Path(folder) / "box", buffered_log=True) as box:
            conditions.append((hosts, box.measure()))
            for mode in options.modes.split(","):
                for side in options.sides.split(","):
                    runs.append(run_side(box, side, mode, options.seconds))
                    print(*runs[-1].row(), runs[-1].blamed, f"load {os.getloadavg()[0]:.1f}", sep=" | ", flush=True)
    text = report(runs, conditions)
    print(text)
    if not options.no_record:
        record("live", text)


def report(runs: list[Run], conditions: list[tuple[int, Conditions]]) -> str:
    head = ("crawler", "hosts", "pages", "pages/s", "of live hosts ÷ delay")
    cpu = ("CPU ms per page", "web servers", "name servers", "delay layer")
    measured = "\n".join(
        f"- {hosts:,} hosts: delay by {found.delay_layer}, measured round trip {1000 * found.round_trip:.1f} ms, loss "
        f"{100 * found.loss:.1f} % per direction"
        for hosts, found in conditions
    )
    return f"""## An internet in a box (`bench/live.py`)

Name servers of the zones 200 ms away, 3 % dead names, 5 % dead hosts, TLS on all hosts. Delay {DELAYS["crawl"]:.0f} s
for whole crawls and {DELAYS["fetch"]:.0f} s for fetching only. Both sides share the machine with the box. Its CPU
time per page is in the last three columns.

{measured}

{table((*head, *cpu), [run.row() for run in runs])}

{chr(10).join(ratios(runs))}
"""


def ratios(runs: list[Run]) -> Iterator[str]:
    """Yield one line per pair of runs: our rate against that of Scrapy, and what we blamed on healthy hosts."""
    found = {(run.side, run.mode, run.hosts): run for run in runs}
    for (side, mode, hosts), ours in found.items():
        peer = found.get(("scrapy", mode, hosts))
        if side == "ours":
            blamed = ", ".join(f"{count} {kind}" for kind, count in ours.blamed.items()) or "none"
            times = f"**{ours.rate / peer.rate:.1f} times** Scrapy's pages per second; " if peer and peer.rate else ""
            loads = f"load average before the run {ours.load:.1f}" + (
                f", before Scrapy's {peer.load:.1f}" if peer else ""
            )
            share = f"**{100 * ours.share:.0f} %** of live hosts ÷ delay"
            yield f"- {mode}, {hosts:,} hosts: {share}; {times}failures blamed on healthy hosts: {blamed}; {loads}"


if __name__ == "__main__":
    main()
