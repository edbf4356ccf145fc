"""URL filters of the job and of the filter file. The log of a real server shows their effect on a crawl."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, Job, JobError, check, read_stats
from motherlode.crawler.engine.factory import assemble
from motherlode.crawler.url_rules import (
    MAX_FILTERS,
    NOT_ALLOWED,
    NOT_FOLLOWED,
    Filters,
    add_filter,
    compile_pattern,
    read_filters,
    remove_filter,
)


def test_denying_filter_takes_precedence(tmp_path: Path) -> None:
    path = tmp_path / "filters.json"
    add_filter(path, r"[.]example/", deny=False)
    add_filter(path, r"/cart", deny=True)
    filters = Filters(path)
    assert filters.reason("http://a.example/x") == ""
    assert filters.reason("http://a.example/cart") == "filter 2: denied by /cart"
    assert filters.reason("http://elsewhere.org/") == NOT_ALLOWED
    assert filters.waiting_reason("http://elsewhere.org/", is_seed=True) == "", (
        "seeds are exempt from filters that allow"
    )
    assert filters.waiting_reason("http://elsewhere.org/", is_seed=False) == NOT_ALLOWED
    assert filters.waiting_reason("http://a.example/cart", is_seed=True) != ""


def test_expressions_of_the_job_are_applied(tmp_path: Path) -> None:
    filters = Filters(tmp_path / "none.json", {"follow": ["^http://a[.]", "/data/"], "deny": ["[?]"]})
    assert filters.reason("http://a.example/") == ""
    assert filters.reason("http://b.example/data/1") == ""
    assert filters.reason("http://b.example/") == NOT_FOLLOWED
    assert filters.reason("http://a.example/?x") == "links: denied by [?]"
    inside = filters.within(lambda url: "out of scope" if "b.example" in url else "")
    assert inside("http://b.example/data/1") == "out of scope"
    assert inside("http://a.example/?x") == "links: denied by [?]"


def test_changed_file_is_read_again_and_numbers_are_not_reused(tmp_path: Path) -> None:
    path = tmp_path / "filters.json"
    filters = Filters(path)
    assert not filters.reread()
    first = add_filter(path, "x", deny=True)
    assert filters.reread()
    assert not filters.reread()
    assert filters.reason("http://ex.org/") != ""
    remove_filter(path, first.number)
    assert filters.reread()
    assert filters.reason("http://ex.org/") == ""
    assert add_filter(path, "y", deny=True).number == 2
    with pytest.raises(ValueError, match="no filter 1"):
        remove_filter(path, 1)


def test_invalid_file_leaves_the_previous_filters_in_force(tmp_path: Path) -> None:
    path = tmp_path / "filters.json"
    add_filter(path, "x", deny=True)
    filters = Filters(path)
    path.write_text("{", encoding="utf-8")
    assert not filters.reread()
    assert "not a filter file" in filters.problem
    assert filters.reason("http://ex.org/") != ""


@pytest.mark.parametrize("pattern", ["(", "", "x" * 1001, "(?=x)", r"(a)\1", "a{1000}{1000}"])
def test_add_filter_refuses_an_unusable_expression(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ValueError, match=r"filter has|cannot be used as a regular expression"):
        add_filter(tmp_path / "filters.json", pattern, deny=True)
    assert read_filters(tmp_path / "filters.json") == []


def test_add_filter_refuses_more_than_the_maximum(tmp_path: Path) -> None:
    path = tmp_path / "filters.json"
    for number in range(MAX_FILTERS):
        add_filter(path, f"x{number}", deny=True)
    with pytest.raises(ValueError, match="already"):
        add_filter(path, "one more", deny=True)


def test_nested_repetition_is_matched_in_linear_time() -> None:
    """A backtracking engine would need about 2 to the power of 2,000 steps."""
    began = time.process_time()
    assert compile_pattern(r"^(([a-z])+.)+[A-Z]([a-z])+$").search("a" * 2000) is None
    assert compile_pattern(r"(a|a)*(a|a)*(a|a)*b").search("a" * 2000) is None
    assert time.process_time() - began < 60


@pytest.mark.parametrize("links", [{"deny": ["("]}, {"follow": "x"}, {"query": "SELECT"}, {"nosuch": 1}])
def test_invalid_links_table_is_refused_before_the_crawl_folder_is_created(links: dict[str, object]) -> None:
    with pytest.raises(JobError, match="links"):
        check(Job(seeds=("http://a.example/",), links=links))


class Site:
    """A site with links to 40 pages in two groups, and a log of the requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked.append(request.path)
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.path == "/":
            links = "".join(f'<a href="/good/{n}">g</a><a href="/bad/{n}">b</a>' for n in range(20))
            return web.Response(text=f"<html>{links}</html>", content_type="text/html")
        turtle = f"<> <http://www.w3.org/2002/07/owl#sameAs> </same{request.path}> ; <http://o.example/p> </plain> ."
        return web.Response(text=turtle, content_type="text/turtle")


async def _serve(site: Site) -> tuple[web.ServerRunner, str]:
    runner = web.ServerRunner(web.Server(site.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


async def test_filter_added_during_a_crawl_refuses_waiting_urls(tmp_path: Path) -> None:
    site = Site()
    runner, root = await _serve(site)
    job = Job(
        seeds=(f"{root}/",),
        delay=0.12,
        address_delay=0.0,
        allow=("127.0.0.0/8",),
        workers=1,
        policy="bfs",
        delay_factor=0.0,
    )
    pattern = f"^{root}/bad/"  # excludes the links of those pages, of which one may be fetched before the file is read
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    try:
        assembled = assemble(job, folder)
        async for visit in assembled.engine.visits(assembled.seeds):
            if visit.number == 1:
                add_filter(folder.filters, pattern, deny=True)
    finally:
        folder.unlock()
        await runner.cleanup()
    good = [path for path in site.asked if path.startswith("/good/")]
    bad = [path for path in site.asked if path.startswith("/bad/")]
    assert len(set(good)) == 20
    assert len(bad) < 20, "no matching URL was requested after the filter was read"
    stats = read_stats(folder)
    assert stats.refused[f"filter 1: denied by {pattern}"] == 20 - len(bad)
    assert stats.totals.fetched == len(site.asked) - site.asked.count("/robots.txt")


async def test_links_table_is_applied_by_the_parser_processes(tmp_path: Path) -> None:
    site = Site()
    runner, root = await _serve(site)
    job = Job(
        seeds=(f"{root}/good/1",),
        delay=0.0,
        allow=("127.0.0.0/8",),
        workers=1,
        links={"predicates": ["owl:sameAs"], "deny": ["/same/same/same/"]},
    )
    folder = CrawlFolder(tmp_path / "out")
    folder.create(job)
    assert folder.read_job().links == {"predicates": ["owl:sameAs"], "deny": ["/same/same/same/"]}
    try:
        assembled = assemble(job, folder)
        asked = [visit.url.removeprefix(root) async for visit in assembled.engine.visits(assembled.seeds)]
    finally:
        folder.unlock()
        await runner.cleanup()
    assert asked == ["/good/1", "/same/good/1", "/same/same/good/1"]
    assert read_stats(folder).refused["links: denied by /same/same/same/"] == 1
