"""Cost of merging the stores of shards, compared with querying each shard separately.

    python bench/merge.py [--quads 200000] [--shards 4]

The pages are those of bench/generated_pages.py, distributed over shards by host; pages of other hosts describe the
brands that they mention. Separate stores are queried in two ways: every shard runs the whole query, and the rows are
joined; or every shard returns the statements that match a pattern of the query, and the query runs on those. The first
way is fast and misses every row whose statements are in two shards. The best of three runs counts, and results are
compared with those of the merged store.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyoxigraph as ox

from generated_pages import BRANDS, POINT, SCHEMA, STAR, brand, host, pages
from motherlode.cluster.partitioner import owner_of_host
from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.index.quad_store import QuadStore, merge
from motherlode.model import Extraction, Syntax, TransformResult
from motherlode.www.urls import host_of
from results import record, table

ROUNDS = 3
DESCRIBED_BRANDS = 40
_NAME, _BRAND = f"<{SCHEMA}legalName>", f"<{SCHEMA}brand>"
ACROSS = f"SELECT ?s ?n {{ ?s {_BRAND} ?b . ?b {_NAME} ?n }}"
Answer = frozenset[str]


def brand_pages() -> list[PageRecord]:
    """Return pages with the names of brands, each on another host than the brand."""
    made = []
    for number in range(DESCRIBED_BRANDS):
        said = [(f"<{brand(number, which)}>", _NAME, f'"brand {which}"', "") for which in range(1, BRANDS + 1)]
        facts = TransformResult(extractions=(Extraction(syntax=Syntax.JSON_LD, statements=tuple(said)),))
        url = f"{host(number + 500)}/brands"
        graph_quads, quads, graphs = serialize_page(url, facts)
        made.append(
            PageRecord(
                url=url,
                fetched_at=0.0,
                status=200,
                graph_quads=graph_quads,
                quads=quads,
                graphs=graphs,
            )
        )
    return made


def write_shards(folder: Path, quads: int, shards: int) -> list[Path]:
    """Write a store for each shard with the pages of its hosts, and return their paths."""
    parts: list[list[PageRecord]] = [[] for _ in range(shards)]
    for page in [*brand_pages(), *pages(quads)]:
        parts[owner_of_host(host_of(page.url), shards)].append(page)
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"shard-{number}")
        store = QuadStore(paths[-1])
        store.write(part)
        store.flush()
        store.close()
    return paths


def query_each(stores: Sequence[QuadStore], sparql: str) -> Answer:
    """Return the rows of all stores together."""
    rows: set[str] = set()
    for store in stores:
        found = store.query(sparql)
        assert isinstance(found, ox.QuerySolutions)
        rows.update(str(row) for row in found)
    return frozenset(rows)


def query_collected(stores: Sequence[QuadStore], patterns: Sequence[tuple[str | None, ...]], sparql: str) -> Answer:
    """Return the rows of a store that contains all statements that match a pattern of the query."""
    together = ox.Store()
    for store in stores:
        for subject, predicate, object_ in patterns:
            found = store.match(subject, predicate, object_)
            together.extend(ox.Quad(quad.subject, quad.predicate, quad.object) for quad in found)
    rows = together.query(sparql)
    assert isinstance(rows, ox.QuerySolutions)
    return frozenset(str(row) for row in rows)


def timed(ask: Callable[[], Answer]) -> tuple[float, Answer]:
    best, rows = float("inf"), frozenset[str]()
    for _ in range(ROUNDS):
        began = time.process_time()
        rows = ask()
        best = min(best, time.process_time() - began)
    return 1000 * best, rows


def queries() -> list[tuple[str, str, list[tuple[str | None, ...]]]]:
    """Return the queries: name, SPARQL text and patterns."""
    thing = f"{host(3)}/brand/1"
    star = [(None, f"<{SCHEMA}{name}>", None) for name in ("name", "price")]
    return [
        ("all about one thing", POINT % thing, [(f"<{thing}>", None, None)]),
        ("a join within pages", STAR % thing, [(None, _BRAND, f"<{thing}>"), *star]),
        ("a join across hosts", ACROSS, [(None, _BRAND, None), (None, _NAME, None)]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quads", type=int, default=200_000)
    parser.add_argument("--shards", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        paths = write_shards(Path(name), options.quads, options.shards)
        began = time.process_time()
        merge(paths, Path(name) / "merged")
        merging = time.process_time() - began
        stores = [QuadStore(path, read_only=True) for path in paths]
        whole = [QuadStore(Path(name) / "merged", read_only=True)]
        rows = []
        for what, sparql, patterns in queries():
            one, right = timed(lambda sparql=sparql: query_each(whole, sparql))
            each, together = timed(lambda sparql=sparql: query_each(stores, sparql))
            gather, same = timed(lambda sparql=sparql, patterns=patterns: query_collected(stores, patterns, sparql))
            assert same == right
            missed = 100 * (1 - len(together & right) / max(1, len(right)))
            rows.append((what, f"{len(right):,}", f"{one:.1f}", f"{each:.1f}", f"{missed:.0f} %", f"{gather:.1f}"))
        for store in (*stores, *whole):
            store.close()
    head = ("query", "rows", "merged, ms", "each shard queried, ms", "rows missed", "patterns collected, ms")
    text = f"""## Shards: one store or many (`bench/merge.py`)

{options.quads:,} quads in {options.shards} shards. Merging them took {merging:.1f} s of CPU, once:
{1e6 * merging / options.quads:.0f} µs per quad.

{table(head, rows)}
"""
    print(text)
    record("merge", text)


if __name__ == "__main__":
    main()
