"""Target priors: for which targets they exist, and how they affect probabilities."""

from __future__ import annotations

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies import policy_from, target_from
from motherlode.policies.motherlode import Motherlode, PolicyConfig
from motherlode.policies.motherlode.config import target_priors
from motherlode.www.media_types import MEDIA


@pytest.mark.parametrize("spec", ["rdf", "rdf>=5"])
def test_target_rdf_has_prior_for_every_rdf_extension(spec: str) -> None:
    found = target_priors(target_from(spec), PolicyConfig(target_prior=0.5))
    wanted = {f"ext .{extension}" for media in MEDIA.values() if media.is_rdf for extension in media.extensions}
    assert {feature for feature in found if feature.startswith("ext ")} == wanted
    assert set(found.values()) == {0.5}
    assert "by link:rdf" in found


@pytest.mark.parametrize("spec", ["any", "jsonld", "microdata>=5", "rdfa", "microformats", "ASK {}"])
def test_target_that_accepts_html_and_has_no_words_has_no_priors(spec: str) -> None:
    assert target_priors(target_from(spec), PolicyConfig()) == {}


@pytest.mark.parametrize("spec", ["type:schema:Recipe", "ASK { ?s a schema:Recipe }"])
def test_target_with_words_has_prior_for_links_with_words(spec: str) -> None:
    found = target_priors(target_from(spec), PolicyConfig(word_prior=0.5))
    assert {"by anchor+words", "by anchor+words@", "by triple+words"} <= set(found)
    assert set(found.values()) == {0.5}


def arms(policy: Motherlode) -> list[str]:
    urls = ("http://a.example/", "http://a.example/thing.ttl", "http://a.example/thing.html")
    home, *others = (Link(url=url, source=LinkSource.ANCHOR) for url in urls)
    (arm,) = (rating.arm for rating in policy.rate([home], None))
    policy.learn(
        Outcome(url=urls[0], host="a.example", arm=arm, policy_state=b"", score=0.0, reward=0.0, relevant=False)
    )
    return [rating.arm for rating in policy.rate(others, None)]


def test_prior_decides_until_outcomes_outweigh_it() -> None:
    policy = policy_from("motherlode", target=target_from("rdf"))
    assert isinstance(policy, Motherlode)
    turtle, html = arms(policy)
    assert policy.probability(turtle) > 1.5 * policy.probability(html)
    for arm, reward in ((turtle, 0.0), (html, 1.0)) * 3:
        policy.learn(
            Outcome(
                url="", host="a.example", arm=arm, policy_state=b"", score=0.0, reward=reward, relevant=bool(reward)
            )
        )
    assert policy.probability(turtle) < policy.probability(html)


def test_no_target_or_zero_prior_changes_nothing() -> None:
    for policy in (Motherlode(), Motherlode(config=PolicyConfig(target_prior=0.0))):
        if policy.config.target_prior == 0.0:
            policy.aim(target_from("rdf"))
        turtle, html = arms(policy)
        assert policy.probability(turtle) == pytest.approx(policy.probability(html))


def test_prior_is_not_saved_with_the_state() -> None:
    aimed = Motherlode()
    aimed.aim(target_from("rdf"))
    turtle, _ = arms(aimed)
    other = Motherlode()
    other.load(aimed.dump())
    assert other.probability(turtle) < aimed.probability(turtle)


def test_prior_is_shown_as_reason() -> None:
    aimed = Motherlode()
    aimed.aim(target_from("rdf"))
    turtle, _ = arms(aimed)
    link = Link(url="http://a.example/thing.ttl", source=LinkSource.ANCHOR)
    (rating,) = aimed.rate([link], None)
    reasons = {
        reason.name: reason.weight
        for reason in aimed.explain(link, rating, None).reasons
        if reason.about == "is a find"
    }
    assert rating.arm == turtle
    assert reasons["ext .ttl"] == pytest.approx(PolicyConfig().target_prior)
