"""Speed and memory of simulations, and the total time for the recorded web of ../shared/corpus.

    .venv/bin/python bench/simulate.py [--requests N]

Each measurement runs in a process of its own, on one core. Pages per second are given by CPU time and by wall-clock
time, because other programs on a busy machine change the latter.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from motherlode.sim.runner import ORACLE, Trial, WebSpec, open_web, run_trial
from results import record, table

WEB = "synthetic:1000000"
REQUESTS = 300_000
FLOORS = {"bfs": 10_000, "bandit:success-rate": 3_000}
"""Required pages per second."""
MAX_MEGABYTES = 4096
POLICIES = ("bfs", "dfs", "random", "bandit:success-rate")
"""Simple orders and one bandit, because the simulator is measured and not the learners."""
MAX_SECONDS = 300
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def measure(policy: str, requests: int) -> dict[str, float]:
    """Measure one policy in this process."""
    spec = WebSpec(web=WEB)
    trial = Trial(policy=policy, seed=0, pages=requests, seeds=tuple(open_web(spec).home_pages()))
    began = time.process_time()
    result = run_trial(spec, trial)
    return {
        "requests": result.fetched,
        "known": result.known_urls,
        "harvest": result.harvest_rate,
        "cpu": time.process_time() - began,
        "wall": result.wall_seconds,
        "select_us": result.select_us_mean,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def synthetic(requests: int) -> tuple[str, bool]:
    rows, good = [], True
    for policy, floor in FLOORS.items():
        command = [sys.executable, __file__, "--one", policy, "--requests", str(requests)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        speed = found["requests"] / found["cpu"]
        good = good and speed >= floor and found["megabytes"] < MAX_MEGABYTES
        rows.append(
            (
                policy,
                f"{found['requests']:,}",
                f"{found['known']:,}",
                f"{found['harvest']:.3f}",
                f"{speed:,.0f}",
                f"{found['requests'] / found['wall']:,.0f}",
                f"{floor:,}",
                f"{found['select_us']:.1f}",
                f"{found['megabytes']:,.0f}",
            )
        )
    heads = ("policy", "requests", "known URLs", "harvest", "pages/s (CPU)", "pages/s (wall)", "floor", "pick µs", "MB")
    return table(heads, rows), good


def recorded() -> tuple[str, bool]:
    """Measure `record` and `simulate` with all policies on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        trace, out = Path(folder) / "trace", Path(folder) / "out"
        began = time.perf_counter()
        _run("record", str(CORPUS / "sites.warc.gz"), "-o", str(trace))
        after_record = time.perf_counter()
        policies = [word for name in (*POLICIES, ORACLE) for word in ("--policy", name)]
        seeds = ["--seeds", str(CORPUS / "seeds.txt")]
        _run("simulate", str(trace), *seeds, "--share", "0.12", "--repeat", "5", *policies, "-o", str(out))
        ended = time.perf_counter()
    rows = [
        ("record", f"{after_record - began:.1f}", 60),
        (f"simulate: {len(POLICIES) + 1} policies, 5 repetitions", f"{ended - after_record:.1f}", MAX_SECONDS),
    ]
    return table(("what", "seconds", "at most"), rows), ended - began < MAX_SECONDS


def _run(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "motherlode", *words], check=True, capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--one", metavar="POLICY", help="measure one policy in this process and print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.requests)))
        return 0
    fast, fast_enough = synthetic(options.requests)
    parts = ["## Simulation", f"`{WEB}`, one core of {os.cpu_count()}, seeds: every host's home page.", fast]
    soon_enough = True
    if CORPUS.exists():
        corpus, soon_enough = recorded()
        parts += ["The recorded web of ../shared/corpus, `--share 0.12 --repeat 5`, all cores.", corpus]
    print(record("simulate", "\n\n".join(parts)).read_text())
    return 0 if fast_enough and soon_enough else 1


if __name__ == "__main__":
    sys.exit(main())
