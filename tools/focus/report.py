"""Tables of the comparison: goals, leads over the best rival in pairs, rivals ahead, calibration and CPU time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev

from tools.focus.runs import BUDGETS, MAIN, OURS, Run, RunCache, Web, oracle_gain, run_key
from tools.focus.runs import MIN_ORACLE_GAIN as MIN_GAIN

from motherlode.sim.calibration import expected_error
from motherlode.sim.comparison import paired_difference
from motherlode.sim.experiment import focus

RARE_SHARE = 0.1
"""A target is rare if fewer pages than this share are relevant, otherwise common."""
GOALS = {("home", "common"): 0.85, ("home", "rare"): 0.65, ("seeds", "common"): 0.80, ("seeds", "rare"): 0.45}
"""Least focus of a single target at 12 %."""
MEAN_GOALS = {
    (0.12, "home", "common"): 0.95,
    (0.12, "home", "rare"): 0.90,
    (0.12, "seeds", "common"): 0.90,
    (0.12, "seeds", "rare"): 0.75,
    (0.05, "home", "common"): 0.85,
    (0.05, "seeds", "common"): 0.85,
}
"""Least mean focus over the targets of a class, by budget."""
MAX_LEAD = 0.02
"""A rival is ahead if its mean lead is above this and above two paired standard errors."""


@dataclass(frozen=True, slots=True)
class Result:
    """A run with its focus at each budget; None for budgets at which the oracle gains nothing."""

    web: Web
    run: Run
    focus: tuple[float | None, ...]

    @property
    def share(self) -> float:
        return self.run.relevant / self.run.pages


def collect(webs: Sequence[Web], policies: Sequence[str], cache: RunCache) -> list[Result]:
    """Return the results of all policies on the webs on which the oracle gains enough."""
    found = []
    for web in webs:
        bfs, oracle = (cache.runs.get(run_key(web, name)) for name in ("bfs", "oracle"))
        if bfs is None or oracle is None or oracle_gain(bfs, oracle) < MIN_GAIN:
            continue
        for name in policies:
            run = cache.runs.get(run_key(web, name))
            if run is not None:
                gains = zip(run.found, bfs.found, oracle.found, strict=True)
                found.append(Result(web, run, tuple(focus(*one) for one in gains)))
    return found


Groups = dict[tuple[str, str], list[Result]]


def group(results: Iterable[Result]) -> Groups:
    """Return the results by name of the web and target."""
    groups: Groups = {}
    for one in results:
        groups.setdefault((one.web.name, one.web.target), []).append(one)
    return groups


def _values(found: Sequence[Result], policy: str, at: int) -> dict[Web, float]:
    own = ((one.web, one.focus[at]) for one in found if one.run.policy == policy)
    return {web: value for web, value in own if value is not None}


@dataclass(frozen=True, slots=True)
class Lead:
    """The mean difference of our policy and a rival on the same webs."""

    rival: str
    difference: float
    error: float | None
    webs: int

    @property
    def is_behind(self) -> bool:
        """Whether the rival is ahead by more than .02 and two standard errors. One web alone shows nothing."""
        return self.error is not None and self.difference < -MAX_LEAD and self.difference < -2 * self.error

    @property
    def text(self) -> str:
        return f"{self.difference:+.3f}" + ("" if self.error is None else f" ±{self.error:.3f}")


def leads(found: Sequence[Result], policies: Sequence[str], at: int) -> list[Lead]:
    """Return the lead of our policy over every rival, the best rival first."""
    ours, made = _values(found, OURS, at), []
    for rival in policies:
        theirs = _values(found, rival, at)
        both = [web for web in ours if web in theirs]
        if rival != OURS and both:
            pair = paired_difference("focus", [theirs[web] for web in both], [ours[web] for web in both])
            made.append(Lead(rival, pair.difference, pair.standard_error, pair.pairs))
    return sorted(made, key=lambda lead: lead.difference)


def class_of(share: float) -> str:
    return "common" if share >= RARE_SHARE else "rare"


def rivals_ahead(groups: Groups, policies: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each rival that is ahead of our policy on some web and target at some budget."""
    rows = []
    for (name, target), found in groups.items():
        for at, budget in enumerate(BUDGETS):
            behind = [lead for lead in leads(found, policies, at) if lead.is_behind]
            rows += [(f"{name}: `{target}`", f"{budget:.0%}", one.rival, one.text, f"{one.webs}") for one in behind]
    return rows


