"""Crawls in a box whose name servers stop: one of two resolvers, the only resolver, the servers of one zone."""

from __future__ import annotations

from pathlib import Path

from tools.box import BoxPlan

from tests.live_box import crawling, pages_of, running_box

HOSTS = 10


def test_crawl_with_one_of_two_resolvers_stopped_has_no_failure(tmp_path: Path) -> None:
    plan = BoxPlan(hosts=HOSTS, pages=2, look_up=0.05, resolvers=2)
    with running_box(plan, tmp_path / "box") as box:
        box.pause("resolver-0")
        with crawling(box, tmp_path / "crawl") as crawl:
            crawl.wait_for_pages(pages_of(box))
            crawl.stop()
        assert not crawl.failures()
        assert "is not known yet" not in crawl.log(), "no host waits for the resolver that has stopped"
        assert crawl.stats()["outages"] == 0


def test_crawl_whose_only_resolver_stops_pauses_and_blames_no_host(tmp_path: Path) -> None:
    with running_box(BoxPlan(hosts=HOSTS, pages=2, look_up=0.05), tmp_path / "box") as box:
        box.pause("resolver-0")
        with crawling(box, tmp_path / "crawl") as crawl:
            crawl.wait_for(lambda: crawl.stats().get("outages", 0) > 0)
            assert not box.requests(), "without addresses there are no requests"
            box.resume("resolver-0")
            crawl.wait_for_pages(pages_of(box))
            crawl.stop()
        assert not crawl.failures()
        assert not crawl.stats()["failures"]


def test_crawl_with_servers_of_one_zone_stopped_waits_only_for_that_zone(tmp_path: Path) -> None:
    plan = BoxPlan(hosts=HOSTS, pages=2, look_up=0.05, zones=("de",))
    with running_box(plan, tmp_path / "box") as box:
        box.pause("zone-de")
        with crawling(box, tmp_path / "crawl") as crawl:
            crawl.wait_for_pages(pages_of(box, unless=is_in_zone))
            assert not any(is_in_zone(request.host) for request in box.requests())
            crawl.wait_for(lambda: "is not known yet" in crawl.log())
            assert not crawl.failures()
            box.resume("zone-de")
            crawl.wait_for_pages(pages_of(box))
            crawl.stop()
        assert not crawl.failures()


def is_in_zone(host: str) -> bool:
    return host.endswith(".de")
