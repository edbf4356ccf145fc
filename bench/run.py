"""Run all benchmarks one after the other, and join their results to bench/RESULTS.md with date and machine.

python bench/run.py [NAME...]    run only these; the sections of the others stay as they are
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from results import machine, today

FOLDER = Path(__file__).parent
ORDER = (
    *("extract", "extruct_dropin", "scrapy", "simulate", "frontier"),
    *("select", "index", "crawl", "live", "cluster", "merge", "month"),
)
"""The order of the sections; a benchmark is bench/NAME.py and writes bench/results/NAME.md."""


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - set(ORDER))
    if unknown:
        print(f"unknown benchmark: {', '.join(unknown)}; known: {', '.join(ORDER)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or ORDER:
        if not (FOLDER / f"{name}.py").exists():
            continue
        print(f"── {name}", flush=True)
        began = time.perf_counter()
        if subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], check=False).returncode:
            failed.append(name)
        print(f"   {time.perf_counter() - began:.0f} s", flush=True)
    write()
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


def write() -> None:
    sections = [path.read_text() for name in ORDER if (path := FOLDER / "results" / f"{name}.md").exists()]
    head = (
        f"# Benchmarks\n\nWritten by `make bench` on {today()}, {machine()}. Each section says when it was measured.\n"
    )
    note = (
        "Both sides of every ratio were measured in the same run. The machine is shared, so ratios are more reliable "
        "than times.\n"
    )
    (FOLDER / "RESULTS.md").write_text("\n".join([head, note, *sections]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
