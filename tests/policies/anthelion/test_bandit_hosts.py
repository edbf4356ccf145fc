"""Value functions, and ready hosts compared with a plain table; `test_bandit` tests the whole policy."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.policies.anthelion.bandit import (
    FUNCTIONS,
    HostsByValue,
    SampledHosts,
    make_ready_hosts,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("best-score", 0.25),
        ("success-rate", 4 / 2),
        ("negative-bad", -1),
        ("good-best-score", 3 * 0.25),
        ("success-best-score", 4 / 2 * 0.25),
    ],
)
def test_value_functions_equal_formulas_of_the_paper(name: str, value: float) -> None:
    assert FUNCTIONS[name].value(3, 1, 0.25) == value


def test_table_has_the_seven_functions_of_the_paper() -> None:
    assert len(FUNCTIONS) == 7
    assert {name for name, line in FUNCTIONS.items() if line.is_sampled} == {"thompson", "thompson-best-score"}
    assert {name for name, line in FUNCTIONS.items() if line.uses_best_score} == {
        n for n in FUNCTIONS if "best-score" in n
    }


NAMES = [f"h{number}" for number in range(6)]
RECORD = st.tuples(st.integers(0, 4), st.integers(0, 4))
STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), RECORD, st.integers(0, 3)),
    st.tuples(st.just("record"), st.sampled_from(NAMES), RECORD, st.just(0)),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just((0, 0)), st.just(0)),
)
Table = dict[str, tuple[float, float, float]]


def after(hosts: HostsByValue | SampledHosts, steps: list[tuple[str, str, tuple[int, int], int]]) -> Table:
    """Apply the steps to the hosts and to a plain table, and return the table."""
    table: Table = {}
    for what, name, (good, bad), best in steps:
        if what == "put":
            hosts.put(name, good, bad, best)
            table[name] = (good, bad, best)
        elif what == "remove":
            hosts.remove(name)
            table.pop(name, None)
        elif name in table:
            hosts.put(name, good, bad, table[name][2])
            table[name] = (good, bad, table[name][2])
    return table


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_only_ready_hosts_are_selected(function: str, steps: list[tuple[str, str, tuple[int, int], int]]) -> None:
    hosts = make_ready_hosts(FUNCTIONS[function])
    table = after(hosts, steps)
    assert {name for name in NAMES if name in hosts} == set(table)
    if not table:
        assert hosts.best(Random(1)) is None
        assert hosts.any(Random(1)) is None
    for seed in range(5 if table else 0):
        assert hosts.best(Random(seed)) in table
        assert hosts.any(Random(seed)) in table


@pytest.mark.parametrize("function", [name for name, line in FUNCTIONS.items() if not line.is_sampled])
@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_best_host_has_the_highest_value_of_its_latest_record(
    function: str, steps: list[tuple[str, str, tuple[int, int], int]]
) -> None:
    hosts = make_ready_hosts(FUNCTIONS[function])
    table = after(hosts, steps)
    best = hosts.best(Random(1))
    if table:
        assert best is not None
        assert FUNCTIONS[function].value(*table[best]) == max(FUNCTIONS[function].value(*row) for row in table.values())


def test_samples_depend_on_the_seed_only() -> None:
    hosts = make_ready_hosts(FUNCTIONS["thompson"])
    for number in range(50):
        hosts.put(f"h{number}", number % 3, number % 5, 0.5)
    first = [hosts.best(Random(seed)) for seed in range(20)]
    assert [hosts.best(Random(seed)) for seed in range(20)] == first
    assert len(set(first)) > 5


def test_sampled_hosts_keep_their_records_when_columns_grow_and_move() -> None:
    """Only one host has a best score above 0, so it must win with every sample, wherever its column was moved."""
    hosts = SampledHosts(FUNCTIONS["thompson-best-score"])
    for number in range(1_000):
        hosts.put(f"h{number}", 1.0, 1.0, 0.0)
    hosts.put("h500", 0.0, 50.0, 1.0)
    for number in (0, 999, 63, 64, 501, 499, 123):
        hosts.remove(f"h{number}")
        assert hosts.best(Random(number)) == "h500"
    hosts.put("last", 0.0, 0.0, 1.0)
    hosts.put("h500", 0.0, 0.0, 0.0)
    hosts.remove("h1")
    assert hosts.best(Random(2)) == "last", "it has the column of the removed host with its own record"
    hosts.remove("last")
    hosts.put("h500", 0.0, 50.0, 1.0)
    hosts.put("h500", 3.0, 4.0, 1.0)
    assert hosts.best(Random(3)) == "h500"
    hosts.remove("h500")
    hosts.put("h500", 0.0, 0.0, 0.0)
    assert {hosts.best(Random(seed)) for seed in range(3)} != {"h500"}, "nothing of the old column is left"


def test_host_without_record_is_sampled_uniformly() -> None:
    hosts = SampledHosts(FUNCTIONS["thompson"])
    hosts.put("untried", 0.0, 0.0, 0.0)
    hosts.put("fair", 50.0, 50.0, 0.0)
    wins = sum(hosts.best(Random(seed)) == "untried" for seed in range(400))
    assert 150 < wins < 250, "a uniform sample is above one half in every second draw"


def test_removed_host_leaves_no_best_score_behind() -> None:
    hosts = HostsByValue(FUNCTIONS["success-best-score"])
    hosts.put("a", 9.0, 0.0, 1.0)
    hosts.remove("a")
    hosts.remove("a")
    hosts.put("a", 0.0, 0.0, 0.1)
    hosts.put("b", 0.0, 0.0, 0.2)
    assert hosts.best(Random(1)) == "b"
    hosts.put("a", 9.0, 0.0, 0.1)
    assert hosts.best(Random(1)) == "a"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_thompson_functions_use_sampled_hosts(function: str) -> None:
    assert isinstance(make_ready_hosts(FUNCTIONS[function]), SampledHosts) == function.startswith("thompson")
