"""What LDCOC says about a URI."""

from __future__ import annotations

from motherlode.policies.ftrl import Ftrl
from motherlode.policies.hashing import Hasher
from motherlode.policies.ldcoc.ldcoc_policy import make_explanation, weigh_features


def test_features_whose_names_are_lost_are_told_by_their_place() -> None:
    learner, hasher = Ftrl(1 << 10, alpha=0.5, l1=0.0, l2=0.0), Hasher(1 << 10)
    known, lost = int(hasher.row(["t:known"])[0]), int(hasher.row(["t:lost"])[0])
    for _ in range(10):
        learner.learn([known, lost], 1.0)
    policy_state = b"+" + hasher.row(["t:known", "t:lost"]).astype("<u4").tobytes()
    names = {reason.name for reason in weigh_features(learner, hasher, ["t:known", "t:never met"], policy_state)}
    assert names == {"t:known", f"hashed feature {lost}"}


def test_redirects_make_a_host_worth_less() -> None:
    plain = make_explanation((), probability=0.8, policy_state=b"+", redirects=0, others=9)
    redirecting = make_explanation((), probability=0.8, policy_state=b"-", redirects=10, others=9)
    assert plain.value == 0.8
    assert redirecting.value is not None
    assert redirecting.value < 0.5
    assert "sample" in redirecting.notes[0]
