"""The estimate of the remaining relevant pages, and the early stop."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
import pytest

from motherlode.crawler import JobError, read_stats
from motherlode.crawler.config.job import Job
from motherlode.crawler.engine.limits import EarlyStop
from motherlode.crawler.stats.counters import Estimate, Estimator, sum_of_estimates
from motherlode.frontier import revisit_arm
from motherlode.model import Visit
from tests.crawler.small_web import crawled, small_web


def visit(number: int, *, relevant: bool, host: str = "a.example", arm: str = "a", new_links: int = 0) -> Visit:
    url = f"http://{host}/{number}"
    return Visit(number=number, url=url, host=host, arm=arm, depth=1, relevant=relevant, new_links=new_links)


def test_interval_contains_the_true_value_at_about_its_nominal_rate() -> None:
    """In 200 simulated webs, whose arms have different probabilities and a few requests each, about 95 % are inside."""
    random = Random(1)
    inside = 0
    for _ in range(200):
        watcher, waiting, truth = Estimator(), [], 0
        for number in range(20):
            chance, arm = random.random(), f"arm {number}"
            for turn in range(random.randrange(1, 15)):
                watcher.add(visit(turn, relevant=random.random() < chance, arm=arm))
            count = random.randrange(1, 60)
            waiting.append((arm, "a.example", count))
            truth += sum(random.random() < chance for _ in range(count))
        found = watcher.estimate(waiting)
        inside += found.low <= truth <= found.high
    assert inside >= 180


def test_arm_without_relevant_pages_has_a_lower_estimate() -> None:
    watcher = Estimator()
    for number in range(30):
        watcher.add(visit(number, relevant=True, arm="good"))
        watcher.add(visit(number, relevant=False, arm="bad"))
    good = watcher.estimate([("good", "a.example", 50)])
    bad = watcher.estimate([("bad", "a.example", 50)])
    assert good.relevant > 45
    assert bad.relevant < 5
    assert watcher.estimate([]).relevant == 0.0


def test_unseen_host_is_estimated_by_the_rate_of_new_hosts() -> None:
    watcher = Estimator()
    for number in range(60):
        watcher.add(visit(number, relevant=False, host=f"h{number}.example", arm=f"h{number}"))
    assert watcher.estimate([("new", "new.example", 100)]).relevant < 5


def test_seeds_do_not_raise_the_estimate() -> None:
    watcher = Estimator()
    for number in range(60):
        host = f"h{number}.example"
        watcher.add(Visit(number=number, url="", host=host, arm=f"home of {host}", depth=0, relevant=True))
        watcher.add(visit(number, relevant=False, host=host, arm=f"rest of {host}"))
    assert watcher.estimate([("other", "h1.example", 100)]).relevant < 30


def test_lower_bound_ignores_untried_arms() -> None:
    watcher = Estimator()
    for number in range(30):
        watcher.add(visit(number, relevant=True, arm="good"))
    found = watcher.estimate([("good", "a.example", 10), ("never", "a.example", 1000)])
    assert 5 < found.low <= 10
    assert found.relevant > 500


@pytest.mark.parametrize("requests", [10, 60, 300])
def test_without_relevant_pages_lower_bound_is_zero_and_upper_bound_shrinks(requests: int) -> None:
    """The requests are seeds of many hosts and their first links, none of them in a new arm of a known host."""
    watcher = Estimator()
    for number in range(requests):
        host = f"h{number % 70}.example"
        depth = 0 if number < 70 else 1
        watcher.add(Visit(number=number, url="", host=host, arm=host, depth=depth))
    found = watcher.estimate([(f"h{number}.example", f"h{number}.example", 150) for number in range(70)])
    assert (found.found, found.requests, found.low) == (0, requests, 0.0)
    assert found.relevant < 10_500 / requests
    assert found.relevant < found.high <= 10_500 * min(1.0, 30 / requests)


def test_one_relevant_page_gives_a_wide_interval() -> None:
    watcher = Estimator()
    for number in range(300):
        host = f"h{number % 70}.example"
        watcher.add(visit(number, relevant=number == 100, host=host, arm=host))
    found = watcher.estimate([(f"h{number}.example", f"h{number}.example", 150) for number in range(70)])
    assert found.found == 1
    assert found.low == 0.0
    assert found.relevant < 200
    assert found.high > 500


def test_host_without_relevant_pages_keeps_the_upper_bound_high() -> None:
    """Ten requests cover only the top of a site. The upper bound allows for relevant pages below."""
    watcher = Estimator()
    for number in range(100):
        watcher.add(visit(number, relevant=number < 3, host=f"h{number % 10}.example", arm=f"h{number % 10}"))
    found = watcher.estimate([(f"h{number}", f"h{number}.example", 70) for number in range(10)])
    assert found.relevant < 100
    assert found.high > 150


def test_estimate_of_an_older_version_is_decoded() -> None:
    older, watcher = Estimator(), Estimator()
    for number in range(9):
        older.add(visit(number, relevant=True))
    state = msgspec.msgpack.decode(older.dump())
    del state["seeds"]
    watcher.load(msgspec.msgpack.encode(state))
    assert watcher.estimate([("a", "a.example", 9)]).found == 9


def test_many_new_links_give_no_estimate_with_unseen_pages() -> None:
    growing, ending = Estimator(), Estimator()
    for number in range(500):
        growing.add(visit(number, relevant=True, new_links=5))
        ending.add(visit(number, relevant=True))
    assert growing.estimate([("a", "a.example", 9)]).with_unseen is None
    left = ending.estimate([("a", "a.example", 9)])
    assert left.with_unseen == pytest.approx(left.relevant, rel=0.05)


def test_few_requests_give_no_estimate_with_unseen_pages() -> None:
    watcher = Estimator()
    for number in range(20):
        watcher.add(visit(number, relevant=True))
    left = watcher.estimate([("a", "a.example", 9)])
    assert left.is_early
    assert left.with_unseen is None
    assert watcher.estimate([]).with_unseen == 0.0, "without waiting URLs there are no unseen pages"
    for number in range(200):
        watcher.add(visit(number, relevant=True))
    assert not watcher.estimate([("a", "a.example", 9)]).is_early


def test_restored_estimator_gives_the_same_estimate() -> None:
    one, other = Estimator(), Estimator()
    for number in range(9):
        one.add(visit(number, relevant=True))
    other.load(one.dump())
    assert other.estimate([("a", "a.example", 9)]) == one.estimate([("a", "a.example", 9)])


def test_estimates_of_shards_are_summed() -> None:
    parts = [
        Estimate(relevant=5, deviation=3, tried=4, tried_deviation=3, urls=10, requests=60, found=30),
        Estimate(relevant=1, deviation=4, tried=1, tried_deviation=4, urls=10, growth=1.0, requests=70, found=4),
    ]
    whole = Estimate(relevant=6, deviation=5, tried=5, tried_deviation=5, urls=20, growth=0.5, requests=130, found=34)
    assert sum_of_estimates(parts) == whole
    assert sum_of_estimates([]) == Estimate(requests=0, found=0)


def test_early_stop_without_limit_is_never_reached() -> None:
    watch = EarlyStop(after=None, below=1.0)
    for number in range(100):
        watch.add(visit(number, relevant=False))
    assert not watch.is_reached


def test_crawl_ends_and_can_be_resumed_when_its_policy_stops(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz", items=10, plain=400)
    folder, totals = crawled(tmp_path / "out", web, policy="sb-classifier:stop=10", target="rdf")
    assert 30 <= totals.fetched < 100
    assert read_stats(folder).stopped_early
    _, further = crawled(tmp_path / "out", web, policy="sb-classifier:stop=10", target="rdf")
    assert totals.fetched + 30 <= further.fetched < 200


def test_crawl_without_new_relevant_pages_stops_early(tmp_path: Path) -> None:
    """A breadth-first crawl finds the items first and then only pages without data."""
    web = small_web(tmp_path / "web.warc.gz", items=10, plain=200)
    folder, totals = crawled(tmp_path / "out", web, policy="bfs", stop_after=20, stop_below=0.1)
    assert totals.relevant == 10
    assert 20 < totals.fetched < 40
    stats = read_stats(folder)
    assert stats.stopped_early
    assert stats.summary()["dried_out"] is True
    assert stats.left is not None
    assert stats.left.urls > 150
    assert stats.left.relevant < stats.left.urls / 2  # ten of thirty requests in the only arm gave relevant pages
    _, further = crawled(tmp_path / "out", web, policy="bfs", stop_after=20, stop_below=0.1)
    assert further.fetched == totals.fetched + 20  # a resume starts a new count


def test_complete_crawl_has_an_estimate_of_zero(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"))
    assert read_stats(folder).summary()["estimated_left"] == {
        "finds": 0.0,
        "low": 0.0,
        "high": 0.0,
        "waiting_urls": 0,
        "with_unseen": 0.0,
    }


@pytest.mark.parametrize("wrong", [{"stop_after": 0}, {"stop_below": 0.0}, {"stop_below": 2.0}])
def test_invalid_early_stop_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(JobError, match="stop_"):
        Job(seeds=("http://a.example/",), **wrong)  # type: ignore[arg-type]


def test_waiting_revisits_are_not_part_of_the_estimate() -> None:
    watcher = Estimator()
    for number in range(30):
        watcher.add(visit(number, relevant=True))
    alone = watcher.estimate([("a", "a.example", 50)])
    assert watcher.estimate([("a", "a.example", 50), (revisit_arm("a.example"), "a.example", 400)]) == alone
