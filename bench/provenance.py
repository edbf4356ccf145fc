"""Measure CPU time and bytes of the store per page and per URL, with and without response headers.

    python bench/provenance.py [PAGES]

All variants run in one process, three times each in turn; the best counts. Ratios are to pages without headers.
The bytes are those after the files are merged, without those of an empty store.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from motherlode.index.page_record import PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore, store_bytes

_STATEMENTS = 10
_BATCH = 200
_ROUNDS = 3


def default_headers(number: int) -> str:
    """Return headers of the default selection, about as long as on the web."""
    times = (
        f"date: Wed, 18 Nov 2026 08:00:{number % 60:02d} GMT\nlast-modified: Tue, 17 Nov 2026 10:{number % 60:02d}:00"
    )
    return (
        f'cache-control: max-age=3600\ncontent-encoding: gzip\ncontent-length: {number}\netag: "5f3c-{number}"\n'
        f"{times} GMT\nserver: nginx/1.24.0\nvary: Accept-Encoding"
    )


def all_headers(number: int) -> str:
    """Return the default headers and others that servers often send."""
    return (
        f"{default_headers(number)}\nconnection: keep-alive\nx-frame-options: SAMEORIGIN\nx-cache: HIT\nage: 120\n"
        "strict-transport-security: max-age=31536000; includeSubDomains\nx-content-type-options: nosniff\n"
        "content-security-policy: default-src 'self'; img-src * data:; style-src 'self' 'unsafe-inline'\n"
        f"set-cookie: session={number * 7919:032x}; path=/; HttpOnly\nx-request-id: {number * 104729:032x}"
    )


def page(number: int, headers: str) -> PageRecord:
    url = f"http://host{number % 100}.example/path/to/page-{number}"
    lines = [f'<{url}> <http://schema.org/p{key}> "value {number} {key}"' for key in range(_STATEMENTS)]
    return PageRecord(
        url=url,
        fetched_at=1e9 + number,
        status=200,
        graph_quads="".join(f"{line} <{url}> .\n" for line in lines).encode(),
        quads=_STATEMENTS,
        media_type="text/html",
        kind="html",
        syntaxes=("jsonld",),
        content_hash=f"sha256:{number:064x}",
        size=number,
        referrer=f"http://host{number % 100}.example/",
        headers=headers,
    )


def other(number: int, state: str, reason: str, headers: str = "") -> PageRecord:
    """Return the record of a URL without a page."""
    return PageRecord(
        url=f"http://host{number % 100}.example/path/to/other-{number}",
        fetched_at=1e9 + number,
        status=404 if state == "failed" else None,
        state=state,
        reason=reason,
        headers=headers,
        referrer=f"http://host{number % 100}.example/path/to/page-{number // 10}",
    )


def requested(number: int) -> PageRecord:
    """Return a page with the result of its request: relevance, score and time."""
    made = page(number, default_headers(number))
    return replace(made, is_relevant=number % 2 == 0, score=number / 7, seconds=number % 1_000 / 1_000)


VARIANTS: dict[str, Callable[[int], PageRecord]] = {
    "page without headers": lambda number: page(number, ""),
    "page, default headers": lambda number: page(number, default_headers(number)),
    "page, default headers, relevance, score and time": requested,
    "page, all headers": lambda number: page(number, all_headers(number)),
    "failed URL": lambda number: other(number, "failed", "not-found", default_headers(number)),
    "refused URL": lambda number: other(number, "refused", "robots"),
    "waiting URL": lambda number: other(number, "waiting", ""),
}


def measure(records: list[PageRecord]) -> tuple[float, int]:
    """Write records to a new store. Return the CPU seconds and the bytes on disk."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = QuadStore(Path(folder) / "store")
        store.begin(RunRecord(identifier="run", started_at=0.0, version="0"))
        began = time.process_time()
        for start in range(0, len(records), _BATCH):
            store.write(records[start : start + _BATCH])
        store.flush()
        seconds = time.process_time() - began
        store._store.optimize()  # merges the files, as RocksDB does in time
        store.backup(Path(folder) / "copy")  # has no files that are about to be removed
        store.close()
        return seconds, store_bytes(Path(folder) / "copy")


def main(pages: int) -> None:
    records = {name: [make(number) for number in range(pages)] for name, make in VARIANTS.items()}
    best: dict[str, tuple[float, int]] = {}
    for _ in range(_ROUNDS):
        for name, given in records.items():
            best[name] = min(measure(given), best.get(name, (float("inf"), 0)))
    empty = measure([])[1]
    best = {name: (seconds, size - empty) for name, (seconds, size) in best.items()}
    base = best["page without headers"]
    for name, (seconds, size) in best.items():
        ratios = f"{seconds / base[0]:.2f} {size / base[1]:.2f}"
        print(f"{name:22} {seconds / pages * 1e6:6.0f} µs {size / pages:6.0f} B   ratios {ratios}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
