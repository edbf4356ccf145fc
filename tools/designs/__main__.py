"""Compare other designs of the policy with the present one in paired crawls, and write bench/results/designs.md.

python -m tools.designs [--repeat 4] [--in-flight 1,64] [--designs NAME,…] [--report] [-o FILE]
python -m tools.designs --fit

The webs are those of `tools.ablation`: two folds of the owners of ../shared/corpus from home pages and from seeds with
dead links, and synthetic webs; with --repeat 4 more than a hundred on which the oracle gains enough. With 64 requests
in flight, the baselines and all designs have 64, and no policy waits for a host. Results are kept in the cache, so an
interrupted run can be continued, and --report prints what is known.

--fit fits the prior variances of `logistic` by the log loss of the next outcome in crawls of the default policy on
fold A, and prints them with the log loss on fold B.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from statistics import mean

from bench.results import record, table
from tools.ablation import open_webs
from tools.designs import policies
from tools.designs.policies import DESIGNS, PRIOR_VARIANCES, Logistic, LogisticPosterior, Variances
from tools.focus.runs import (
    BASELINES,
    BUDGETS,
    CORPUS,
    FROM_SEEDS,
    MAIN,
    MIN_ORACLE_GAIN,
    OURS,
    ROOT,
    RunCache,
    Web,
    oracle_gain,
    run_key,
    simulate,
)

from motherlode.model import Outcome
from motherlode.policies import policy_from, target_from
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import ArmKey
from motherlode.policies.motherlode.posterior import RELEVANCE, RESPONSE
from motherlode.sim.comparison import paired_difference
from motherlode.sim.experiment import focus
from motherlode.sim.simulator import Timing

_DIGEST = hashlib.sha256(Path(policies.__file__).read_bytes()).hexdigest()[:8]
_MIN_PROBABILITY = 1e-4
"""Limit of predicted probabilities in the log loss, so that a single surprise does not decide."""


def key_of(web: Web, name: str, in_flight: int) -> str:
    """Return the name under which the result of a policy or design is kept."""
    design = f"{OURS}:design {name} {_DIGEST}" if name in DESIGNS else name
    return run_key(web, design if in_flight == 1 else f"{design}:{in_flight} in flight")


def measure(web: Web, names: Sequence[str], in_flight: int, path: Path) -> None:
    """Run what is missing in the cache for one web."""
    cache = RunCache(path)
    cache.read()
    for name in (*BASELINES, *names):
        key = key_of(web, name, in_flight)
        if key not in cache.runs:
            target = target_from(web.target)
            policy = None if name in BASELINES else policy_from(name, web.order, target=target)
            timing = Timing(in_flight=in_flight)
            cache.add(simulate(web, name, key, policy=policy, timing=timing, share=MAIN))
        if name == BASELINES[-1] and not _is_useful(web, in_flight, cache):
            return


def _is_useful(web: Web, in_flight: int, cache: RunCache) -> bool:
    """Return whether the oracle gains enough, with one request in flight or many."""
    bfs, oracle = (cache.runs.get(key_of(web, name, in_flight)) for name in BASELINES)
    return bfs is not None and oracle is not None and oracle_gain(bfs, oracle) >= MIN_ORACLE_GAIN


def rows(names: Sequence[str], in_flight: int, known: Sequence[Web], cache: RunCache) -> Iterator[tuple[str, ...]]:
    """Yield the means and paired differences of each design, by kind of web."""
    kinds = {
        "recorded, home pages": [web for web in known if web.trace and web.start != FROM_SEEDS],
        "recorded, seeds and dead links": [web for web in known if web.trace and web.start == FROM_SEEDS],
        "synthetic": [web for web in known if not web.trace],
        "all": list(known),
    }
    for name in names:
        for kind, own in kinds.items():
            cells: list[str] = []
            pairs = 0
            for at in range(BUDGETS.index(MAIN) + 1):
                ours, theirs = _focus(OURS, in_flight, own, cache, at), _focus(name, in_flight, own, cache, at)
                both = [web for web in ours if web in theirs]
                pairs = len(both)
                if both:
                    one = paired_difference("focus", [ours[web] for web in both], [theirs[web] for web in both])
                    change = f"{one.difference:+.3f} ± {one.standard_error or 0.0:.3f}"
                    cells.append(f"{one.means[0]:.3f} → {one.means[1]:.3f}, {change}")
            if cells:
                yield (f"`{name}`", str(in_flight), kind, str(pairs), *cells)


def _focus(name: str, in_flight: int, known: Sequence[Web], cache: RunCache, at: int) -> dict[Web, float]:
    found = {}
    for web in known:
        runs = [cache.runs.get(key_of(web, one, in_flight)) for one in (*BASELINES, name)]
        bfs, oracle, own = (run.found[at] if run is not None else None for run in runs)
        if bfs is not None and oracle is not None and own is not None:
            value = focus(own, bfs, oracle)
            if value is not None and _is_useful(web, in_flight, cache):
                found[web] = value
    return found


# ── fit


class Recorded(Motherlode):
    """The default policy; it keeps the outcomes from which it learned."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: list[Outcome] = []

    def learn(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        super().learn(outcome)


def crawl(web: Web) -> list[Outcome]:
    """Return the outcomes of a crawl of the default policy."""
    policy = Recorded()
    policy.aim(target_from(web.target))
    simulate(web, OURS, "", policy=policy, share=MAIN)
    return policy.outcomes


def log_losses(crawls: Sequence[tuple[Web, list[Outcome]]], variances: dict[int, Variances]) -> tuple[float, float]:
    """Return the mean log loss of response and of relevance, each predicted from the outcomes before it."""
    response, relevance = [], []
    for web, outcomes in crawls:
        policy = Logistic()
        policy.posterior = model = LogisticPosterior(policy.config, variances)
        policy.aim(target_from(web.target))
        for outcome in outcomes:
            arm, key, is_page = outcome.arm, ArmKey.parse(outcome.arm), outcome.failure is None
            answers = model._presence(key) * model.belief(arm, key, RESPONSE).probability
            response.append(_log_loss(answers, float(is_page)))
            if is_page:
                relevance.append(_log_loss(model.belief(arm, key, RELEVANCE).probability, outcome.reward))
            model.learn(outcome)
    return mean(response), mean(relevance)


def _log_loss(probability: float, result: float) -> float:
    limited = min(1 - _MIN_PROBABILITY, max(_MIN_PROBABILITY, probability))
    return -result * log(limited) - (1 - result) * log(1 - limited)


def fit(known: Sequence[Web]) -> None:
    """Print the variances with the lowest log loss on fold A, by halving and doubling one after the other."""
    folds = {fold: [(web, crawl(web)) for web in known if web.name == fold] for fold in "ab"}
    best = dict(PRIOR_VARIANCES)
    for question, event in enumerate((RESPONSE, RELEVANCE)):
        lowest = log_losses(folds["a"], best)[question]
        has_improved = True
        while has_improved:
            has_improved = False
            for field in Variances._fields:
                for factor in (0.5, 2.0):
                    changed = best[event]._replace(**{field: getattr(best[event], field) * factor})
                    loss = log_losses(folds["a"], best | {event: changed})[question]
                    if loss < lowest - 1e-5:
                        best, lowest, has_improved = best | {event: changed}, loss, True
        print(("RESPONSE", "RELEVANCE")[question], best[event], f"log loss on fold A {lowest:.4f}", flush=True)
    print("log loss on fold B: response {:.4f}, relevance {:.4f}".format(*log_losses(folds["b"], best)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--designs", default=",".join(DESIGNS), help="designs to compare [all]")
    parser.add_argument("--in-flight", default="1,64", help="requests in flight [1,64]")
    parser.add_argument("--repeat", type=int, default=4, help="host orders and synthetic seeds per target [4]")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="WARC file or trace of recorded sites")
    parser.add_argument("--cache", type=Path, default=ROOT / ".focus", help="folder of the results [.focus]")
    parser.add_argument("--fit", action="store_true", help="fit the variances of `logistic`")
    parser.add_argument("--report", action="store_true", help="run nothing: report what the cache has")
    parser.add_argument("-o", "--output", type=Path, help="write to this file, not to bench/results/designs.md")
    options = parser.parse_args()
    known, path = open_webs(options), options.cache / "designs.jsonl"
    if options.fit:
        fit(known)
        return
    names, in_flight = options.designs.split(","), [int(number) for number in options.in_flight.split(",")]
    if not options.report:
        for number, web in enumerate(known, 1):
            for many in in_flight:
                measure(web, [OURS, *names], many, path)
            print(f"{number} of {len(known)} webs", file=sys.stderr, flush=True)
    cache = RunCache(path)
    cache.read()
    head = ("design", "in flight", "webs", "number", *(f"focus at {budget:.0%}" for budget in BUDGETS[:2]))
    found = [row for number in in_flight for row in rows(names, number, known, cache)]
    text = (
        "## Other designs of the policy\n\nMean focus of the default policy → mean focus of the design, and the paired "
        "difference with its standard error (`python -m tools.designs`; `tools/designs/policies.py` describes the "
        f"designs).\n\n{table(head, found)}\n"
    )
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
    else:
        record("designs", text)
    print(text)


if __name__ == "__main__":
    main()
