"""One store out of many, or a question to each: what a merge of shards costs, and what asking all of them does.

    python bench/merge.py [--quads 200000] [--shards 4]

The pages are those of bench/index.py, spread over shards by their hosts; the brands that they name are told of by pages
of other hosts. Fan-out is asked in two ways: every shard answers the whole question, and rows are put together; or
every shard gives the statements that fit a pattern of it, and the question is asked of those. The first is fast and
misses every answer whose parts lie in two shards. Best of three; answers are compared with those of the merged store.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyoxigraph as ox

from index import BRANDS, POINT, SCHEMA, STAR, brand, host, pages
from motherlode.cluster.partitioner import owner_of_host
from motherlode.index import PageRecord, QuadStore, serialize_page
from motherlode.index.quad_store import merge
from motherlode.model import Extraction, Syntax, TransformResult
from motherlode.www.urls import host_of
from results import record, table

ROUNDS = 3
TOLD_BRANDS = 40
_NAME, _BRAND = f"<{SCHEMA}legalName>", f"<{SCHEMA}brand>"
ACROSS = f"SELECT ?s ?n {{ ?s {_BRAND} ?b . ?b {_NAME} ?n }}"
Answer = frozenset[str]


def brand_pages() -> list[PageRecord]:
    """Pages that tell what brands are called, each on another host than the brand's."""
    made = []
    for number in range(TOLD_BRANDS):
        said = [(f"<{brand(number, which)}>", _NAME, f'"brand {which}"', "") for which in range(1, BRANDS + 1)]
        facts = TransformResult(extractions=(Extraction(syntax=Syntax.JSON_LD, statements=tuple(said)),))
        url = f"{host(number + 500)}/brands"
        graph_quads, union_quads, quads, graphs = serialize_page(url, facts)
        made.append(
            PageRecord(
                url=url,
                fetched_at=0.0,
                status=200,
                graph_quads=graph_quads,
                union_quads=union_quads,
                quads=quads,
                graphs=graphs,
            )
        )
    return made


def written(folder: Path, quads: int, shards: int) -> list[Path]:
    """A store for each shard, with the pages of its hosts."""
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


def asked(stores: Sequence[QuadStore], sparql: str) -> Answer:
    """The rows of every store together."""
    rows: set[str] = set()
    for store in stores:
        found = store.query(sparql)
        assert isinstance(found, ox.QuerySolutions)
        rows.update(str(row) for row in found)
    return frozenset(rows)


def gathered(stores: Sequence[QuadStore], patterns: Sequence[tuple[str | None, ...]], sparql: str) -> Answer:
    """The rows of a store of all statements that fit a pattern of the question."""
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


def questions() -> list[tuple[str, str, list[tuple[str | None, ...]]]]:
    """What is asked, in SPARQL, and the patterns of it."""
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
        paths = written(Path(name), options.quads, options.shards)
        began = time.process_time()
        merge(paths, Path(name) / "merged")
        merging = time.process_time() - began
        stores = [QuadStore(path, read_only=True) for path in paths]
        whole = [QuadStore(Path(name) / "merged", read_only=True)]
        rows = []
        for what, sparql, patterns in questions():
            one, right = timed(lambda sparql=sparql: asked(whole, sparql))
            each, together = timed(lambda sparql=sparql: asked(stores, sparql))
            gather, same = timed(lambda sparql=sparql, patterns=patterns: gathered(stores, patterns, sparql))
            assert same == right
            missed = 100 * (1 - len(together & right) / max(1, len(right)))
            rows.append((what, f"{len(right):,}", f"{one:.1f}", f"{each:.1f}", f"{missed:.0f} %", f"{gather:.1f}"))
        for store in (*stores, *whole):
            store.close()
    head = ("question", "rows", "merged, ms", "each shard asked, ms", "rows missed", "patterns gathered, ms")
    text = f"""## Shards: one store or many (`bench/merge.py`)

{options.quads:,} quads in {options.shards} shards. Merging them took {merging:.1f} s of CPU, once:
{1e6 * merging / options.quads:.0f} µs a quad.

{table(head, rows)}
"""
    print(text)
    record("merge", text)


if __name__ == "__main__":
    main()
