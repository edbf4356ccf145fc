from __future__ import annotations

import pytest

from motherlode.model import FailureKind
from motherlode.policies import target_from
from motherlode.sim.synthetic.adapter import SyntheticSimWeb


def web(target: str = "any") -> SyntheticSimWeb:
    return SyntheticSimWeb(pages=2000, seed=1, target=target_from(target))


def test_adapter_page_count_equals_pages() -> None:
    everything = list(web().everything())
    assert len({page.url for page in everything}) == len(everything) == web().page_count == 2000


@pytest.mark.parametrize("target", ["any", "rdf", "microdata>=5", "type:schema:Product"])
def test_labels_depend_on_target(target: str) -> None:
    some = {url for url, yes in web(target).labels() if yes}
    every = {url for url, yes in web().labels() if yes}
    assert some
    assert some <= every
    assert all(web(target).page(url).relevant for url in list(some)[:20])


def test_adapter_unknown_url_gives_failure() -> None:
    assert web().page("http://nobody.example/").failure is FailureKind.DNS
    home = web().home_pages()[0]
    assert web().page(f"{home}no-such-page").failure is FailureKind.NOT_FOUND


def test_home_pages_exist() -> None:
    assert all(web().page(url).failure is None for url in web().home_pages())