def class_means(groups: Groups, policies: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the mean focus of our policy over the targets of each class, with the goal and the best rival."""
    classes: dict[tuple[str, str, str], list[list[Result]]] = {}
    for (name, _), found in groups.items():
        classes.setdefault((name, found[0].web.start, class_of(mean(one.share for one in found))), []).append(found)
    rows = []
    for (name, start, kind), targets in classes.items():
        for at, budget in enumerate(BUDGETS):
            means = [mean(values) for found in targets if (values := _values(found, OURS, at).values())]
            if not means:
                continue
            best = leads([one for found in targets for one in found], policies, at)[:1]
            goal = MEAN_GOALS.get((budget, start, kind))
            reached = "" if goal is None else f"{goal:.2f} " + ("reached" if mean(means) >= goal else "**missed**")
            rival = f"{best[0].rival} {best[0].text}" if best else "–"
            rows.append(
                (
                    name,
                    kind,
                    f"{len(means)}",
                    f"{budget:.0%}",
                    f"{mean(means):.3f}",
                    f"{min(means):.3f}",
                    reached,
                    rival,
                )
            )
    return rows


def target_rows(groups: Groups, policies: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each web, target and budget: focus and spread of our policy, best rival and paired lead."""
    rows = []
    for (name, target), found in groups.items():
        share = mean(one.share for one in found)
        for at, budget in enumerate(BUDGETS):
            ours = list(_values(found, OURS, at).values())
            if not ours:
                continue
            ranked = leads(found, policies, at)
            verdict = "**behind**" if any(lead.is_behind for lead in ranked) else ""
            if budget == MAIN:
                goal = GOALS[found[0].web.start, class_of(share)]
                verdict += f" goal {goal:.2f} " + ("reached" if mean(ours) >= goal else "**missed**")
            best = ranked[0] if ranked else None
            rival = ("–", "–") if best is None else (best.rival, best.text)
            about = f"{name}: `{target}`", f"{share:.0%}", f"{len(ours)}", f"{budget:.0%}"
            rows.append((*about, _spread(ours), *rival, verdict.strip()))
    return rows


def policy_rows(groups: Groups, policies: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a row for each web, target and policy: its focus at each budget, and relevant hosts."""
    rows = []
    for (name, target), found in groups.items():
        for policy in policies:
            figures = [_spread(list(_values(found, policy, at).values())) for at in range(len(BUDGETS))]
            hosts = [one.run.hosts for one in found if one.run.policy == policy]
            rows.append((f"{name}: `{target}`", policy, *figures, f"{mean(hosts):.1f}" if hosts else "–"))
    return rows


def calibration_rows(groups: Groups) -> list[tuple[str, ...]]:
    """Return a row for each web and target: Brier score, calibration error and the reliability of our policy."""
    rows = []
    for (name, target), found in groups.items():
        own = [one.run for one in found if one.run.policy == OURS and one.run.brier is not None]
        if not own:
            continue
        bins = _join_bins([one for run in own for one in run.calibration])
        brier = sum((run.brier or 0.0) * sum(n for *_, n in run.calibration) for run in own)
        total = sum(n for *_, n in bins)
        shown = " ".join(f"{100 * predicted:.0f}→{100 * observed:.0f}" for predicted, observed, _ in bins)
        figures = f"{brier / total:.3f}", f"{expected_error(bins):.3f}"
        rows.append((f"{name}: `{target}`", f"{total:,}", *figures, shown))
    return rows


def _join_bins(bins: Sequence[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """Return the bins of several runs together, by tenth of the predicted probability."""
    sums: dict[int, list[float]] = {}
    for predicted, observed, number in bins:
        one = sums.setdefault(min(9, int(10 * predicted)), [0.0, 0.0, 0])
        one[0] += predicted * number
        one[1] += observed * number
        one[2] += number
    return [(p / n, o / n, int(n)) for p, o, n in (sums[tenth] for tenth in sorted(sums))]


def estimate_cpu(
    webs: Sequence[Web], whole: Sequence[Web], cache: RunCache, policies: Sequence[str]
) -> tuple[float, float]:
    """Return the CPU seconds of a whole run, and the share of its crawls for which a time is known.

    The time of a policy is its mean on webs of the same kind. Folds of the recorded web are a kind of their own.
    """
    names = [*dict.fromkeys(("bfs", "oracle", *policies))]
    times: dict[tuple[str, bool, str], list[float]] = {}
    for web in webs:
        for name in names:
            if (run := cache.runs.get(run_key(web, name))) is not None:
                times.setdefault((web.name, web.part < 0, name), []).append(run.seconds)
    wanted = Counter((web.name, web.part < 0, name) for web in whole for name in names)
    total = sum(number * mean(times[kind]) for kind, number in wanted.items() if kind in times)
    known = sum(number for kind, number in wanted.items() if kind in times)
    return total, known / max(1, wanted.total())


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):.2f} ±{pstdev(values):.2f}" if values else "–"


def is_good(groups: Groups, policies: Sequence[str]) -> bool:
    """Return whether our policy reaches every goal and no rival is ahead."""
    missed = any(
        "**" in cell for row in (*class_means(groups, policies), *target_rows(groups, policies)) for cell in row
    )
    return not missed
