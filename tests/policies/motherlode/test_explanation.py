"""What our policy tells of an arm and of what it learned, after a crawl that one can follow by hand."""

from __future__ import annotations

import pytest

from motherlode.model import FailureKind, Link, LinkSource, Outcome, SummaryLine
from motherlode.policies.motherlode import Motherlode
from motherlode.policies.motherlode.arm_key import describe_arm
from motherlode.policies.motherlode.explanation import explain_arm, summarize

HOME = "http://a.example/"


def link(path: str, place: str) -> Link:
    return Link(url=HOME + path, source=LinkSource.ANCHOR, tag_path=f"html body {place}")


def told(arm: str, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    return Outcome(
        url=HOME,
        host="a.example",
        arm=arm,
        policy_state=b"",
        score=0.0,
        reward=float(relevant),
        relevant=relevant,
        failure=failure,
    )


@pytest.fixture
def taught() -> tuple[Motherlode, str, str]:
    """A policy for which items were finds and news were not; the arms of both."""
    policy = Motherlode()
    home = policy.rate([Link(url=HOME, source=LinkSource.SEED)], None)[0].arm
    policy.learn(told(home, relevant=False))
    parent = Outcome(url=HOME, host="a.example", depth=0, relevant=False, arm=home)
    good, bad = (
        rating.arm for rating in policy.rate([link("item/1.ttl", "ul li a"), link("news/1.html", "nav a")], parent)
    )
    for number in range(8):
        policy.learn(told(good, relevant=True))
        policy.learn(told(bad, relevant=False, failure=FailureKind.NOT_FOUND if number % 2 else None))
    return policy, good, bad


def test_explanation_has_statistics_and_probabilities_of_the_policy(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, bad = taught
    liked, disliked = explain_arm(policy, good), explain_arm(policy, bad)
    assert liked.record == {"tries": 8, "finds": 8, "host_tries": 17, "host_finds": 8}
    assert disliked.record["finds"] == 0
    assert (liked.posterior, liked.value) == (policy.probability(good), policy.value(good))
    assert liked.posterior is not None
    assert disliked.posterior is not None
    assert liked.posterior > 0.5 > disliked.posterior


def test_reasons_are_sorted_by_weight_and_have_weights(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, bad = taught
    for arm, sign in ((good, 1), (bad, -1)):
        reasons = explain_arm(policy, arm).reasons
        weights = [abs(reason.weight) for reason in reasons]
        assert weights == sorted(weights, reverse=True)
        assert all(weights)
        assert {reason.about for reason in reasons} == {"answers", "is a find"}
        (extension,) = (one for one in reasons if one.about == "is a find" and one.name in ("ext .ttl", "ext .html"))
        assert extension.weight * sign > 0


def test_untried_arm_is_explained_by_features(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, _ = taught
    untried = explain_arm(policy, good.replace("item", "other"))
    assert untried.record["tries"] == 0
    assert untried.record["host_tries"] == 17
    assert "tried yet" in untried.notes[0]
    assert untried.prior is not None


def test_explanation_names_arms_that_pages_link_to(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, _ = taught
    home = next(arm for arm in policy.statistics.arms if arm not in taught[1:])
    (note,) = (note for note in explain_arm(policy, home).notes if describe_arm(good) in note)
    assert note.startswith("its pages led to 1.0 ")


def test_explanation_shows_actual_number_of_new_links(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, bad = taught
    parent = Outcome(url=HOME + "item/2.ttl", host="a.example", depth=1, relevant=True, arm=good)
    for number in range(30):
        policy.learn(told(good, relevant=True))
        policy.rate([link(f"news/{number}-{place}.html", "nav a") for place in range(3)], parent)
    (note,) = (note for note in explain_arm(policy, good).notes if describe_arm(bad) in note)
    assert note.startswith(("its pages led to 2.9 ", "its pages led to 3.0 "))


def counted(lesson: SummaryLine) -> dict[str, float]:
    return {str(name): float(count) for name, count in lesson.rows}


def test_summary_has_best_and_worst_and_at_most_the_wanted_rows(taught: tuple[Motherlode, str, str]) -> None:
    policy, good, bad = taught
    found = {lesson.title: lesson for lesson in summarize(policy, 1)}
    learned = counted(found["learned"])
    assert learned.pop("features") > 0
    assert learned == {"hosts": 1, "arms": 3, "tries": 17, "finds": 8}
    assert list(found["best arms"].rows) == [(describe_arm(good), 8, 8)]
    assert list(found["worst arms"].rows) == [(describe_arm(bad), 8, 0)]
    assert "worst hosts" not in found, "there is only one"
    assert all(len(lesson.rows) <= 1 for title, lesson in found.items() if title != "learned")


def test_summary_of_untrained_policy_is_empty() -> None:
    policy = Motherlode()
    learned, *others = summarize(policy, 5)
    assert set(counted(learned).values()) == {0}
    assert all(not lesson.rows for lesson in others)


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("a.org\t^\t0\t/\tseed\t", "a.org ^ depth 0 /, by seed"),
        ("a.org\tnews/*\t2\t\tanchor@b.org\tli a", "a.org news/* depth 2, by anchor@b.org in li a"),
        ("revisit a.org", "revisit a.org"),
        ("a\tb", "a b"),
    ],
)
def test_describe_arm_returns_text_for_people(arm: str, words: str) -> None:
    assert describe_arm(arm) == words
