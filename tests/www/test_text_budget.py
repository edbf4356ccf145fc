"""The budget of extracted text."""

from __future__ import annotations

from motherlode.www.html_limits import TextBudget


def test_text_budget_grows_with_page_and_ends() -> None:
    budget = TextBudget(1_000_000)
    for _ in range(9):
        assert not budget.is_spent
        budget.spend("x" * 1_000_000)
    assert budget.is_spent and budget.was_short


def test_text_budget_small_repetitions_are_granted() -> None:
    budget = TextBudget(0)
    assert budget.affordable("x", 10_000) == 10_000 and not budget.was_short
    assert budget.affordable("", 10_000) == 10_000
