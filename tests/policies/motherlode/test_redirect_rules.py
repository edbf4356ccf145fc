from __future__ import annotations

import pytest

from motherlode.frontier.known_redirects import KNOWN_REDIRECT
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.policies.motherlode.redirect_rules import RedirectRules, find_rule
from motherlode.sim.simulator import SimResult, Simulation
from tests.sim.fakes import TableWeb


@pytest.mark.parametrize(
    ("url", "target", "other", "predicted"),
    [
        ("http://a.org/x/y", "https://a.org/x/y", "http://a.org/z", "https://a.org/z"),
        ("https://a.org/news", "https://a.org/news/", "https://a.org/b/c", "https://a.org/b/c/"),
        ("https://a.org/b/index.html", "https://a.org/b/", "https://a.org/c/index.html", "https://a.org/c/"),
        ("https://a.org/b", "https://www.a.org/b", "https://a.org/c", "https://www.a.org/c"),
        ("https://id.org/v/t1", "https://doc.org/v/t1.ttl", "https://id.org/v/t2", "https://doc.org/v/t2.ttl"),
        ("https://a.org/p.html?x=1", "https://a.org/p.html", "https://a.org/q.html?y=2&z", "https://a.org/q.html"),
    ],
)
def test_rule_of_one_redirect_predicts_another(url: str, target: str, other: str, predicted: str) -> None:
    rule = find_rule(url, target)
    assert rule is not None
    assert rule.apply(url) == target
    assert rule.apply(other) == predicted


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://a.org/x", "https://a.org/"),
        ("https://a.org/x", "https://b.org/y"),
        ("https://a.org/x", "https://a.org/x"),
    ],
)
def test_redirect_that_rewrites_nothing_has_no_rule(url: str, target: str) -> None:
    assert find_rule(url, target) is None


def test_rule_is_used_only_while_confirmed_more_often_than_contradicted() -> None:
    rules = RedirectRules({})
    rules.learn_redirect("https://a.org/x", "https://a.org/x/")
    assert rules.predict("https://a.org/z") == "", "one redirect may be an exception"
    rules.learn_redirect("https://a.org/y", "https://a.org/y/")
    assert rules.predict("https://a.org/z") == "https://a.org/z/"
    assert rules.predict("https://a.org/z.html") == "", "another kind of ending"
    assert rules.predict("https://b.org/z") == "", "another host"
    rules.learn_response("https://a.org/page")
    assert rules.predict("https://a.org/z") == ""


def test_merged_rules_have_the_counts_of_both() -> None:
    one, other = RedirectRules({}), RedirectRules({})
    for rules in (one, other):
        rules.learn_redirect("https://a.org/x", "https://a.org/x/")
        rules.learn_redirect("https://a.org/y", "https://a.org/y/")
    one.merge(other.by_host)
    assert one.by_host["a.org"][0].confirmed == 2


def crawl(*, predicts: bool) -> SimResult:
    items = range(40)
    table: dict[str, tuple[bool, list[str]]] = {f"https://doc.example/v/t{n}.ttl": (True, []) for n in items}
    table["https://doc.example/"] = (False, [f"https://id.example/v/t{n}" for n in items])
    redirects = {f"https://id.example/v/t{n}": f"https://doc.example/v/t{n}.ttl" for n in items}
    policy = Motherlode(config=PolicyConfig(predicts_redirects=predicts))
    simulation = Simulation(TableWeb(table, redirects), policy, scope=lambda url: "")
    result = simulation.run(["https://doc.example/"], pages=100)
    assert policy._in_flight == {}
    if predicts:
        assert simulation._frontier.refused == {KNOWN_REDIRECT: 38}
    return result


def test_known_redirects_cost_no_requests() -> None:
    without, with_rules = crawl(predicts=False), crawl(predicts=True)
    assert (without.relevant, without.failures["redirect"]) == (40, 40)
    assert (with_rules.relevant, with_rules.failures["redirect"]) == (40, 2)
