from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc
from collections import deque

import pytest

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax
from motherlode.sim.synthetic import HOST_PROFILES, Family, Role, SyntheticWeb
from motherlode.sim.synthetic.entities import EMBEDDED
from motherlode.sim.synthetic.synthetic_web import choose
from motherlode.www.media_types import ACCEPT

BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def _root(web: SyntheticWeb, profile: str) -> str:
    return web.home(web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]).rstrip("/")


def test_identifier_redirects_303_by_negotiation(web: SyntheticWeb) -> None:
    root = _root(web, "linked data")
    listed = web.page_model(next(link.url for link in web.page_model(f"{root}/").links if link.anchor not in ("Home",)))
    entity = next(link.url for link in listed.links if "/id/" in link.url)
    data, page = web.page_model(entity), web.page_model(entity, BROWSER)
    assert data.status == page.status == 303
    assert web.page_model(data.location).role is Role.DATA
    assert web.page_model(page.location, BROWSER).kind is ContentKind.HTML
    assert data.location in {link.url for link in web.page_model(page.location).links}


def test_one_url_serves_html_or_rdf_by_negotiation(web: SyntheticWeb) -> None:
    host = _root(web, "negotiator")[7:]
    items = [url for url in web.urls(host) if web.page_model(url).role is Role.DATA]
    assert items
    assert web.page_model(items[0]).counts.keys() == {Syntax.TURTLE}
    assert web.page_model(items[0], "application/rdf+xml").kind is ContentKind.RDF_XML
    assert web.page_model(items[0], "application/ld+json, */*;q=0.1").kind is ContentKind.JSON_LD
    assert web.page_model(items[0], BROWSER).kind is ContentKind.HTML
    assert not web.page_model(items[0], BROWSER).relevant
    assert web.answer(items[0]).headers["Vary"] == "Accept"


@pytest.mark.parametrize(
    "path", ["/nothing", "/links?page=99999", "/links?page=٣", "/linksx", "/%", "/id/3", "//", "/?"]
)
def test_missing_path_gives_404(web: SyntheticWeb, path: str) -> None:
    assert web.page_model(_root(web, "newspaper") + path).status == 404


def test_list_without_trailing_slash_redirects(web: SyntheticWeb) -> None:
    root = _root(web, "newspaper")
    target = next(link.url for link in web.page_model(f"{root}/").links if link.url.endswith("/"))
    model = web.page_model(target.rstrip("/"))
    assert (model.status, model.location) == (301, target)
    assert web.page_model(f"{root}/index.html").location == f"{root}/"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (ACCEPT, 1),
        ("*/*", 0),
        ("", 0),
        ("text/html,application/xhtml+xml,*/*;q=0.8", 0),
        ("text/turtle;q=0.5, text/html;q=0.4", 1),
        ("text/turtle;q=0.3, text/*;q=0.6", 0),
        ("TEXT/TURTLE ; Q=0.9 , text/html ; q = 0.1", 1),
        ("text/turtle;q=nonsense, text/html;q=0.1", 0),
        ("image/png", None),
        ("text/html;q=0, text/turtle;q=0", None),
    ],
)
def test_negotiation_returns_preferred_type(accept: str, expected: int | None) -> None:
    assert choose(("text/html", "text/turtle"), accept) == expected


DIGEST = """
import hashlib
from motherlode.sim.synthetic import SyntheticWeb
web, digest = SyntheticWeb(600, 9), hashlib.sha256()
for host in web.hosts():
    for url in web.urls(host):
        answer = web.answer(url)
        digest.update(repr((url, answer.status, dict(answer.headers))).encode() + answer.body)
print(digest.hexdigest())
"""


PINNED = "8f71f8153828f4d059cff2bb18c4d33668ffe38319895f2199f44ce891a2dd91"
"""Digest of all responses of `SyntheticWeb(600, 9)` on 2026-11-18."""


def _digest(web: SyntheticWeb, *, backwards: bool = False) -> str:
    urls = [url for host in web.hosts() for url in web.urls(host)]
    answers = {url: web.answer(url) for url in (reversed(urls) if backwards else urls)}
    digest = hashlib.sha256()
    for url in urls:
        digest.update(repr((url, answers[url].status, dict(answers[url].headers))).encode() + answers[url].body)
    return digest.hexdigest()


