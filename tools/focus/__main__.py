"""Compare all policies on recorded sites and synthetic webs, and write bench/results/focus.md.

make focus [ARGS="--repeat 20"], or python -m tools.focus [--repeat 10] [--policies NAME,NAME…] [--targets T,T…]
[--web corpus|synthetic|all] [--start home|seeds|both] [--corpus WARC|TRACE] [--seeds FILE] [--cache DIR] [--fresh]
[--estimate]

The recorded web of ../shared/corpus, or another WARC file, is used as a whole and in folds: each further repetition has
one half of the owners (registrable domains) with their hosts, so that no figure depends on one web. Crawls start from
the home pages without dead links, or from seeds with every link to a page that was not recorded as a dead link. The
seeds are in the file --seeds or `seeds.txt` beside the recording; without one, these crawls start from home pages, too.
Synthetic webs have seeds that were not used in development; crawls start from their home pages, or from a few hubs. In
every repetition the hosts have another random order, the same for all policies, which start without knowledge.
Focus is measured at 5, 12 and 25 % of the pages, and compared in pairs. Rivals that are ahead by more than .02 and two
paired standard errors are named.

Each run is kept in the cache (.focus by default), so an interrupted comparison continues where it was. The exit status
is 0 if all goals are reached and no rival is ahead.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from bench.results import record, table
from tools.focus import report
from tools.focus.runs import (
    BUDGETS,
    CORPUS,
    FROM_SEEDS,
    HOME,
    ROOT,
    RunCache,
    Web,
    find_seeds,
    fingerprint,
    measure_all,
)

from motherlode.crawler.config.job_file import read_seeds
from motherlode.policies import POLICIES, policy_from, target_from
from motherlode.sim.runner import prepared

RECORDED_TARGETS = (
    *("any", "microdata", "microdata>=5", "rdfa", "jsonld", "rdf", "microformats", "type:schema:BreadcrumbList"),
    "ASK { ?s <http://schema.org/datePublished> ?d ; <http://schema.org/image> ?i }",
)
SYNTHETIC_TARGETS = ("any", "microdata", "jsonld", "rdf", "rdfa", "microformats", "type:schema:Recipe")
SYNTHETIC_PAGES = 6000
SYNTHETIC_SEED = 9001
"""Seed of the first synthetic web; development used seeds below 100."""
WHOLE_REPEAT = 20
"""Repetitions of a whole run, for the estimate of its CPU time."""
WRONG_OPTION = 2
"""Exit status if there is no such policy, target or recording."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""
_TELL_SECONDS = 30.0
"""Seconds between two lines about the progress if stderr is not a terminal."""


def recorded_webs(trace: str, seeds: str, start: str, targets: Sequence[str], repeat: int) -> Iterator[Web]:
    """Yield the whole recorded web for the first repetition, and a fold of its owners for each other."""
    place = "home pages" if start == HOME or not seeds else "seeds"
    name = f"recorded sites, {place}" if start == HOME else f"recorded sites, {place} and dead links"
    content = fingerprint(trace, seeds)
    whole = Web(name=name, target="", trace=trace, content=content, start=start, seeds=seeds)
    for target in targets:
        for turn in range(repeat):
            yield msgspec.structs.replace(whole, target=target, part=turn - 1, order=turn)


def synthetic_webs(start: str, targets: Sequence[str], repeat: int, pages: int) -> Iterator[Web]:
    """Yield a synthetic web of another seed for each repetition."""
    name = f"synthetic webs, {'home pages' if start == HOME else 'hubs'}"
    for target in targets:
        for turn in range(repeat):
            yield Web(name=name, target=target, start=start, pages=pages, seed=SYNTHETIC_SEED + turn, order=turn)


def list_webs(options: argparse.Namespace, trace: str, repeat: int, targets: Sequence[str]) -> list[Web]:
    """Return the webs of a comparison. `targets` replaces the usual targets, if there are any."""
    starts = (HOME, FROM_SEEDS) if options.start == "both" else (options.start,)
    recorded, synthetic = targets or RECORDED_TARGETS, targets or SYNTHETIC_TARGETS
    webs: list[Web] = []
    for start in starts:
        if options.web != "synthetic" and trace:
            webs += recorded_webs(trace, options.seeds, start, recorded, repeat)
        if options.web != "corpus":
            webs += synthetic_webs(start, synthetic, repeat, options.synthetic_pages)
    return webs


def split_names(text: str) -> list[str]:
    """Return policy names that are separated by ; or by a comma that does not belong to a name.

    >>> split_names("bfs,linkanalysis:match=word,path=new;pld")
    ['bfs', 'linkanalysis:match=word,path=new', 'pld']
    """
    return [name for name in re.split(r";|,(?![a-z_]+=)", text) if name]


class ProgressLine:
    """Shows how many webs and runs are done, and for how long."""

    def __init__(self, cache: Path) -> None:
        self._cache = RunCache(cache)
        self._cache.read()
        self._known = len(self._cache.runs)
        self._began = self._told_at = time.monotonic()

    def show(self, done: int, of: int) -> None:
        is_terminal, now = sys.stderr.isatty(), time.monotonic()
        if not is_terminal and now - self._told_at < _TELL_SECONDS and done < of:
            return
        self._told_at = now
        self._cache.read()
        runs = len(self._cache.runs) - self._known
        minutes = (now - self._began) / 60
        text = f"{done:,} of {of:,} webs, {runs:,} runs, {self._known:,} were known, {minutes:.0f} min"
        print(f"\r{text}" if is_terminal else text, end="" if is_terminal else "\n", file=sys.stderr, flush=True)


