"""Revisits of known pages and their results. `test_refresh` has whole crawls and the estimate of change rates."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from motherlode.crawler.recrawl.revisits import (
    DAY_SECONDS,
    MAX_INTERVAL_SECONDS,
    PageMemory,
    RefreshFirst,
    RevisitResult,
    Revisits,
    content_hash,
)
from motherlode.frontier import End, Frontier, FrontierStorage, Lease, LmdbStorage, MemoryStorage
from motherlode.model import Failure, FailureKind, Fetched, Link, LinkSource, Outcome, Page, Visit
from motherlode.policies import policy_from
from tests.frontier.fakes import frontier_on, take

A, B = "http://a.example/1", "http://b.example/1"


class Crawl:
    """A crawl that has visited pages at time 0 and can revisit them."""

    def __init__(self, storage: FrontierStorage | None = None) -> None:
        self.storage = MemoryStorage() if storage is None else storage
        self.policy = RefreshFirst(policy_from("bfs", 0))
        self.frontier: Frontier = frontier_on(self.storage, policy=self.policy, delay=0.0)
        self.revisits = Revisits(self.storage, self.frontier, self.policy)

    def add_links(self, *urls: str) -> None:
        self.frontier.add_links([Link(url=url, source=LinkSource.ANCHOR) for url in urls], parent=None)

    def visited(self, *urls: str, **more: object) -> None:
        """Record the first visits as the engine does."""
        self.add_links(*urls)
        for number in range(len(urls)):
            lease = self.next(0.0)
            self.frontier.end(lease, End.FETCHED, 0.0)
            entry = lease.entry
            visit = Visit(number=number + 1, url=lease.url, host=lease.host, arm=entry.arm, score=entry.score, **more)  # type: ignore[arg-type]
            self.storage.append_visit(number + 1, msgspec.msgpack.encode(visit))

    def next(self, now: float) -> Lease:
        lease = take(self.frontier, now)
        self.frontier.response_received(lease, now)
        return lease

    def looked(
        self, outcome: RevisitResult, now: float, *, url: str = A, headers: dict[str, str] | None = None
    ) -> Visit:
        given = headers or {}
        visit = Visit(
            number=9,
            url=url,
            host="a.example",
            at=now,
            relevant=True,
            quads=7,
            content_hash="new",
            etag=given.get("etag", "") if outcome is RevisitResult.CHANGED else "",
        )
        kind = {RevisitResult.UNCHANGED: FailureKind.NOT_MODIFIED, RevisitResult.GONE: FailureKind.NOT_FOUND}.get(
            outcome
        )
        if kind is None:
            return self.revisits.settle(outcome, visit, Page(url=url, status=200, headers=given))
        return self.revisits.settle(outcome, visit, Failure(url=url, kind=kind, headers=given, fetched_at=now))

    def memory(self, url: str = A) -> PageMemory:
        found = self.revisits.memory(url)
        assert found is not None
        return found


def test_begin_queues_visited_pages_without_failures() -> None:
    crawl = Crawl()
    crawl.visited(A, B, etag='"1"', quads=3, relevant=True)
    gone = Visit(number=3, url="http://a.example/none", host="a.example", failure=FailureKind.NOT_FOUND)
    crawl.storage.append_visit(3, msgspec.msgpack.encode(gone))
    assert crawl.revisits.begin(DAY_SECONDS, due_only=False) == 2
    assert crawl.frontier.revisits_left == 2
    assert crawl.revisits.memory("http://a.example/none") is None
    assert (crawl.memory().etag, crawl.memory().quads, crawl.memory().relevant) == ('"1"', 3, True)


def test_begin_does_not_queue_waiting_pages_again() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    assert [crawl.revisits.begin(DAY_SECONDS, due_only=False) for _ in range(2)] == [2, 0]


def test_due_only_queues_due_pages_and_gone_pages_are_queued_only_if_due() -> None:
    crawl = Crawl()
    crawl.visited(A, B)
    assert crawl.revisits.begin(DAY_SECONDS, due_only=True) == 0
    due = crawl.memory().due_at
    crawl.looked(RevisitResult.GONE, 0.0, url=B)
    assert crawl.revisits.begin(due, due_only=True) == 1, "the other page is gone and not due"
    crawl = Crawl()
    crawl.visited(A, B)
    crawl.revisits.begin(0.0, due_only=True)
    crawl.looked(RevisitResult.GONE, 0.0, url=B)
    assert crawl.revisits.begin(DAY_SECONDS, due_only=False) == 1
    assert crawl.revisits.begin(MAX_INTERVAL_SECONDS, due_only=False) == 1


def test_each_visit_is_recorded_once_across_restarts(tmp_path: Path) -> None:
    storage = LmdbStorage(tmp_path)
    crawl = Crawl(storage)
    crawl.visited(A)
    crawl.revisits.begin(DAY_SECONDS, due_only=True)
    crawl.looked(RevisitResult.CHANGED, DAY_SECONDS)
    crawl.frontier.commit()
    storage.close()
    again = Crawl(LmdbStorage(tmp_path))
    again.revisits.begin(2 * DAY_SECONDS, due_only=True)
    assert (again.memory().visits, again.memory().changes) == (2, 1), "the first visit did not replace the newer state"
    again.storage.close()


def test_refresh_of_an_interrupted_crawl_ends_after_the_revisits() -> None:
    crawl = Crawl()
    crawl.visited(A)
    crawl.add_links("http://c.example/new")
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    assert not crawl.revisits.is_over()
    lease = crawl.next(DAY_SECONDS)
    assert lease.is_revisit
    crawl.frontier.end(lease, End.FETCHED, 0.0, entry=crawl.revisits.entry_before(lease))
    assert crawl.revisits.is_over()
    assert crawl.frontier.lease(DAY_SECONDS) is None, "the new page is not fetched by the refresh"


def test_refresh_of_a_complete_crawl_follows_new_links() -> None:
    crawl = Crawl()
    crawl.visited(A)
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    lease = crawl.next(DAY_SECONDS)
    crawl.frontier.end(lease, End.FETCHED, 0.0, entry=crawl.revisits.entry_before(lease))
    crawl.add_links("http://c.example/new")
    assert not crawl.revisits.is_over()
    assert crawl.next(DAY_SECONDS).url == "http://c.example/new"


def revisit(**more: object) -> tuple[Crawl, Lease]:
    crawl = Crawl()
    crawl.visited(A, **more)
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    return crawl, crawl.next(DAY_SECONDS)


@pytest.mark.parametrize(
    ("etag", "sent"), [('W/"1"', 'W/"1"'), ("", ""), ('"é"', ""), ('"a\r\nX-Evil: 1"', ""), ('"\x00"', "")]
)
def test_request_is_conditional_with_valid_validators(etag: str, sent: str) -> None:
    crawl, lease = revisit(etag=etag, last_modified=etag)
    request = crawl.revisits.request(lease, DAY_SECONDS)
    assert (request.url, request.etag, request.last_modified) == (A, sent, sent)


def test_request_for_a_new_or_gone_page_is_unconditional() -> None:
    crawl, lease = revisit(etag='"1"')
    crawl.looked(RevisitResult.GONE, DAY_SECONDS, headers={"etag": '"of the error page"'})
    assert crawl.revisits.request(lease, DAY_SECONDS).etag == ""
    crawl = Crawl()
    crawl.add_links(A)
    assert crawl.revisits.request(crawl.next(0.0), 0.0).etag == ""


def test_same_content_is_judged_as_not_modified() -> None:
    crawl, lease = revisit(content_hash=content_hash(b"same"))
    same = Page(url=A, status=200, body=b"same", headers={"etag": '"2"'}, wire_bytes=4, fetched_at=5.0)
    judged = crawl.revisits.detect_unchanged(lease, same)
    assert isinstance(judged, Failure)
    assert (judged.kind, judged.status, judged.wire_bytes) == (FailureKind.NOT_MODIFIED, 200, 4)
    assert (judged.headers, judged.fetched_at) == ({"etag": '"2"'}, 5.0)
    other = Page(url=A, status=200, body=b"other")
    assert crawl.revisits.detect_unchanged(lease, other) is other
    failure = Failure(url=A, kind=FailureKind.TIMEOUT)
    assert crawl.revisits.detect_unchanged(lease, failure) is failure


@pytest.mark.parametrize(
    ("fetched", "outcome"),
    [
        (Page(url=A, status=200), RevisitResult.CHANGED),
        (Failure(url=A, kind=FailureKind.NOT_MODIFIED), RevisitResult.UNCHANGED),
        (Failure(url=A, kind=FailureKind.NOT_FOUND), RevisitResult.GONE),
        (Failure(url=A, kind=FailureKind.REDIRECT), RevisitResult.GONE),
        (Failure(url=A, kind=FailureKind.TIMEOUT), None),
        (Failure(url=A, kind=FailureKind.ROBOTS), None),
        (Failure(url=A, kind=FailureKind.SERVER_ERROR), None),
    ],
)
def test_outcome_of_a_revisit_depends_on_the_response(fetched: Fetched, outcome: RevisitResult | None) -> None:
    crawl, lease = revisit()
    assert crawl.revisits.outcome(lease, fetched) is outcome
    crawl.add_links("http://new.example/")
    crawl.frontier.end(lease, End.FETCHED, 0.0, entry=crawl.revisits.entry_before(lease))
    assert crawl.revisits.outcome(crawl.next(DAY_SECONDS), fetched) is None, "a first visit"


@pytest.mark.parametrize(
    ("outcome", "kept", "account"),
    [
        (RevisitResult.UNCHANGED, ("old", 3, False), (True, 3)),
        (RevisitResult.CHANGED, ("new", 7, False), (True, 7)),
        (RevisitResult.GONE, ("", 0, True), (False, 0)),
    ],
)
def test_settle_stores_the_page_state_and_returns_previous_figures(
    outcome: RevisitResult, kept: tuple[str, int, bool], account: tuple[bool, int]
) -> None:
    crawl, _ = revisit(content_hash="old", quads=3, relevant=True, etag='"1"')
    visit = crawl.looked(outcome, DAY_SECONDS)
    memory = crawl.memory()
    assert (memory.content_hash, memory.quads, memory.gone) == kept
    assert memory.etag == ('"1"' if outcome is RevisitResult.UNCHANGED else "")
    assert (visit.refresh, visit.relevant, visit.quads) == (outcome.value, *account)
    assert (visit.relevant_before, visit.quads_before) == (True, 3)
    assert (memory.visits, memory.changes) == (2, int(outcome is not RevisitResult.UNCHANGED))
    crawl.looked(RevisitResult.CHANGED, 2 * DAY_SECONDS, headers={"etag": '"2"'})
    assert (crawl.memory().etag, crawl.memory().gone) == ('"2"', False), "the page is available again"


def test_entry_before_has_the_arm_of_the_first_visit() -> None:
    crawl, lease = revisit()
    crawl.frontier.end(lease, End.FETCHED, 0.0, entry=crawl.revisits.entry_before(lease))
    found = crawl.storage.find(A)
    assert found is not None
    assert found[0].arm == crawl.memory().arm
    assert (found[0].score, found[0].arm.startswith("revisit")) == (crawl.memory().score, False)


def test_clock_set_back_is_no_error() -> None:
    page = PageMemory(url=A, visited_at=100.0)
    assert page.change_expected(50.0) == 0.0
    assert page.looked_at(50.0, changed=True).observed == 0.0


def test_policy_of_the_job_does_not_learn_from_revisits() -> None:
    told: list[str] = []

    class Inner(RefreshFirst):
        def learn(self, feedback: Outcome) -> None:
            told.append(feedback.arm)

    policy = RefreshFirst(Inner(policy_from("bfs", 0)))
    for arm in ("revisit a.example", "a.example"):
        policy.learn(Outcome(url=A, host="a.example", arm=arm, policy_state=b"", score=0.0, reward=1.0, relevant=True))
    assert told == ["a.example"]


def test_begin_is_committed_at_once(tmp_path: Path) -> None:
    crawl = Crawl(LmdbStorage(tmp_path))
    crawl.visited(A, B)
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    crawl.storage.close()
    assert Crawl(LmdbStorage(tmp_path)).frontier.revisits_left == 2


def test_long_validators_of_an_unchanged_page_are_not_stored() -> None:
    crawl = Crawl()
    crawl.visited(A)
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    headers = {"etag": '"' + 300 * "e" + '"', "last-modified": "Sat, 01 Nov 2025 10:00:00 GMT"}
    crawl.looked(RevisitResult.UNCHANGED, DAY_SECONDS, headers=headers)
    assert (crawl.memory().etag, crawl.memory().last_modified) == ("", "Sat, 01 Nov 2025 10:00:00 GMT")


def test_request_for_a_page_with_robots_header_is_unconditional() -> None:
    crawl = Crawl()
    crawl.visited(A, etag='"1"', directives="noindex")
    crawl.revisits.begin(DAY_SECONDS, due_only=False)
    assert crawl.revisits.request(crawl.next(DAY_SECONDS), DAY_SECONDS).etag == ""


def not_modified(**headers: str) -> Failure:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return Failure(url=A, kind=FailureKind.NOT_MODIFIED, status=304, headers=told, fetched_at=DAY_SECONDS)


@pytest.mark.parametrize(
    ("known", "answer", "outcome", "directives"),
    [
        ({}, not_modified(), RevisitResult.UNCHANGED, ""),
        ({}, not_modified(x_robots_tag="noindex"), RevisitResult.CHANGED, "noindex"),
        ({}, not_modified(x_robots_tag="none"), RevisitResult.CHANGED, "noindex nofollow"),
        ({}, not_modified(x_robots_tag="motherlode: noindex"), RevisitResult.CHANGED, "noindex"),
        ({}, not_modified(x_robots_tag="otherbot: noindex"), RevisitResult.UNCHANGED, ""),
        ({}, not_modified(x_robots_tag="nofollow"), RevisitResult.UNCHANGED, "nofollow"),
        ({}, not_modified(x_robots_tag="unavailable_after: 1970-01-02"), RevisitResult.CHANGED, "ends=86400"),
        ({}, not_modified(x_robots_tag="unavailable_after: 1970-01-03"), RevisitResult.UNCHANGED, "ends=172800"),
        ({"directives": "ends=80000"}, not_modified(), RevisitResult.CHANGED, "ends=80000"),
        ({"directives": "ends=80000"}, not_modified(x_robots_tag="all"), RevisitResult.UNCHANGED, ""),
        ({"ends_at": 80_000.0}, not_modified(), RevisitResult.CHANGED, ""),
        ({"ends_at": 80_000.0}, not_modified(x_robots_tag="all"), RevisitResult.CHANGED, ""),
        ({"directives": "noindex"}, not_modified(x_robots_tag="noindex"), RevisitResult.UNCHANGED, "noindex"),
    ],
)
def test_headers_of_a_304_response_update_the_page_state(
    known: dict[str, object], answer: Failure, outcome: RevisitResult, directives: str
) -> None:
    crawl, lease = revisit(content_hash="old", quads=3, relevant=True, etag='"1"', counts={"rdfa": 3}, **known)
    judged = crawl.revisits.detect_unchanged(lease, answer)
    assert crawl.revisits.outcome(lease, judged) is outcome
    empty = Visit(number=9, url=A, host="a.example", at=DAY_SECONDS, failure=FailureKind.NOT_MODIFIED)
    visit = crawl.revisits.settle(outcome, empty, judged)
    memory = crawl.memory()
    assert (memory.directives, memory.content_hash, memory.etag, memory.changes) == (directives, "old", '"1"', 0)
    is_kept = outcome is RevisitResult.UNCHANGED
    assert (memory.quads, memory.relevant, visit.quads) == ((3, True, 3) if is_kept else (0, False, 0))
    assert (visit.quads_before, visit.counts_before) == (3, {} if is_kept else {"rdfa": 3})
    assert crawl.revisits.outcome(lease, judged) is RevisitResult.UNCHANGED, "the page is not removed a second time"


def test_same_content_after_its_end_date_is_parsed_again() -> None:
    crawl, lease = revisit(content_hash=content_hash(b"same"), ends_at=DAY_SECONDS)
    early, late = (Page(url=A, status=200, body=b"same", fetched_at=at) for at in (DAY_SECONDS - 1, DAY_SECONDS))
    assert isinstance(crawl.revisits.detect_unchanged(lease, early), Failure)
    assert crawl.revisits.detect_unchanged(lease, late) is late


def test_request_after_the_end_date_of_the_header_is_unconditional() -> None:
    crawl, lease = revisit(etag='"1"', directives=f"ends={2 * DAY_SECONDS:.0f}")
    assert [crawl.revisits.request(lease, at).etag for at in (DAY_SECONDS, 2 * DAY_SECONDS)] == ['"1"', ""]


@pytest.mark.parametrize(
    ("kind", "sent"),
    [(FailureKind.CLIENT_ERROR, ""), (FailureKind.FORBIDDEN, '"1"'), (FailureKind.SERVER_ERROR, '"1"')],
)
def test_client_error_removes_the_validators(kind: FailureKind, sent: str) -> None:
    crawl, lease = revisit(etag='"1"', last_modified='"1"')
    crawl.revisits.failed(lease, Failure(url=A, kind=kind), DAY_SECONDS)
    request = crawl.revisits.request(lease, DAY_SECONDS)
    assert (request.etag, request.last_modified) == (sent, sent)