def test_web_with_same_seed_gives_same_bytes_in_any_order_and_process() -> None:
    here = _digest(SyntheticWeb(600, 9))
    assert here == PINNED, "traces and reports refer to these webs: change them only on purpose, with this digest"
    assert here == _digest(SyntheticWeb(600, 9), backwards=True)
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    there = subprocess.run([sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here
    assert _digest(SyntheticWeb(600, 10)) != here


def test_demo_web_has_enough_hosts_and_every_profile(web: SyntheticWeb) -> None:
    hosts = web.hosts()
    assert len(hosts) >= 40
    assert {web.profile(host).name for host in hosts} == {profile.name for profile in HOST_PROFILES}
    assert sum(sum(1 for _ in web.urls(host)) for host in hosts) == web.pages == 5000


def test_host_names_behave_like_a_sequence(web: SyntheticWeb) -> None:
    hosts = web.hosts()
    assert hosts[0] == next(iter(hosts)) and hosts[-1] == hosts[len(hosts) - 1]
    assert list(hosts[2:4]) == [hosts[2], hosts[3]]
    assert hosts[3] in hosts and "nobody.example" not in hosts
    with pytest.raises(IndexError):
        hosts[len(hosts)]


def _crawl(web: SyntheticWeb, budget: int) -> tuple[set[str], int]:
    """Breadth-first, without traps, as far as the budget goes: known addresses and relevant pages."""
    waiting = deque(web.seeds())
    known = set(waiting)
    relevant = 0
    while waiting and budget:
        model = web.page_model(waiting.popleft(), attempt=1)
        budget -= 1
        relevant += model.relevant
        if model.trap:
            continue
        for url in (model.location, *(link.url for link in model.links)):
            if url and url not in known:
                known.add(url)
                waiting.append(url)
    return known, relevant


@pytest.mark.parametrize(("pages", "seed"), [(1000, 1), (5000, 1), (5000, 2), (20_000, 3)])
def test_web_pages_are_all_reachable_from_seeds(pages: int, seed: int) -> None:
    web = SyntheticWeb(pages, seed)
    known, _ = _crawl(web, 10 * pages)
    pages_of_the_web = {url for host in web.hosts() for url in web.urls(host)}
    assert not pages_of_the_web - known


def test_demo_web_contains_every_kind_of_fault(web: SyntheticWeb) -> None:
    known, _ = _crawl(web, 50_000)
    models = [web.page_model(url) for url in known]
    assert {model.status for model in models} == {0, 200, 301, 302, 303, 307, 308, 404, 503}
    assert {model.role for model in models} == set(Role) - {Role.ROBOTS, Role.SITEMAP, Role.ASSET}
    assert {syntax for model in models for syntax in model.counts} == EMBEDDED | DOCUMENT_SYNTAXES - {Syntax.N3}
    assert any(model.stall for model in models) and any(model.disallowed for model in models)


def test_web_seeds_are_few_and_have_little_data(web: SyntheticWeb) -> None:
    assert 5 <= len(web.seeds()) <= 10
    families = [web.profile(url.split("/")[2]).family for url in web.seeds()]
    assert Family.RICH not in families and families.count(Family.BARREN) > families.count(Family.MIXED)


def test_web_has_little_data_for_breadth_first() -> None:
    rates = []
    for seed in range(1, 7):
        web = SyntheticWeb(5000, seed)
        relevant = sum(web.page_model(url, attempt=1).relevant for host in web.hosts() for url in web.urls(host))
        assert 0.27 < relevant / 5000 < 0.42
        rates.append(_crawl(web, 2000)[1] / 2000)
    assert 0.15 < sum(rates) / len(rates) < 0.3


def test_web_memory_grows_with_visited_pages_only() -> None:
    tracemalloc.start()
    try:
        web = SyntheticWeb(10_000_000, 1)
        built, _ = tracemalloc.get_traced_memory()
        known, _ = _crawl(web, 2000)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(web.hosts()) > 70_000
    assert built < 30e6
    assert used - built < 40e6 and len(known) > 5000


def test_web_unknown_urls_give_failures(web: SyntheticWeb) -> None:
    for url in ("http://nobody.example/", "https://" + web.hosts()[0] + "/", "ftp://x/", "nonsense", ""):
        assert web.page_model(url).status == 0
    with pytest.raises(ValueError, match="no host"):
        web.answer("http://nobody.example/")
    with pytest.raises(ValueError, match="no host"):
        web.profile("nobody.example")
    assert web.page_model(f"http://{web.hosts()[0]}").status == 200


def test_choose_gives_expected_results_for_examples() -> None:
    assert (choose(("text/html", "text/turtle"), "text/turtle, text/html;q=0.7")) == 1
    assert (
        choose(("text/html", "text/turtle"), "text/*;q=0.5, text/turtle;q=0"),
        choose(("text/html",), "image/png"),
    ) == (0, None)
