from pathlib import Path

import pytest

from motherlode.integrations.selector import FetchResult, LinkSelector
from motherlode.model import FailureKind, Link, LinkSource


def links(*urls: str) -> list[Link]:
    return [Link(url=url, source=LinkSource.ANCHOR) for url in urls]


def taken(selector: LinkSelector, *, busy: tuple[str, ...] = ()) -> list[str]:
    urls = []
    while (link := selector.next(busy=busy)) is not None:
        urls.append(link.entry.url)
    return urls


def test_next_with_breadth_first_policy_returns_links_in_order() -> None:
    selector = LinkSelector(policy="bfs")
    selector.add(links("http://a.example/1", "http://b.example/2", "http://a.example/3"))
    assert taken(selector) == ["http://a.example/1", "http://b.example/2", "http://a.example/3"]
    assert len(selector) == 0


def test_next_leaves_links_of_busy_queues_until_they_are_ready() -> None:
    selector = LinkSelector(policy="bfs")
    selector.add(links("http://a.example/1", "http://b.example/2"))
    assert taken(selector, busy=("a.example",)) == ["http://b.example/2"]
    assert len(selector) == 1
    assert taken(selector) == ["http://a.example/1"]


def test_next_uses_queues_of_the_crawler_instead_of_hosts() -> None:
    selector = LinkSelector(policy="bfs")
    selector.add(links("http://a.example/1", "http://a.example/2"), queues=["slow", "fast"])
    assert taken(selector, busy=("slow",)) == ["http://a.example/2"]


@pytest.mark.parametrize("policy", ["bfs", "motherlode"])
def test_next_returns_higher_priorities_first_and_busy_ones_later(policy: str) -> None:
    selector = LinkSelector(policy=policy)
    urls = ("http://a.example/0", "http://b.example/5", "http://c.example/9")
    selector.add(links(*urls), priorities=[0, 5, 9])
    first = selector.next(busy={"c.example"})
    assert first is not None and first.entry.url == "http://b.example/5"
    assert taken(selector) == ["http://c.example/9", "http://a.example/0"]


def test_motherlode_policy_prefers_links_like_those_that_were_relevant() -> None:
    selector = LinkSelector()
    selector.add([Link(url="http://a.example/", source=LinkSource.SEED)])
    home = selector.next()
    assert home is not None
    news = [
        Link(url=f"http://a.example/news/{n}", source=LinkSource.ANCHOR, tag_path="html body nav a") for n in range(40)
    ]
    cakes = [
        Link(url=f"http://a.example/cake/{n}", source=LinkSource.ANCHOR, tag_path="html body ul li a")
        for n in range(40)
    ]
    selector.report(home, FetchResult(links=[*news, *cakes]))
    relevant = 0
    for _ in range(40):
        link = selector.next()
        assert link is not None
        relevant += "/cake/" in link.entry.url
        selector.report(link, FetchResult(relevant="/cake/" in link.entry.url))
    assert relevant >= 30


def test_report_of_redirect_adds_target_with_depth_of_the_redirect() -> None:
    selector = LinkSelector()
    selector.add([Link(url="http://a.example/", source=LinkSource.SEED)])
    link = selector.next()
    assert link is not None
    outcome, target = selector.report_redirect(link, "http://b.example/")
    selector.add([target], parent=outcome)
    found = selector.next()
    assert found is not None
    assert (found.entry.url, found.entry.depth, found.entry.hops) == ("http://b.example/", 0, 1)
    assert outcome.failure is FailureKind.REDIRECT


def test_put_back_counts_the_attempt_and_keeps_the_rating() -> None:
    selector = LinkSelector()
    selector.add(links("http://a.example/1"), payloads=[b"first"])
    link = selector.next()
    assert link is not None
    selector.put_back(link, payload=b"second")
    again = selector.next()
    assert again is not None
    assert (again.entry.arm, again.entry.attempts, again.payload) == (link.entry.arm, 1, b"second")


def test_load_after_crash_returns_saved_links_and_those_in_flight(tmp_path: Path) -> None:
    selector = LinkSelector(folder=tmp_path)
    selector.add(links(*(f"http://a.example/{n}" for n in range(4))), payloads=[b"0", b"1", b"2", b"3"])
    done, in_flight = selector.next(), selector.next()
    assert done is not None and in_flight is not None
    selector.report(done, FetchResult(relevant=True, links=links("http://b.example/")))
    assert selector.is_new(b"key") and not selector.is_new(b"key")
    selector.save()
    selector.add(links("http://lost.example/"))
    selector._storage.close()  # as after a kill: what was not saved is lost
    loaded = LinkSelector.load(tmp_path)
    assert not loaded.is_new(b"key")
    found = [loaded.next() for _ in range(len(loaded))]
    urls = {link.entry.url: link.payload for link in found if link is not None}
    assert len(urls) == 4
    assert urls.keys() >= {in_flight.entry.url, "http://b.example/"}
    assert done.entry.url not in urls and "http://lost.example/" not in urls
    loaded.close()


def test_load_restores_what_the_policy_learned(tmp_path: Path) -> None:
    selector = LinkSelector(folder=tmp_path)
    selector.add(links("http://a.example/1"))
    link = selector.next()
    assert link is not None
    selector.report(link, FetchResult(relevant=True))
    state = selector._policy.dump()
    selector.close()
    loaded = LinkSelector.load(tmp_path)
    assert loaded._policy.dump() == state
    loaded.close()


def test_load_of_folder_without_selector_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no selector was saved"):
        LinkSelector.load(tmp_path)


def test_folder_with_other_policy_is_refused(tmp_path: Path) -> None:
    LinkSelector(policy="bfs", folder=tmp_path).close()
    with pytest.raises(ValueError, match="rated by the policy bfs"):
        LinkSelector(policy="motherlode", folder=tmp_path)
    LinkSelector(policy="bfs", folder=tmp_path).close()


def test_wait_for_busy_host_ends_after_the_time_limit() -> None:
    selector = LinkSelector(wait_threshold=1.0)
    selector.add(links("http://good.example/a", "http://good.example/b", "http://poor.example/a"))
    for _ in range(3):
        link = selector.next()
        assert link is not None
        good = "good" in link.entry.url
        found = links(*(f"http://{'good' if good else 'poor'}.example/{len(link.entry.url)}/{n}" for n in range(9)))
        selector.report(link, FetchResult(relevant=good, links=found))
    assert selector.next(busy={"good.example"}, now=100.0) is None
    later = selector.next(busy={"good.example"}, now=200.0)
    assert later is not None and "poor" in later.entry.url
