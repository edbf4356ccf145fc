from __future__ import annotations

import numpy as np

from motherlode.sim.synthetic.random_draws import below, lognormal_table, mix, named, normals, uniforms


def test_draws_depend_only_on_seed_and_position() -> None:
    assert mix(3, 4) == mix(3, 4)
    assert len({mix(seed, value) for seed in range(30) for value in range(-30, 30)}) == 1800
    assert named(1, "a") != named(1, "b") != named(2, "b")


def test_below_has_given_frequency() -> None:
    happened = sum(below(mix(9, n), 120) for n in range(20_000))
    assert 0.11 < happened / 20_000 < 0.13
    assert not any(below(mix(9, n), 0) for n in range(100))


def test_uniforms_kth_number_is_independent_of_count() -> None:
    assert np.array_equal(uniforms(5, 10), uniforms(5, 1000)[:10])
    numbers = uniforms(5, 50_000)
    assert numbers.min() >= 0 and numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.01


def test_normals_have_the_moments_of_a_normal_distribution() -> None:
    numbers = normals(7, 50_000)
    assert abs(numbers.mean()) < 0.02
    assert abs(numbers.std() - 1) < 0.03


def test_lognormal_table_is_sorted_and_clipped() -> None:
    table = lognormal_table(median=16_000, sigma=0.85, low=2_500, high=60_000)
    assert list(table) == sorted(table)
    assert (table[0], table[-1]) == (2_500, 60_000)


def test_mix_gives_expected_results_for_examples() -> None:
    assert (mix(1, 2) == mix(1, 2), mix(1, 2) == mix(2, 1), mix(1, 2) < 2**64) == (True, False, True)


def test_lognormal_table_gives_expected_results_for_examples() -> None:
    table = lognormal_table(median=100, sigma=1.0, low=10, high=1000)
    assert (len(table), table[0], table[-1], table[128] in range(99, 102)) == (256, 10, 1000, True)
