from __future__ import annotations

from motherlode.sim.synthetic.host_profiles import HABITS
from motherlode.sim.synthetic.page_layout import LinkPosition
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.site_links import SiteLinks

WORLD = World(pages=8000, seed=4, hosts=None)
NUMBER = {habit.name: number for number, habit in enumerate(HABITS)}


def _links(habit: str) -> SiteLinks:
    return SiteLinks(WORLD.site(NUMBER[habit]), WORLD)


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
