from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.policies import policy_from
from motherlode.sim.simulator import SimResult, Simulation, Timing
from motherlode.www.urls import host_of
from tests.sim.fakes import TableWeb, everyone_linked

CHAIN = TableWeb({f"https://a.example/{n or ''}": (n % 2 == 1, [f"https://a.example/{n + 1}"]) for n in range(20)})


def crawled(web: TableWeb, *, policy: str = "bfs", pages: int = 1000, seed: int = 0, **timing: float) -> SimResult:
    chosen = Timing(**timing)  # type: ignore[arg-type]
    simulation = Simulation(web, policy_from(policy, seed), scope=lambda url: "", timing=chosen, seed=seed)
    return simulation.run(web.home_pages(), pages=pages, keep_picks=True)


class TestCounting:
    def test_simulation_counts_every_request(self) -> None:
        web = TableWeb(
            {"https://a.example/": (True, ["https://a.example/r", "https://a.example/gone"])},
            {"https://a.example/r": "https://b.example/"},
        )
        result = crawled(web)
        assert result.picks == [
            "https://a.example/",
            "https://a.example/r",
            "https://b.example/",  # as urgent as what led there
            "https://a.example/gone",
        ]
        assert (result.fetched, result.relevant, result.harvest_rate) == (4, 1, 0.25)
        assert result.failures == {"redirect": 1, "not-found": 2}
        assert result.hosts == {"a.example": [3, 1], "b.example": [1, 0]}
        assert result.seconds == 0.0

    def test_simulation_curve_ends_at_budget(self) -> None:
        result = crawled(CHAIN, pages=7)
        assert result.fetched == len(result.picks) == 7
        assert result.curve[-1] == (7, 3)
        assert all(before < after for before, after in pairwise(result.curve))

    def test_simulation_with_large_budget_ends_with_web(self) -> None:
        result = crawled(CHAIN, pages=10**6)
        assert result.fetched == 21  # the last link leads nowhere
        assert result.relevant == 10

    def test_simulation_samples_pick_times(self) -> None:
        result = crawled(everyone_linked(5, 50))
        assert len(result.picking) == result.fetched
        assert all(waiting >= 0 and seconds > 0 for waiting, seconds in result.picking)
        assert 0 < result.select_seconds < result.wall_seconds

    @pytest.mark.parametrize("policy", ["bfs", "dfs", "random", "bandit:success-rate"])
    def test_simulation_with_same_seed_is_equal(self, policy: str) -> None:
        web = everyone_linked(20, 6)
        one, same = (crawled(web, policy=policy, seed=3, failure_rate=0.1) for _ in range(2))
        assert (one.picks, one.curve, one.failures) == (same.picks, same.curve, same.failures)

    def test_simulation_with_other_seed_differs(self) -> None:
        web = everyone_linked(20, 6)
        assert crawled(web, policy="random", seed=1).picks != crawled(web, policy="random", seed=2).picks

    def test_request_curve_counts_heads_up_to_the_budget(self) -> None:
        """A policy that sends HEAD requests must not look better at a smaller budget than it is."""
        result = crawled(everyone_linked(6, 40), policy="ldcoc", pages=150)
        assert result.heads > 0
        assert result.curve[-1] == (result.fetched, result.relevant)
        assert result.request_curve[-1] == (150, result.relevant)
        assert result.fetched + result.heads == 150
        assert all(before[0] <= after[0] for before, after in pairwise(result.request_curve))

    def test_request_curve_without_heads_equals_curve(self) -> None:
        result = crawled(everyone_linked(6, 40), policy="ldcoc:head=no", pages=150)
        assert result.request_curve == result.curve


