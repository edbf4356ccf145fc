from __future__ import annotations

import pytest
from protego import Protego

from motherlode.model import ContentKind
from motherlode.sim.synthetic import HOST_PROFILES, Role, SyntheticWeb, Trap
from motherlode.sim.synthetic.special_urls import CRAWL_DELAY, without_session


def _root(web: SyntheticWeb, profile: str) -> str:
    return web.home(web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]).rstrip("/")


def test_robots_rules_disallow_only_linked_private_urls(web: SyntheticWeb) -> None:
    root = _root(web, "library")
    text = web.robots(root[7:])
    assert text is not None
    assert web.answer(f"{root}/robots.txt").body.decode() == text
    rules = Protego.parse(text)
    assert rules.crawl_delay("motherlode") == CRAWL_DELAY
    linked = {link.url for url in web.urls(root[7:]) for link in web.page_model(url).links if link.url.startswith(root)}
    forbidden = {url for url in linked if not rules.can_fetch(url, "motherlode")}
    assert forbidden
    assert forbidden == {url for url in linked if web.page_model(url).disallowed}
    assert not Protego.parse(text).can_fetch(root, "badbot")


def test_host_without_rules_has_no_robots_txt(web: SyntheticWeb) -> None:
    root = _root(web, "plain shop")
    assert web.robots(root[7:]) is None
    assert web.page_model(f"{root}/robots.txt").status == 404


def test_sitemaps_contain_every_item() -> None:
    web = SyntheticWeb(pages=60_000, seed=1, hosts=60)
    hosts = [host for host in web.hosts() if web.profile(host).sitemap]
    large = max(hosts, key=lambda host: sum(1 for _ in web.urls(host)))
    for host in (hosts[0], large):
        robots = web.robots(host)
        assert robots and f"Sitemap: http://{host}/sitemap.xml" in robots
        waiting = [f"http://{host}/sitemap.xml"]
        named = set()
        while waiting:
            model = web.page_model(waiting.pop())
            assert model.kind is ContentKind.SITEMAP
            waiting += [link.url for link in model.links if link.url.endswith(".xml")]
            named |= {link.url for link in model.links if not link.url.endswith(".xml")}
        assert named == {url for url in web.urls(host) if web.page_model(url).role is Role.ITEM}
    assert web.page_model(f"http://{large}/sitemap-2.xml").status == 200


def test_feeds_contain_the_latest_items(web: SyntheticWeb) -> None:
    root = _root(web, "newspaper")
    model = web.page_model(f"{root}/feed.xml")
    assert model.kind is ContentKind.RSS and len(model.links) == 16
    assert f"{root}/feed.xml" in {link.url for link in web.page_model(f"{root}/").links}


@pytest.fixture(scope="module")
def moved() -> SyntheticWeb:
    return SyntheticWeb(pages=60_000, seed=1, hosts=60)


def _follow(web: SyntheticWeb, url: str) -> list[int]:
    statuses = []
    seen = set()
    while url not in seen:
        seen.add(url)
        model = web.page_model(url)
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
    assert moved.page_model(_root(moved, "moved") + path).status == 404


def _start(web: SyntheticWeb, trap: Trap) -> str:
    number = next(number for number, profile in enumerate(HOST_PROFILES) if profile.trap is trap)
    return web.home(web.hosts()[number])


@pytest.mark.parametrize("trap", Trap)
def test_trap_pages_are_infinite_and_marked(web: SyntheticWeb, trap: Trap) -> None:
    """A crawler that follows only links to trap pages still finds new URLs after 200 steps."""
    host = _start(web, trap).split("/")[2]
    real = list(web.urls(host))
    seen = set(real)
    waiting = list(real)
    trapped = 0
    while waiting and trapped < 200:
        model = web.page_model(waiting.pop())
        assert model.status == 200
        trapped += model.trap
        new = [link.url for link in model.links if link.url.startswith(f"http://{host}/") and link.url not in seen]
        seen.update(new)
        waiting += [url for url in new if web.page_model(url).trap]
    assert trapped == 200


def test_regular_pages_are_not_marked_as_trap(web: SyntheticWeb) -> None:
    for trap in Trap:
        assert not any(web.page_model(url).trap for url in web.urls(_start(web, trap).split("/")[2]))


def test_session_changes_url_but_not_page(web: SyntheticWeb) -> None:
    home = _start(web, Trap.SESSION)
    item = next(url for url in web.urls(home.split("/")[2]) if web.page_model(url).role.value == "item")
    marked = [link.url for link in web.page_model(item).links if "sid=" in link.url]
    assert len(marked) == 1
    clean, session = without_session(marked[0])
    assert session
    assert web.page_model(marked[0]).heading == web.page_model(clean).heading
    assert web.page_model(marked[0]).url == marked[0]


@pytest.mark.parametrize("path", ["/calendar/2026-13", "/calendar/20261-01", "/calendar/2026-02-30", "/calendar/"])
def test_calendar_with_invalid_month_gives_404(web: SyntheticWeb, path: str) -> None:
    assert web.page_model(_start(web, Trap.CALENDAR).rstrip("/") + path).status == 404


def test_without_session_gives_expected_results_for_examples() -> None:
    assert (without_session("http://a.example/x?id=3&sid=00000000000a"), without_session("http://a.example/x")) == (
        ("http://a.example/x?id=3", 10),
        ("http://a.example/x", 0),
    )
