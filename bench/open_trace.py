"""CPU time and peak memory of opening a trace, and its size: `python bench/open_trace.py TRACE [TARGET]`."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from motherlode.policies import target_from
from motherlode.sim.trace.trace_web import TraceWeb


def main() -> None:
    """Print one line for a trace."""
    folder, target = Path(sys.argv[1]), target_from(sys.argv[2] if len(sys.argv) > 2 else "any")
    began = time.process_time()
    web = TraceWeb(folder, target, dead=1.0)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"{web.page_count:,} pages: {seconds:.2f} s of CPU, {peak:.0f} MB of memory, {size:.1f} MB on disk")


if __name__ == "__main__":
    main()
