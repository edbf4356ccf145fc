"""Contract suite of `SimulatedWeb`, run on the synthetic web, a recorded web and the fake web of the tests."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from motherlode.model import FailureKind
from motherlode.policies import target_from
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.recorder import record
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.sim.web_protocol import HostSubset, SimPage, SimulatedWeb
from motherlode.www.urls import canonical, host_of
from tests.sim.fakes import everyone_linked, recorded_graph


@pytest.fixture(scope="module", params=["synthetic", "recorded", "table"])
def web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SimulatedWeb:
    if request.param == "synthetic":
        return SyntheticSimWeb(pages=600, seed=3, target=target_from("any"))
    if request.param == "table":
        return everyone_linked(hosts=4, pages=10)
    path: Path = tmp_path_factory.mktemp("web")
    warc, _ = recorded_graph(path / "web.warc.gz", hosts=5, pages=8, seed=2)
    record([warc], path / "trace", workers=1, progress=lambda done, of: None)
    return TraceWeb(path / "trace", target_from("any"))


def test_simulated_web_everything_equals_single_requests(web: SimulatedWeb) -> None:
    everything = list(web.everything())
    assert len({page.url for page in everything}) == len(everything)
    pages = sum(page.failure is None for page in everything)
    assert pages <= web.page_count <= len(everything), "a page may be out of order at the first request"
    for page in Random(1).sample(everything, min(40, len(everything))):
        assert web.page(page.url) == page, "a request gives the same every time"


def test_simulated_web_labels_equal_page_labels(web: SimulatedWeb) -> None:
    labels = dict(web.labels())
    assert labels == {page.url: page.relevant for page in web.everything() if page.failure is None}
    assert 0 < sum(labels.values()) < len(labels)


def test_simulated_web_home_pages_are_on_different_hosts(web: SimulatedWeb) -> None:
    homes = web.home_pages()
    assert len({host_of(url) for url in homes}) == len(homes) > 1
    assert all(web.page(url).url == web.spelling(url) for url in homes)


def test_simulated_web_canonical_urls_are_stable(web: SimulatedWeb) -> None:
    for page in web.everything():
        assert web.spelling(page.url) == page.url == canonical(page.url)
        for link in page.links:
            assert web.page(link.url).url == web.spelling(link.url)


def test_simulated_web_unknown_url_gives_empty_failure(web: SimulatedWeb) -> None:
    missing = web.page(f"{web.home_pages()[0]}there/is/no/such/page-31415")
    assert missing.failure is FailureKind.NOT_FOUND
    assert (missing.relevant, list(missing.links), missing.counts) == (False, [], {})


def test_simulated_web_failures_are_irrelevant_and_redirects_have_targets(web: SimulatedWeb) -> None:
    for page in web.everything():
        assert not (page.failure and page.relevant)
        assert bool(page.location) == (page.failure is FailureKind.REDIRECT)


def test_simulated_web_pages_do_not_share_counts() -> None:
    assert SimPage(url="u").counts is not SimPage(url="v").counts


def test_host_subset_contains_only_chosen_hosts() -> None:
    whole = SyntheticSimWeb(pages=400, seed=3, target=target_from("any"))
    homes = whole.home_pages()
    chosen = {host_of(url) for url in homes[:10]}
    part = HostSubset(whole, chosen)
    pages = list(part.everything())
    assert {host_of(page.url) for page in pages} == chosen
    assert {host_of(link.url) for page in pages for link in page.links} <= chosen
    assert {host_of(url) for url in part.home_pages()} == chosen
    assert 0 < part.page_count < whole.page_count
    assert part.page(homes[20]).failure is FailureKind.NOT_FOUND
    assert dict(part.labels()) == {page.url: page.relevant for page in pages if page.failure is None}
