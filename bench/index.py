"""The index with five million quads: log, indexer, queries during and after indexing, and the speed of peers.

    python bench/index.py [--quads 5000000] [--peers 500000] [--asked 300]

A generated web has pages of 5 to 200 quads: things with a type, a name, a description, a price, a brand and a link;
four in ten are blank nodes. Pages are written to the log as in a crawl, 20,000 quads at a time. Generating them is not
measured. Then the indexer fills the store, with provenance and union, and the word index. While it works, another
process repeatedly opens the store and runs a point query (all statements about one thing), a star join (name and price
of all things of a brand) and a search for two words. Every step has a process of its own; memory is the resident peak
of that process. Costs are CPU time, including the threads of the libraries. The peers get fewer of the same quads:
rdflib's Dataset in memory; SQLite with one table and three indexes, whose quads are already split into terms;
pyoxigraph's `extend` and `bulk_extend` and the command `oxigraph load`, which store neither union nor provenance.
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
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from motherlode.index.indexer import Indexer, IndexPaths
from motherlode.index.nquads_log import NQuadsLog
from motherlode.index.page_record import PageRecord, parse_quads, serialize_page
from motherlode.index.quad_store import QuadStore, store_bytes
from motherlode.model import Extraction, Statement, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE, XSD
from results import record, table

BATCH = 20_000
WORDS = tuple(
    "open data annual report water quality station museum history garden river market price review kitchen travel "  # noqa: SIM905
    "guide music summer winter city house paper table energy school family health road bridge island".split()
)
KINDS = ("Product", "Person", "Event", "Recipe", "Offer", "Organization")
SCHEMA = "http://schema.org/"
HOSTS, BRANDS = 997, 20
POINT = "SELECT ?p ?o { <%s> ?p ?o }"
STAR = f"SELECT ?s ?name ?price {{ ?s <{SCHEMA}brand> <%s> ; <{SCHEMA}name> ?name ; <{SCHEMA}price> ?price }}"
Latencies = dict[str, list[float]]


def host(number: int) -> str:
    return f"https://www.{WORDS[number % len(WORDS)]}-{number % HOSTS}.example"


def url(number: int) -> str:
    return f"{host(number)}/{WORDS[number % 7]}/{WORDS[number % 31]}-{number}.html"


def brand(number: int, which: int) -> str:
    return f"{host(number)}/brand/{which}"


def statements(number: int, dice: random.Random) -> list[Statement]:
    """Return the statements of a page: 5 to 200, few on most pages."""
    size = dice.randint(5, 200) if dice.random() < 0.25 else dice.randint(5, 40)
    found: list[Statement] = []
    for thing in range(size // 6 + 1):
        name = f"<{url(number)}#{thing}>" if thing % 5 < 3 else f"_:n{number:x}t{thing}"
        found += [
            (name, RDF_TYPE, f"<{SCHEMA}{dice.choice(KINDS)}>", ""),
            (name, f"<{SCHEMA}name>", f'"{" ".join(dice.choices(WORDS, k=3))} {number}"@en', ""),
            (name, f"<{SCHEMA}description>", f'"{" ".join(dice.choices(WORDS, k=20))}"', ""),
            (name, f"<{SCHEMA}price>", f'"{dice.randint(1, 2000)}"^^<{XSD}integer>', ""),
            (name, f"<{SCHEMA}brand>", f"<{brand(number, dice.randint(1, BRANDS))}>", ""),
            (name, f"<{SCHEMA}url>", f"<{host(number)}/item/{dice.randint(1, 10**6)}>", ""),
        ]
    return found[:size]


def pages(quads: int) -> Iterator[PageRecord]:
    """Yield pages with this many quads in total."""
    dice, made, number = random.Random(8), 0, 0
    while made < quads:
        number += 1
        said = TransformResult(
            extractions=(Extraction(syntax=Syntax.JSON_LD, statements=tuple(statements(number, dice))),)
        )
        graph_quads, count, graphs = serialize_page(url(number), said)
        made += count
        yield PageRecord(
            url=url(number),
            fetched_at=1.7e9 + number,
            status=200,
            graph_quads=graph_quads,
            quads=count,
            graphs=graphs,
            media_type="text/html; charset=utf-8",
            kind="html",
            syntaxes=("jsonld",),
            content_hash=f"sha256:{number:064x}",
            size=40 * len(graph_quads),
            referrer=url(number // 2 + 1),
        )


def batches(quads: int) -> Iterator[list[PageRecord]]:
    waiting: list[PageRecord] = []
    count = 0
    for page in pages(quads):
        waiting.append(page)
        count += page.quads
        if count >= BATCH:
            yield waiting
            waiting, count = [], 0
    if waiting:
        yield waiting


# ── steps ────────────────────────────────────────────────────────────────────────────────────────────


def write_log(folder: Path, quads: int) -> dict[str, float]:
    """Write pages to a log; return its cost."""
    log = NQuadsLog(folder / "quads")
    written = count = 0
    spent = 0.0
    for batch in batches(quads):
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


def ask(folder: Path, asked: int, most: int, until: Callable[[], bool]) -> tuple[Latencies, list[float]]:
    """Open, query and close the store repeatedly; return the seconds of each query and of each opening."""
    from motherlode.index.fulltext import Search, WordSearcher

    dice = random.Random(80)
    found: Latencies = {"point query": [], "star join": [], "keyword search": []}
    opened: list[float] = []
    while not until():
        at = time.perf_counter()
        store, searcher = QuadStore(folder / "store", read_only=True), WordSearcher(folder / "words")
        opened.append(time.perf_counter() - at)
        newest = max(1, int((folder / "written").read_text() or 1))
        for _ in range(asked):
            number = dice.randint(1, newest)
            thing, maker = f"{url(number)}#0", brand(number, dice.randint(1, BRANDS))
            two = " ".join(dice.sample(WORDS, 2))
            found["point query"].append(_timed(lambda s, thing=thing: len(list(s.query(POINT % thing))), store)[0])
            found["star join"].append(_timed(lambda s, maker=maker: len(list(s.query(STAR % maker))), store)[0])
            found["keyword search"].append(_timed(lambda s, two=two: len(s.search(Search(words=two))), searcher)[0])
        store.close()
        if len(opened) >= most:
            break
    return found, opened


# ── peers ────────────────────────────────────────────────────────────────────────────────────────────


def compare(folder: Path, quads: int, asked: int) -> dict[str, dict[str, float]]:
    """Measure inserts, point queries and star joins of our store, SQLite and rdflib with the same quads."""
    made = list(batches(quads))
    count = sum(page.quads for batch in made for page in batch)
    dice = random.Random(80)
    numbers = [dice.randint(1, sum(map(len, made))) for _ in range(asked)]
    things = [f"{url(number)}#0" for number in numbers]
    makers = [brand(number, dice.randint(1, BRANDS)) for number in numbers]
    outcome = {}
    for name, prepare in (("ours", _ours), ("SQLite", _sqlite), ("rdflib", _rdflib)):
        load, point, star = prepare(folder, made)
        began = time.process_time()
        load()
        cpu = time.process_time() - began
        answers = [_timed(point, thing) for thing in things], [_timed(star, maker) for maker in makers]
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
    lines = [b"".join(page.graph_quads for page in batch) for batch in batches(quads)]
    spent: dict[str, float] = {}
    for name in ("extend", "bulk_extend"):
        store = ox.Store(str(folder / name))
        began = time.process_time()
        for text in lines:
            getattr(store, name)(parse_quads(text))
        store.flush()
        spent[f"pyoxigraph `{name}`"] = time.process_time() - began
    file = folder / "engines.nq"
    file.write_bytes(b"".join(lines))
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


Peer = tuple[Callable[[], None], Callable[[str], int], Callable[[str], int]]


def _ours(folder: Path, made: list[list[PageRecord]]) -> Peer:
    store = QuadStore(folder / "ours")

    def load() -> None:
        for batch in made:
            store.write(batch)
        store.flush()

    return load, lambda name: len(list(store.query(POINT % name))), lambda name: len(list(store.query(STAR % name)))


def _sqlite(folder: Path, made: list[list[PageRecord]]) -> Peer:
    base = sqlite3.connect(folder / "peer.sqlite")
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("CREATE TABLE quads (s TEXT, p TEXT, o TEXT, g TEXT, PRIMARY KEY (s, p, o, g)) WITHOUT ROWID")
    base.execute("CREATE INDEX posg ON quads (p, o, s, g)")
    base.execute("CREATE INDEX gspo ON quads (g, s, p, o)")
    dice = random.Random(8)
    rows = []
    for number, page in enumerate((page for batch in made for page in batch), 1):
        rows.append([(s, p, o, page.url) for s, p, o, _ in statements(number, dice)])

    def load() -> None:
        for start in range(0, len(rows), 250):
            with base:
                group = [row for page in rows[start : start + 250] for row in page]
                base.executemany("INSERT OR IGNORE INTO quads VALUES (?, ?, ?, ?)", group)

    star = """SELECT DISTINCT a.s, b.o, c.o FROM quads a JOIN quads b ON b.s = a.s AND b.p = ? JOIN quads c ON c.s = a.s
        AND c.p = ? WHERE a.p = ? AND a.o = ?"""
    names = tuple(f"<{SCHEMA}{name}>" for name in ("name", "price", "brand"))
    return (
        load,
        lambda name: len(base.execute("SELECT DISTINCT p, o FROM quads WHERE s = ?", (f"<{name}>",)).fetchall()),
        lambda name: len(base.execute(star, (*names, f"<{name}>")).fetchall()),
    )


def _rdflib(folder: Path, made: list[list[PageRecord]]) -> Peer:
    import rdflib

    data = rdflib.Dataset(default_union=True)
    named = [b"".join(page.graph_quads for page in batch).decode() for batch in made]

    def load() -> None:
        for text in named:
            data.parse(data=text, format="nquads")

    return load, lambda name: len(list(data.query(POINT % name))), lambda name: len(list(data.query(STAR % name)))


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
    return {"latencies": found, "opened": opened, "peak": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quads", type=int, default=5_000_000)
    parser.add_argument("--peers", type=int, default=500_000)
    parser.add_argument("--asked", type=int, default=300)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--step", default="", help=argparse.SUPPRESS)
    parser.add_argument("numbers", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        json.dump(run_step(given.step, given.folder, given.numbers), sys.stdout)
        return
    with tempfile.TemporaryDirectory(prefix="bench-index-", dir=given.folder) as name:
        measure(Path(name), given.quads, given.peers, given.asked)


def measure(folder: Path, quads: int, peers: int, asked: int) -> None:
    logged = answer(step("log", folder, quads))
    reading = step("ask", folder, 20, 10**6)
    indexed = answer(step("index", folder, int(str(logged["pages"]))))
    (folder / "stop").touch()
    during = answer(reading)
    (folder / "stop").unlink()
    after = answer(step("ask", folder, asked, 1))
    shutil.rmtree(folder / "store")
    others = answer(step("compare", folder, peers, asked))
    engines = answer(step("engines", folder, peers))
    text = report(logged, indexed, during, after, others, engines, peers)
    print(text)
    print(f"→ {record('index', text)}")


def report(logged: dict, indexed: dict, during: dict, after: dict, others: dict, engines: dict, peers: int) -> str:  # type: ignore[type-arg]
    count = logged["quads"]
    disk = [logged["disk"], indexed["disk"], indexed["word_disk"]]
    lines = [
        f"## Index: {count / 1e6:.1f} million quads\n",
        f"{logged['pages']:,} pages of 5 to 200 quads, each with provenance and the words of its literals.\n",
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
            ("query, ms", "p50 while indexing", "p95", "p50 after", "p95"),
            [
                (
                    name,
                    *(
                        f"{1e3 * middle(side['latencies'][name], share):.2f}"
                        for side in (during, after)
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
            (f"{peers:,} quads, without union, provenance and words", "CPU per quad, µs"),
            [(name, f"{1e6 * seconds / peers:.1f}") for name, seconds in engines.items()],
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
