"""Run a command several times beside busy loops: `python -m tools.busy --loops 2 --times 3 -- make unit`.

Tests must pass on a busy machine. The loops run at normal priority and end with this process. The exit code is that of
the first run that fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from multiprocessing import Process


def _spin() -> None:
    while True:
        pass


def main() -> int:
    """Start the loops, run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=2, help="number of busy processes (default: 2)")
    parser.add_argument("--times", type=int, default=3, help="number of runs (default: 3)")
    parser.add_argument("command", nargs="+", help="the command to run, after --")
    options = parser.parse_args()
    loops = [Process(target=_spin, daemon=True) for _ in range(options.loops)]
    for loop in loops:
        loop.start()
    for number in range(1, options.times + 1):
        print(f"busy run {number} of {options.times}", flush=True)
        code = subprocess.run(options.command, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