class TestVirtualTime:
    def test_simulation_request_takes_latency_and_transfer_time(self) -> None:
        result = crawled(TableWeb({"https://a.example/": (False, [])}), latency=2.0, bandwidth=500.0)
        (request,) = result.starts
        assert request[1] - request[0] == pytest.approx(2.0 * 0.1 + 1000 / 500.0)
        assert result.seconds == pytest.approx(request[1])

    def test_simulation_with_more_slots_takes_less_time(self) -> None:
        web = everyone_linked(20, 6)
        slow, fast = (crawled(web, latency=1.0, in_flight=number) for number in (1, 10))
        assert sorted(slow.picks) == sorted(fast.picks)
        assert fast.seconds < slow.seconds / 4

    def test_simulation_free_slot_is_used_when_host_is_ready(self) -> None:
        """A slow host must not keep a fast one waiting."""
        pages = [f"https://fast.example/{n}" for n in range(1, 5)]
        web = TableWeb(
            {"https://slow.example/": (False, []), "https://fast.example/": (False, pages)}
            | dict.fromkeys(pages, (True, []))
        )
        slow = web._pages["https://slow.example/"]
        web._pages["https://slow.example/"] = type(slow)(url=slow.url, latency=1000.0)
        result = crawled(web, latency=1.0, delay=1.0, in_flight=2)
        ends = {url: end for url, (_, end) in zip(result.picks, result.starts, strict=True)}
        assert max(end for url, end in ends.items() if "fast" in url) < 20

    def test_simulation_outcomes_arrive_after_response_time(self) -> None:
        """Requests in flight are picked before their outcomes are known."""
        web = everyone_linked(8, 30)
        now, late = (
            crawled(web, policy="bandit:success-rate:0", pages=100, latency=1.0, in_flight=number) for number in (1, 60)
        )
        assert late.relevant < now.relevant

    @settings(max_examples=60, deadline=None)
    @given(
        st.sampled_from(["bfs", "random", "bandit:success-rate"]),
        st.floats(0.01, 3.0),
        st.floats(0.0, 3.0),
        st.integers(1, 30),
        st.sampled_from([0.0, 0.2]),
    )
    def test_simulation_keeps_host_delay(
        self, policy: str, delay: float, latency: float, in_flight: int, failure_rate: float
    ) -> None:
        result = crawled(
            everyone_linked(4, 8),
            policy=policy,
            delay=delay,
            latency=latency,
            in_flight=in_flight,
            failure_rate=failure_rate,
        )
        by_host = defaultdict(list)
        for url, times in zip(result.picks, result.starts, strict=True):
            by_host[host_of(url)].append(times)
        for times in by_host.values():
            for (_, end), (start, _) in pairwise(times):
                assert start >= end + delay - 1e-9
        under_way = [sum(start <= at < end for start, end in result.starts) for at, _ in result.starts]
        assert max(under_way) <= in_flight

    def test_simulation_without_delay_limits_requests_per_host(self) -> None:
        result = crawled(everyone_linked(2, 60), latency=1.0, in_flight=50, per_host=3)
        for host in ("h0.example", "h1.example"):
            own = [times for url, times in zip(result.picks, result.starts, strict=True) if host_of(url) == host]
            assert max(sum(start <= at < end for start, end in own) for at, _ in own) == 3


class TestFailures:
    def test_simulated_failures_have_given_rate(self) -> None:
        result = crawled(everyone_linked(100, 30), failure_rate=0.2)
        failed = result.failures["timeout"] + result.failures["server-error"]
        assert failed / result.fetched == pytest.approx(0.2, abs=0.03)
        assert result.failures["timeout"] == pytest.approx(result.failures["server-error"], rel=0.3)

    def test_simulated_failures_are_retried(self) -> None:
        web = everyone_linked(100, 30)
        calm, rough = crawled(web, pages=10**6), crawled(web, pages=10**6, failure_rate=0.1)
        assert rough.fetched > calm.fetched
        assert rough.relevant > 0.97 * calm.relevant

    def test_simulated_failures_are_equal_for_every_policy(self) -> None:
        web = everyone_linked(30, 10)
        failed = [crawled(web, policy=policy, failure_rate=0.2).failures for policy in ("bfs", "random")]
        assert failed[0] == failed[1]
