"""Hard URIs, and features by set: definitions of the paper, and their occurrence on real pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.ftrl import Ftrl, Hasher
from motherlode.policies.ldcoc.ldcoc_features import (
    CROSSES,
    SETS,
    Hardness,
    Known,
    cross_features,
    features,
    hardness,
    intrinsic,
    page_features,
    similarity,
)
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.www.urls import host_of
from tests.policies.webs import real_web


@pytest.mark.parametrize(
    ("url", "content_type", "expected"),
    [
        ("http://a.example/x.rdf", "", Hardness.RDF),
        ("http://a.example/x.owl", "", Hardness.RDF),
        ("http://a.example/x", "application/rdf+xml", Hardness.RDF),
        ("http://a.example/x", "text/turtle; charset=utf-8", Hardness.RDF),
        ("http://a.example/x", "", Hardness.HARD),
        ("http://a.example/x.html", "", Hardness.HARD),
        ("http://a.example/x.htm", "text/html", Hardness.HARD),
        ("http://a.example/x", "text/plain", Hardness.HARD),
        ("http://a.example/x.jpg", "", Hardness.NO_RDF),
        ("http://a.example/x", "image/png", Hardness.NO_RDF),
    ],
)
def test_hardness_follows_extension_and_content_type(url: str, content_type: str, expected: Hardness) -> None:
    assert hardness(Link(url=url, source=LinkSource.ANCHOR, type=content_type)) is expected


PARENT = Outcome(url="http://r.example:8080/list/", host="r.example:8080", depth=0, relevant=True, kind="html")
LINK = Link(url="http://t.example/obj/12", source=LinkSource.TRIPLE, predicate="http://v.example/ns#sees")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> TraceWeb:
    folder: Path = tmp_path_factory.mktemp("web")
    return real_web(folder)


def test_intrinsic_features_cover_all_components_of_a_uri() -> None:
    names = intrinsic("https://data.shop.example.co.uk:8443/set/one/Obj_12.html?format=rdf&page=2#it")
    kinds = {name.partition("=")[0] for name in names}
    assert kinds >= {"scheme", "authority", "domain", "depth", "segment", "shape", "word", "extension", "parameter"}
    assert {"authority=data.shop.example.co.uk:8443", "domain=example.co.uk", "extension=html"} <= set(names)
    assert {"segment=set", "segment=one", "shape=a_0.a", "word=obj", "fragment=it"} <= set(names)
    assert {"parameter=format", "parameter=page"} <= set(names)


@pytest.mark.parametrize("uri", ["", "urn:isbn:1", "http://", "html:path=", "http://a.example", "http://[::1]:80/x"])
def test_unusual_uris_have_features(uri: str) -> None:
    assert intrinsic(uri)


def test_features_of_long_uri_are_few_and_short() -> None:
    endless = "http://a.example/" + "deep/" * 600 + "word-" * 200 + "?" + "&".join(f"p{n}=1" for n in range(300))
    assert len(intrinsic(endless)) < 40
    assert max(map(len, intrinsic(endless))) < 300


def test_feature_sets_can_be_combined() -> None:
    sibling = Link(url="http://t.example/obj/13", source=LinkSource.TRIPLE, predicate=LINK.predicate)
    each = {letter: features(LINK, PARENT, letter, siblings=[sibling]) for letter in SETS}
    for size in range(1, 5):
        for letters in combinations(SETS, size):
            together = features(LINK, PARENT, "".join(letters), siblings=[sibling])
            assert together == [name for letter in letters for name in each[letter]]
    for letter, names in each.items():
        assert names
        assert all(name.startswith(f"{letter}:") for name in names)
    assert "t:authority=t.example" in each["t"]
    assert "r:authority=r.example:8080" in each["r"]
    assert "p:authority=v.example" in each["p"]


def test_header_features_are_the_content_type() -> None:
    announced = Link(url="http://a.example/x", source=LinkSource.ANCHOR, type="text/html; charset=UTF-8")
    assert "t:contentType=text/html" in features(announced, None, "t")
    plain = Link(url="http://a.example/x", source=LinkSource.ANCHOR)
    assert not any("contentType" in name for name in features(plain, None, "t"))


def test_similarity_is_levenshtein_ratio() -> None:
    assert similarity("kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert similarity("http://a.example/x", "http://a.example/x") == 1.0


def test_cross_features_contain_similarity_relevance_and_type_of_siblings() -> None:
    like = Link(url="http://t.example/obj/13", source=LinkSource.TRIPLE, type="text/html")
    unlike = Link(url="http://elsewhere.example/about/us", source=LinkSource.TRIPLE)
    names = cross_features(LINK, [like, unlike], Known(relevances={like.url: True}))
    assert "x:authority=t.example&contentType=text/html&sim=high&rel=True" in names
    assert "x:authority=elsewhere.example&contentType=&sim=low&rel=unknown" in names
    assert "x:authority=t.example&contentType=text/html&sim=low&rel=True" in cross_features(
        LINK, [like], Known(relevances={like.url: True}), threshold=0.99
    )


def test_number_of_cross_features_is_bounded() -> None:
    links = [Link(url=f"http://h{n}.example/a/b/c/{n}", source=LinkSource.ANCHOR, tag_path="a") for n in range(1000)]
    assert max(map(len, page_features(links, PARENT, "x"))) <= 20 * CROSSES["all"].siblings
    limited = page_features(links, PARENT, "x", crosses=CROSSES["limited"])
    assert max(map(len, limited)) <= 10 * CROSSES["limited"].siblings


def pages(web: TraceWeb) -> Iterator[tuple[list[Link], Outcome]]:
    for page in web.everything():
        if page.links:
            host = host_of(page.url)
            yield (
                list(page.links),
                Outcome(url=page.url, host=host, depth=0, relevant=page.relevant, kind=page.kind),
            )


def test_every_kind_of_feature_occurs_on_real_pages(web: TraceWeb) -> None:
    known = {page.url: page.relevant for page in web.everything()}
    fired: Counter[str] = Counter()
    for links, parent in pages(web):
        for names in page_features(links, parent, SETS, known=Known(relevances=known)):
            fired.update({name.partition("=")[0] for name in names})
            fired.update(name.rpartition("&")[2] for name in names if name.startswith("x:"))
    for letter in "trp":
        for kind in ("scheme", "authority", "domain", "segment", "place", "shape", "extension"):
            assert fired[f"{letter}:{kind}"], (letter, kind)
    assert fired["t:contentType"]
    assert fired["t:parameter"]
    assert fired["r:relevant"]
    assert fired["p:html:path"]
    assert fired["x:contentType"]
    assert min(fired[f"rel={word}"] for word in ("True", "False", "unknown")) > 0


@pytest.mark.parametrize("sets", ["t", "r", "p", "x", "trp", "trpx"])
def test_each_feature_set_predicts_better_than_the_mean(web: TraceWeb, sets: str) -> None:
    """The progressive loss is lower than that of a learner with a bias only."""
    known = {page.url: page.relevant for page in web.everything() if page.failure is None}
    seen: set[str] = set()
    hasher = Hasher(1 << 18)
    loss, plain, blank, learner = 0.0, 0.0, Ftrl(4, alpha=0.5, l1=0.1), Ftrl(1 << 18, alpha=0.5, l1=0.1)
    for links, parent in pages(web):
        relevances = {url: known[url] for url in seen}
        rows = page_features(links, parent, sets, known=Known(relevances=relevances))
        for link, names in zip(links, rows, strict=True):
            if link.url in known and link.url not in seen:
                seen.add(link.url)
                label = known[link.url]
                loss += (learner.learn(hasher.row(["bias", *names]), label) - label) ** 2
                plain += (blank.learn([0], label) - label) ** 2
    assert len(seen) > 300
    assert loss < 0.9 * plain, (loss / len(seen), plain / len(seen))