def make_report(webs: Sequence[Web], policies: Sequence[str], cache: RunCache, cpu_line: str) -> tuple[str, bool]:
    """Return the report as Markdown, and whether our policy is good enough."""
    groups = report.group(report.collect(webs, policies, cache))
    if not groups:
        return f"On none of the {len(webs):,} webs does the oracle find enough pages more than breadth-first.", False
    ahead = report.rivals_ahead(groups, policies)
    parts = [
        "### Means of the classes",
        table(
            ("web", "targets", "number", "budget", "mean focus", "lowest", "goal", "best rival, our lead in pairs"),
            report.class_means(groups, policies),
        ),
        "### Rivals ahead by more than .02 and two paired standard errors",
        table(("web and target", "budget", "rival", "our lead", "webs"), ahead) if ahead else "None.",
        "### Targets",
        table(
            ("web and target", "relevant", "webs", "budget", "focus", "best rival", "our lead", ""),
            report.target_rows(groups, policies),
        ),
        "### Calibration of our policy",
        "Predicted → observed probability in %, by tenth, over all requests up to 25 % of the pages.",
        table(
            ("web and target", "requests", "Brier score", "calibration error", "reliability"),
            report.calibration_rows(groups),
        ),
        "### All policies",
        table(
            ("web and target", "policy", *(f"focus {budget:.0%}" for budget in BUDGETS), "relevant hosts"),
            report.policy_rows(groups, policies),
        ),
        cpu_line,
    ]
    return "\n\n".join(parts), report.is_good(groups, policies)


def describe_cpu(options: argparse.Namespace, webs: Sequence[Web], policies: Sequence[str], cache: RunCache) -> str:
    """Return a sentence about the CPU time of a whole run, by the runs that are known."""
    trace = next((web.trace for web in webs if web.trace), "")
    whole = list_webs(options, trace, WHOLE_REPEAT, ())
    seconds, known = report.estimate_cpu(webs, whole, cache, policies)
    crawls = len(whole) * len({"bfs", "oracle", *policies})
    return (
        f"A whole run (`--repeat {WHOLE_REPEAT}`, all targets, {len(policies)} policies, at most {crawls:,} simulated "
        f"crawls) takes about {seconds / 60:.0f} minutes of CPU time, by the mean time of each policy on webs of the "
        f"same kind; the times of {known:.0%} of these crawls are known."
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=10, help="webs and host orders for each target [10]")
    parser.add_argument("--policies", default=";".join(POLICIES), help="names separated by ; or , [all]")
    parser.add_argument("--targets", default="", help="targets separated by ; [all]")
    parser.add_argument("--web", choices=("corpus", "synthetic", "all"), default="all")
    parser.add_argument("--start", choices=(HOME, FROM_SEEDS, "both"), default="both")
    parser.add_argument("--synthetic-pages", type=int, default=SYNTHETIC_PAGES)
    parser.add_argument("--corpus", type=Path, help="WARC file or trace of recorded sites [../shared/corpus]")
    parser.add_argument("--seeds", help="start of crawls with dead links [seeds.txt beside the corpus, or home pages]")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=ROOT / ".focus", help="folder of the results [.focus]")
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--estimate", action="store_true", help="run nothing: report what the cache has")
    parser.add_argument(
        "-o", "--output", type=Path, help="write the report to this file, not to bench/results/focus.md"
    )
    return parser.parse_args()


def _check(options: argparse.Namespace, policies: Sequence[str], targets: Sequence[str]) -> str:
    """Check options. Return the trace of the recorded sites, "" without a recording. Raise ValueError or OSError."""
    for name in policies:
        policy_from(name)
    for target in targets:
        target_from(target)
    if options.web == "synthetic" or (options.corpus is None and not CORPUS.exists()):
        return ""
    corpus = CORPUS if options.corpus is None else options.corpus
    options.seeds = find_seeds(corpus) if options.seeds is None else options.seeds
    if options.seeds:
        read_seeds(Path(options.seeds))
    return prepared(str(corpus), options.cache, lambda done, of: None)


def main() -> int:
    options = _options()
    policies = split_names(options.policies)
    targets = [one.strip() for one in options.targets.split(";") if one.strip()]
    try:
        trace = _check(options, policies, targets)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG_OPTION
    path = options.cache / "runs.jsonl"
    if options.fresh:
        path.unlink(missing_ok=True)
    webs = list_webs(options, trace, options.repeat, targets)
    if not options.estimate:
        progress = ProgressLine(path)
        try:
            measure_all(webs, policies, path, processes=options.processes, progress=progress.show)
        except KeyboardInterrupt:
            print("\nInterrupted. The same command continues; --estimate reports what is known.", file=sys.stderr)
            return INTERRUPTED
        print(file=sys.stderr)
    cache = RunCache(path)
    cache.read()
    text, good = make_report(webs, policies, cache, describe_cpu(options, webs, policies, cache))
    text = f"## Focus\n\n{_intro(options.repeat)}\n\n{text}\n"
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")
        print(text)
    else:
        print(record("focus", text).read_text(encoding="utf-8"))
    return 0 if good else 1


def _intro(repeat: int) -> str:
    return (
        f"Mean ± standard deviation over up to {repeat} webs, each with another host order; webs on which the oracle "
        "gains little are left out. Recorded sites: the whole of ../shared/corpus once, then folds of its owners. No "
        "weights are trained beforehand, but the settings of `motherlode` were chosen on other halves of the same "
        "hosts, so the rows of recorded sites are not a test on unseen hosts. No settings were chosen on the seeds of "
        "the synthetic webs. Focus: 0 is breadth-first, 1 the oracle. A dash stands for a policy that is compared only "
        "on smaller webs, or for webs without gain. Leads are ours minus the rival's, on the same webs, with paired "
        "standard errors."
    )


if __name__ == "__main__":
    sys.exit(main())
