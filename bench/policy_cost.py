"""Cost of rating the links of a page and of picking the next URL, for every policy, with few and many hosts.

    python bench/select.py [--policy NAME]... [--hosts N]...

All hosts are ready, each with one waiting page. One step contains all calls of a policy for one page: a pick, the host
is snoozed, the outcome is learned, the 100 links of the page are rated (60 to its own host, 40 to others), and the host
is ready again. One page in three is relevant. "Pick" includes everything except rating and learning. Times are CPU
times, the minimum of seven series of steps after a warm-up; every policy and size has a process of its own. The paper
on Anthelion reports up to 50 ms for a pick and up to 300 ms with Thompson sampling (section 5.4), with 455,848 hosts.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from motherlode.model import Link, LinkSource, Outcome, Rating, Syntax
from motherlode.policies import POLICIES, largest_web, policy_from
from results import record, table

HOSTS = (1_000, 100_000, 1_000_000)
OWN, ELSEWHERE = 60, 40
SAMPLE = 1_000
"""Number of hosts whose first link is rated at the start."""
SERIES = 7
SECONDS = 0.1
"""Approximate duration of a series."""
WORDS = ("open", "data", "annual", "report", "water", "quality", "station", "museum", "history", "garden", "river")
MAX_GROWTH = 2.0


def host_name(number: int) -> str:
    return f"www.{WORDS[number % 11]}-{WORDS[number % 7]}-{number}.example"


class GeneratedWeb:
    """Pages with links whose words are weakly related to their targets."""

    def __init__(self, hosts: int) -> None:
        self._hosts = hosts
        self._random = Random(1)
        self._made = 0

    def link(self, host: str) -> Link:
        self._made += 1
        words = self._random.sample(WORDS, 3)
        url = f"https://{host}/{words[0]}/{words[1]}-{words[2]}-{self._made}.html"
        return Link(url=url, source=LinkSource.ANCHOR, anchor=" ".join(words), tag_path="html body main ul li a")

    def page(self, host: str) -> list[Link]:
        others = (host_name(self._random.randrange(self._hosts)) for _ in range(ELSEWHERE))
        return [self.link(name) for name in (*(host for _ in range(OWN)), *others)]


class TimedPolicy:
    """A policy with ready hosts, whose calls are timed."""

    def __init__(self, name: str, hosts: int) -> None:
        self._policy = policy_from(name, 1)
        self._random = Random(2)
        self._web = GeneratedWeb(hosts)
        self._waiting: dict[str, Rating] = {}
        self._host_of: dict[str, str] = {}
        sample = [host_name(number) for number in range(min(hosts, SAMPLE))]
        links = [self._web.link(name) for name in sample]
        ratings = [rating for n in range(0, len(links), 100) for rating in self._policy.rate(links[n : n + 100], None)]
        for number in range(hosts):
            self._make_ready(host_name(number), ratings[number % SAMPLE], sample[number % SAMPLE])
        self.picking = self.rating = self.learning = 0.0
        self.steps = 0

    def _make_ready(self, host: str, rating: Rating, rated_host: str) -> None:
        """Make a host ready with the rating of a similar host, because rating a million links would take too long."""
        arm = rating.arm.replace(rated_host, host)
        self._waiting[arm] = rating
        self._host_of[arm] = host
        self._policy.arm_ready(arm, rating.score, 1)

    def step(self) -> None:
        policy, now = self._policy, time.process_time
        began = now()
        arm = policy.pick()
        self.picking += now() - began
        if arm is None:
            raise RuntimeError("no arm is ready")
        rating = self._waiting[arm]
        relevant = self._random.random() < 1 / 3
        host = self._host_of[arm]
        counts = {Syntax.JSON_LD: 3} if relevant else {}
        links = self._web.page(host)
        url = links[0].url
        known = {
            "url": url,
            "host": host,
            "policy_state": rating.policy_state,
            "relevant": relevant,
            "counts": counts,
            "kind": "html",
        }
        parent = Outcome(depth=1, links=links, **known)
        outcome = Outcome(arm=arm, score=rating.score, reward=float(relevant), **known)
        began = now()
        policy.arm_snoozed(arm)
        rested = now()
        policy.learn(outcome)
        learned = now()
        ratings = policy.rate(links, parent)
        rated = now()
        best = max((each for each in ratings if each.arm == arm), key=lambda each: each.score, default=rating)
        ready = now()
        policy.arm_ready(arm, best.score, 1)
        woken = now()
        self.picking += rested - began + woken - ready
        self.learning += learned - rested
        self.rating += rated - learned
        self.steps += 1
        self._waiting[arm] = best


def measure(name: str, hosts: int) -> dict[str, float]:
    """Return the microseconds of a step by its parts."""
    measured = TimedPolicy(name, hosts)
    gc.collect()
    gc.freeze()
    began = time.process_time()
    for _ in range(150):  # static classifiers are trained on the first hundred pages
        measured.step()
    steps = max(20, min(2_000, int(150 * SECONDS / max(1e-6, time.process_time() - began))))
    parts: dict[str, list[float]] = {"pick": [], "rate": [], "learn": []}
    for _ in range(SERIES):
        measured.picking = measured.rating = measured.learning = 0.0
        for _ in range(steps):
            measured.step()
        for part, spent in zip(parts, (measured.picking, measured.rating, measured.learning), strict=True):
            parts[part].append(1e6 * spent / steps)
    return {part: min(times) for part, times in parts.items()}


def in_process(name: str, hosts: int) -> dict[str, float]:
    script = str(Path(__file__).with_name("select.py"))
    command = [sys.executable, script, "--step", "--policy", name, "--hosts", str(hosts)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def growths(found: list[dict[str, float]]) -> tuple[float, float]:
    """Return the growth of pick and rate times from the fewest to the most hosts."""
    few, many = found[0], found[-1]
    return many["pick"] / few["pick"], many["rate"] / few["rate"]


def rows(names: list[str], sizes: list[int]) -> tuple[list[list[object]], list[str]]:
    """Return a row for each policy, and the policies that grow too much."""
    lines: list[list[object]] = []
    grown = []
    for name in names:
        found = [in_process(name, hosts) for hosts in sizes]
        growth, rating = growths(found)
        if max(growth, rating) > MAX_GROWTH and "thompson" not in name:  # other load of the machine may be the cause
            again = [in_process(name, hosts) for hosts in sizes]
            found = [{part: min(a[part], b[part]) for part in a} for a, b in zip(found, again, strict=True)]
            growth, rating = growths(found)
        if max(growth, rating) > MAX_GROWTH and "thompson" not in name:
            grown.append(f"{name}: pick ×{growth:.1f}, rate ×{rating:.1f}")
        cells = [f"{one[part]:,.1f}" for part in ("pick", "rate") for one in found]
        lines.append([f"`{name}`", *cells[: len(found)], f"{growth:.1f}", *cells[len(found) :], f"{rating:.1f}"])
        print(*lines[-1], flush=True)
    return lines, grown


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the cost of picking and rating.")
    parser.add_argument("--policy", action="append")
    parser.add_argument("--hosts", type=int, action="append")
    parser.add_argument("--step", action="store_true", help="measure one policy at one size, in this process")
    options = parser.parse_args()
    if options.step:
        print(json.dumps(measure(options.policy[0], options.hosts[0])))
        return
    sizes = options.hosts or list(HOSTS)
    named = options.policy or [name for name in POLICIES if largest_web(name) is None]
    lines, grown = rows(named, sizes)
    too_small = [] if options.policy else [name for name in POLICIES if largest_web(name)]
    lines += [[f"`{name}`", *["–"] * (2 * len(sizes) + 2)] for name in too_small]
    short = [f"{size:,}" for size in sizes]
    head = [
        "policy",
        *(f"pick, {size} hosts" for size in short),
        "growth",
        *(f"rate, {size}" for size in short),
        "growth",
    ]
    if options.policy is None and options.hosts is None:
        story = __doc__.partition("\n\n    python")[0] + __doc__.partition("[--hosts N]...")[2]
        said = "; ".join(grown) or "only Thompson sampling"
        record(
            "select",
            f"## Picking and rating\n\n{story}\n{table(head, lines)}\n\nMicroseconds. More than twofold: {said}. "
            f"A dash: made for smaller webs, because its picks cost more the more arms are ready.",
        )
    if grown:
        sys.exit("grows more than twofold: " + "; ".join(grown))


if __name__ == "__main__":
    main()
