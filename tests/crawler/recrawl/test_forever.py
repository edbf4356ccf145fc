"""Budget per day and disk limits of an endless refresh."""

from pathlib import Path

from motherlode.crawler.recrawl.forever import (
    DAY_SECONDS,
    MIN_FREE_BYTES,
    NEXT_ROUND_FILE,
    STATE_FILE,
    DailyBudget,
    check_disk,
    read_budget,
    read_next_round,
    save_budget,
    save_next_round,
)

HOUR = 3600.0


def test_allowance_of_a_day_is_spread_over_its_rounds() -> None:
    budget, fetched, allowances = DailyBudget(began=0.0, fetched_before=500), 500, []
    for number in range(24):
        allowance = budget.allowance(number * HOUR, fetched=fetched, per_day=240, round_seconds=HOUR)
        allowances.append(allowance)
        fetched += allowance
    assert allowances == [10] * 24


def test_allowance_includes_what_earlier_rounds_left() -> None:
    budget = DailyBudget(began=0.0, fetched_before=0)
    assert budget.allowance(11 * HOUR, fetched=20, per_day=240, round_seconds=HOUR) == 100


def test_new_day_begins_after_a_day_and_if_the_clock_was_set_back() -> None:
    budget = DailyBudget(began=1000.0, fetched_before=5)
    assert budget.at(1000.0 + DAY_SECONDS - 1, 90) == budget
    assert budget.at(1000.0 + DAY_SECONDS, 90) == DailyBudget(began=1000.0 + DAY_SECONDS, fetched_before=90)
    assert budget.at(0.0, 90) == DailyBudget(began=0.0, fetched_before=90)


def test_budget_survives_a_restart_and_a_damaged_file(tmp_path: Path) -> None:
    budget = DailyBudget(began=100.0, fetched_before=7)
    save_budget(tmp_path, budget)
    assert read_budget(tmp_path, now=200.0, fetched=50) == budget
    (tmp_path / STATE_FILE).write_text("{", encoding="utf-8")
    assert read_budget(tmp_path, now=200.0, fetched=50) == DailyBudget(began=200.0, fetched_before=50)


def test_next_round_is_read_until_it_begins(tmp_path: Path) -> None:
    assert read_next_round(tmp_path) is None
    save_next_round(tmp_path, 1_000.5)
    assert read_next_round(tmp_path) == 1_000.5
    save_next_round(tmp_path, None)
    save_next_round(tmp_path, None)
    assert read_next_round(tmp_path) is None
    (tmp_path / NEXT_ROUND_FILE).write_text("soon")
    assert read_next_round(tmp_path) is None


def test_disk_limit_warns_before_it_is_reached(tmp_path: Path) -> None:
    plenty = 100 * MIN_FREE_BYTES
    states = [check_disk(tmp_path, used=used, max_disk=1000, free=plenty) for used in (100, 950, 1000)]
    assert [state.is_full for state in states] == [False, False, True]
    assert [bool(state.message) for state in states] == [False, True, True]
    assert "max_disk" in states[1].message


def test_free_space_warns_before_no_round_starts(tmp_path: Path) -> None:
    free = (MIN_FREE_BYTES * 3, MIN_FREE_BYTES + 1, MIN_FREE_BYTES - 1)
    states = [check_disk(tmp_path, used=0, max_disk=None, free=count) for count in free]
    assert [(state.is_full, bool(state.message)) for state in states] == [(False, False), (False, True), (True, True)]
