"""Algorithm 1 with subsampling: admission, importance weights, order of the arms, and explanations."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Rating
from motherlode.policies import policy_from
from motherlode.policies.ftrl import Ftrl, Hasher
from motherlode.policies.ldcoc import ldcoc_policy as module
from motherlode.policies.ldcoc.ldcoc_policy import NO_RDF, SAMPLED, THRESHOLD, Ldcoc, weigh_features
from tests.policies.fakes import rated_outcome

PARENT = Outcome(url="http://r.example/", host="r.example", depth=0, relevant=True, kind="html")


def link(url: str, source: LinkSource = LinkSource.ANCHOR) -> Link:
    return Link(url=url, source=source, tag_path="html body a")


class Spy(Ftrl):
    """Records label and importance of each example."""

    def __init__(self) -> None:
        super().__init__(1 << 16, alpha=0.5, l1=0.1)
        self.examples: list[tuple[float, float]] = []

    def learn(self, indices: object, label: float, weight: float = 1.0) -> float:
        self.examples.append((label, weight))
        return super().learn(indices, label, weight)  # type: ignore[arg-type]


def taught(sampled: float = SAMPLED) -> tuple[Ldcoc, Spy]:
    """Return a policy that has learned that /good/ is relevant and /bad/ is not, and its learner."""
    spy = Spy()
    policy = Ldcoc(random=Random(1), learner=spy, sampled=sampled)
    for number in range(30):
        for word in ("good", "bad"):
            url = f"http://a.example/{word}/{number}"
            (rating,) = policy.rate([link(url, LinkSource.SEED)], None)
            policy.learn(rated_outcome(url, rating, relevant=word == "good"))
    spy.examples.clear()
    return policy, spy


def test_constants_are_those_of_the_paper() -> None:
    assert (THRESHOLD, SAMPLED) == (0.5, 0.17)


def test_positive_uris_are_admitted_and_a_share_of_negatives_is_sampled() -> None:
    policy, _ = taught()
    links = [link(f"http://a.example/{word}/x{number}") for number in range(1000) for word in ("good", "bad")]
    ratings = policy.rate(links, PARENT)
    arms = {word: [rating.arm for rating in ratings[start::2]] for start, word in ((0, "good"), (1, "bad"))}
    assert set(arms["good"]) == {"a.example"}
    assert set(arms["bad"]) == {"a.example sampled", "a.example reserve"}
    assert 130 <= arms["bad"].count("a.example sampled") <= 210  # 170, three standard deviations either way


def test_sampled_negative_has_importance_of_inverse_share() -> None:
    policy, spy = taught(sampled=0.17)
    (good,) = policy.rate([link("http://a.example/good/y")], PARENT)
    links = [link(f"http://a.example/bad/x{number}") for number in range(50)]
    for one, rating in zip(links, policy.rate(links, PARENT), strict=True):
        policy.learn(rated_outcome(one.url, rating, relevant=False))
    assert spy.examples
    assert set(spy.examples) == {(0.0, 1 / 0.17)}
    drawn = len(spy.examples)
    policy.learn(rated_outcome("http://a.example/good/y", good, relevant=True))
    assert spy.examples[drawn:] == [(1.0, 1.0)]


def test_only_hard_uris_are_learned_from_and_binary_files_are_refused() -> None:
    policy, spy = taught()
    easy, image = policy.rate([link("http://a.example/bad/x.rdf"), link("http://a.example/good/x.png")], PARENT)
    assert (easy.arm, easy.score) == ("a.example", 1.0)
    assert image.refused == NO_RDF
    policy.learn(rated_outcome("http://a.example/bad/x.rdf", easy, relevant=True))
    assert spy.examples == []


def test_rdf_extension_counts_only_while_it_is_right() -> None:
    policy, _ = taught()
    (easy,) = policy.rate([link("http://a.example/1.ttl")], PARENT)
    for number in range(3):
        policy.learn(rated_outcome(f"http://a.example/{number}.ttl", easy, relevant=False))
    assert policy.rate([link("http://a.example/9.ttl")], PARENT)[0].arm == "a.example reserve"


def test_untrained_policy_admits_all_uris() -> None:
    policy = policy_from("ldcoc:head=no")
    ratings = policy.rate([link(f"http://a.example/{number}") for number in range(50)], PARENT)
    assert {rating.arm for rating in ratings} == {"a.example"}


def test_redirect_target_trains_features_of_redirecting_uri() -> None:
    policy, spy = taught()
    (rating,) = policy.rate([link("http://a.example/good/y")], PARENT)
    policy.learn(rated_outcome("http://a.example/good/y", rating, relevant=False, failure=FailureKind.REDIRECT))
    assert spy.examples == []
    redirect = Outcome(
        url="http://a.example/good/y", host="a.example", depth=1, relevant=False, policy_state=rating.policy_state
    )
    (target,) = policy.rate([link("http://b.example/y", LinkSource.REDIRECT)], redirect)
    assert (target.arm, target.policy_state) == ("b.example", rating.policy_state)
    policy.learn(rated_outcome("http://b.example/y", target, relevant=True))
    assert spy.examples == [(1.0, 1.0)]


@pytest.mark.parametrize(
    ("failure", "examples"),
    [(FailureKind.NOT_FOUND, 1), (FailureKind.USELESS, 1), (FailureKind.TIMEOUT, 0), (FailureKind.SERVER_ERROR, 0)],
)
def test_temporary_failure_is_not_learned_from(failure: FailureKind, examples: int) -> None:
    policy, spy = taught()
    (rating,) = policy.rate([link("http://a.example/good/y")], PARENT)
    policy.learn(rated_outcome("http://a.example/good/y", rating, relevant=False, failure=failure))
    assert len(spy.examples) == examples


def test_sampled_negatives_are_picked_by_share_and_reserve_last() -> None:
    policy, _ = taught()
    policy._state.positives, policy._state.negatives = 300, 100
    for arm in ("a.example", "a.example sampled", "a.example reserve"):
        policy.arm_ready(arm, 0.5, 1)
    picks = [policy.pick() for _ in range(4000)]
    assert 850 <= picks.count("a.example sampled") <= 1150
    assert picks.count("a.example reserve") == 0
    policy.arm_snoozed("a.example")
    assert {policy.pick() for _ in range(50)} == {"a.example sampled"}
    policy.arm_snoozed("a.example sampled")
    assert policy.pick() == "a.example reserve"
    policy.arm_snoozed("a.example reserve")
    assert policy.pick() is None


def test_host_with_redirects_has_lower_value() -> None:
    policy = Ldcoc(random=Random(1))
    for number in range(20):
        (rating,) = policy.rate([link(f"http://slow.example/{number}", LinkSource.SEED)], None)
        policy.learn(
            rated_outcome(f"http://slow.example/{number}", rating, relevant=False, failure=FailureKind.REDIRECT)
        )
        policy.learn(rated_outcome(f"http://slow.example/{number}/", rating, relevant=True))
    policy.arm_ready("slow.example", 0.9, 1)
    policy.arm_ready("swift.example", 0.6, 1)
    assert policy.pick() == "swift.example"
    policy.arm_ready("swift.example", 0.3, 1)
    assert policy.pick() == "slow.example"


def test_policy_is_the_same_after_dump_and_load() -> None:
    before, _ = taught()
    after = Ldcoc(random=Random(1), learner=Ftrl(1 << 16, alpha=0.5, l1=0.1))
    after.load(before.dump())
    assert after.dump() == before.dump()
    links = [link("http://a.example/good/z"), link("http://a.example/bad/z")]
    scores = [[rating.score for rating in policy.rate(links, PARENT)] for policy in (before, after)]
    assert scores[0] == scores[1]
    assert scores[0][0] > 0.5 > scores[0][1]
    many = [link(f"http://a.example/bad/w{number}") for number in range(100)]
    assert [rating.arm for rating in before.rate(many, PARENT)] == [rating.arm for rating in after.rate(many, PARENT)]


def test_shards_exchange_each_delta_once() -> None:
    (one, _), two, three = taught(), Ldcoc(random=Random(2), learner=Spy()), Ldcoc(random=Random(3), learner=Spy())
    two.absorb(one.delta())
    links = [link("http://a.example/good/z"), link("http://a.example/bad/z")]
    assert [rating.score for rating in two.rate(links, PARENT)] == [rating.score for rating in one.rate(links, PARENT)]
    assert two.delta() == b"", "an absorbed delta is not sent on"
    assert one.delta() == b"", "a delta is returned once"
    (rating,) = two.rate([link("http://a.example/good/new")], PARENT)
    two.learn(rated_outcome("http://a.example/good/new", rating, relevant=True))
    three.absorb(two.delta())
    three.absorb(b"")
    assert 0 < three._learner.touched() < 100
    again = Ldcoc(random=Random(4), learner=Spy())
    again.load(two.dump())
    assert again.delta() == b"", "the earlier run has sent what it learned"


def test_siblings_are_taken_from_all_links_of_the_page() -> None:
    policy = Ldcoc(random=Random(1), sets="x")
    fetched, fresh = link("http://a.example/x/1"), link("http://a.example/x/2")
    (rating,) = policy.rate([fetched], PARENT)
    policy.learn(rated_outcome(fetched.url, rating, relevant=True))
    page = msgspec.structs.replace(PARENT, links=[fetched, fresh])
    (with_siblings,), (alone,) = policy.rate([fresh], page), policy.rate([fresh], PARENT)
    assert len(with_siblings.policy_state) > len(alone.policy_state)


def test_stored_relevances_and_states_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_RELEVANCES", 10)
    policy = Ldcoc(random=Random(1), sets="trpx")
    for number in range(40):
        url = f"http://a.example/{number}"
        (rating,) = policy.rate([link(url)], PARENT)
        assert len(rating.policy_state) <= 1 + 4 * 100
        policy.learn(rated_outcome(url, rating, relevant=True))
    assert list(policy._state.relevances) == [f"http://a.example/{number}" for number in range(30, 40)]
    held_back = taught()[0].rate([link(f"http://a.example/bad/q{number}") for number in range(50)], PARENT)
    assert {len(rating.policy_state) for rating in held_back if rating.arm.endswith("reserve")} == {1}


def test_policy_state_has_the_rated_features_without_duplicates() -> None:
    policy = Ldcoc(random=Random(1))
    (rating,) = policy.rate([link("http://a.example/good/y")], PARENT)
    places = np.frombuffer(rating.policy_state[1:], dtype="<u4")
    assert len(places) > 20
    assert len(set(places.tolist())) == len(places)


@pytest.mark.parametrize("sets", ["q", "tt", "", "trpxt"])
def test_invalid_feature_sets_raise_value_error(sets: str) -> None:
    with pytest.raises(ValueError, match="feature sets are letters"):
        policy_from(f"ldcoc:{sets}")


def test_bits_and_seed_of_hashing_are_parsed_from_the_name() -> None:
    def places(name: str) -> list[int]:
        (rating,) = policy_from(name).rate([link("http://a.example/good/y")], PARENT)
        return np.frombuffer(rating.policy_state[1:], dtype="<u4").tolist()

    assert max(places("ldcoc:trp:10")) < 1 << 10 < max(places("ldcoc"))
    assert places("ldcoc:trp:20:7") != places("ldcoc") == places("ldcoc:trp:20:0")
    for wrong in ("ldcoc:trp:99", "ldcoc:trp:many", "ldcoc:trp:20:7:1"):
        with pytest.raises(ValueError, match=r"8 to 28 bits|whole numbers|unknown policy"):
            policy_from(wrong)


@pytest.mark.parametrize("sampled", [0.0, -1.0, 1.1])
def test_epsilon_out_of_bounds_raises_value_error(sampled: float) -> None:
    with pytest.raises(ValueError, match="ε is a share"):
        Ldcoc(random=Random(1), sampled=sampled)


def test_features_without_name_are_shown_by_number() -> None:
    learner, hasher = Ftrl(1 << 10, alpha=0.5, l1=0.0, l2=0.0), Hasher(1 << 10)
    known, lost = int(hasher.row(["t:known"])[0]), int(hasher.row(["t:lost"])[0])
    for _ in range(10):
        learner.learn([known, lost], 1.0)
    policy_state = b"+" + hasher.row(["t:known", "t:lost"]).astype("<u4").tobytes()
    names = {reason.name for reason in weigh_features(learner, hasher, ["t:known", "t:never met"], policy_state)}
    assert names == {"t:known", f"hashed feature {lost}"}


def test_redirects_lower_the_value_of_a_host() -> None:
    policy, url = Ldcoc(random=Random(1)), "http://a.example/"
    (rating,) = policy.rate([link(url)], None)
    plain = policy.explain(link(url), rating, None)
    for _ in range(10):
        policy.learn(rated_outcome(url, rating, relevant=False, failure=FailureKind.REDIRECT))
    sampled = msgspec.structs.replace(rating, policy_state=b"-")
    redirecting = policy.explain(link(url), sampled, None)
    assert plain.value == plain.prior == 0.5
    assert redirecting.value is not None
    assert redirecting.value < 0.1
    assert "sample" in redirecting.notes[0]


# ── Content types by HEAD requests ───────────────────────────────────────────────────────────────────


def headed(content_type: str | None, url: str = "http://a.example/x") -> tuple[Ldcoc, Rating, Rating]:
    """Return a policy, the first rating of a hard URI, and its rating after a HEAD."""
    policy = Ldcoc(random=Random(1), sets="trpx", head=True)
    (first,) = policy.rate([link(url)], PARENT)
    return policy, first, policy.rate_again(url, first, content_type)


def test_hard_uri_wants_a_header_and_seeds_and_rdf_extensions_do_not() -> None:
    policy = Ldcoc(random=Random(1), head=True)
    (seed,) = policy.rate([link("http://a.example/", LinkSource.SEED)], None)
    hard, easy = policy.rate([link("http://a.example/x"), link("http://a.example/x.ttl")], PARENT)
    assert [policy.wants_header(rating.policy_state) for rating in (seed, hard, easy)] == [False, True, False]
    assert hard.arm == "a.example unrated"


def test_content_type_is_one_more_feature_of_the_uri() -> None:
    policy, first, second = headed("text/html; charset=utf-8")
    added = set(np.frombuffer(second.policy_state[1:], "<u4")) - set(np.frombuffer(first.policy_state[1:], "<u4"))
    assert added == set(Hasher().row(["t:contentType=text/html"]).tolist())
    assert (second.arm, policy.wants_header(second.policy_state)) == ("a.example", False)


def test_response_that_is_not_usable_leaves_the_feature_out() -> None:
    _, first, second = headed(None)
    assert (second.arm, second.policy_state[1:]) == ("a.example", first.policy_state[1:])


def test_header_of_rdf_or_of_an_image_makes_a_uri_not_hard() -> None:
    assert headed("text/turtle")[2].policy_state == b"="
    assert headed("image/png")[2].refused == NO_RDF


def test_redirect_target_of_a_head_gets_a_head_and_its_type_trains_the_redirecting_uri() -> None:
    policy, first, _ = headed(None)
    redirect = rated_outcome("http://a.example/x", first, relevant=False, failure=FailureKind.REDIRECT)
    policy.learn(redirect)
    (target,) = policy.rate([link("http://b.example/data", LinkSource.REDIRECT)], redirect)
    assert (target.arm, policy.wants_header(target.policy_state)) == ("b.example unrated", True)
    again = policy.rate_again("http://b.example/data", target, "text/html")
    assert set(np.frombuffer(first.policy_state[1:], "<u4")) < set(np.frombuffer(again.policy_state[1:], "<u4"))


def test_known_headers_of_siblings_are_crossed() -> None:
    policy, _, _ = headed("text/html", "http://a.example/x")
    sibling = link("http://a.example/y")
    parent = msgspec.structs.replace(PARENT, links=[link("http://a.example/x"), sibling])
    (rating,) = policy.rate([sibling], parent)
    crossed = Hasher().row(["x:scheme=http&contentType=text/html&sim=high&rel=unknown"]).tolist()
    assert set(crossed) <= set(np.frombuffer(rating.policy_state[1:], "<u4").tolist())


# ── Further pages that mention a URI ─────────────────────────────────────────────────────────────────


def mentioned(url: str, *properties: str) -> Link:
    return Link(url=url, source=LinkSource.TRIPLE, predicate=properties[0], properties=properties)


def test_further_mention_adds_the_features_of_its_context_graph_when_the_uri_is_picked() -> None:
    policy = Ldcoc(random=Random(1))
    url, further = "http://a.example/x", msgspec.structs.replace(PARENT, url="http://s.example/", host="s.example")
    (first,) = policy.rate([mentioned(url, "http://v.example/p")], PARENT)
    policy.mention([mentioned(url, "http://v.example/q", "http://w.example/r")], further)
    again = policy.rate_picked(url, first)
    assert again is not None
    added = set(np.frombuffer(again.policy_state[1:], "<u4").tolist())
    wanted = Hasher().row(["p:authority=v.example", "p:authority=w.example", "r:authority=s.example"]).tolist()
    assert set(wanted) | set(np.frombuffer(first.policy_state[1:], "<u4").tolist()) <= added
    assert policy.rate_picked(url, again) is None, "nothing is new"


def test_further_mention_without_statements_or_of_a_fetched_uri_changes_nothing() -> None:
    policy = Ldcoc(random=Random(1))
    url = "http://a.example/x"
    (first,) = policy.rate([link(url)], PARENT)
    policy.mention([link(url)], PARENT)
    assert policy.rate_picked(url, first) is None
    policy.mention([mentioned(url, "http://v.example/q")], PARENT)
    policy.learn(rated_outcome(url, first, relevant=True))
    assert policy.rate_picked(url, first) is None
