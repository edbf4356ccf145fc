"""Run all benchmarks one after the other, and join their results to bench/RESULTS.md.

    python bench/run.py [NAME...]    run only these; the sections of the others stay as they are
    python bench/run.py --join       run none, only join the results

While a benchmark runs, the CPU that all other processes use is measured. If it is above 0.1 cores, the benchmark runs
once more, and if it is still above, the section says so.
"""

from __future__ import annotations

import sys
from pathlib import Path

from quiet import Run, run

FOLDER = Path(__file__).parent
ORDER = (
    *("extract", "extruct_dropin", "scrapy", "simulate", "frontier"),
    *("select", "index", "serve", "crawl", "live", "cluster", "merge", "month"),
)
"""The order of the sections; a benchmark is bench/NAME.py and writes bench/results/NAME.md."""


def main(names: list[str]) -> int:
    if names == ["--join"]:
        write()
        return 0
    unknown = sorted(set(names) - set(ORDER))
    if unknown:
        print(f"unknown benchmark: {', '.join(unknown)}; known: {', '.join(ORDER)}", file=sys.stderr)
        return 2
    failed = []
    for name in names or ORDER:
        if not (FOLDER / f"{name}.py").exists():
            continue
        print(f"── {name}", flush=True)
        done = measure(name)
        if done.exit_code:
            failed.append(name)
    write()
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


def measure(name: str) -> Run:
    """Run a benchmark, once more if the machine was not quiet, and mark its section if it was not quiet then either."""
    for attempt in (1, 2):
        done = run([sys.executable, str(FOLDER / f"{name}.py")])
        print(f"   {done.seconds:.0f} s; other processes used {done.cores_of_others:.2f} cores", flush=True)
        if done.was_quiet or done.exit_code:
            return done
        if attempt == 1:
            print("   not a quiet machine: measured once more", flush=True)
    section = FOLDER / "results" / f"{name}.md"
    mark = f"**Not a quiet machine**: other processes used {done.cores_of_others:.2f} cores meanwhile.\n"
    section.write_text(f"{section.read_text()}\n{mark}")
    return done


HEAD = """# Benchmarks

Written by `make bench` from the files in `bench/results`. Each section says when and on which machine it was measured.

Both sides of every ratio were measured in the same run. A section that was measured beside other work says so.
"""


def join() -> str:
    """Return all results as one document."""
    sections = (path.read_text() for name in ORDER if (path := FOLDER / "results" / f"{name}.md").exists())
    return "\n".join([HEAD, *sections])


def write() -> None:
    (FOLDER / "RESULTS.md").write_text(join())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
