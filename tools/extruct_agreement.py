"""Compare `motherlode.extruct.extract` with extruct, item by item, and print the classes of differences with counts.

    python -m tools.extruct_agreement [--pages 1000] [--seed 1] [--show CLASS] [--cache FILE]

The pages are extruct's own samples and a random sample of the recorded web. An item agrees if both sides give the same
dict; blank node names do not matter. A difference belongs to a class. A class that cites a section of a specification,
or a conformance case that extruct fails, does not count against us; every other difference does.
"""

from __future__ import annotations

import argparse
import logging
import pickle
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.extruct_classes import CLASSES, UNEXPLAINED, Difference, PageFeatures, classify
from tools.recorded_pages import draw_pages

from motherlode import extruct as ours

SHARED = Path(__file__).resolve().parents[2] / "shared"
SAMPLES = SHARED / "conformance" / "extruct-samples"
MIN_AGREEMENT = 0.97

Items = list[Any]


@dataclass(slots=True)
class Tally:
    """The counts of one syntax."""

    items: int = 0
    equal: int = 0
    classes: Counter[str] = field(default_factory=Counter)

    @property
    def excused(self) -> int:
        return sum(count for name, count in self.classes.items() if CLASSES[name].citation)


def find_pages(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield URL and body of extruct's samples, then of random recorded pages."""
    for path in sorted(SAMPLES.rglob("*.html")):
        name = str(path.relative_to(SAMPLES)).replace(" ", "%20")
        yield f"http://samples.example/{name}", path.read_bytes()
    yield from draw_pages(SHARED / "corpus" / "sites.warc.gz", count, seed)


def run_extruct(pages: Iterable[tuple[str, bytes]]) -> dict[str, tuple[bytes, dict[str, Any]]]:
    """Return body and result of extruct for each page: a list of items by syntax, or the text of the exception."""
    import extruct  # a dependency of the benchmarks only

    found = {}
    for url, body in pages:
        by_syntax: dict[str, Any] = {}
        for syntax in extruct.SYNTAXES:
            try:
                by_syntax[syntax] = extruct.extract(body, base_url=url, syntaxes=[syntax])[syntax]
            except Exception as error:  # noqa: BLE001 - what it cannot read is a difference, not the end
                by_syntax[syntax] = repr(error)
        found[url] = (body, by_syntax)
    return found


# Comparison


def canonical(items: Items, syntax: str) -> Items:
    """Return items with blank nodes renamed by their content, and for RDFa with sorted values, because RDF is a set."""
    if syntax == "rdfa":
        items = [_sort_values(item) for item in items]
    nodes = {it["@id"]: it for it in items if isinstance(it, dict) and str(it.get("@id", "")).startswith("_:")}
    names: dict[str, str] = {}
    for _ in range(4):  # as many steps as references between blank nodes usually form
        names = {name: f"_:{hash(_freeze(node, names))}" for name, node in nodes.items()}
    return [_rename(item, names) for item in items]


def _sort_values(node: dict[str, Any]) -> dict[str, Any]:
    return {key: sorted(value, key=_sort_key) if isinstance(value, list) else value for key, value in node.items()}


def _sort_key(value: Any) -> str:
    return str(value.get("@value", value.get("@id"))) if isinstance(value, dict) else str(value)


def _rename(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _rename(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rename(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def _freeze(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return frozenset((key, _freeze(inner, names)) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return tuple(_freeze(inner, names) for inner in value)
    if isinstance(value, str) and value.startswith("_:"):
        return names.get(value, "_:")
    return value


def compare(theirs: Items, mine: Items) -> tuple[int, list[tuple[Any, Any]]]:
    """Return the number of equal items, and pairs of different items; None where one side has no item left."""
    rest_theirs, rest_mine = [], list(mine)
    equal = 0
    for item in theirs:
        if item in rest_mine:
            rest_mine.remove(item)
            equal += 1
        else:
            rest_theirs.append(item)
    pairs: list[tuple[Any, Any]] = []
    for item in rest_theirs:
        partner = next((it for it in rest_mine if _is_same_thing(item, it)), None)
        if partner is not None:
            rest_mine.remove(partner)
        pairs.append((item, partner))
    return equal, pairs + [(None, it) for it in rest_mine]


def _is_same_thing(item: Any, other: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(other, dict):
        return False
    if "@id" in item and not item["@id"].startswith("_:"):
        return bool(item["@id"] == other.get("@id"))
    return item.get("type", item.get("@type")) == other.get("type", other.get("@type"))


def find_differences(theirs: Any, mine: Any, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """Yield the smallest parts that differ."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in {**theirs, **mine}:
            if theirs.get(key) != mine.get(key) or (key in theirs) != (key in mine):
                yield from find_differences(theirs.get(key), mine.get(key), (*path, key))
    elif _is_comparable_list(theirs, mine):
        for number, (one, other) in enumerate(zip(theirs, mine, strict=True)):
            if one != other:
                yield from find_differences(one, other, (*path, str(number)))
    else:
        yield Difference(path=path, theirs=theirs, mine=mine)


def _is_comparable_list(theirs: Any, mine: Any) -> bool:
    """Whether two lists have the same length and differ in more than their order."""
    if not isinstance(theirs, list) or not isinstance(mine, list) or len(theirs) != len(mine):
        return False
    return sorted(map(str, theirs)) != sorted(map(str, mine))


def add_page(tallies: dict[str, Tally], url: str, body: bytes, theirs: dict[str, Any], show: str) -> None:
    page = PageFeatures(url, body)
    found = ours.extract(body, base_url=url, errors="ignore")
    for syntax, items in theirs.items():
        tally = tallies[syntax]
        mine = canonical(found[syntax], syntax)
        if isinstance(items, str):  # an exception
            tally.items += max(1, len(mine))
            name = classify(page, syntax, [Difference(path=(), theirs=items, mine=mine)])
            tally.classes[name] += max(1, len(mine))
            continue
        equal, pairs = compare(canonical(items, syntax), mine)
        tally.items += equal + len(pairs)
        tally.equal += equal
        for one, other in pairs:
            differences = list(find_differences(one, other))
            name = classify(page, syntax, differences)
            tally.classes[name] += 1
            if show == name:
                print(f"{url} {syntax}", *(f"   {it}"[:600] for it in differences[:4]), sep="\n")


def print_table(tallies: dict[str, Tally]) -> bool:
    """Print the table of syntaxes and that of classes; return whether the agreement is sufficient everywhere."""
    print("| syntax | items | equal | ours by the specification | against us | agreement |\n|---|--:|--:|--:|--:|--:|")
    is_good = True
    for syntax, tally in tallies.items():
        agreement = (tally.equal + tally.excused) / max(1, tally.items)
        against = tally.items - tally.equal - tally.excused
        is_good = is_good and agreement >= MIN_AGREEMENT
        print(f"| {syntax} | {tally.items:,} | {tally.equal:,} | {tally.excused:,} | {against:,} | {agreement:.2%} |")
    print("\n| class of differences | syntax | items | citation |\n|---|---|--:|---|")
    for syntax, tally in tallies.items():
        for name, count in tally.classes.most_common():
            print(f"| {name} | {syntax} | {count:,} | {CLASSES[name].citation or 'none: counts against us'} |")
    return is_good


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pages", type=int, default=1000, help="number of recorded pages (1000)")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument(
        "--show", default="", metavar="CLASS", help=f"print the differences of a class, as {UNEXPLAINED!r}"
    )
    arguments.add_argument("--cache", type=Path, help="file that keeps extruct's results between runs")
    given = arguments.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if given.cache and given.cache.exists():
        results = pickle.loads(given.cache.read_bytes())
    else:
        results = run_extruct(find_pages(given.pages, given.seed))
        if given.cache:
            given.cache.write_bytes(pickle.dumps(results))
    tallies = {syntax: Tally() for syntax in ours.SYNTAXES}
    for url, (body, theirs) in results.items():
        add_page(tallies, url, body, theirs, given.show)
    print(f"{len(results):,} pages\n")
    return 0 if print_table(tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
