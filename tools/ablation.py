"""Ablation of the default policy: its focus without each part, and with each constant halved and doubled, in pairs.

python -m tools.ablation [--only NAME,NAME…] [--repeat 1] [--report] [-o FILE]

The parts are the switches of `PolicyConfig`, and the constants are those of `python -m tools.policy_constants`, so a
new one gets its rows by itself. A share of at least one half is halved and doubled in its odds: a retention of 0.9
becomes 0.82 and 0.95. Constants with a value that turns them off get a row with that value, too.

Webs: one partition of the owners of ../shared/corpus into two folds, from home pages and from seeds with dead links,
and synthetic webs of seeds that nothing else uses. Rows compare the changed policy with the default one on the same
webs with the same host orders, by fold and together, with paired standard errors. A value that is better on one fold
alone was found by chance. --repeat adds host orders and synthetic seeds.

Results are kept in the cache, web by web, so an interrupted run can be continued, and --report prints what is known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from bench.results import record, table
from msgspec.structs import replace
from tools.focus.runs import (
    BUDGETS,
    CORPUS,
    FROM_SEEDS,
    HOME,
    MAIN,
    MIN_ORACLE_GAIN,
    OURS,
    ROOT,
    Run,
    RunCache,
    Web,
    find_seeds,
    fingerprint,
    oracle_gain,
    run_key,
    simulate,
)
from tools.policy_constants import ELSEWHERE, constants

from motherlode.policies import target_from
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.sim.comparison import PairedDifference, paired_difference
from motherlode.sim.experiment import focus
from motherlode.sim.runner import prepared

ASK = "ASK { ?s <http://schema.org/datePublished> ?d ; <http://schema.org/image> ?i }"
RECORDED_TARGETS = ("any", "rdf", "jsonld", "microdata", "type:schema:BreadcrumbList", "microformats", ASK)
SYNTHETIC_TARGETS = ("any", "jsonld", "rdf", "type:schema:Recipe")
SYNTHETIC_PAGES = 3000
SYNTHETIC_WEBS = 12
FIRST_SEED = 7001
FIRST_PART = 1000
"""Folds and seeds that no comparison of policies and no choice of a constant has used."""
OFF = {
    "hub_min_links": 0,
    "host_prior_tries": 0.0,
    "retention": 1.0,
    "response_retention": 1.0,
    "target_prior": 0.0,
    "word_prior": 0.0,
    "key_steps": 0,
    "discount": 1.0,
}
"""Values with which a constant has no effect."""
FLAT = 0.005
"""A constant is flat if no variant changes the mean focus at 12 % by more than this."""
MIN_WEBS = 20
"""With fewer webs nothing is said about a constant."""
BASE = f"{OURS}:as it is"


class Variant(NamedTuple):
    """The policy with one constant or switch changed."""

    module: str
    """"config.py" for a field of `PolicyConfig`."""
    name: str
    was: float
    value: float

    @property
    def key(self) -> str:
        """The name under which its results are kept."""
        return f"{OURS}:{self.name}={self.value:.9g}"

    def run(self, web: Web, key: str) -> Run:
        """Simulate the changed policy on a web."""
        if self.module == "config.py":
            return _simulate(web, self.key, key, PolicyConfig(**{self.name: self.value}))  # type: ignore[arg-type]
        module = import_module(f"{Motherlode.__module__.rpartition('.')[0]}.{self.module.removesuffix('.py')}")
        with patch.object(module, self.name, self.value):
            return _simulate(web, self.key, key, PolicyConfig())


def variants() -> list[Variant]:
    """Return every switch turned, and every constant halved, doubled and, if it can be, switched off."""
    default = PolicyConfig()
    switches = ((field.name, getattr(default, field.name)) for field in fields(PolicyConfig))
    found = [Variant("config.py", name, on, not on) for name, on in switches if isinstance(on, bool)]
    elsewhere = {name for names in ELSEWHERE.values() for name in names}
    for module, name, value in constants():
        if name not in elsewhere:
            off = [OFF[name]] if name in OFF else []
            others = dict.fromkeys(type(value)(one) for one in (*halved_and_doubled(value), *off) if one != value)
            found += [Variant(module, name, value, other) for other in others]
    return found


def halved_and_doubled(value: float) -> tuple[float, float]:
    """Return a constant halved and doubled. Shares of at least one half keep their odds in these proportions.

    >>> halved_and_doubled(7), halved_and_doubled(0.3)
    ((3, 14), (0.15, 0.6))
    >>> [round(one, 3) for one in halved_and_doubled(0.9)]
    [0.818, 0.947]
    """
    if 0.5 <= value < 1:
        odds = value / (1 - value)
        return odds / 2 / (1 + odds / 2), 2 * odds / (1 + 2 * odds)
    return (value // 2, value * 2) if isinstance(value, int) else (value / 2, value * 2)


def webs(trace: str, seeds: str, repeat: int) -> list[Web]:
    """Return the webs, in an order in which the first ones are already of all kinds. `seeds` is a file."""
    folds = Web(name="", target="", trace=trace, content=fingerprint(trace, seeds) if trace else "", seeds=seeds)
    found: list[tuple[float, Web]] = []
    for turn in range(repeat):
        recorded = [
            replace(folds, name="ab"[half], target=target, part=FIRST_PART + half, start=start, order=turn)
            for half, start in ((0, FROM_SEEDS), (1, HOME), (1, FROM_SEEDS), (0, HOME))
            for target in (RECORDED_TARGETS if trace else ())
        ]
        made = [_made_web(number) for number in range(turn * SYNTHETIC_WEBS, (turn + 1) * SYNTHETIC_WEBS)]
        for one in (recorded, made):
            found += [(turn + number / len(one), web) for number, web in enumerate(one)]
    return [web for _, web in sorted(found, key=lambda pair: pair[0])]


def open_webs(options: argparse.Namespace) -> list[Web]:
    """Return the webs for the options `corpus`, `cache` and `repeat`. Without a recording they are synthetic."""
    trace = prepared(str(options.corpus), options.cache, lambda done, of: None) if options.corpus.exists() else ""
    return webs(trace, find_seeds(options.corpus), options.repeat)


def _made_web(number: int) -> Web:
    target, start = SYNTHETIC_TARGETS[number % len(SYNTHETIC_TARGETS)], (HOME, HOME, FROM_SEEDS)[number % 3]
    seed = FIRST_SEED + number
    return Web(name="ab"[number // 2 % 2], target=target, pages=SYNTHETIC_PAGES, seed=seed, start=start, order=seed)


def _simulate(web: Web, name: str, key: str, config: PolicyConfig) -> Run:
    policy = Motherlode(config=config)
    policy.aim(target_from(web.target))
    return simulate(web, name, key, policy=policy, share=MAIN)


def measure(web: Web, wanted: Sequence[Variant], path: Path) -> None:
    """Run what is missing in the cache for one web."""
    cache = RunCache(path)
    cache.read()
    for name in ("bfs", "oracle"):
        key = run_key(web, name)
        if key not in cache.runs:
            cache.add(simulate(web, name, key, share=MAIN))
    if oracle_gain(cache.runs[run_key(web, "bfs")], cache.runs[run_key(web, "oracle")]) < MIN_ORACLE_GAIN:
        return
    if run_key(web, BASE) not in cache.runs:
        cache.add(_simulate(web, BASE, run_key(web, BASE), PolicyConfig()))
    for variant in wanted:
        key = run_key(web, variant.key)
        if key not in cache.runs:
            cache.add(variant.run(web, key))


def differences(variant: str, known: Sequence[Web], cache: RunCache, budget: float) -> PairedDifference | None:
    """Return the focus of a variant minus that of the policy as it is, on those webs on which both are known."""
    at = BUDGETS.index(budget)
    pairs = []
    for web in known:
        runs = [cache.runs.get(run_key(web, name)) for name in ("bfs", "oracle", BASE, variant)]
        bfs, oracle, base, other = (run.found[at] if run is not None else None for run in runs)
        if bfs is None or oracle is None or base is None or other is None or oracle <= bfs:
            continue
        pairs.append((focus(base, bfs, oracle) or 0.0, focus(other, bfs, oracle) or 0.0))
    return paired_difference("focus", [one for one, _ in pairs], [two for _, two in pairs]) if pairs else None


def rows(wanted: Sequence[Variant], known: Sequence[Web], cache: RunCache) -> Iterator[tuple[str, ...]]:
    """Yield a row for each variant: what is changed, the differences, and what follows for the constant."""
    verdicts = {name: verdict([one for one in wanted if one.name == name], known, cache) for _, name, _, _ in wanted}
    for variant in wanted:
        found = [
            differences(variant.key, [web for web in known if web.name in folds], cache, budget)
            for folds, budget in (("ab", BUDGETS[0]), ("a", MAIN), ("b", MAIN), ("ab", MAIN))
        ]
        changed = f"`{variant.name}` {_text(variant.was)} → {_text(variant.value)}"
        yield changed, str(found[-1].pairs if found[-1] else 0), *map(_show, found), verdicts[variant.name]


def verdict(own: Sequence[Variant], known: Sequence[Web], cache: RunCache) -> str:
    """Return what the variants of a constant say: it is flat, needed, or better with another value on both folds."""
    found = [one for variant in own if (one := differences(variant.key, known, cache, MAIN)) is not None]
    if len(found) < len(own) or min(one.pairs for one in found) < MIN_WEBS:
        return "not run on enough webs"
    if all(abs(one.difference) <= FLAT for one in found):
        return "flat"
    if any(one.difference < min(-FLAT, -2 * (one.standard_error or 1.0)) for one in found):
        return "needed"
    for variant in own:
        folds = [differences(variant.key, [web for web in known if web.name == fold], cache, MAIN) for fold in "ab"]
        if all(one is not None and one.difference > (one.standard_error or 1.0) for one in folds):
            return f"**{_text(variant.value)} is better on both folds**"
    return "uncertain"


def _text(value: float) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else f"{value:.4g}"


def _show(one: PairedDifference | None) -> str:
    return "–" if one is None else f"{one.difference:+.3f} ± {one.standard_error or 0.0:.3f}"


def make_report(wanted: Sequence[Variant], known: Sequence[Web], cache: RunCache) -> str:
    """Return the table as Markdown."""
    head = ("change", "webs", "5 %, both folds", "12 %, fold A", "12 %, fold B", "12 %, both folds", "the constant is")
    found = list(rows(wanted, known, cache))
    flat = len({one.name for one, row in zip(wanted, found, strict=True) if row[-1] == "flat"})
    return (
        "## Ablation of the policy\n\nChange of the mean focus by switching a part off or on, and by halving and "
        "doubling a constant, in pairs with standard errors (`python -m tools.ablation`, whose docstring describes the "
        f"webs). *Flat*: no variant changes the focus at 12 % by more than {FLAT}. *Needed*: a variant is worse by "
        f"more than that and two standard errors. {flat} of {len({one.name for one in wanted})} are flat.\n\n"
        f"{table(head, found)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of constants and switches, separated by commas [all]")
    parser.add_argument("--repeat", type=int, default=1, help="host orders and synthetic seeds per target [1]")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="WARC file or trace of recorded sites")
    parser.add_argument("--cache", type=Path, default=ROOT / ".focus", help="folder of the results [.focus]")
    parser.add_argument("--report", action="store_true", help="run nothing: report what the cache has")
    parser.add_argument("-o", "--output", type=Path, help="write to this file, not to bench/results/ablation.md")
    options = parser.parse_args()
    only = {name for name in options.only.split(",") if name}
    wanted = [one for one in variants() if not only or one.name in only]
    known, path = open_webs(options), options.cache / "ablation.jsonl"
    if not options.report:
        for number, web in enumerate(known, 1):
            measure(web, wanted, path)
            print(f"{number} of {len(known)} webs", file=sys.stderr, flush=True)
    cache = RunCache(path)
    cache.read()
    text = make_report(wanted, known, cache)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    else:
        record("ablation", text)
    print(text)


if __name__ == "__main__":
    main()
