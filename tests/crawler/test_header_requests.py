"""HEAD requests that a policy wants, in live crawls and simulations: what is sent, what is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web

from motherlode.policies import policy_from
from motherlode.sim.simulator import Simulation
from tests.crawler.changing_web import ChangingWeb, Document, serving, stats
from tests.crawler.test_crawl_options import HTML, _crawl, _site
from tests.sim.fakes import everyone_linked


class NoHeads(ChangingWeb):
    """A site that answers every HEAD with 405."""

    def _respond(self, request: web.BaseRequest) -> web.Response:
        return web.Response(status=405) if request.method == "HEAD" else super()._respond(request)


async def test_hard_uris_get_a_head_before_their_get_and_redirects_only_a_head(tmp_path: Path) -> None:
    photo = Document(text="x" * 1000, content_type="video/mp4")
    site = _site(
        "/photo", "/page", "/away", photo=photo, page=HTML, away=Document(status=303, headers={"Location": "/other"})
    )
    site.pages["/other"] = HTML
    async with serving(site):
        await _crawl(tmp_path / "out", site, policy="ldcoc")
    heads = site.asked("HEAD")
    assert {"/photo", "/page", "/away", "/other"} <= set(heads)
    assert len(heads) == len(set(heads)), "each URI gets one HEAD"
    assert {"/page", "/other"} <= set(site.asked("GET"))
    assert not {"/photo", "/away"} & set(site.asked("GET"))
    found = stats(tmp_path / "out")
    assert found["heads"] == len(heads)
    assert found["requests"] == len(site.log)


async def test_head_that_is_not_supported_is_followed_by_a_get(tmp_path: Path) -> None:
    site = NoHeads(_site("/page", page=HTML).pages)
    async with serving(site):
        await _crawl(tmp_path / "out", site, policy="ldcoc")
    assert "/page" in site.asked("HEAD")
    assert site.asked("GET").count("/page") == 1


async def test_pages_bound_get_and_head_requests(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(30)]
    site = _site(*(f"/{name}" for name in names), **dict.fromkeys(names, HTML))
    async with serving(site):
        await _crawl(tmp_path / "out", site, policy="ldcoc", pages=11)
    asked = [path for path in (*site.asked("HEAD"), *site.asked("GET")) if path != "/robots.txt"]
    assert len(asked) == 11


@pytest.mark.parametrize("name", ["ldcoc", "ldcoc:head=no"])
def test_simulation_charges_heads_to_the_budget(name: str) -> None:
    known = everyone_linked(hosts=6, pages=40)
    result = Simulation(known, policy_from(name, seed=4), scope=lambda url: "").run(known.home_pages(), pages=150)
    assert result.fetched + result.heads == 150
    assert bool(result.heads) == (name == "ldcoc")
    assert result.harvest_rate == result.relevant / 150
