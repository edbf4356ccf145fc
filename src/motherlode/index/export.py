"""The store as a file that other tools read."""

from __future__ import annotations

from typing import BinaryIO

from motherlode.index.store import QuadStore


def export_nquads(store: QuadStore, output: BinaryIO) -> int:
    """Write every quad of the pages and of the provenance as N-Quads; how many there were."""
    count = 0
    lines: list[str] = []
    for quad in store.quads():
        lines.append(f"{quad} .\n")
        count += 1
        if len(lines) == 4096:
            output.write("".join(lines).encode())
            lines.clear()
    output.write("".join(lines).encode())
    return count
