"""`crawl --refresh` of a finished crawl, checked in the log of the server, and the estimate of change rates."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from aiohttp import web

from motherlode.crawler import CrawlFolder, read_stats
from motherlode.crawler.explain.explanation import explain_url
from motherlode.crawler.recrawl.revisits import (
    DAY_SECONDS,
    MAX_INTERVAL_SECONDS,
    MIN_INTERVAL_SECONDS,
    PageMemory,
    RefreshFirst,
    expect_first_change,
)
from motherlode.crawler.report.crawl_report import build_harvest_curve
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.policies import policy_from
from tests.crawler.changing_web import ChangingWeb, Document, job_file, motherlode, serving, stats

PLACE = '<p vocab="http://schema.org/" typeof="Place"><b property="name">{}</b></p>'


def _page(name: str, *links: str, **headers: str) -> Document:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Document(
        text=f"<html><body>{PLACE.format(name)}{anchors}</body></html>",
        headers={key.replace("_", "-"): value for key, value in headers.items()},
    )


def _site() -> ChangingWeb:
    return ChangingWeb(
        {
            "/": _page("root", "/tag", "/dated", "/plain", "/moves", "/dies", "/changes", ETag='"root"'),
            "/tag": _page("tag", ETag='"v1"'),
            "/dated": _page("dated", Last_Modified="Sat, 01 Nov 2025 10:00:00 GMT"),
            "/plain": _page("plain"),
            "/moves": _page("moves"),
            "/dies": _page("dies", ETag='"d"'),
            "/changes": _page("old", ETag='"c1"'),
        }
    )


def _names(folder: Path) -> set[str]:
    store = QuadStore(folder / "store", read_only=True)
    return {row["n"].value for row in store.query("SELECT ?n { ?s schema:name ?n }")}  # type: ignore[union-attr, index]


async def test_refresh_revisits_known_pages_and_parses_only_changed_ones(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        first = stats(out)
        assert (first["fetched"], first["refreshed"]) == (7, 0)
        site.log.clear()
        site.pages["/changes"] = _page("new", "/fresh", ETag='"c2"')
        site.pages["/fresh"] = _page("fresh")
        site.pages["/target"] = _page("target")
        site.pages["/moves"] = Document(status=301, headers={"Location": "/target"})
        del site.pages["/dies"]
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert sorted(site.asked()) == sorted(
            ["/", "/tag", "/dated", "/plain", "/moves", "/dies", "/changes", "/fresh", "/target"]
        ), "each page is requested once, with the new ones"
        assert site.last("/tag").headers["If-None-Match"] == '"v1"'
        assert site.last("/tag").status == site.last("/dated").status == site.last("/").status == 304
        assert site.last("/dated").headers["If-Modified-Since"] == "Sat, 01 Nov 2025 10:00:00 GMT"
        assert site.last("/plain").status == 200
        assert not {"If-None-Match", "If-Modified-Since"} & set(site.last("/fresh").headers)
        second = stats(out)
    assert {name: second[name] for name in ("refreshed", "unchanged", "changed", "gone")} == {
        "refreshed": 7,
        "unchanged": 4,
        "changed": 1,
        "gone": 2,
    }
    assert second["fetched"] == first["fetched"] + 9
    assert second["failures"] == {"not-found": 1}
    assert _names(out) == {"root", "tag", "dated", "plain", "new", "fresh", "target"}
    assert second["relevant"] == len(_names(out))
    found = read_stats(CrawlFolder(out))
    (host,) = found.hosts
    assert (host.relevant, host.fetched) == (found.totals.relevant, found.totals.first), (
        "gone pages are subtracted from the counters"
    )
    assert build_harvest_curve("", found.totals).end == (9, second["relevant"]), (
        "revisits do not count, as in the harvest rate"
    )
    assert second["harvest_rate"] == round(second["relevant"] / 9, 4)
    for path, said in (("/dies", "its quads were removed"), ("/moves", "its target is a URL of its own; its quads")):
        outcome = explain_url(CrawlFolder(out), f"{site.root}{path}").outcome
        assert outcome is not None
        due = datetime.fromtimestamp(outcome.at + MAX_INTERVAL_SECONDS / 3, UTC)
        assert outcome.treatment.startswith(said)
        assert outcome.treatment.endswith(f"a refresh visits it again from {due:%Y-%m-%d} on")
    assert "the page is gone: not-found" in explain_url(CrawlFolder(out), f"{site.root}/dies").because

    store = QuadStore(out / "store", read_only=True)
    own = [quad for quad in store.quads() if quad.graph_name.value != PROVENANCE]
    assert second["quads"] == len(own), "the counters agree with the store"
    assert second["syntaxes"]["rdfa"]["pages"] == len(_names(out))
    assert second["syntaxes"]["rdfa"]["statements"] == 3 * len(_names(out))
    status = f"SELECT ?s {{ GRAPH <{PROVENANCE}> {{ <{site.root}/dies> ml:status ?s }} }}"
    assert [row["s"].value for row in store.query(status)] == ["404"], "the provenance records that the page is gone"  # type: ignore[union-attr, index]


async def test_second_refresh_uses_new_validators_and_skips_gone_pages(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        site.pages["/changes"] = _page("new", ETag='"c2"')
        del site.pages["/dies"]
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        site.log.clear()
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert site.last("/changes").headers["If-None-Match"] == '"c2"'
        assert site.last("/changes").status == 304
        assert "/dies" not in site.asked(), "a gone page is not visited before it is due"
        assert site.asked()[0] == "/changes", "pages that have changed before come first"
        site.log.clear()
        await motherlode("crawl", "--refresh", "--due", "-o", str(out), "--quiet")
        assert site.asked() == [], "no page is due a second later"


async def test_refresh_budget_counts_only_revisits_and_the_next_run_continues(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        job = job_file(tmp_path / "job.toml", site, pages=5)
        await motherlode("crawl", "--config", str(job), "-o", str(out), "--quiet")
        known = set(site.asked())
        assert len(known) == 5
        site.log.clear()
        await motherlode("crawl", "--refresh", "--pages", "2", "-o", str(out), "--quiet")
        assert len(site.asked()) == 2
        assert set(site.asked()) <= known
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert set(site.asked()) == known, (
            "without a budget, the refresh of an interrupted crawl visits only known pages"
        )


async def test_remaining_revisits_are_independent_of_the_crawl_budget(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        job = job_file(tmp_path / "job.toml", site, pages=5)
        await motherlode("crawl", "--config", str(job), "-o", str(out), "--quiet")
        known = sorted(site.asked())
        site.log.clear()
        await motherlode("crawl", "--refresh", "--pages", "2", "-o", str(out), "--quiet")
        await motherlode("resume", str(out), "--quiet")
        assert sorted(site.asked()) == known, "each known page is visited once, and no other page"
        await motherlode("resume", str(out), "--quiet")
        assert len(site.asked()) == len(known)


async def test_page_that_became_useless_or_noindex_loses_its_quads(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        before = _names(out)
        site.pages["/tag"] = Document(text="GIF89a", content_type="image/gif")
        site.pages["/plain"] = _page("plain", X_Robots_Tag="noindex")
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert _names(out) == before - {"tag", "plain"}
        found = stats(out)
        assert (found["gone"], found["changed"]) == (1, 1)
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert stats(out)["changed"] == 1, "the page still has noindex, and its quads are already removed"


async def test_unchanged_page_with_new_directives_or_type_is_parsed_again(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        site.pages["/tag"].headers["X-Robots-Tag"] = "noindex"
        site.pages["/plain"] = Document(text='{"http://schema.org/name": "json"}', content_type="application/json")
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        before = _names(out)
        assert not before & {"tag", "json"}
        del site.pages["/tag"].headers["X-Robots-Tag"]
        site.pages["/plain"].content_type = "application/ld+json"
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert _names(out) == before | {"tag", "json"}
        assert stats(out)["changed"] == 2
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert stats(out)["changed"] == 2
        assert site.last("/tag").status == 304


async def test_robots_header_of_a_304_response_is_obeyed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        before, first = _names(out), stats(out)
        site.pages["/tag"].anew = {"X-Robots-Tag": "noindex"}
        site.pages["/dated"].anew = {"X-Robots-Tag": "otherbot: noindex"}
        site.pages["/dies"].anew = {"X-Robots-Tag": "unavailable_after: 25 Jun 2010 15:00:00 PST"}
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert site.last("/tag").status == site.last("/dies").status == 304
        assert _names(out) == before - {"tag", "dies"}
        found = stats(out)
        assert (found["changed"], found["unchanged"], found["failures"]) == (2, 5, {})
        assert (found["relevant"], found["syntaxes"]["rdfa"]["pages"]) == (len(before) - 2, len(before) - 2)
        assert found["quads"] == first["quads"] * (len(before) - 2) // len(before)
        because = explain_url(CrawlFolder(out), f"{site.root}/tag").because
        assert because.endswith("which asks not to be kept any longer: its quads were removed")
        assert "\nD " in await motherlode("changes", str(out)), "the removal is recorded"
        site.pages["/tag"].anew = {}
        site.pages["/dies"].headers["X-Robots-Tag"] = site.pages["/dies"].anew["X-Robots-Tag"]
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert site.last("/tag").status == 200, "a 304 response would not show that the header was removed"
        assert _names(out) == before - {"dies"}
        assert stats(out)["relevant"] == len(before) - 1


async def test_page_is_removed_after_its_unavailable_after_date(tmp_path: Path) -> None:
    out = tmp_path / "out"
    soon = datetime.now(UTC) + timedelta(seconds=8)
    meta = '<meta name="robots" content="unavailable_after: {}">'
    async with serving(_site()) as site:
        site.pages["/tag"].text = meta.format(soon.isoformat(timespec="seconds")) + site.pages["/tag"].text
        site.pages["/plain"].headers["X-Robots-Tag"] = f"unavailable_after: {soon:%a, %d %b %Y %H:%M:%S} GMT"
        site.pages["/dated"].text = meta.format("2010-06-25") + site.pages["/dated"].text
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        first = _names(out)
        assert first == {"root", "tag", "plain", "moves", "dies", "old"}, "pages after their end date are not kept"
        await asyncio.sleep(max(0.0, soon.timestamp() - time.time()))
        site.log.clear()
        await motherlode("crawl", "--refresh", "--due", "-o", str(out), "--quiet")
        assert sorted(site.asked()) == ["/plain", "/tag"], "only these pages are due, on their end date"
        assert site.last("/tag").status == 304, "the HTML head is unchanged"
        assert _names(out) == first - {"tag", "plain"}
        assert stats(out)["changed"] == 2


async def test_page_with_a_temporary_failure_keeps_its_quads(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        job = job_file(tmp_path / "job.toml", site, retry_wait=0.01)
        await motherlode("crawl", "--config", str(job), "-o", str(out), "--quiet")
        before = _names(out)
        site.pages["/tag"] = Document(status=500)
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        found = stats(out)
        assert found["failures"] == {"server-error": 3}
        assert found["gone"] == 0
        assert found["harvest_rate"] == 1.0, "a failed revisit does not count as a page without data"
        assert found["syntaxes"]["rdfa"]["pages"] == len(before)
        assert _names(out) == before
        site.pages["/tag"] = _page("tag", ETag='"v1"')
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert site.last("/tag").status == 304


async def test_conditional_request_with_client_error_is_unconditional_next_time(tmp_path: Path) -> None:
    class Strict(ChangingWeb):
        def _respond(self, request: web.BaseRequest) -> web.Response:
            return web.Response(status=412) if "If-None-Match" in request.headers else super()._respond(request)

    out = tmp_path / "out"
    async with serving(Strict({"/": _page("old", ETag='"1"')})) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
        site.pages["/"] = _page("new", ETag='"2"')
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert _names(out) == {"old"}, "a failure removes no quads"
        await motherlode("crawl", "--refresh", "-o", str(out), "--quiet")
        assert _names(out) == {"new"}


async def test_refresh_with_another_policy_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with serving(_site()) as site:
        await motherlode("crawl", "--config", str(job_file(tmp_path / "job.toml", site)), "-o", str(out), "--quiet")
    said = await motherlode("crawl", "--refresh", "-o", str(out), "--policy", "dfs", code=2)
    assert "policy cannot be changed" in " ".join(said.split())
    said = await motherlode("crawl", "--refresh", "-o", str(tmp_path / "none"), code=2)
    assert "has no crawl" in " ".join(said.split())


async def test_killed_refresh_is_continued_by_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    pages = {f"/{number}": _page(f"old {number}", ETag=f'"{number}"') for number in range(20)}
    async with serving(ChangingWeb({"/": _page("root", *pages), **pages})) as site:
        job = job_file(tmp_path / "job.toml", site, delay=0.15, address_delay=0.0, delay_factor=0.0)
        await motherlode("crawl", "--config", str(job), "-o", str(out), "--quiet", "--delay", "0")
        for number in range(20):
            site.pages[f"/{number}"] = _page(f"new {number}", ETag=f'"{number}+"')
        site.log.clear()
        arguments = ("crawl", "--refresh", "-o", str(out), "--quiet", "--delay", "0.15")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "from motherlode.cli import main; main()", *arguments
        )
        while len(site.asked()) < 12:  # noqa: ASYNC110 - the log has no event to wait for
            await asyncio.sleep(0.02)
        process.kill()
        await process.wait()
        await motherlode("resume", str(out), "--quiet")
        asked = site.asked()
    assert set(asked) == {"/", *pages}
    assert len(asked) <= len(set(asked)) + 1, "only requests in flight are repeated"
    assert _names(out) == {"root", *(f"new {number}" for number in range(20))}
    found = stats(out)
    assert (found["refreshed"], found["changed"], found["unchanged"]) == (21, 20, 1)


# Estimate of change rates


@pytest.mark.parametrize("days_between_changes", [0.5, 2.0, 20.0, 60.0])
def test_change_rate_is_estimated_from_daily_visits(days_between_changes: float) -> None:
    """The page changes by a Poisson process of known rate and is visited once per day for two years."""
    random = Random(7)
    rate = 1 / (days_between_changes * DAY_SECONDS)
    page = PageMemory(url="http://a.example/")
    for day in range(1, 730):
        page = page.looked_at(day * DAY_SECONDS, changed=random.random() < -math.expm1(-rate * DAY_SECONDS))
    assert page.rate == pytest.approx(rate, rel=0.35)


def test_expected_time_of_first_change_agrees_with_a_simulation() -> None:
    random = Random(3)
    for rate, interval in ((0.1, 1.0), (1.0, 1.0), (5.0, 2.0)):
        times = [time for time in (random.expovariate(rate) for _ in range(200_000)) if time <= interval]
        assert expect_first_change(rate, interval) == pytest.approx(sum(times) / len(times), rel=0.02)


def test_changing_page_is_due_sooner_within_bounds() -> None:
    still = busy = PageMemory(url="http://a.example/")
    for day in range(1, 300):
        still = still.looked_at(day * DAY_SECONDS, changed=False)
        busy = busy.looked_at(day * DAY_SECONDS, changed=True)
    assert MIN_INTERVAL_SECONDS <= busy.due_at - busy.visited_at < DAY_SECONDS
    assert 30 * DAY_SECONDS < still.due_at - still.visited_at <= MAX_INTERVAL_SECONDS
    assert busy.change_expected(busy.visited_at + DAY_SECONDS) > still.change_expected(still.visited_at + DAY_SECONDS)
    waits = [still.change_expected(still.visited_at + days * DAY_SECONDS) for days in range(30)]
    assert all(earlier < later for earlier, later in pairwise(waits))


def test_refresh_first_picks_revisits_by_descending_probability() -> None:
    policy = RefreshFirst(policy_from("bfs", 0))
    policy.arm_ready("a.example", 0.0, 1)
    policy.arm_ready("revisit a.example", 0.2, 3)
    policy.arm_ready("revisit b.example", 0.7, 3)
    assert policy.pick() == "revisit b.example"
    policy.arm_ready("revisit b.example", 0.1, 2)
    assert policy.pick() == "revisit a.example"
    policy.arm_snoozed("revisit a.example")
    assert policy.pick() == "revisit b.example"
    policy.arm_snoozed("revisit b.example")
    assert policy.pick() == "a.example"
