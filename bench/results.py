"""Where benchmarks leave what they measured: one section of Markdown each, joined into bench/RESULTS.md later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / "results"


def record(name: str, markdown: str) -> Path:
    """Writes bench/results/NAME.md."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.md"
    path.write_text(markdown.rstrip() + "\n")
    return path


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others are numbers.

    >>> print(table(("what", "pages/s"), [("ours", 12)]))
    | what | pages/s |
    |---|--:|
    | ours | 12 |
    """
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines.extend(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)
    return "\n".join(lines)
