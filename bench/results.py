"""Write the results of benchmarks: one Markdown section each, which bench/run.py joins to bench/RESULTS.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent / "results"


def record(name: str, markdown: str) -> Path:
    """Write bench/results/NAME.md with date and machine at its end."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.md"
    path.write_text(f"{markdown.rstrip()}\n\n*Measured on {today()}, {machine()}.*\n")
    return path


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers.

    >>> print(table(("what", "pages/s"), [("ours", 12)]))
    | what | pages/s |
    |---|--:|
    | ours | 12 |
    """
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines.extend(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)
    return "\n".join(lines)


def today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )
