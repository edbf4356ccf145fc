"""A simulated month: new relevant pages and freshness of the endless refresh, compared with a uniform schedule.

    python -m bench.month [--webs N] [--per-day N]

Ten synthetic webs change at known rates for thirty days of virtual time (`motherlode.sim.changing_web`). Both schedules
use the same frontier, policy and budget per day; they differ only in the value by which pages are revisited.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from motherlode.crawler.recrawl.revisits import PageMemory
from motherlode.policies import DEFAULT_POLICY, policy_from
from motherlode.sim.changing_web import ChangingWeb, Month, MonthResult, uniform_value

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
    """Print one line per web and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", type=int, default=10)
    parser.add_argument("--per-day", type=int, default=100, help="requests per day [default: 100]")
    arguments = parser.parse_args()
    pairs = compare(arguments.webs, per_day=arguments.per_day)
    print("web  requests (forever, uniform)  new relevant (forever, uniform, appeared)  ratio  freshness")
    for number, (ours, uniform) in enumerate(pairs):
        print(
            f"{number:3}  {ours.requests:7} {uniform.requests:7}  {ours.new_relevant:6} {uniform.new_relevant:6} "
            f"{ours.appeared:6}  {ours.new_relevant / max(1, uniform.new_relevant):5.2f}  "
            f"{ours.freshness:.3f} {uniform.freshness:.3f}"
        )
    ours_new, uniform_new = (sum(pair[side].new_relevant for pair in pairs) for side in (0, 1))
    freshness = [sum(pair[side].freshness for pair in pairs) / len(pairs) for side in (0, 1)]
    print(f"all  new relevant pages: {ours_new} against {uniform_new}, {ours_new / max(1, uniform_new):.2f} times")
    print(f"     freshness: {freshness[0]:.3f} against {freshness[1]:.3f}")


if __name__ == "__main__":
    main()
