"""The frontier with ten million known URLs: inserts, picks, memory and restart.

    python bench/frontier.py [--urls 10000000] [--hosts 10000 --hosts 100000 --hosts 1000000] [--picks 100000]

A page of the generated web has 20 links: 14 new ones on its own host, 4 new ones on other hosts, 2 known ones. URLs are
60 to 100 bytes long, and links have an anchor and a tag path. Breadth-first rates them, which costs next to nothing;
the last row has the default policy instead, including rating and picking. After every second of inserts there is a
commit, as in a crawl; commits are measured, generating the links is not. Then the process ends without closing, as in a
crash. Another process opens the folder and picks; each picked page is done at once. The first pick is the time until
the first lease. Every step has a process of its own. Anonymous memory is the memory of the process itself (RssAnon,
read after every commit). The resident peak includes the mapped pages of LMDB's file, which the frontier releases when
there are many. It must stay below 2 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from motherlode.frontier import End, Frontier, LmdbStorage, Politeness
from motherlode.model import Link, LinkSource
from motherlode.policies import DEFAULT_POLICY, policy_from
from results import record, table

OWN, ELSEWHERE, KNOWN = 14, 4, 2
PLAIN = "bfs"
COMMIT_SECONDS = 1.0
BATCH = 500
"""Pages whose links are generated at a time, outside of the measured time."""
SECTIONS = ("catalogue", "publications", "events", "people", "dataset", "recipes", "products/overview", "archive/2024")
WORDS = ("open", "data", "annual", "report", "water", "quality", "station", "museum", "history", "garden", "river")


def host_name(number: int) -> str:
    return f"{('www', 'data', 'shop', 'blog')[number % 4]}.{WORDS[number % 11]}-{WORDS[number % 7]}-{number}.example"


def url_of(host: int, number: int) -> str:
    slug = f"{WORDS[number % 11]}-{WORDS[(number // 11) % 11]}-{WORDS[(number // 5) % 11]}"
    return f"https://{host_name(host)}/{SECTIONS[(host + number) % 8]}/{slug}-{number}.html"


class GeneratedWeb:
    """Generates links page by page; every host gets its share of URLs."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self._made = [0] * hosts
        self._page = 0
        self._elsewhere = 0

    def _link(self, host: int, number: int) -> Link:
        return Link(
            url=url_of(host, number),
            source=LinkSource.ANCHOR,
            anchor=f"{WORDS[number % 11]} {WORDS[host % 11]} of {number}",
            tag_path="html body div.content main ul.list li a",
        )

    def _new(self, host: int) -> Link:
        self._made[host] += 1
        return self._link(host, self._made[host])

    def page(self) -> list[Link]:
        host = self._page * 7919 % self._hosts
        self._page += 1
        links = [self._new(host) for _ in range(OWN)]
        for _ in range(ELSEWHERE):
            self._elsewhere += 1
            links.append(self._new(self._elsewhere * 104729 % self._hosts))
        return links + [self._link(host, 1 + n) for n in range(KNOWN)]


