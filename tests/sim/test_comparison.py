from __future__ import annotations

import pytest

from motherlode.sim.comparison import compare, paired_difference
from motherlode.sim.experiment import ExperimentSetup, in_host_order, run_experiment


def test_paired_difference_of_one_pair_has_no_standard_error() -> None:
    found = paired_difference("focus", [0.5], [0.75])
    assert (found.difference, found.standard_error, found.pairs) == (0.25, None, 1)


def test_paired_difference_error_ignores_what_pairs_share() -> None:
    found = paired_difference("focus", [0.1, 0.5, 0.9], [0.2, 0.6, 1.0])
    assert found.difference == pytest.approx(0.1)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)


def test_compare_policy_with_itself_has_no_difference() -> None:
    study = run_experiment(ExperimentSetup(web="synthetic:500", policies=("pld",), repeat=3, share=0.2), processes=1)
    found = compare(study, "pld", "pld")
    assert {one.figure for one in found} == {"harvest_rate", "focus", "area_focus", "recall", "relevant_hosts"}
    assert all(one.difference == 0 and one.standard_error == 0 and one.pairs == 3 for one in found)


def test_host_order_depends_on_seed_and_keeps_order_within_host() -> None:
    urls = [f"https://h{host}.example/{page}" for host in range(9) for page in range(3)]
    first, second = in_host_order(urls, 1), in_host_order(urls, 2)
    assert first != second
    assert in_host_order(list(reversed(urls)), 1) != first
    assert sorted(first) == sorted(second) == urls
    for number in range(0, 27, 3):
        assert [url[-1] for url in first[number : number + 3]] == ["0", "1", "2"]


def test_repetitions_have_different_host_orders() -> None:
    study = run_experiment(ExperimentSetup(web="synthetic:500", policies=("bfs",), repeat=4, share=0.1), processes=1)
    assert len({tuple(row.result.hosts) for row in study.rows}) == 4
    assert all(row.focus == 0 for row in study.rows)
    assert study.rows[0].result.relevant_hosts == sum(found > 0 for _, found in study.rows[0].result.hosts.values())
