"""A random generator that is put down and taken up again goes on as if nothing had happened."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.policies.orders import random_state, set_random_state


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64), st.integers(0, 700))
def test_it_goes_on_where_it_was_after_any_number_of_draws(seed: int, draws: int) -> None:
    one, other = Random(seed), Random(0)
    for _ in range(draws):
        one.random()
    set_random_state(other, random_state(one))
    assert [one.random() for _ in range(5)] == [other.random() for _ in range(5)]
    assert one.sample(range(100), 5) == other.sample(range(100), 5)


def test_looking_at_the_state_changes_nothing() -> None:
    random = Random(3)
    assert random_state(random) == random_state(random)
    assert random.random() == Random(3).random()


@pytest.mark.parametrize("state", [b"", b"x", b"\x00" * 100])
def test_what_is_no_state_is_refused_and_the_generator_is_as_it_was(state: bytes) -> None:
    random = Random(3)
    with pytest.raises(ValueError, match=r"."):
        set_random_state(random, state)
    assert random.random() == Random(3).random()
