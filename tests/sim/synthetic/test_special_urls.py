from __future__ import annotations

import pytest
from protego import Protego

from motherlode.model import ContentKind
from motherlode.sim.synthetic import HABITS, Role, SyntheticWeb
from motherlode.sim.synthetic.special_urls import CRAWL_DELAY


def _root(web: SyntheticWeb, habit: str) -> str:
    return web.home(web.hosts()[[one.name for one in HABITS].index(habit)]).rstrip("/")


def test_robots_rules_disallow_only_linked_private_urls(web: SyntheticWeb) -> None:
    root = _root(web, "library")
    text = web.robots(root[7:])
    assert text is not None
    assert web.answer(f"{root}/robots.txt").body.decode() == text
    rules = Protego.parse(text)
    assert rules.crawl_delay("motherlode") == CRAWL_DELAY
    linked = {link.url for url in web.urls(root[7:]) for link in web.facts(url).links if link.url.startswith(root)}
    forbidden = {url for url in linked if not rules.can_fetch(url, "motherlode")}
    assert forbidden
    assert forbidden == {url for url in linked if web.facts(url).disallowed}
    assert not Protego.parse(text).can_fetch(root, "badbot")


def test_host_without_rules_has_no_robots_txt(web: SyntheticWeb) -> None:
    root = _root(web, "plain shop")
    assert web.robots(root[7:]) is None
    assert web.facts(f"{root}/robots.txt").status == 404


def test_sitemaps_contain_every_item() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    hosts = [host for host in web.hosts() if web.habit(host).sitemap]
    large = max(hosts, key=lambda host: sum(1 for _ in web.urls(host)))
    for host in (hosts[0], large):
        robots = web.robots(host)
        assert robots and f"Sitemap: http://{host}/sitemap.xml" in robots
        waiting = [f"http://{host}/sitemap.xml"]
        named = set()
        while waiting:
            model = web.facts(waiting.pop())
            assert model.kind is ContentKind.SITEMAP
            waiting += [link.url for link in model.links if link.url.endswith(".xml")]
            named |= {link.url for link in model.links if not link.url.endswith(".xml")}
        assert named == {url for url in web.urls(host) if web.facts(url).role is Role.ITEM}
    assert web.facts(f"http://{large}/sitemap-2.xml").status == 200


def test_feeds_contain_the_latest_items(web: SyntheticWeb) -> None:
    root = _root(web, "newspaper")
    model = web.facts(f"{root}/feed.xml")
    assert model.kind is ContentKind.RSS and len(model.links) == 16
    assert f"{root}/feed.xml" in {link.url for link in web.facts(f"{root}/").links}


@pytest.fixture(scope="module")
def moved() -> SyntheticWeb:
    return SyntheticWeb(pages=60_000, seed=1, hosts=60)


def _follow(web: SyntheticWeb, url: str) -> list[int]:
    statuses = []
    seen = set()
    while url not in seen:
        seen.add(url)
        model = web.facts(url)
        statuses.append(model.status)
        if not model.location:
            return statuses
        url = model.location
    return [*statuses, -1]


def test_old_urls_redirect_in_every_form(moved: SyntheticWeb) -> None:
    root = _root(moved, "moved")
    chains = [_follow(moved, f"{root}/go/0/{item}") for item in range(40)]
    assert {status for chain in chains for status in chain} == {200, 301, 302, 303, 307, 308}
    assert {len(chain) for chain in chains} == {2, 4}
    assert _follow(moved, f"{root}/go/loop/1") == [302, 302, -1]


@pytest.mark.parametrize("path", ["/go/0/99999999", "/go/9/1", "/go/x/1", "/go/0/1/4"])
def test_old_url_of_missing_item_gives_404(moved: SyntheticWeb, path: str) -> None:
    assert moved.facts(_root(moved, "moved") + path).status == 404
