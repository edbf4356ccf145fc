"""Tokens of URLs, rows of features (also of a page of the corpus), and the online rater."""

from __future__ import annotations

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.model import FailureKind, Link, LinkSource, Outcome
from motherlode.policies.anthelion.classifiers import HoeffdingTree, NaiveBayes
from motherlode.policies.anthelion.url_classifier import (
    HASHES,
    NUMBER,
    PARENT_BAD,
    PARENT_GOOD,
    PARENTS_GOOD,
    SIBLING_BAD,
    SIBLING_GOOD,
    SIBLINGS_GOOD,
    Classifier,
    Features,
    FeatureSet,
    OnlineRater,
    TokenRules,
    decode_row,
    java_hash,
    token_index,
    tokens,
)
from motherlode.www.urls import host_of
from tests.support import shared

from ..fakes import links, rated_outcome


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://imdb.com/Se7en", ["imdb", "com", "se7en"]),
        ("https://example.org/a/bc/def", ["example", "org", "def"]),
        ("http://example.org/2014/11/03", ["example", "org", NUMBER]),
        ("http://example.org/item123?id=456&q=recipe", ["example", "org", "item123", NUMBER, "recipe"]),
        ("http://example.org/%C3%A9t%C3%A9/caf%C3%A9", ["example", "org", "a9t", "caf"]),
    ],
)
def test_url_is_split_as_in_the_paper(url: str, expected: list[str]) -> None:
    assert tokens(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://imdb.com/Se7en/Title?page=2012#Top", ["title", "page", NUMBER, "top"]),
        ("https://shop.example", []),
        ("https://shop.example?query=item123&x=ab", ["query"]),
    ],
)
def test_tokens_of_authors_are_words_and_numbers_behind_the_host(url: str, expected: list[str]) -> None:
    assert TokenRules(of_authors=True).tokens(url) == expected


def test_token_limits_and_number_of_hashes_are_applied() -> None:
    url = "http://a.example/ab/abc/abcdefgh"
    assert TokenRules(min_characters=2, max_characters=5).tokens(url) == ["ab", "abc"]
    assert max(TokenRules(hashes=7, min_characters=1).numbers(url)) < 7


@pytest.mark.parametrize("wrong", [{"hashes": 0}, {"hashes": 70_000}, {"min_characters": 0}, {"max_characters": 2}])
def test_token_rules_out_of_bounds_raise_value_error(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"hashes is 1 to|at least 1 character"):
        TokenRules(**wrong)


@pytest.mark.parametrize("hashes", [5_000, 20_000])
def test_labels_follow_the_hashes_for_any_number_of_hashes(hashes: int) -> None:
    rules = TokenRules(hashes=hashes)
    features = Features(rules=rules)
    (row,) = features.rows(links("http://a.example/recipe"), parent(relevant=True))
    assert [feature for feature in decode_row(row) if feature >= hashes] == [PARENT_GOOD + hashes - HASHES]
    redirect = Link(url="http://a.example/new", source=LinkSource.REDIRECT)
    (behind,) = features.rows([redirect], parent(relevant=False, policy_state=row))
    assert max(decode_row(behind)) == PARENT_GOOD + hashes - HASHES < rules.size


def test_relevant_parents_are_counted_and_counted_again_when_learned() -> None:
    features = Features(FeatureSet.PARENTS)
    (first,) = features.rows(links("http://a.example/x"), None)
    assert not first
    for number in range(3):
        page = f"http://p.example/{number}"
        known = links("http://a.example/x", "http://a.example/x")
        features.add_page(Outcome(url=page, host="p.example", relevant=True, links=known))
        features.add_page(Outcome(url=page + "/other", host="p.example", relevant=False, links=known))
    (row,) = features.rows(links("http://a.example/x"), parent(relevant=True))
    assert list(decode_row(row)) == [PARENTS_GOOD + 1], "two or three relevant parents"
    fetched = Outcome(url="http://a.example/x", host="a.example", policy_state=first)
    assert list(features.row_to_learn(fetched)) == [PARENTS_GOOD + 1]
    again = Features(FeatureSet.PARENTS)
    again.load(features.dump())
    assert again.rows(links("http://a.example/x"), None) == [row]


def test_numbers_of_two_digits_are_dropped() -> None:
    assert NUMBER not in tokens("http://example.org/12/34")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", -(2**31))],
)
def test_java_hash_equals_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_token_indices_are_in_range_and_spread() -> None:
    places = {token_index(f"word{number}") for number in range(2_000)}
    assert all(0 <= each < HASHES for each in places)
    assert len(places) > 1_500
    assert token_index("polygenelubricants") == 2**31 % HASHES


ALL = FeatureSet.URL | FeatureSet.PARENT | FeatureSet.SIBLING


def parent(*, relevant: bool, urls: tuple[str, ...] = (), policy_state: bytes = b"") -> Outcome:
    return Outcome(
        url="http://p.example/",
        host="p.example",
        depth=0,
        relevant=relevant,
        links=links(*urls),
        policy_state=policy_state,
    )


def labels(policy_state: bytes) -> set[int]:
    return {feature for feature in decode_row(policy_state) if feature >= HASHES}


def test_row_has_tokens_of_url() -> None:
    (policy_state,) = Features(FeatureSet.URL).rows(links("http://shop.example/recipe/recipe"), None)
    assert sorted(decode_row(policy_state)) == sorted(
        {token_index("shop"), token_index("example"), token_index("recipe")}
    )


