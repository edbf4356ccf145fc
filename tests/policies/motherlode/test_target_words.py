"""Words of the target: which words a target has, and which links contain them."""

from __future__ import annotations

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies import policy_from, target_from
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.policies.motherlode.arm_key import ArmKey
from motherlode.policies.motherlode.target_words import WordMatcher, words_of


def link(url: str, anchor: str = "", title: str = "", source: LinkSource = LinkSource.ANCHOR) -> Link:
    return Link(url=url, source=source, anchor=anchor, title=title)


def test_words_of_class_include_other_languages() -> None:
    assert {"recipe", "rezept", "レシピ"} <= set(words_of(target_from("type:schema:Recipe")))


def test_words_of_query_are_labels_of_its_classes_and_properties() -> None:
    words = words_of(target_from("PREFIX x: <http://a.example/#> ASK { ?s a x:SteamEngine ; x:boilerPressure ?p }"))
    assert words == ("steam engine", "boiler pressure")


@pytest.mark.parametrize("spec", ["any", "rdf", "microdata>=5", "ASK {}", "type:http://a.example/Cat"])
def test_target_without_long_names_has_no_words(spec: str) -> None:
    assert words_of(target_from(spec)) == ()


@pytest.mark.parametrize(
    "found",
    [
        link("http://a.example/recipes/12"),
        link("http://a.example/12", anchor="Our best Recipes"),
        link("http://a.example/12", title="Kochrezepte und Rezepte"),
        link("http://a.example/my_recipe"),
        link("http://a.example/12", anchor="簡単レシピ集"),
    ],
)
def test_matcher_finds_words_in_path_anchor_and_title(found: Link) -> None:
    assert WordMatcher(words_of(target_from("type:schema:Recipe"))).matches(found)


@pytest.mark.parametrize(
    "other",
    [link("http://recipe.example/about"), link("http://a.example/", anchor="a trecipe"), link("http://a.example")],
)
def test_matcher_ignores_host_and_inner_parts_of_words(other: Link) -> None:
    assert not WordMatcher(["recipe"]).matches(other)


def test_word_of_two_parts_is_found_with_any_separator() -> None:
    matcher = WordMatcher(["job posting"])
    urls = ("job-posting", "job_posting", "jobPosting", "job%20posting")
    assert [matcher.matches(link(f"http://a.example/{url}")) for url in urls] == [True, True, True, False]


def aimed(spec: str, config: PolicyConfig | None = None) -> Motherlode:
    policy = Motherlode(config=config)
    policy.aim(target_from(spec))
    return policy


def test_links_with_words_are_an_arm_of_their_own_with_higher_probability() -> None:
    policy = aimed("type:schema:Recipe")
    links = [link("http://a.example/x", anchor="Recipes"), link("http://a.example/y", anchor="Imprint")]
    named, other = (rating.arm for rating in policy.rate(links, None))
    assert ArmKey.parse(named).source == "anchor+words"
    assert ArmKey.parse(other).source == "anchor"
    assert policy.probability(named) > policy.probability(other)


def test_words_count_for_unseen_hosts() -> None:
    policy = aimed("type:schema:Recipe")
    parent = Outcome(url="http://b.example/", host="b.example")
    links = [link("http://a.example/recipes/"), link("http://a.example/news/")]
    named, other = (rating.arm for rating in policy.rate(links, parent))
    assert policy.value_now(named) > policy.value_now(other)


def test_few_outcomes_outweigh_words() -> None:
    policy = aimed("type:schema:Recipe")
    links = [link("http://a.example/x", anchor="Recipes"), link("http://a.example/y", anchor="Imprint")]
    named, other = (rating.arm for rating in policy.rate(links, None))
    for _ in range(3):
        policy.learn(Outcome(url=links[0].url, host="a.example", arm=named))
    assert policy.probability(named) < policy.probability(other)


def test_seeds_and_policies_without_target_have_no_words() -> None:
    seed = link("http://a.example/recipes/", source=LinkSource.SEED)
    assert "+words" not in aimed("type:schema:Recipe").rate([seed], None)[0].arm
    assert "+words" not in policy_from("motherlode").rate([link(seed.url)], None)[0].arm
    assert "+words" not in aimed("type:schema:Recipe", PolicyConfig(word_prior=0.0)).rate([link(seed.url)], None)[0].arm
