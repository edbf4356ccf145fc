"""The drop-in call `motherlode.extruct.extract` against `extruct.extract`: all syntaxes, dicts built, one core.

    python bench/extruct_dropin.py [--pages 500] [--rounds 3] [--seed 1]

Both get the same bytes of a random sample of the recorded web, with errors="ignore". They take turns on every batch of
pages, so that other load of the machine affects both. Times are CPU times; the best round of each batch counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import extruct

from extract import Contender, Sample, measure, prepare
from motherlode import extruct as dropin
from results import record, table

MIN_RATIO = 25.0
OURS, THEIRS = "motherlode.extruct.extract", "extruct.extract"


def run_ours(syntaxes: list[str], *, uniform: bool = False) -> Contender:
    def run(sample: Sample) -> int:
        found = dropin.extract(sample.body, base_url=sample.url, syntaxes=syntaxes, errors="ignore", uniform=uniform)
        return sum(map(len, found.values()))

    return run


def run_theirs(syntaxes: list[str], *, uniform: bool = False) -> Contender:
    def run(sample: Sample) -> int:
        found = extruct.extract(sample.body, base_url=sample.url, syntaxes=syntaxes, errors="ignore", uniform=uniform)
        return sum(map(len, found.values()))

    return run


def compare(samples: Sequence[Sample], rounds: int) -> tuple[str, float]:
    """Return the section of the results, and the ratio of the CPU times for all syntaxes."""
    everything = list(dropin.SYNTAXES)
    pairs: dict[str, tuple[Contender, Contender]] = {
        "all syntaxes": (run_ours(everything), run_theirs(everything)),
        **{name: (run_ours([name]), run_theirs([name])) for name in everything},
    }
    rows, ratios = [], {}
    for name, (mine, theirs) in pairs.items():
        taken = measure(samples, {OURS: mine, THEIRS: theirs}, rounds)
        ratios[name] = taken[THEIRS] / taken[OURS]
        times = (taken[OURS], taken[THEIRS])
        items = sum(map(mine, samples)), sum(map(theirs, samples))
        rows.append(
            (name, *(f"{seconds / len(samples) * 1e6:,.0f}" for seconds in times), f"{ratios[name]:.1f}", *items)
        )
    ratio = ratios["all syntaxes"]
    head = ("syntaxes", "ours, µs/page", "extruct, µs/page", "ratio", "our items", "extruct's items")
    lines = [
        f"{len(samples)} random pages of the recorded web. CPU time on one core, {rounds} interleaved rounds.",
        "",
        table(head, rows),
        "",
        f"- speed of the drop-in call, all syntaxes: **{ratio:.1f} times** that of extruct (at least {MIN_RATIO:g})",
    ]
    return "\n".join(lines), ratio


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pages", type=int, default=500)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    section, ratio = compare(prepare(given.pages, given.seed), given.rounds)
    markdown = f"## Drop-in for extruct\n\n{section}"
    print(markdown)
    record("extruct_dropin", markdown)
    return 0 if ratio >= MIN_RATIO else 1


if __name__ == "__main__":
    raise SystemExit(main())
