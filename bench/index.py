"""The index with five million quads: log, indexer, queries during and after indexing, and the speed of peers.

    python bench/index.py [--quads 5000000] [--peers 500000] [--engines 5000000] [--asked 300]

The pages are variants of the pages of ../shared/corpus (bench/varied_pages.py). They are written to the log as in a
crawl, 20,000 quads at a time. Generating them is not measured. Then the indexer fills the store, with provenance and
union, and the word index. While it works, another process repeatedly opens the store and runs a point query (all
statements about one thing), a star join (two literals of all things that have a property) and a search for two words of
one literal, all of random pages. Every step has a process of its own; memory is the resident peak of that process.
Costs are CPU time, including the threads of the libraries. The peers get the first quads of the same: rdflib's Dataset
in memory and SQLite with one table and three indexes, whose quads are already split into terms, --peers; pyoxigraph's
`extend` and `bulk_extend` and the command `oxigraph load`, which store neither union nor provenance, --engines.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from generated_pages import batches
from motherlode.index.indexer import Indexer, IndexPaths
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import PageRecord, parse_quads
from motherlode.index.quad_store import QuadStore, store_bytes
from results import record, table
from varied_pages import VariedPages

POINT = "SELECT ?p ?o { %s ?p ?o }"
STAR = "SELECT ?s ?a ?b { ?s %s %s ; %s ?a ; %s ?b }"
Costs = dict[str, list[tuple[float, float]]]
"""Seconds of time and of CPU of each query."""


def varied_batches(quads: int) -> Iterator[list[PageRecord]]:
    return batches(VariedPages().pages(quads))


# ── steps ────────────────────────────────────────────────────────────────────────────────────────────


def write_log(folder: Path, quads: int) -> dict[str, float]:
    """Write pages to a log; return its cost."""
    log = NQuadsLog(folder / "quads")
    written = count = 0
    spent = 0.0
    for batch in varied_batches(quads):
        began = time.process_time()
        log.write(batch)
        spent += time.process_time() - began
        written += sum(page.quads for page in batch)
        count += len(batch)
    log.close()
    return {"quads": written, "pages": count, "cpu": spent, "disk": store_bytes(folder / "quads")}


def fill(folder: Path, pages: int) -> dict[str, float]:
    """Index the log; return CPU time, memory and disk usage. `written` has the number of pages that are indexed."""
    paths = IndexPaths(folder / "quads", folder / "store", folder / "words")

    def progress(done: int, total: int) -> None:
        (folder / "written").write_text(str(max(1, pages * done // total)))

    began, at = time.process_time(), time.perf_counter()
    indexer = Indexer(paths)
    indexer.index(progress=progress)
    indexer.close()
    return {
        "cpu": time.process_time() - began,
        "seconds": time.perf_counter() - at,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "disk": store_bytes(paths.store),
        "word_disk": store_bytes(folder / "words"),
    }


def ask(folder: Path, asked: int, most: int, until: Callable[[], bool]) -> tuple[Costs, list[float]]:
    """Open, query and close the store repeatedly; return the costs of each query and the seconds of each opening."""
    from motherlode.index.fulltext import Search, WordSearcher

    dice, made = random.Random(80), VariedPages()
    found: Costs = {"point query": [], "star join": [], "keyword search": []}
    opened: list[float] = []
    while not until():
        at = time.perf_counter()
        store, searcher = QuadStore(folder / "store", read_only=True), WordSearcher(folder / "words")
        opened.append(time.perf_counter() - at)
        newest = max(1, int((folder / "written").read_text() or 1))
        for _ in range(asked):
            thing, star, words = made.question(dice, newest - 1)
            jobs = (
                partial(store.query, POINT % thing),
                partial(store.query, STAR % star),
                partial(searcher.search, Search(words=words)),
            )
            for name, work in zip(found, jobs, strict=True):
                before, cpu = time.perf_counter(), time.process_time()
                list(work())
                found[name].append((time.perf_counter() - before, time.process_time() - cpu))
        store.close()
        if len(opened) >= most:
            break
    return found, opened


# ── peers ────────────────────────────────────────────────────────────────────────────────────────────


def compare(folder: Path, quads: int, asked: int) -> dict[str, dict[str, float]]:
    """Measure inserts, point queries and star joins of our store, SQLite and rdflib with the same quads."""
    made = list(varied_batches(quads))
    count = sum(page.quads for batch in made for page in batch)
    dice, made_by = random.Random(80), VariedPages()
    questions = [made_by.question(dice, sum(map(len, made)) - 1)[:2] for _ in range(asked)]
    outcome = {}
    for name, prepare in (("ours", _ours), ("SQLite", _sqlite), ("rdflib", _rdflib)):
        load, point, star = prepare(folder, made)
        began = time.process_time()
        load()
        cpu = time.process_time() - began
        answers = [_timed(point, thing) for thing, _ in questions], [_timed(star, terms) for _, terms in questions]
        outcome[name] = {
            "quads/s": count / cpu,
            "point": middle([seconds for seconds, _ in answers[0]]),
            "star": middle([seconds for seconds, _ in answers[1]]),
            "rows": sum(rows for part in answers for _, rows in part),
        }
    if len({found["rows"] for found in outcome.values()}) != 1:
        raise SystemExit(f"the stores returned different numbers of rows: {outcome}")
    return outcome


def load_engines(folder: Path, quads: int) -> dict[str, float]:
    """Return the CPU seconds in which the engine below our store loads the same quads, without union and provenance."""
    spent: dict[str, float] = {}
    file = folder / "engines.nq"
    with file.open("wb") as out:
        for name in ("extend", "bulk_extend"):
            store = ox.Store(str(folder / name))
            spent[f"pyoxigraph `{name}`"] = 0.0
            for batch in varied_batches(quads):
                text = b"".join(page.graph_quads for page in batch)
                began = time.process_time()
                getattr(store, name)(parse_quads(text))
                spent[f"pyoxigraph `{name}`"] += time.process_time() - began
                if name == "extend":
                    out.write(text)
            began = time.process_time()
            store.flush()
            spent[f"pyoxigraph `{name}`"] += time.process_time() - began
            del store
            shutil.rmtree(folder / name)
    command = [str(Path(sys.executable).with_name("oxigraph")), "load", "--location", str(folder / "load"), "--lenient"]
    subprocess.run([*command, "--file", str(file)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent["`oxigraph load`"] = used.ru_utime + used.ru_stime
    return spent


def _timed(work: Callable[[Any], int], asked: object) -> tuple[float, int]:
    """Return the seconds and the number of rows of a query."""
    at = time.perf_counter()
    rows = work(asked)
    return time.perf_counter() - at, rows


Terms = tuple[str, str, str, str]
Peer = tuple[Callable[[], None], Callable[[str], int], Callable[[Terms], int]]


def _ours(folder: Path, made: list[list[PageRecord]]) -> Peer:
    store = QuadStore(folder / "ours")

    def load() -> None:
        for batch in made:
            store.write(batch)
        store.flush()

    return load, lambda name: len(list(store.query(POINT % name))), lambda star: len(list(store.query(STAR % star)))


def _sqlite(folder: Path, made: list[list[PageRecord]]) -> Peer:
    base = sqlite3.connect(folder / "peer.sqlite")
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE quads (s TEXT, p TEXT, o TEXT, g TEXT, PRIMARY KEY (s, p, o, g)) WITHOUT ROWID")
    base.execute("CREATE INDEX posg ON quads (p, o, s, g)")
    base.execute("CREATE INDEX gspo ON quads (g, s, p, o)")
    pages = [parse_quads(page.graph_quads) for batch in made for page in batch]
    rows = [[(str(q.subject), str(q.predicate), str(q.object), str(q.graph_name)) for q in page] for page in pages]

    def load() -> None:
        for start in range(0, len(rows), 250):
            with base:
                group = [row for page in rows[start : start + 250] for row in page]
                base.executemany("INSERT OR IGNORE INTO quads VALUES (?, ?, ?, ?)", group)

    star = """SELECT DISTINCT a.s, b.o, c.o FROM quads a JOIN quads b ON b.s = a.s AND b.p = ? JOIN quads c ON c.s = a.s
        AND c.p = ? WHERE a.p = ? AND a.o = ?"""
    return (
        load,
        lambda name: len(base.execute("SELECT DISTINCT p, o FROM quads WHERE s = ?", (name,)).fetchall()),
        lambda terms: len(base.execute(star, (terms[2], terms[3], terms[0], terms[1])).fetchall()),
    )


def _rdflib(folder: Path, made: list[list[PageRecord]]) -> Peer:
    import rdflib

    data = rdflib.Dataset(default_union=True)
    named = [b"".join(page.graph_quads for page in batch).decode() for batch in made]

    def load() -> None:
        for text in named:
            data.parse(data=text, format="nquads")

    return load, lambda name: len(list(data.query(POINT % name))), lambda star: len(list(data.query(STAR % star)))


# ── main program ────────────────────────────────────────────────────────────────────────────────────────


def middle(values: list[float], share: float = 0.5) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def step(name: str, folder: Path, *numbers: int) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--step", name, "--folder", str(folder), *map(str, numbers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> dict[str, object]:
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a step failed with {process.returncode}")
    found: dict[str, object] = json.loads(output)
    return found


def run_step(name: str, folder: Path, numbers: list[int]) -> object:
    if name == "log":
        return write_log(folder, numbers[0])
    if name == "index":
        return fill(folder, numbers[0])
    if name == "engines":
        return load_engines(folder, numbers[0])
    if name == "compare":
        return compare(folder, numbers[0], numbers[1])
    while not (folder / "written").exists():
        time.sleep(0.2)
    found, opened = ask(folder, numbers[0], numbers[1], lambda: (folder / "stop").exists())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "latencies": {name: [seconds for seconds, _ in each] for name, each in found.items()},
        "cpu": {name: [cpu for _, cpu in each] for name, each in found.items()},
        "opened": opened,
        "peak": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quads", type=int, default=5_000_000)
    parser.add_argument("--peers", type=int, default=500_000)
    parser.add_argument("--engines", type=int, default=5_000_000)
    parser.add_argument("--asked", type=int, default=300)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", default="", help=argparse.SUPPRESS)
    parser.add_argument("numbers", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        json.dump(run_step(given.step, given.folder, given.numbers), sys.stdout)
        return
    with tempfile.TemporaryDirectory(prefix="bench-index-", dir=given.folder) as name:
        measure(Path(name), given.quads, given.peers, given.engines, given.asked)


def measure(folder: Path, quads: int, peers: int, loaded: int, asked: int) -> None:
    logged = answer(step("log", folder, quads))
    reading = step("ask", folder, 20, 10**6)
    indexed = answer(step("index", folder, int(str(logged["pages"]))))
    (folder / "stop").touch()
    during = answer(reading)
    (folder / "stop").unlink()
    after = answer(step("ask", folder, asked, 1))
    shutil.rmtree(folder / "store")
    others = answer(step("compare", folder, peers, asked))
    engines = answer(step("engines", folder, loaded))
    text = report(logged, indexed, during, after, others, engines, peers, loaded)
    print(text)
    print(f"→ {record('index', text)}")


def report(
    logged: dict, indexed: dict, during: dict, after: dict, others: dict, engines: dict, peers: int, loaded: int
) -> str:  # type: ignore[type-arg]
    count = logged["quads"]
    disk = [logged["disk"], indexed["disk"], indexed["word_disk"]]
    lines = [
        f"## Index: {count / 1e6:.1f} million quads\n",
        f"{logged['pages']:,} pages, variants of those of ../shared/corpus, with provenance and the words of "
        "their literals. Figures are per statement of a page; provenance is not counted.\n",
        table(
            ("writing", "figure"),
            [
                ("log: CPU per quad", f"{1e6 * logged['cpu'] / count:.1f} µs"),
                ("indexing, with union, provenance, words: CPU per quad", f"{1e6 * indexed['cpu'] / count:.1f} µs"),
                ("indexing: quads per second", f"{count / indexed['seconds']:,.0f}"),
                ("peak memory of the indexer", f"{indexed['peak'] / 1e6:,.0f} MB"),
                ("disk per quad: log, store, words", " + ".join(f"{size / count:.0f}" for size in disk) + " bytes"),
            ],
        ),
        "",
        table(
            ("query, ms", "p50 while indexing", "p95", "p50 after", "p95", "CPU after, p50", "p95"),
            [
                (
                    name,
                    *(
                        f"{1e3 * middle(latencies[name], share):.2f}"
                        for latencies in (during["latencies"], after["latencies"], after["cpu"])
                        for share in (0.5, 0.95)
                    ),
                )
                for name in during["latencies"]
            ],
        ),
        "",
        f"The reader opened the store {len(during['opened'])} times while it was filled, in "
        f"{1e3 * middle(during['opened']):.0f} ms (p95 {1e3 * middle(during['opened'], 0.95):.0f}), and took at most "
        f"{during['peak'] / 1e6:,.0f} MB. A search finds the words up to the last flush of the indexer, and nothing "
        "before the first one.\n",
        table(
            (f"{peers:,} quads", "quads per CPU second", "ratio", "point query, µs", "ratio", "star join, µs", "ratio"),
            [_row(name, found, others["ours"]) for name, found in others.items()],
        ),
        "",
        "A ratio above 1 means that our store is better by this factor. All three returned the same number of rows. "
        "SQLite stores neither union nor provenance, gets split quads and prepared queries; rdflib keeps everything in "
        "memory.\n",
        table(
            (f"{loaded:,} quads, without union, provenance and words", "CPU per quad, µs"),
            [(name, f"{1e6 * seconds / loaded:.1f}") for name, seconds in engines.items()],
        ),
    ]
    return "\n".join(lines)


def _row(name: str, found: dict[str, float], ours: dict[str, float]) -> tuple[str, ...]:
    return (
        name,
        f"{found['quads/s']:,.0f}",
        f"{ours['quads/s'] / found['quads/s']:.1f}",
        *(text for key in ("point", "star") for text in (f"{1e6 * found[key]:,.0f}", f"{found[key] / ours[key]:.1f}")),
    )


if __name__ == "__main__":
    main()
