"""A simulated month: new relevant pages and freshness of the endless refresh, compared with a uniform schedule.

    python bench/month.py [--webs N] [--per-day N]

Ten synthetic webs change at known rates for thirty days of virtual time (`motherlode.sim.refresh_simulation`). Both
schedules use the same frontier, policy and budget per day; they differ only in the value by which pages are revisited.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from motherlode.crawler.recrawl.revisits import PageMemory
from motherlode.policies import DEFAULT_POLICY, policy_from
from motherlode.sim.refresh_simulation import ChangingWeb, Month, MonthResult, uniform_value

DAYS = 30


def run_month(
    seed: int, *, per_day: int, hosts: int = 30, days: int = DAYS, value: Callable[[PageMemory, float], float] | None
) -> MonthResult:
    """Return the figures of one web and one schedule. `value` None is the schedule of `crawl --refresh --forever`."""
    web = ChangingWeb(seed, hosts=hosts, days=days)
    return Month(web, policy_from(DEFAULT_POLICY, seed), pages_per_day=per_day, value=value).run(days=days)


def compare(webs: int, *, per_day: int, hosts: int = 30, days: int = DAYS) -> list[tuple[MonthResult, MonthResult]]:
    """Return the figures of both schedules for each web: the endless refresh, and the uniform schedule."""
    return [
        (
            run_month(seed, per_day=per_day, hosts=hosts, days=days, value=None),
            run_month(seed, per_day=per_day, hosts=hosts, days=days, value=uniform_value),
        )
        for seed in range(webs)
    ]


def main() -> None:
    """Run both schedules, print the results and record them."""
    from results import record  # beside this file, which is run as a script

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=int, default=10)
    parser.add_argument("--per-day", type=int, default=100, help="requests per day [default: 100]")
    arguments = parser.parse_args()
    pairs = compare(arguments.webs, per_day=arguments.per_day)
    text = describe(pairs, per_day=arguments.per_day)
    print(text)
    record("month", text)


def describe(pairs: list[tuple[MonthResult, MonthResult]], *, per_day: int) -> str:
    """Return the results as Markdown: one row per web, and the totals."""
    from results import table  # beside this file, which is run as a script

    rows = [
        (
            f"web {number}",
            ours.requests,
            uniform.requests,
            ours.appeared,
            ours.new_relevant,
            uniform.new_relevant,
            f"{ours.new_relevant / max(1, uniform.new_relevant):.2f}",
            f"{ours.freshness:.3f}",
            f"{uniform.freshness:.3f}",
        )
        for number, (ours, uniform) in enumerate(pairs)
    ]
    ours_new, uniform_new = (sum(pair[side].new_relevant for pair in pairs) for side in (0, 1))
    fresh, uniform_fresh = (sum(pair[side].freshness for pair in pairs) / len(pairs) for side in (0, 1))
    head = ("web", "requests", "uniform", "appeared", "new relevant", "uniform", "ratio", "freshness", "uniform")
    return (
        f"## A simulated month\n\n`crawl --refresh --forever` against a schedule that visits all pages equally often: "
        f"{len(pairs)} synthetic webs, {DAYS} days of virtual time, {per_day} requests per day."
        f"\n\n{table(head, rows)}\n\n"
        f"New relevant pages: {ours_new:,} against {uniform_new:,}, {ours_new / max(1, uniform_new):.2f} times. "
        f"Freshness: {fresh:.3f} against {uniform_fresh:.3f}."
    )


if __name__ == "__main__":
    main()
