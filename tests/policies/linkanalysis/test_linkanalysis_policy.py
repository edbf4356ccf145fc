"""The link analysis policy: order of links, refused links, and growth of S_HR."""

from __future__ import annotations

import msgspec

from motherlode.model import FailureKind, Link, LinkSource, Outcome, Rating
from motherlode.policies import policy_from
from motherlode.policies.linkanalysis.heuristics import UNKNOWN_EXTENSION, UNLIKELY_EXTENSION
from motherlode.policies.linkanalysis.linkanalysis_policy import LinkAnalysis

HOME = Outcome(url="http://a.example/staffs/staff1", host="a.example", depth=0, relevant=False, kind="html")


def link(url: str, source: LinkSource = LinkSource.ANCHOR) -> Link:
    return Link(url=url, source=source)


def outcome(url: str, rating: Rating, kind: str, parent_url: str, failure: FailureKind | None = None) -> Outcome:
    return Outcome(
        url=url,
        host="a.example",
        arm=rating.arm,
        policy_state=rating.policy_state,
        score=rating.score,
        reward=0.0,
        relevant=False,
        kind=kind,
        failure=failure,
        parent_url=parent_url,
    )


def taught(kind: str = "rdfxml", parent: Outcome = HOME, failure: FailureKind | None = None) -> LinkAnalysis:
    """Return a policy that has learned from one document."""
    policy = LinkAnalysis()
    url = "http://a.example/data/staff1"
    (rating,) = policy.rate([link(url)], parent)
    policy.learn(outcome(url, rating, kind, parent.url, failure))
    return policy


def priority(policy: LinkAnalysis, url: str) -> int:
    (rating,) = policy.rate([link(url)], msgspec.structs.replace(HOME, url="http://a.example/"))
    return round(rating.score / 1e12)


def test_links_are_ordered_by_class_and_then_by_discovery() -> None:
    policy = taught()
    urls = ["http://a.example/", "http://a.example/staffs/staff2", "http://a.example/x.rdf", "http://b.example/y.rdf"]
    ratings = policy.rate([link(url) for url in urls], HOME)
    order = sorted(range(4), key=lambda number: -ratings[number].score)
    assert [urls[number] for number in order] == [urls[2], urls[3], urls[1], urls[0]]


def test_links_of_class_n_are_refused_with_reason() -> None:
    ratings = LinkAnalysis().rate([link("http://a.example/a.pdf"), link("http://a.example/a.xyz")], HOME)
    assert [rating.refused for rating in ratings] == [UNLIKELY_EXTENSION, UNKNOWN_EXTENSION]


def test_seeds_and_redirect_targets_are_never_refused() -> None:
    policy = LinkAnalysis()
    (seed,) = policy.rate([link("http://a.example/a.xyz", LinkSource.SEED)], None)
    (target,) = policy.rate([link("http://a.example/b.xyz", LinkSource.REDIRECT)], HOME)
    assert (seed.refused, target.refused) == ("", "")


def test_rdf_document_adds_its_html_parent_to_s_hr() -> None:
    assert priority(LinkAnalysis(), "http://a.example/staffs/staff2") == 1
    assert priority(taught(), "http://a.example/staffs/staff2") == 2
    assert priority(taught("turtle"), "http://a.example/staffs/staff2") == 2


def test_other_outcomes_do_not_add_to_s_hr() -> None:
    rdf_parent = msgspec.structs.replace(HOME, kind="turtle")
    for policy in (taught("html"), taught(parent=rdf_parent), taught("", failure=FailureKind.NOT_FOUND)):
        assert priority(policy, "http://a.example/staffs/staff2") == 1


def test_rdf_document_behind_redirects_adds_the_html_page_to_s_hr() -> None:
    policy = LinkAnalysis()
    first, second = "http://w3id.example/staff1", "http://w3id.example/to/staff1"
    (rating,) = policy.rate([link(first)], HOME)
    for url in (first, second):
        redirect = Outcome(
            url=url, host="w3id.example", depth=0, relevant=False, policy_state=rating.policy_state, parent_url=HOME.url
        )
        (rating,) = policy.rate([link(url + "/next", LinkSource.REDIRECT)], redirect)
    policy.learn(outcome("http://a.example/x", rating, "turtle", parent_url=second))
    assert priority(policy, "http://a.example/staffs/staff2") == 2


def test_variants_decide_where_terms_are_searched() -> None:
    page = Outcome(url="http://a.example/my-rdf/", host="a.example", depth=0, relevant=False, kind="html")
    inside = [link("http://a.example/my-rdf/about")]
    assert [round(policy_from(name).rate(inside, page)[0].score / 1e12) for name in NAMES] == [3, 3, 1]
    birds = [link("http://a.example/birdfeed")]
    assert [round(policy_from(name).rate(birds, page)[0].score / 1e12) for name in NAMES] == [3, 1, 1]


NAMES = ("linkanalysis", "linkanalysis:literal", "linkanalysis:match=word,path=new")


def test_policy_is_the_same_after_dump_and_load() -> None:
    before, after = taught(), LinkAnalysis()
    after.load(before.dump())
    assert after.dump() == before.dump()
    assert priority(after, "http://a.example/staffs/staff2") == 2


def test_shards_exchange_each_delta_once() -> None:
    one, two = taught(), LinkAnalysis()
    two.absorb(one.delta())
    assert priority(two, "http://a.example/staffs/staff2") == 2
    assert (one.delta(), two.delta()) == (b"", b""), "deltas are returned once and not sent on"
    two.absorb(b"")


def test_best_waiting_link_of_all_ready_hosts_is_picked() -> None:
    policy = LinkAnalysis()
    ratings = policy.rate([link("http://a.example/"), link("http://b.example/x.ttl")], HOME)
    for rating in ratings:
        policy.arm_ready(rating.arm, rating.score, 1)
    assert policy.pick() == "b.example"
    policy.arm_snoozed("b.example")
    assert policy.pick() == "a.example"
    policy.arm_snoozed("a.example")
    assert policy.pick() is None
