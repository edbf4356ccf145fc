"""A part of a web: its hosts, their links among each other, and nothing else."""

from __future__ import annotations

from motherlode.model import FailureKind
from motherlode.policies import target_from
from motherlode.sim.simulated_web import HostSubset
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.www.urls import host_of


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
