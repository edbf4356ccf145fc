"""The table of policies: names, arguments, errors and documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from motherlode.model import Policy
from motherlode.policies import DEFAULT_POLICY, POLICIES, nearest, policy_from, policy_variants
from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
from motherlode.policies.baselines.orders import OrderPolicy
from motherlode.policies.registry import BUILT_IN, GUIDE, ORACLE, POLICY_TABLE
from motherlode.project import ADDRESS
from motherlode.sim.simulator import Simulation
from tests.sim.fakes import everyone_linked

from .fakes import links

GUIDE_PAGE = Path(__file__).parents[2] / GUIDE.removeprefix(f"{ADDRESS}/")
TABLE = {word: line for word, line in POLICY_TABLE.items() if word in BUILT_IN}


@pytest.mark.parametrize("name", [*POLICIES, DEFAULT_POLICY])
def test_every_name_in_the_table_makes_a_policy(name: str) -> None:
    policy = policy_from(name, seed=1)
    (rating,) = policy.rate(links("http://a.example/"), None)
    policy.arm_ready(rating.arm, rating.score, 1)
    assert policy.pick() == rating.arm
    policy.load(policy.dump())


def test_bfs_and_dfs_have_opposite_orders() -> None:
    scores = {}
    for name in ("bfs", "dfs"):
        first, second = policy_from(name).rate(links("http://a.example/1", "http://a.example/2"), None)
        scores[name] = first.score > second.score
    assert scores == {"bfs": True, "dfs": False}


def test_randomness_depends_on_the_seed() -> None:
    urls = [f"http://a.example/{number}" for number in range(5)]
    one, same, other = (
        [rating.score for rating in policy_from("random", seed).rate(links(*urls), None)] for seed in (1, 1, 2)
    )
    assert one == same != other
    assert len(set(one)) == 5


@pytest.mark.parametrize(
    ("name", "exploration"),
    [
        ("bandit:success-rate", 0.1),
        ("bandit:success-rate:0.25", 0.25),
        ("bandit:success-rate:0.25:100", 0.25),
        ("bandit:best-score", 0.0),
        ("bandit:thompson:0.25:100", 0.25),
    ],
)
def test_numbers_of_bandit_are_parsed_from_its_name(name: str, exploration: float) -> None:
    policy = policy_from(name)
    assert isinstance(policy, HostBandit)
    assert policy.exploration_now() == exploration
    policy.arm_ready("a", 0.0, 1)
    for _ in range(100):
        policy.pick()
    assert policy.exploration_now() == (exploration / 2 if name.endswith(":100") else exploration)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_simulates_and_picks_the_same_after_load(name: str) -> None:
    web = everyone_linked(hosts=6, pages=40)
    policy = policy_from(name, seed=4)
    result = Simulation(web, policy, scope=lambda url: "", seed=4).run(web.home_pages(), pages=150)
    assert result.fetched + result.heads > 100
    one, other = policy_from(name, seed=9), policy_from(name, seed=9)
    one.load(policy.dump())
    other.load(one.dump())
    new = [f"https://h{number % 8}.example/new/{number}" for number in range(30)]
    assert urls_in_order(one, new) == urls_in_order(other, new)


def urls_in_order(policy: Policy, urls: list[str]) -> list[str]:
    """Return the URLs in the order in which a frontier would lease them if all hosts were always ready."""
    queues: dict[str, list[tuple[float, str]]] = {}
    for rating, url in zip(policy.rate(links(*urls), None), urls, strict=True):
        queues.setdefault(rating.arm, []).append((-rating.score, url))
    for arm, queue in queues.items():
        queue.sort(key=lambda waiting: waiting[0])
        policy.arm_ready(arm, -queue[0][0], len(queue))
    order = []
    while (arm := policy.pick()) is not None:
        order.append(queues[arm].pop(0)[1])
        if queues[arm]:
            policy.arm_ready(arm, -queues[arm][0][0], len(queues[arm]))
        else:
            policy.arm_snoozed(arm)
    return order


def test_table_has_sentence_and_usage_of_each_policy() -> None:
    assert all(line.about.endswith(".") and line.usage.startswith(word) for word, line in TABLE.items())
    assert all(name.split(":")[0] == word for word, line in TABLE.items() for name in line.examples)
    assert len(set(POLICIES)) == len(POLICIES)


@pytest.mark.parametrize("features", ["url", "parent", "url+parent+sibling"])
def test_features_of_online_classifier_are_parsed_from_the_name(features: str) -> None:
    for word in ("nb-online", "ht-online"):
        (rating,) = policy_from(f"{word}:{features}").rate(links("http://a.example/recipe"), None)
        assert bool(rating.policy_state) is ("url" in features)


def test_variants_of_every_policy_are_in_the_help_and_in_the_guide() -> None:
    guide = GUIDE_PAGE.read_text(encoding="utf-8")
    for word, line in TABLE.items():
        assert all(key in policy_variants() and f"`{key}=" in guide for key in line.variants), word
    assert "nb-online, nb-static smoothing, tokens, hashes" in policy_variants()


def test_order_policies_are_made_by_name() -> None:
    assert all(isinstance(policy_from(name), OrderPolicy) for name in ("bfs", "dfs", "random"))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bsf", "did you mean bfs?"),
        ("randon", "did you mean random?"),
        ("bandit:sucess-rate", "did you mean bandit:success-rate?"),
        ("bandit:success-rate:0.1:10:7", "did you mean bandit:success-rate?"),
        ("bandit", "unknown policy 'bandit': it should look like bandit:FUNCTION[:λ[:m]]"),
        ("", "unknown policy ''"),
        ("bfs:1", f"it should look like bfs; see {GUIDE}"),
        ("bandit:success-rate:much", "λ and m are numbers"),
        ("bandit:success-rate:", "λ and m are numbers"),
        ("bandit:success-rate:2", "λ is a probability"),
        ("bandit:success-rate:0.1:0", "decay m"),
        ("nb-online:host", "features are url, parent, sibling, parents"),
        ("nb-online:url:parent", "did you mean nb-online?"),
        ("nb-static", "it should look like nb-static:K, where K is the number of pages to train on"),
        ("ht-static:many", "K is the number of pages to train on, as in ht-static:1000"),
        ("ht-static:0", "at least 1"),
        ("nb-online:smoothing=x", "smoothing is m, laplace or moa; got 'x'"),
        ("ht-online:smoothing=m", "smoothing is an option of Naive Bayes"),
        ("bandit:thompson:classifier=ht,smoothing=m", "smoothing is an option of Naive Bayes"),
        ("bandit:thompson:classifier=svm", "classifier is nb or ht; got 'svm'"),
        ("nb-online:hashes=many", "hashes, min_token and max_token are whole numbers"),
        ("nb-online:hashes=0", "the number of hashes is 1 to 65,000; got 0"),
        ("svm-static:10:tokens=path", "tokens is url or authors; got 'path'"),
        ("linkanalysis:match=some", "match is contains or word; got 'some'"),
        ("linkanalysis:match=word,match=word", "it should look like linkanalysis"),
        ("bounded:deep", "depth and growth are whole numbers"),
        ("bounded:300", "from 1 to 255"),
        ("ldspider:2", f"it should look like ldspider; see {GUIDE}"),
    ],
)
def test_wrong_name_raises_value_error_with_hint(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)) as error:
        policy_from(name)
    if "did you mean" in hint and name.partition(":")[0] not in TABLE:
        assert "known: bfs, dfs, random, " in str(error.value)
        assert "in simulations also oracle" in str(error.value)


@pytest.mark.parametrize("name", ["bandit", "bandit:xyz", "bandit:success-rate:0.1:10:7"])
def test_bandit_without_function_raises_error_with_all_functions(name: str) -> None:
    with pytest.raises(ValueError, match=GUIDE) as error:
        policy_from(name)
    assert len(FUNCTIONS) == 7
    assert all(function in str(error.value) for function in FUNCTIONS)


@pytest.mark.parametrize(
    ("by_name", "in_order"),
    [
        ("bandit:success-rate:exploration=0.25,decay=100", "bandit:success-rate:0.25:100"),
        ("bandit:function=thompson", "bandit:thompson"),
        ("nb-online:features=parent", "nb-online:parent"),
        ("ldcoc:bits=10,sets=t,hash_seed=7", "ldcoc:t:10:7"),
        ("bounded:growth=2", "bounded:3:2"),
        ("ht-static:pages=20", "ht-static:20"),
        ("nb-online:smoothing=moa,hashes=10000", "nb-online"),
        ("nb-online:url:tokens=authors", "nb-online:features=url,tokens=authors"),
        ("bandit:best-score:classifier=ht,features=url", "ht-online:url"),
        ("linkanalysis:match=word,path=whole", "linkanalysis:literal"),
    ],
)
def test_arguments_by_name_make_the_same_policy_as_in_order(by_name: str, in_order: str) -> None:
    runs = []
    for name in (by_name, in_order):
        web = everyone_linked(hosts=6, pages=40)
        simulation = Simulation(web, policy_from(name, seed=4), scope=lambda url: "", seed=4)
        runs.append(simulation.run(web.home_pages(), pages=150, keep_picks=True).picks)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", ["bfs:seed=1", "bandit:success-rate:function=thompson", "bounded:depth=3,width=2"])
def test_unknown_or_repeated_argument_by_name_raises_value_error_with_syntax(name: str) -> None:
    with pytest.raises(ValueError, match="it should look like"):
        policy_from(name)


def test_oracle_raises_error_outside_of_simulations() -> None:
    with pytest.raises(ValueError, match="for simulations only"):
        policy_from(ORACLE)


def test_guide_documents_every_policy_and_every_argument() -> None:
    guide = GUIDE_PAGE.read_text(encoding="utf-8")
    for name in (*POLICIES, *TABLE, *(line.usage for line in TABLE.values()), *FUNCTIONS, ORACLE):
        assert f"`{name}`" in guide, f"{name} is missing in {GUIDE}"
    parts = {part for line in TABLE.values() for part in re.findall(r"[A-Z]{2,}|λ|\bm\b|\bK\b", line.usage)}
    assert parts > {"FUNCTION", "FEATURES", "SETS", "BITS", "SEED", "FOLDER", "DEPTH", "GROWTH", "λ", "m"}
    assert all(f"`{part}`" in guide for part in parts)


def test_guide_is_linked_from_pages_that_name_policies() -> None:
    root = GUIDE_PAGE.parents[1]
    assert "](docs/policies.md)" in (root / "README.md").read_text(encoding="utf-8")
    assert all(
        "](policies.md)" in (root / "docs" / page).read_text(encoding="utf-8") for page in ("crawl.md", "simulate.md")
    )


def test_nearest_returns_nothing_if_no_name_is_similar() -> None:
    assert nearest("zzzzzz", POLICIES) == ""
