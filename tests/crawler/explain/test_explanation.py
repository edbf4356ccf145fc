"""Explanations of fetched, waiting, refused and unknown URLs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from motherlode.crawler import CrawlFolder, JobError
from motherlode.crawler.explain.explanation import explain_url, load_policy
from motherlode.crawler.url_rules import add_filter
from motherlode.frontier import Entry, LmdbStorage, UrlState
from motherlode.policies.motherlode import Motherlode
from tests.crawler.small_web import HOME, crawled, small_web


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """A crawl that was stopped, so that some URLs are waiting."""
    place = tmp_path_factory.mktemp("explaining")
    return crawled(place / "out", small_web(place / "web.warc.gz"), pages=14, policy="motherlode", scope="web")[0]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """A finished breadth-first crawl."""
    place = tmp_path_factory.mktemp("whole")
    return crawled(place / "out", small_web(place / "web.warc.gz"), policy="bfs")[0]


def in_state(folder: CrawlFolder, state: UrlState, part: str = "") -> list[str]:
    storage = LmdbStorage(folder.frontier, read_only=True)
    found = [entry.url for entry, one, _ in storage.entries() if one is state and part in entry.url]
    storage.close()
    return found


def test_relevant_page_is_explained_with_link_and_result(folder: CrawlFolder) -> None:
    told = explain_url(folder, in_state(folder, UrlState.DONE, "/item/")[0])
    assert told.state == "fetched"
    assert "it is relevant" in told.because
    assert told.found is not None
    assert (told.found.parent, told.found.source, told.found.depth) == (HOME, "anchor", 1)
    assert told.found.path == (HOME,)
    assert told.found.anchor.startswith("to /item/")
    assert told.outcome is not None
    assert (told.outcome.relevant, told.outcome.reward, told.outcome.statements["jsonld"]) == (True, 1.0, 2)
    assert told.value_at_pick is not None
    assert told.explanation is not None
    assert told.explanation.reasons
    assert told.explanation.record["tries"] >= 1


@pytest.mark.parametrize(
    "policy",
    ["nb-online:smoothing=m", "ht-online", "bandit:best-score:smoothing=m", "bandit:success-best-score:smoothing=m"],
)
@pytest.mark.parametrize("delay", [0.0, 0.01])
def test_best_score_policy_records_the_score_as_value_at_pick(tmp_path: Path, policy: str, delay: float) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder, _ = crawled(tmp_path / "out", web, pages=10, policy=policy, scope="web", delay=delay)
    told = [explain_url(folder, url) for url in in_state(folder, UrlState.DONE)]
    assert HOME in {one.url for one in told}
    for one in told:
        assert one.score is not None
        assert one.value_at_pick is not None
        assert one.value_at_pick > 0
        if "success" not in policy:
            assert one.value_at_pick == pytest.approx(one.score)
        assert one.explanation is not None
        assert one.explanation.value is not None, "its host has waiting URLs"
        assert one.explanation.value > 0


@pytest.mark.parametrize("policy", ["nb-online", "bandit:best-score"])
def test_value_at_pick_is_zero_for_links_rated_before_the_first_relevant_page(tmp_path: Path, policy: str) -> None:
    """In the Naive Bayes of MOA a class without pages has probability 0, and the home page is not relevant."""
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=10, policy=policy, scope="web")
    values = {url: explain_url(folder, url).value_at_pick for url in in_state(folder, UrlState.DONE)}
    assert values.pop(HOME) == 0.5
    assert len(values) > 5
    assert set(values.values()) == {0.0}


def test_best_score_policy_has_no_value_without_pages(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), policy="nb-online", scope="web")
    told = explain_url(folder, HOME)
    assert told.value_at_pick == pytest.approx(0.5)
    assert told.explanation is not None
    assert told.explanation.value is None
    assert "no page of its host is ready, so the host has no value now" in told.explanation.notes


def test_waiting_url_has_a_rank(folder: CrawlFolder) -> None:
    waiting = in_state(folder, UrlState.WAITING)
    ranks = []
    for url in waiting:
        told = explain_url(folder, url)
        assert told.state == "waits"
        assert told.rank is not None
        assert told.rank.waiting == len(waiting)
        assert told.rank.arm is not None
        ranks.append((told.rank.arm, told.rank.ahead_in_arm))
    assert len(set(ranks)) == len(ranks)  # ranks are unique
    first = min(range(len(ranks)), key=lambda number: ranks[number])
    assert ranks[first] == (1, 0)


def test_waiting_url_that_was_set_aside_is_explained_with_the_memory(folder: CrawlFolder, tmp_path: Path) -> None:
    copy = CrawlFolder(tmp_path / "out")
    shutil.copytree(folder.path, copy.path)
    url = in_state(copy, UrlState.WAITING)[0]
    storage = LmdbStorage(copy.frontier, flush_rows=1)  # rows that are only in memory would be queued again
    storage.commit()
    found = storage.find(url)
    assert found is not None
    assert storage.set_aside(found[0].arm) > 0
    storage.commit()
    storage.close()
    told = explain_url(copy, url)
    assert (told.state, told.rank) == ("waits", None)
    assert "set aside to save memory" in told.because


def test_explained_value_is_that_of_a_resumed_crawl(tmp_path: Path) -> None:
    """The host is new, so the value of its arms depends on all its waiting URLs."""
    web = small_web(tmp_path / "web.warc.gz", items=4, plain=4)
    job = {"policy": "motherlode", "scope": "host"}
    folder, _ = crawled(tmp_path / "out", web, pages=1, **job)
    told = [explain_url(folder, url) for url in in_state(folder, UrlState.WAITING)]
    crawled(tmp_path / "out", web, pages=2, **job)
    (before,) = (one for one in told if explain_url(folder, one.url).state != "waits")
    assert before.explanation is not None
    assert before.explanation.value == pytest.approx(explain_url(folder, before.url).value_at_pick)


def test_first_url_by_rank_is_fetched_next_by_resume(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder, _ = crawled(tmp_path / "out", web, pages=6, policy="bandit:best-score")
    told = {url: explain_url(folder, url) for url in in_state(folder, UrlState.WAITING)}
    first = [url for url, one in told.items() if one.rank and (one.rank.arm, one.rank.ahead_in_arm) == (1, 0)]
    crawled(tmp_path / "out", web, pages=7, policy="bandit:best-score")
    assert [explain_url(folder, url).state for url in first] == ["fetched"]


def test_url_disallowed_by_robots_txt_is_refused(whole: CrawlFolder) -> None:
    told = explain_url(whole, "http://a.example/private/x")
    assert (told.state, told.reason) == ("refused", "robots")
    assert [check.name for check in told.checks if check.passed is False] == ["robots"]


@pytest.mark.parametrize("source", ["anchor", ""])
def test_url_refused_before_it_was_rated_is_explained_without_arm(
    folder: CrawlFolder, tmp_path: Path, source: str
) -> None:
    """Earlier versions stored such URLs without source and page."""
    copy = CrawlFolder(tmp_path / "out")
    shutil.copytree(folder.path, copy.path)
    url = "http://a.example/private/y"
    storage = LmdbStorage(copy.frontier)
    entry = Entry(url=url, arm="", score=0.0, sequence=999, parent_url=HOME if source else "", source=source)
    storage.finish(entry, UrlState.REFUSED, "robots")
    storage.commit()
    storage.close()
    told = explain_url(copy, url)
    assert (told.state, told.arm, told.explanation) == ("refused", "", None)
    assert "its host's robots.txt has the line `Disallow: /private`" in told.because
    assert told.found is not None
    assert told.found.parent == (HOME if source else "")


def test_failed_url_is_explained_with_its_treatment(whole: CrawlFolder) -> None:
    told = explain_url(whole, "http://a.example/gone")
    assert told.state == "failed"
    assert told.outcome is not None
    assert (told.outcome.failure, told.outcome.treatment) == ("not-found", "not retried")


def test_redirects_are_explained_as_a_chain(whole: CrawlFolder) -> None:
    for url in ("http://a.example/old", "http://a.example/older"):
        told = explain_url(whole, url)
        assert [step.url.partition("example")[2] for step in told.redirects][:3] == ["/old", "/older", "/item/0"]
        assert [step.state for step in told.redirects][:2] == ["redirect", "redirect"]


def test_simple_policy_explains_its_order(whole: CrawlFolder) -> None:
    told = explain_url(whole, HOME)
    assert told.explanation is not None
    assert "Breadth-first" in told.explanation.says
    assert told.found is not None
    assert told.found.source == "seed"


def test_url_with_the_other_scheme_is_found(whole: CrawlFolder) -> None:
    assert explain_url(whole, "https://a.example/item/3").url == "http://a.example/item/3"


def test_unknown_url_is_explained_with_similar_urls(whole: CrawlFolder) -> None:
    told = explain_url(whole, "http://a.example/item/99")
    assert told.state == "unknown"
    assert "unknown: no fetched page" in told.because
    assert told.nearest[0][0].startswith("http://a.example/item/9")
    assert all(check.passed is not False for check in told.checks)


@pytest.mark.parametrize(
    ("url", "check"),
    [
        ("http://a.example/private/y", "robots"),
        ("http://a.example/x/x/x/x/x/x/x", "traps"),
        ("http://a.example/logo.png", "address"),
        ("gopher://a.example/", "address"),
    ],
)
def test_unknown_url_that_would_be_refused_names_the_check(whole: CrawlFolder, url: str, check: str) -> None:
    told = explain_url(whole, url)
    assert told.state == "unknown"
    assert [one.name for one in told.checks if one.passed is False] == [check]
    assert "refused" in told.because or "cannot be fetched" in told.because


def test_unknown_url_is_checked_by_scope_filters_and_policy(tmp_path: Path) -> None:
    web = small_web(tmp_path / "web.warc.gz")
    folder, _ = crawled(tmp_path / "out", web, pages=3, scope="host", policy="ldcoc")
    assert stopping(folder, "http://b.example/") == ["scope"]
    add_filter(folder.filters, "/secret/", deny=True)
    assert stopping(folder, "http://a.example/secret/1") == ["filters"]
    assert stopping(folder, "http://a.example/song.mp3") == ["address", "policy"]


def stopping(folder: CrawlFolder, url: str) -> list[str]:
    return [one.name for one in explain_url(folder, url).checks if one.passed is False]


def test_explanation_is_serializable_as_json(folder: CrawlFolder) -> None:
    for url in (HOME, "http://a.example/nothing", *in_state(folder, UrlState.WAITING)[:1]):
        assert msgspec.json.decode(msgspec.json.encode(explain_url(folder, url).summary()))["url"] == url


def test_running_crawl_can_be_explained(tmp_path: Path) -> None:
    """Another process holds the lock and has the frontier open. A reader needs neither."""
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=5)
    holder = CrawlFolder(folder.path)
    holder.lock()
    assert explain_url(folder, HOME).state == "fetched"
    holder.unlock()


def test_explain_without_crawl_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="has no crawl"):
        explain_url(CrawlFolder(tmp_path), HOME)


@pytest.mark.parametrize("policy", ["nb-online", "ldcoc", "linkanalysis"])
def test_every_policy_explains_a_waiting_url(tmp_path: Path, policy: str) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=12, policy=policy)
    told = explain_url(folder, in_state(folder, UrlState.WAITING)[0])
    assert told.explanation is not None
    assert told.explanation.says
    assert told.rank is not None


def test_unchanged_page_is_explained_by_its_first_visit(tmp_path: Path) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), policy="bfs")
    find = in_state(folder, UrlState.DONE, "/item/")[0]
    before = explain_url(folder, find)
    command = [sys.executable, "-m", "motherlode", "crawl", "--refresh", "-o", str(folder.path), "--quiet"]
    subprocess.run([*command, "--pages", "1"], check=True, timeout=60)
    waiting = next(url for url in in_state(folder, UrlState.WAITING, "/item/"))
    told = explain_url(folder, waiting)
    assert told.because.startswith("waits for a revisit; fetched as request ")
    assert told.rank is None
    subprocess.run(command, check=True, timeout=60)
    told = explain_url(folder, find)
    assert told.because == f"{before.because}; revisited since, and unchanged"
    assert before.outcome is not None
    assert told.outcome == msgspec.structs.replace(before.outcome, visits=2, refresh="unchanged")


def test_mail_address_is_not_taken_for_a_host(whole: CrawlFolder) -> None:
    assert "it cannot be fetched" in explain_url(whole, "mailto:me@a.example").because


@pytest.mark.parametrize(("target", "hunch"), [("rdf", 3.0), ("any", 0.0)])
def test_target_prior_is_explained_by_the_target_of_the_crawl(tmp_path: Path, target: str, hunch: float) -> None:
    folder, _ = crawled(tmp_path / "out", small_web(tmp_path / "web.warc.gz"), pages=3, target=target)
    storage = LmdbStorage(folder.frontier, read_only=True)
    policy = load_policy(folder.read_job(), storage)
    storage.close()
    assert isinstance(policy, Motherlode)
    assert policy.posterior.target_priors.get("ext .ttl", 0.0) == hunch
