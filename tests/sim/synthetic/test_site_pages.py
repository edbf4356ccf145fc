from __future__ import annotations

from collections import Counter

from motherlode.model import LinkSource, Syntax
from motherlode.sim.synthetic import Family, Role, SyntheticWeb
from motherlode.sim.synthetic.host_profiles import HABITS


def _host(web: SyntheticWeb, habit: str) -> str:
    return web.hosts()[[one.name for one in HABITS].index(habit)]


def test_rich_host_items_carry_data_and_lists_do_not(web: SyntheticWeb) -> None:
    for habit, syntax in (
        ("recipes", Syntax.JSON_LD),
        ("shop", Syntax.MICRODATA),
        ("library", Syntax.RDFA),
        ("indie blog", Syntax.MICROFORMATS),
    ):
        models = [web.facts(url) for url in web.urls(_host(web, habit))]
        items = [model for model in models if model.role is Role.ITEM]
        others = [model for model in models if model.role not in (Role.ITEM, Role.HOME)]
        assert sum(syntax in model.counts for model in items) > 0.85 * len(items), habit
        assert others and not any(model.relevant for model in others), habit


def test_fully_marked_up_host_carries_data_on_every_page(web: SyntheticWeb) -> None:
    models = [web.facts(url) for url in web.urls(_host(web, "marked up by its theme"))]
    assert sum(model.relevant for model in models) > 0.9 * len(models)


def test_host_without_data_carries_almost_none(web: SyntheticWeb) -> None:
    barren = [name for name in web.hosts() if web.habit(name).family is Family.BARREN]
    models = [web.facts(url) for name in barren for url in web.urls(name)]
    share = sum(model.relevant for model in models) / len(models)
    assert 0 < share < 0.03


def test_mixed_host_carries_data_in_one_template(web: SyntheticWeb) -> None:
    host = _host(web, "magazine")
    by_section = Counter[str]()
    items = Counter[str]()
    for url in web.urls(host):
        model = web.facts(url)
        if model.role is Role.ITEM:
            section = url.split("/")[3]
            items[section] += 1
            by_section[section] += model.relevant
    shares = sorted(by_section[section] / items[section] for section in items)
    assert shares[0] < 0.2 and shares[-1] > 0.8


def test_broken_jsonld_counts_readable_statements() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    careless = [host for host in web.hosts() if web.habit(host).flawed_permille]
    models = [web.facts(url) for host in careless for url in web.urls(host)]
    flaws = {(block.flaw.name, model.relevant) for model in models for block in model.blocks if model.role is Role.ITEM}
    assert {("NONE", True), ("TRAILING_COMMA", True), ("TEMPLATE", False)} == flaws


def test_unreliable_host_mostly_recovers() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    urls = [url for host in web.hosts() if web.habit(host).flaky_permille for url in web.urls(host)]
    once = [url for url in urls if web.facts(url).status == 503]
    always = [url for url in once if web.facts(url, attempt=1).status == 503]
    assert 0 < len(always) < len(once) < len(urls)
    assert all(web.facts(url).retry_after for url in once)
    assert any(web.facts(url, attempt=1).stall for url in urls)


def test_profile_page_links_to_its_foaf_document(web: SyntheticWeb) -> None:
    model = next(model for url in web.urls(_host(web, "friends")) if (model := web.facts(url)).role is Role.ITEM)
    announced = [link for link in model.links if link.source is LinkSource.LINK_ELEMENT]
    assert [(link.rel, link.type) for link in announced] == [("meta", "application/rdf+xml")]
    assert announced[0].url.endswith("/foaf.rdf")
    assert not model.relevant