def test_row_has_label_of_parent() -> None:
    for relevant, expected in ((True, PARENT_GOOD), (False, PARENT_BAD)):
        (policy_state,) = Features().rows(links("http://a.example/"), parent(relevant=relevant))
        assert labels(policy_state) == {expected}
        (policy_state,) = Features(FeatureSet.URL).rows(links("http://a.example/"), parent(relevant=relevant))
        assert labels(policy_state) == set()


def test_row_of_seed_has_no_label() -> None:
    (policy_state,) = Features(ALL).rows(links("http://a.example/"), None)
    assert labels(policy_state) == set()


def test_row_has_labels_of_fetched_siblings_if_siblings_are_used() -> None:
    features = Features(ALL)
    siblings = tuple(f"http://p.example/{number}" for number in range(6))
    found_on = parent(relevant=False, urls=siblings)
    (policy_state,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(policy_state) == {PARENT_BAD}
    for url in siblings[:3]:
        features.add_label(url, relevant=True)
    (policy_state,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(policy_state) == {PARENT_BAD, SIBLING_GOOD, SIBLINGS_GOOD + 1}, "two or three relevant siblings"
    features.add_label(siblings[5], relevant=False)
    (policy_state,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(policy_state) == {PARENT_BAD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD + 1}
    again = Features(ALL)
    again.load(features.dump())
    assert again.rows(links("http://p.example/new"), found_on) == [policy_state]


def test_siblings_are_not_used_by_default() -> None:
    features = Features()
    features.add_label("http://p.example/1", relevant=True)
    (policy_state,) = features.rows(links("http://p.example/new"), parent(relevant=True, urls=("http://p.example/1",)))
    assert labels(policy_state) == {PARENT_GOOD}


def test_redirect_target_inherits_labels_of_redirecting_url() -> None:
    features = Features()
    (first,) = features.rows(links("http://a.example/old"), parent(relevant=True))
    link = Link(url="http://a.example/new", source=LinkSource.REDIRECT)
    (policy_state,) = features.rows([link], parent(relevant=False, policy_state=first))
    assert labels(policy_state) == {PARENT_GOOD}
    assert token_index("new") in decode_row(policy_state) and token_index("old") not in decode_row(policy_state)


@pytest.mark.parametrize("text", ["", "url+", "URL", "url+host", "+"])
def test_unknown_feature_set_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="features are url, parent, sibling, parents"):
        FeatureSet.named(text)


def real_page() -> tuple[str, list[Link]]:
    """Return the first page of the recorded web with many links to its own host, as a crawl parses it."""
    reader = PageParser(ParseOptions(target="any"))
    with shared("corpus", "sites.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            url, kind = record.headers["WARC-Target-URI"], record.http_headers.get("Content-Type", "")
            if record.http_headers.status_code != 200 or "html" not in kind:
                continue
            found = reader.read(PageBody(url=url, content_type=kind, body=record.reader.read())).links
            if sum(host_of(link.url) == host_of(url) for link in found) >= 20:
                return url, found
    raise AssertionError("no such page")


def test_all_feature_sources_occur_on_a_real_page() -> None:
    url, found = real_page()
    features = Features(ALL)
    features.add_label(found[0].url, relevant=True)
    features.add_label(found[1].url, relevant=False)
    on = Outcome(url=url, host=host_of(url), depth=0, relevant=True, links=found)
    policy_states = features.rows(found[2:], on)
    assert all(
        labels(policy_state) == {PARENT_GOOD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD}
        for policy_state in policy_states
    )
    words = [set(decode_row(policy_state)) - labels(policy_state) for policy_state in policy_states]
    assert all(words)
    assert len(set().union(*words)) > len(words) / 4, "different URLs have different rows"
    assert all(token_index(token) in words[0] for token in tokens(found[2].url))


def outcome(rater: OnlineRater, url: str, *, relevant: bool, failure: FailureKind | None = None) -> Outcome:
    (rating,) = rater.rate(links(url), None)
    return rated_outcome(url, rating, relevant=relevant, failure=failure)


@pytest.mark.parametrize("make", [NaiveBayes, HoeffdingTree])
def test_online_rater_learns_and_survives_dump_and_load(make: type[Classifier]) -> None:
    rater = OnlineRater(Features(), make())
    for number in range(150):
        for kind in ("recipe", "imprint"):
            url = f"http://a.example/{kind}/dish{number}"
            rater.learn(outcome(rater, url, relevant=kind == "recipe"))
    good, bad = rater.rate(links("http://b.example/recipe/new", "http://b.example/imprint/new"), None)
    assert good.score > 0.9 and bad.score < 0.1
    assert (good.arm, bad.arm) == ("b.example", "b.example")
    assert rater.judged == 300
    assert 0.95 < rater.right / rater.judged < 1
    again = OnlineRater(Features(), make())
    again.load(rater.dump())
    assert again.rate(links("http://b.example/recipe/x"), None) == rater.rate(links("http://b.example/recipe/x"), None)
    assert again.dump() == rater.dump()


def test_untrained_rater_gives_all_links_one_half() -> None:
    ratings = OnlineRater(Features(), NaiveBayes()).rate(links("http://a.example/x", "http://b.example/why"), None)
    assert [rating.score for rating in ratings] == [0.5, 0.5]


def test_rater_learns_from_failure_but_not_from_redirect() -> None:
    rater = OnlineRater(Features(), NaiveBayes())
    before = rater.dump()
    rater.learn(outcome(rater, "http://a.example/old", relevant=False, failure=FailureKind.REDIRECT))
    assert rater.dump() == before
    rater.learn(outcome(rater, "http://a.example/old", relevant=False, failure=FailureKind.NOT_FOUND))
    assert rater.rate(links("http://a.example/old"), None)[0].score < 0.5
