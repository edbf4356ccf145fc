from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.sim.synthetic import HABITS, Role, SyntheticWeb

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def _root(web: SyntheticWeb, habit: str) -> str:
    return web.home(web.hosts()[[one.name for one in HABITS].index(habit)]).rstrip("/")


def test_identifier_redirects_303_by_negotiation(web: SyntheticWeb) -> None:
    root = _root(web, "linked data")
    listed = web.facts(next(link.url for link in web.facts(f"{root}/").links if link.anchor not in ("Home",)))
    entity = next(link.url for link in listed.links if "/id/" in link.url)
    data, page = web.facts(entity), web.facts(entity, BROWSER)
    assert data.status == page.status == 303
    assert web.facts(data.location).role is Role.DATA
    assert web.facts(page.location, BROWSER).kind is ContentKind.HTML
    assert data.location in {link.url for link in web.facts(page.location).links}


def test_one_url_serves_html_or_rdf_by_negotiation(web: SyntheticWeb) -> None:
    host = _root(web, "negotiator")[7:]
    items = [url for url in web.urls(host) if web.facts(url).role is Role.DATA]
    assert items
    assert web.facts(items[0]).counts.keys() == {Syntax.TURTLE}
    assert web.facts(items[0], "application/rdf+xml").kind is ContentKind.RDF_XML
    assert web.facts(items[0], "application/ld+json, */*;q=0.1").kind is ContentKind.JSON_LD
    assert web.facts(items[0], BROWSER).kind is ContentKind.HTML
    assert not web.facts(items[0], BROWSER).relevant
    assert web.answer(items[0]).headers["Vary"] == "Accept"


@pytest.mark.parametrize(
    "path", ["/nothing", "/links?page=99999", "/links?page=٣", "/linksx", "/%", "/id/3", "//", "/?"]
)
def test_missing_path_gives_404(web: SyntheticWeb, path: str) -> None:
    assert web.facts(_root(web, "newspaper") + path).status == 404


def test_list_without_trailing_slash_redirects(web: SyntheticWeb) -> None:
    root = _root(web, "newspaper")
    target = next(link.url for link in web.facts(f"{root}/").links if link.url.endswith("/"))
    model = web.facts(target.rstrip("/"))
    assert (model.status, model.location) == (301, target)
    assert web.facts(f"{root}/index.html").location == f"{root}/"
