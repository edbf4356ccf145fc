"""The changing web and its month of virtual time."""

from motherlode.policies import policy_from
from motherlode.sim.refresh_simulation import ChangingPage, ChangingWeb, Month, uniform_value


def test_hub_page_lists_live_items_and_changes_with_them() -> None:
    item = ChangingPage("http://a.example/1", True, born=10.0, dies=20.0)
    hub = ChangingPage("http://a.example/", False, born=0.0, dies=100.0, changes=[50.0], items=[item])
    assert [len(hub.listed(now)) for now in (5.0, 15.0, 25.0)] == [0, 1, 0]
    assert hub.version(5.0) != hub.version(15.0)
    assert hub.version(25.0) != hub.version(55.0)


def test_web_with_the_same_seed_is_the_same() -> None:
    first, second, other = ChangingWeb(1, hosts=3), ChangingWeb(1, hosts=3), ChangingWeb(2, hosts=3)
    assert first.pages == second.pages
    assert first.pages != other.pages


def test_month_stays_within_its_budget_and_fetches_pages_that_appear() -> None:
    web = ChangingWeb(0, hosts=4, days=10)
    result = Month(web, policy_from("bfs", 0), pages_per_day=30).run(days=10)
    assert result.requests <= 300
    assert 0 < result.new_relevant <= result.appeared
    assert result.revisits + result.new_relevant <= result.requests
    assert 0.0 < result.freshness <= 1.0


def test_month_with_a_large_budget_leaves_static_pages_alone() -> None:
    by_value, uniform = (
        Month(ChangingWeb(0, hosts=4, days=10), policy_from("bfs", 0), pages_per_day=100_000, value=value).run(days=10)
        for value in (None, uniform_value)
    )
    assert by_value.requests < uniform.requests / 2
    assert by_value.new_relevant > 0.9 * uniform.new_relevant