def memory() -> dict[str, float]:
    """Return megabytes of this process: anonymous memory now, and the resident peak."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return {
        "anonymous": int(status["RssAnon"].split()[0]) / 1024,
        "resident_peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def frontier_at(folder: Path, policy: str) -> Frontier:
    politeness = Politeness(delay=1.0, max_ready_at_once=2000)
    return Frontier(
        storage=LmdbStorage(folder),
        policy=policy_from(policy),
        scope=lambda url: "",
        read_rules=None,
        politeness=politeness,
    )


def offer(folder: Path, policy: str, *, urls: int, hosts: int) -> dict[str, float]:
    """Add links until `urls` URLs are known; commits are measured, generating the links is not."""
    web = GeneratedWeb(hosts)
    frontier = frontier_at(folder, policy)
    spent, offered, committed, slowest, anonymous, worked = 0.0, 0, 0.0, 0.0, 0.0, 0.0
    while frontier.known_urls < urls:
        pages = [web.page() for _ in range(BATCH)]
        began, worked_before = time.perf_counter(), time.process_time()
        for page in pages:
            frontier.add_links(page, parent=None)
        offered += sum(map(len, pages))
        spent += time.perf_counter() - began
        if spent - committed >= COMMIT_SECONDS:
            began = time.perf_counter()
            frontier.commit()
            pause = time.perf_counter() - began
            spent += pause
            slowest = max(slowest, pause)
            committed = spent
            anonymous = max(anonymous, memory()["anonymous"])
        worked += time.process_time() - worked_before
    began = time.perf_counter()
    frontier.commit()
    spent += time.perf_counter() - began
    found = memory()
    return {
        "inserts_per_second": offered / spent,
        "inserts_per_cpu_second": offered / worked,
        "slowest_commit": slowest,
        "anonymous": max(anonymous, found["anonymous"]),
        "resident_peak": found["resident_peak"],
    }


def pick(folder: Path, policy: str, *, picks: int) -> dict[str, float]:
    """Open the folder of the other process and pick; each page is done at once, and its host is snoozed."""
    began = time.perf_counter()
    frontier = frontier_at(folder, policy)
    opened = time.perf_counter() - began
    now = 1e9
    times: list[float] = []
    first = 0.0
    committed = time.perf_counter()
    while len(times) < picks:
        began = time.perf_counter()
        lease = frontier.lease(now)
        took = time.perf_counter() - began
        if lease is None:
            now = max(now, frontier.idle_until() or now)
            times.append(took)
            continue
        times.append(took)
        first = first or sum(times)
        now += 1e-4
        frontier.response_received(lease, now)
        frontier.end(lease, End.FETCHED, 0.0)
        if time.perf_counter() - committed > COMMIT_SECONDS:
            frontier.commit()
            committed = time.perf_counter()
    times.sort()
    return {
        "open_seconds": opened,
        "first_pick_ms": 1e3 * first,
        "pick_median_us": 1e6 * times[len(times) // 2],
        "pick_p99_us": 1e6 * times[int(len(times) * 0.99)],
        "pick_max_ms": 1e3 * times[-1],
        **memory(),
    }


def in_process(step: str, folder: Path, policy: str, **numbers: int) -> dict[str, float]:
    arguments = [f"--{name}={value}" for name, value in numbers.items()]
    command = [sys.executable, __file__, "--step", step, "--folder", str(folder), "--policy", policy, *arguments]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def measure(urls: int, hosts: int, picks: int, policy: str = PLAIN) -> list[object]:
    folder = Path(tempfile.mkdtemp(prefix="frontier-"))
    try:
        offers = in_process("offer", folder / "f", policy, urls=urls, hosts=hosts)
        size = sum(file.stat().st_blocks * 512 for file in (folder / "f").iterdir())
        picked = in_process("pick", folder / "f", policy, picks=picks)
    finally:
        shutil.rmtree(folder)
    return [
        f"{hosts:,}" if policy == PLAIN else f"{hosts:,}, `{policy}`",
        f"{offers['inserts_per_second']:,.0f}",
        f"{offers['inserts_per_cpu_second']:,.0f}",
        f"{offers['slowest_commit']:.2f}",
        f"{picked['open_seconds']:.1f}",
        f"{picked['first_pick_ms']:.0f}",
        f"{picked['pick_median_us']:.0f}",
        f"{picked['pick_p99_us']:.0f}",
        f"{picked['pick_max_ms']:.0f}",
        f"{max(offers['anonymous'], picked['anonymous']):,.0f}",
        f"{max(offers['resident_peak'], picked['resident_peak']):,.0f}",
        f"{size / 1e9:.1f}",
    ]


HEAD = (
    *(
        "hosts",
        "inserts/s",
        "inserts per CPU second",
        "slowest commit, s",
        "restart, s",
        "first pick, ms",
        "pick median, µs",
        "pick p99, µs",
        "pick max, ms",
    ),
    *("anonymous memory, MB", "resident peak, MB", "disk, GB"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the frontier with many URLs.")
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, action="append")
    parser.add_argument("--picks", type=int, default=100_000)
    parser.add_argument("--policy", default=PLAIN)
    parser.add_argument("--step", choices=("offer", "pick"))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step == "offer":
        print(json.dumps(offer(options.folder, options.policy, urls=options.urls, hosts=options.hosts[0])))
    elif options.step == "pick":
        print(json.dumps(pick(options.folder, options.policy, picks=options.picks)))
    else:
        sizes = options.hosts or (10_000, 100_000, 1_000_000)
        rows = [measure(options.urls, hosts, options.picks, options.policy) for hosts in sizes]
        if options.policy != DEFAULT_POLICY:
            rows.append(measure(options.urls, sizes[-1], options.picks, DEFAULT_POLICY))
        print(table(HEAD, rows))
        if options.urls == parser.get_default("urls"):
            story = __doc__.partition("\n\n    python")[0] + __doc__.partition("--picks 100000]")[2]
            record(
                "frontier",
                f"## The frontier with ten million URLs\n\n{story}\n{table(HEAD, rows)}\n\n{options.urls:,} URLs each.",
            )


if __name__ == "__main__":
    main()
