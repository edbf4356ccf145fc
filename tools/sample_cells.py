"""Draw cells of tables at random, and print the quads of each beside it, to be checked by a reader.

    python -m tools.sample_cells DIR schema:Product schema:Article --cells 100 --seed 7

The sample is stratified by type and column: each type gives the same number of cells, and its columns take turns. The
quads are those of the store that lead from the thing to the value. Columns about the source of a row are left out,
unless `--source` is given.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from motherlode.crawler.crawl_table import open_table
from motherlode.crawler.folder import CrawlFolder
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.quality.tables import OTHER_VALUES, SOURCE_COLUMNS, column_name

_MAX_TEXT = 400
_MAX_QUADS = 12


SampledCell = tuple[str, str, dict[str, Any]]
"""A column, the type of its values, and a row."""


class ColumnSample:
    """A random sample of the rows that have a value in one column (reservoir sampling)."""

    def __init__(self, size: int, draw: random.Random) -> None:
        self._size = size
        self._draw = draw
        self._seen = 0
        self.rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Offer a row to the sample."""
        self._seen += 1
        if len(self.rows) < self._size:
            self.rows.append(row)
        elif (place := self._draw.randrange(self._seen)) < self._size:
            self.rows[place] = row


def draw_cells(
    folder: CrawlFolder, type_: str, count: int, draw: random.Random, *, has_source: bool = False
) -> list[SampledCell]:
    """Return column, type of the column, and row of random cells, the columns in turns."""
    apart = {OTHER_VALUES} if has_source else {OTHER_VALUES, *SOURCE_COLUMNS}
    with open_table(folder, type_) as table:
        kinds = {column.name: column.kind for column in table.columns if column.name not in apart}
        samples = {name: ColumnSample(1 + count // len(kinds), draw) for name in kinds}
        for row in table.rows():
            for name, sample in samples.items():
                if row[name] is not None:
                    sample.add(row)
    names = [name for name in kinds if samples[name].rows]
    draw.shuffle(names)
    turns = [(name, row) for turn in range(count) for name in names for row in samples[name].rows[turn : turn + 1]]
    return [(name, kinds[name], row) for name, row in turns[:count]]


def find_quads(store: QuadStore, thing: str, path: str) -> Iterator[str]:
    """Yield the quads that lead from a thing over a path of properties to its values, each statement once."""
    subjects = [thing if thing.startswith("_:") else f"<{thing}>"]
    for step in path.partition("@")[0].split("."):
        matches = (quad for subject in subjects for quad in store.match(subject=subject))
        steps = {quad.triple: quad for quad in matches if _is_step(quad.predicate.value, step)}
        found = list(steps.values())
        yield from (str(quad)[: 3 * _MAX_TEXT] for quad in found[:_MAX_QUADS])
        subjects = [str(quad.object) for quad in found if not str(quad.object).startswith('"')]


def _is_step(predicate: str, step: str) -> bool:
    return column_name(predicate) == step or (step == "type" and predicate.endswith("#type"))


def show_cell(store: QuadStore, number: int, type_: str, column: str, kind: str, row: dict[str, Any]) -> None:
    """Print a cell, its row and its quads."""
    print(f"[{number}] {type_} | {column} ({kind}) = {str(row[column])[:_MAX_TEXT]!r}")
    if column in SOURCE_COLUMNS:
        print(f"    page {row['source_page']}, thing {row['thing']}")
        for quad in store.match(subject=f"<{row['source_page']}>", graph=f"<{PROVENANCE}>"):
            if quad.predicate.value.rpartition(":")[2] == "syntax" or "generatedAtTime" in quad.predicate.value:
                print(f"    {quad}")
        return
    for line in find_quads(store, row["thing"], column):
        print(f"    {line}")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", action="store_true")
    options = parser.parse_args()
    folder, draw = CrawlFolder(options.folder), random.Random(options.seed)
    print(f"{options.cells} cells of {options.folder.name}, seed {options.seed}")
    store = QuadStore(folder.store, read_only=True)
    number = 0
    for index, type_ in enumerate(options.types):
        wanted = options.cells * (index + 1) // len(options.types) - options.cells * index // len(options.types)
        for column, kind, row in draw_cells(folder, type_, wanted, draw, has_source=options.source):
            number += 1
            show_cell(store, number, type_, column, kind, row)
    store.close()


if __name__ == "__main__":
    main()
