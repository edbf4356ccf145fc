from __future__ import annotations

from collections import Counter

from motherlode.model import ContentKind, LinkSource, Syntax
from motherlode.sim.synthetic import HOST_PROFILES, Family, Role, SyntheticWeb
from motherlode.sim.synthetic.entities import FOAF, RDFS, WRITERS
from motherlode.sim.synthetic.page_model import LinkPosition
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.site_pages import SiteLinks


def _host(web: SyntheticWeb, profile: str) -> str:
    return web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]


def test_rich_host_items_carry_data_and_lists_do_not(web: SyntheticWeb) -> None:
    for profile, syntax in (
        ("recipes", Syntax.JSON_LD),
        ("shop", Syntax.MICRODATA),
        ("library", Syntax.RDFA),
        ("indie blog", Syntax.MICROFORMATS),
    ):
        models = [web.page_model(url) for url in web.urls(_host(web, profile))]
        items = [model for model in models if model.role is Role.ITEM]
        others = [model for model in models if model.role not in (Role.ITEM, Role.HOME)]
        assert sum(syntax in model.counts for model in items) > 0.85 * len(items), profile
        assert others and not any(model.relevant for model in others), profile


def test_fully_marked_up_host_carries_data_on_every_page(web: SyntheticWeb) -> None:
    models = [web.page_model(url) for url in web.urls(_host(web, "marked up by its theme"))]
    assert sum(model.relevant for model in models) > 0.9 * len(models)


def test_host_without_data_carries_almost_none(web: SyntheticWeb) -> None:
    barren = [name for name in web.hosts() if web.profile(name).family is Family.BARREN]
    models = [web.page_model(url) for name in barren for url in web.urls(name)]
    share = sum(model.relevant for model in models) / len(models)
    assert 0 < share < 0.03


def test_mixed_host_carries_data_in_one_template(web: SyntheticWeb) -> None:
    host = _host(web, "magazine")
    by_section = Counter[str]()
    items = Counter[str]()
    for url in web.urls(host):
        model = web.page_model(url)
        if model.role is Role.ITEM:
            section = url.split("/")[3]
            items[section] += 1
            by_section[section] += model.relevant
    shares = sorted(by_section[section] / items[section] for section in items)
    assert shares[0] < 0.2 and shares[-1] > 0.8


def test_broken_jsonld_counts_readable_statements() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    careless = [host for host in web.hosts() if web.profile(host).flawed_permille]
    models = [web.page_model(url) for host in careless for url in web.urls(host)]
    flaws = {(block.flaw.name, model.relevant) for model in models for block in model.blocks if model.role is Role.ITEM}
    assert {("NONE", True), ("TRAILING_COMMA", True), ("TEMPLATE", False)} == flaws


def test_unreliable_host_mostly_recovers() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    urls = [url for host in web.hosts() if web.profile(host).flaky_permille for url in web.urls(host)]
    once = [url for url in urls if web.page_model(url).status == 503]
    always = [url for url in once if web.page_model(url, attempt=1).status == 503]
    assert 0 < len(always) < len(once) < len(urls)
    assert all(web.page_model(url).retry_after for url in once)
    assert any(web.page_model(url, attempt=1).stall for url in urls)


def test_profile_page_links_to_its_foaf_document(web: SyntheticWeb) -> None:
    model = next(model for url in web.urls(_host(web, "friends")) if (model := web.page_model(url)).role is Role.ITEM)
    announced = [link for link in model.links if link.source is LinkSource.LINK_ELEMENT]
    assert [(link.rel, link.type) for link in announced] == [("meta", "application/rdf+xml")]
    assert announced[0].url.endswith("/foaf.rdf")
    assert not model.relevant


WORLD = World(pages=8000, seed=4, hosts=None)
NUMBER = {profile.name: number for number, profile in enumerate(HOST_PROFILES)}


def _links(profile: str) -> SiteLinks:
    return SiteLinks(WORLD.site(NUMBER[profile]), WORLD)


def test_site_links_shared_groups_are_built_once() -> None:
    links = _links("newspaper")
    assert links.navigation is links.navigation
    assert links.sidebar is links.sidebar
    assert {link.tag_path for link in links.navigation} == {links.paths[LinkPosition.NAVIGATION]}


def test_site_links_navigation_reaches_every_section() -> None:
    links = _links("city")
    targets = {link.url for link in links.navigation}
    assert {part.list_url(1) for part in links.site.parts} <= targets


def test_site_links_of_moved_host_go_through_redirects() -> None:
    links = _links("moved")
    part = links.site.parts[0]
    urls = [link.url for link in links.items("", part, range(part.items))]
    through = sum("/go/" in url for url in urls)
    assert 0 < through < len(urls)
    assert not any("/go/" in link.url for link in _links("shop").listed(WORLD.site(NUMBER["shop"]).parts[0], range(9)))


def test_site_links_of_host_with_robots_rules_include_disallowed_urls() -> None:
    targets = {link.url for link in _links("library").footer}
    assert any("/private/" in url for url in targets) and any("/search?" in url for url in targets)
    assert not any("/private/" in link.url for link in _links("shop").footer)


def _data(web: SyntheticWeb, profile: str) -> list[str]:
    host = web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]
    return [url for url in web.urls(host) if web.page_model(url).role is Role.DATA]


def test_foaf_documents_link_across_hosts() -> None:
    web = SyntheticWeb(pages=60_000, seed=1)
    models = [web.page_model(url) for url in _data(web, "friends")]
    friends = [link for model in models for link in model.links if link.predicate == RDFS + "seeAlso"]
    assert friends and all(web.page_model(link.url).kind is ContentKind.RDF_XML for link in friends)
    assert len({link.url.split("/")[2] for link in friends}) > 1
    homepages = [link.url for model in models for link in model.links if link.predicate == FOAF + "homepage"]
    assert len(homepages) == len(models)
    assert all(web.page_model(url).role is Role.ITEM for url in homepages)


def test_linked_data_exists_in_every_syntax_with_valid_links(web: SyntheticWeb) -> None:
    models = [web.page_model(url) for url in _data(web, "linked data")]
    assert {model.kind for model in models} == set(WRITERS)
    for model in models:
        assert all(link.source is LinkSource.TRIPLE for link in model.links)
        assert all(web.page_model(link.url, attempt=1).status in (200, 303) for link in model.links)


def test_mislabelled_data_keeps_its_actual_kind(web: SyntheticWeb) -> None:
    models = [web.page_model(url) for url in _data(web, "mislabelled data")]
    assert {model.kind for model in models} == {ContentKind.TURTLE, ContentKind.RDF_XML, ContentKind.N_TRIPLES}
    said = {model.media_type for model in models}
    assert {"text/plain", "text/xml", "application/octet-stream"} <= said
    assert all(model.counts for model in models)
