"""The sample of cells: stratified, repeatable, and beside its quads."""

import random
from collections import Counter
from pathlib import Path

from tests.cli.test_table import crawl as crawl
from tools.sample_cells import draw_cells, find_quads

from motherlode.crawler.folder import CrawlFolder
from motherlode.index.quad_store import QuadStore


def test_columns_take_turns_and_a_seed_gives_the_same_sample(crawl: Path) -> None:
    folder = CrawlFolder(crawl)
    drawn = draw_cells(folder, "Product", 14, random.Random(3))
    counts = Counter(column for column, _, _ in drawn)
    assert len(drawn) == 14
    assert max(counts.values()) - min(counts.values()) <= 2
    again = draw_cells(folder, "Product", 14, random.Random(3))
    assert [(column, row["thing"]) for column, _, row in again] == [(column, row["thing"]) for column, _, row in drawn]


def test_quads_lead_from_the_thing_to_the_value(crawl: Path) -> None:
    [(_, _, row)] = draw_cells(CrawlFolder(crawl), "Product", 1, random.Random(1))
    store = QuadStore(crawl / "store", read_only=True)
    lines = list(find_quads(store, row["thing"], "offers.price"))
    store.close()
    assert len(lines) == 2
    assert "schema.org/offers>" in lines[0]
    assert "schema.org/price>" in lines[1]
