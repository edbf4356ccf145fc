"""What a bandit says about a link."""

from __future__ import annotations

from motherlode.model import Outcome
from motherlode.policies import policy_from
from tests.policies.fakes import links


def test_explanation_has_names_of_tokens_and_record_of_host() -> None:
    policy = policy_from("bandit:success-rate:0")
    parent = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=True)
    for number in range(20):
        good = number % 2 == 0
        (link,) = links(f"http://a.example/{'recipe' if good else 'imprint'}/{number}")
        (rating,) = policy.rate([link], parent)
        policy.learn(
            Outcome(
                url=link.url,
                host="a.example",
                arm=rating.arm,
                policy_state=rating.policy_state,
                score=rating.score,
                reward=float(good),
                relevant=good,
            )
        )
    (link,) = links("http://a.example/recipe/new")
    (rating,) = policy.rate([link], parent)
    said = policy.explain(link, rating, parent)  # type: ignore[attr-defined]
    weights = {reason.name: reason.weight for reason in said.reasons}
    assert weights["token recipe"] > 1
    assert abs(weights["the page that links here is relevant"]) < 0.5
    assert said.record == {"good": 10, "bad": 10}
    assert said.posterior > 0.5
    titles = [lesson.title for lesson in policy.summary(5)]  # type: ignore[attr-defined]
    assert titles[:1] == ["pages"]
    assert "best hosts" in titles
