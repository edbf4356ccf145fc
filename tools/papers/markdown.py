"""Markdown tables, claims and hand-written notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

NOTES = Path(__file__).parent / "notes"
MISSING = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers.

    >>> print(table(("what", "share"), [("ours", number(0.51234))]))
    | what | share |
    |---|--:|
    | ours | 0.512 |
    """
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines.extend(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)
    return "\n".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    return MISSING if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return MISSING if value is None else f"{100 * value:.1f} %"


Holds = Callable[[Mapping[str, float]], bool]
"""A claim as a predicate over the figures of a web."""


def claims(found: Iterable[tuple[str, Mapping[str, bool]]]) -> str:
    """Return the claims of a paper with the webs on which they hold.

    >>> print(claims([("a beats b", {"recorded": True, "synthetic": False})]))
    - a beats b: holds on recorded; **does not** on synthetic
    """
    lines = []
    for claim, where in found:
        yes = [web for web, holds in where.items() if holds]
        no = [web for web, holds in where.items() if not holds]
        parts = [f"holds on {' and '.join(yes)}"] if yes else []
        parts += [f"**does not** on {' and '.join(no)}"] if no else []
        lines.append(f"- {claim}: {'; '.join(parts)}")
    return "\n".join(lines)


def agreement(published: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """Return how many pairs of the published order are in the same order here, with Kendall's τ.

    τ is 1 for the same order, 0 for no agreement and -1 for the opposite order.

    >>> agreement({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2})
    '2 of 3 pairs (τ = 0.33)'
    """
    pairs = [(a, b) for a, b in combinations(published, 2) if published[a] != published[b]]
    same = sum((published[a] > published[b]) == (ours[a] > ours[b]) and ours[a] != ours[b] for a, b in pairs)
    tied = sum(ours[a] == ours[b] for a, b in pairs)
    tau = (2 * same + tied - len(pairs)) / max(1, len(pairs))
    return f"{same} of {len(pairs)} pairs (τ = {tau:.2f})"


def note(name: str) -> str:
    """Return a hand-written note, or an empty string if it does not exist."""
    path = NOTES / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def section(title: str, *parts: str) -> str:
    return "\n\n".join([title, *(part for part in parts if part)])
