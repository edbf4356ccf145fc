"""Rows of features: what fires when, also on a page of the corpus."""

from __future__ import annotations

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from motherlode.crawler.parsing.messages import PageBody, ParseOptions
from motherlode.crawler.parsing.page_parser import PageParser
from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.anthelion.url_classifier import (
    HASHES,
    PARENT_BAD,
    PARENT_GOOD,
    SIBLING_BAD,
    SIBLING_GOOD,
    SIBLINGS_GOOD,
    Features,
    FeatureSet,
    place,
    row,
    tokens,
)
from motherlode.www.urls import host_of
from tests.support import shared

from ..fakes import links

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
    return {feature for feature in row(policy_state) if feature >= HASHES}


def test_tokens_of_the_url_are_features() -> None:
    (memo,) = Features(FeatureSet.URL).rows(links("http://shop.example/recipe/recipe"), None)
    assert sorted(row(memo)) == sorted({place("shop"), place("example"), place("recipe")})


def test_the_label_of_the_parent_is_a_feature() -> None:
    for relevant, expected in ((True, PARENT_GOOD), (False, PARENT_BAD)):
        (memo,) = Features().rows(links("http://a.example/"), parent(relevant=relevant))
        assert labels(memo) == {expected}
        (memo,) = Features(FeatureSet.URL).rows(links("http://a.example/"), parent(relevant=relevant))
        assert labels(memo) == set()


def test_a_seed_has_no_parent() -> None:
    (memo,) = Features(ALL).rows(links("http://a.example/"), None)
    assert labels(memo) == set()


def test_labels_of_siblings_that_were_fetched_are_features_where_wanted() -> None:
    features = Features(ALL)
    siblings = tuple(f"http://p.example/{number}" for number in range(6))
    found_on = parent(relevant=False, urls=siblings)
    (memo,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(memo) == {PARENT_BAD}
    for url in siblings[:3]:
        features.note(url, relevant=True)
    (memo,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(memo) == {PARENT_BAD, SIBLING_GOOD, SIBLINGS_GOOD + 1}, "two or three of them"
    features.note(siblings[5], relevant=False)
    (memo,) = features.rows(links("http://p.example/new"), found_on)
    assert labels(memo) == {PARENT_BAD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD + 1}
    again = Features(ALL)
    again.load(features.dump())
    assert again.rows(links("http://p.example/new"), found_on) == [memo]


def test_siblings_are_left_out_by_default_as_in_the_paper() -> None:
    features = Features()
    features.note("http://p.example/1", relevant=True)
    (memo,) = features.rows(links("http://p.example/new"), parent(relevant=True, urls=("http://p.example/1",)))
    assert labels(memo) == {PARENT_GOOD}


def test_the_target_of_a_redirect_has_the_parent_of_what_redirected() -> None:
    features = Features()
    (first,) = features.rows(links("http://a.example/old"), parent(relevant=True))
    link = Link(url="http://a.example/new", source=LinkSource.REDIRECT)
    (memo,) = features.rows([link], parent(relevant=False, policy_state=first))
    assert labels(memo) == {PARENT_GOOD}
    assert place("new") in row(memo) and place("old") not in row(memo)


@pytest.mark.parametrize("text", ["", "url+", "URL", "url+host", "+"])
def test_unknown_features_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="features are url, parent, sibling"):
        FeatureSet.named(text)


def real_page() -> tuple[str, list[Link]]:
    """The first page of the recorded web with many links to its own host, read as a crawl reads it."""
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


def test_every_source_fires_on_a_real_page() -> None:
    url, found = real_page()
    features = Features(ALL)
    features.note(found[0].url, relevant=True)
    features.note(found[1].url, relevant=False)
    on = Outcome(url=url, host=host_of(url), depth=0, relevant=True, links=found)
    memos = features.rows(found[2:], on)
    assert all(labels(memo) == {PARENT_GOOD, SIBLING_GOOD, SIBLING_BAD, SIBLINGS_GOOD} for memo in memos)
    words = [set(row(memo)) - labels(memo) for memo in memos]
    assert all(words)
    assert len(set().union(*words)) > len(words) / 4, "URLs differ, and so do their rows"
    assert all(place(token) in words[0] for token in tokens(found[2].url))
