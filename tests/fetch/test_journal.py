"""The response journal: received responses are not requested again, settled ones are not recalled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from motherlode.fetch import JournalledFetcher, ResponseJournal
from motherlode.model import Failure, FailureKind, Fetched, Page, Posting, Request, RequestKind

URL = "http://a.example/1"
PAGE = Page(url=URL, status=200, headers={"content-type": "text/html"}, body=b"<p>" * 1000, fetched_at=5.0, elapsed=0.5)
FRESH = replace(PAGE, fetched_at=time.time())
BUSY = Failure(url=URL, kind=FailureKind.UNAVAILABLE, status=503, retry_after=2.0, detail="é")


class Network:
    """A fetcher that returns given results and counts the requests."""

    def __init__(self, *answers: Fetched) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def fetch(self, request: Request) -> Fetched:
        self.asked.append(request.url)
        return self._answers.pop(0)

    async def close(self) -> None:
        pass


def page(url: str, kind: RequestKind = RequestKind.PAGE) -> Request:
    return Request(url=url, kind=kind)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("answers-*"))


async def test_journal_recalls_response_once_after_kill(tmp_path: Path) -> None:
    await JournalledFetcher(Network(PAGE), ResponseJournal(tmp_path, state=None)).fetch(page(URL))
    network = Network(BUSY)
    fetcher = JournalledFetcher(network, ResponseJournal(tmp_path, state=None))  # like a kill: nothing is closed
    again = await fetcher.fetch(page(URL))
    assert isinstance(again, Page)
    assert (again.body, again.headers, again.fetched_at, again.recalled) == (PAGE.body, PAGE.headers, 5.0, True)
    assert not network.asked
    assert await fetcher.fetch(page(URL)) == BUSY
    assert network.asked == [URL]


async def test_journal_recalls_responses_of_one_request_in_order(tmp_path: Path) -> None:
    fetcher = JournalledFetcher(Network(BUSY, PAGE), ResponseJournal(tmp_path, state=None))
    for _ in range(2):
        await fetcher.fetch(page(URL))
    journal = ResponseJournal(tmp_path, state=None)
    first, second = journal.recall(page(URL)), journal.recall(page(URL))
    assert isinstance(first, Failure)
    assert (first.kind, first.retry_after, first.detail) == (FailureKind.UNAVAILABLE, 2.0, "é")
    assert isinstance(second, Page)
    assert journal.recall(page(URL)) is None


async def test_journal_large_response_has_own_file_and_keeps_order(tmp_path: Path) -> None:
    large = replace(PAGE, body=b"x" * (1 << 20))
    journal = ResponseJournal(tmp_path, state=None)
    fetcher = JournalledFetcher(Network(BUSY, large, PAGE), journal)
    for _ in range(3):
        await fetcher.fetch(page(URL))
    assert len(files(tmp_path)) == 3
    journal.settle(RequestKind.PAGE, URL)
    state = journal.state()
    journal.finish_commit()
    assert len(files(tmp_path)) == 2
    again = ResponseJournal(tmp_path, state=state)
    found = [again.recall(page(URL)) for _ in range(3)]
    assert [len(one.body) if isinstance(one, Page) else 0 for one in found] == [1 << 20, len(PAGE.body), 0]


async def test_journal_commit_keeps_large_response_being_written(tmp_path: Path) -> None:
    large = replace(PAGE, body=b"x" * (8 << 20))
    journal = ResponseJournal(tmp_path, state=None)
    fetching = asyncio.create_task(JournalledFetcher(Network(large), journal).fetch(page(URL)))
    await asyncio.sleep(0)
    state = journal.state()
    journal.finish_commit()
    fetching.cancel()  # like the end of a crawl
    with contextlib.suppress(asyncio.CancelledError):
        await fetching
    for _ in range(200):
        found = ResponseJournal(tmp_path, state=state).recall(page(URL))
        if found is not None:
            break
        await asyncio.sleep(0.02)
    assert isinstance(found, Page)
    assert found.body == large.body


def test_journal_committed_response_is_not_recalled(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL), BUSY)
    journal.add(page(URL + "2"), PAGE)
    journal.settle(RequestKind.PAGE, URL)
    state = journal.state()
    journal.add(page(URL), PAGE)  # after the commit: the retry
    again = ResponseJournal(tmp_path, state=state)
    assert isinstance(again.recall(page(URL)), Page)
    assert isinstance(again.recall(page(URL + "2")), Page)
    assert again.recall(page(URL)) is None


def test_journal_deletes_files_without_open_responses(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    for number in range(5):
        journal.add(page(f"{URL}/{number}"), PAGE)
        journal.state()
        journal.finish_commit()
    assert len(files(tmp_path)) == 5
    for number in (0, 2, 4):
        journal.settle(RequestKind.PAGE, f"{URL}/{number}")
    state = journal.state()
    journal.finish_commit()
    assert len(files(tmp_path)) == 2
    again = ResponseJournal(tmp_path, state=state)
    assert [again.recall(page(f"{URL}/{number}")) is not None for number in range(5)] == [
        False,
        True,
        False,
        True,
        False,
    ]
    again.settle(RequestKind.PAGE, f"{URL}/1")
    again.settle(RequestKind.PAGE, f"{URL}/3")
    again.state()
    again.finish_commit()
    assert not files(tmp_path)


def test_journal_keeps_file_of_response_not_recalled(tmp_path: Path) -> None:
    ResponseJournal(tmp_path, state=None).add(page(URL), PAGE)
    journal = ResponseJournal(tmp_path, state=None)
    state = journal.state()
    journal.finish_commit()
    assert ResponseJournal(tmp_path, state=state).recall(page(URL)) is not None


def test_journal_numbers_continue_after_all_files_are_deleted(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL), PAGE)
    journal.settle(RequestKind.PAGE, URL)
    state = journal.state()
    journal.finish_commit()
    journal = ResponseJournal(tmp_path, state=state)
    journal.add(page(URL), PAGE)
    assert ResponseJournal(tmp_path, state=state).recall(page(URL)) is not None


@pytest.mark.parametrize("cut", [1, 10, 21, 60, 2000])
def test_journal_cut_record_is_ignored(tmp_path: Path, cut: int) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL), PAGE)
    journal.add(page(URL + "2"), PAGE)
    path = files(tmp_path)[0]
    os.truncate(path, path.stat().st_size - cut)
    again = ResponseJournal(tmp_path, state=None)
    assert again.recall(page(URL)) is not None
    assert again.recall(page(URL + "2")) is None
    assert not again.problems


@pytest.mark.parametrize("place", [0, 5, 30, 1500])
def test_journal_damaged_bytes_lose_rest_of_file_and_are_reported(tmp_path: Path, place: int) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL), PAGE)
    first_end = files(tmp_path)[0].stat().st_size
    journal.add(page(URL + "2"), PAGE)
    path = files(tmp_path)[0]
    data = bytearray(path.read_bytes())
    data[first_end + place] ^= 0xFF
    path.write_bytes(data)
    again = ResponseJournal(tmp_path, state=None)
    assert again.recall(page(URL)) is not None
    assert again.recall(page(URL + "2")) is None
    assert again.problems or place == 5, "a length beyond the end looks like a cut record"


def test_journal_unreadable_state_is_reported(tmp_path: Path) -> None:
    ResponseJournal(tmp_path, state=None).add(page(URL), PAGE)
    journal = ResponseJournal(tmp_path, state=b"\xc1garbage")
    assert journal.problems
    assert journal.recall(page(URL)) is not None


def test_journal_robots_and_page_requests_differ(tmp_path: Path) -> None:
    ResponseJournal(tmp_path, state=None).add(page(URL, RequestKind.ROBOTS), PAGE)
    journal = ResponseJournal(tmp_path, state=None)
    assert journal.recall(page(URL)) is None
    assert journal.recall(page(URL, RequestKind.ROBOTS)) is not None


def test_journal_subrequest_is_recalled_repeatedly_by_its_content(tmp_path: Path) -> None:
    def asking(body: bytes) -> Request:
        posting = Posting(body=body, headers={}, seconds=1.0)
        return Request(url=URL, kind=RequestKind.SUBREQUEST, posting=posting)

    journal = ResponseJournal(tmp_path, state=None)
    journal.add(asking(b"one"), FRESH)
    journal.add(asking(b"two"), BUSY)
    journal.finish_commit()
    again = ResponseJournal(tmp_path, state=journal.state())
    assert again.recall(asking(b"one")) is not None
    assert again.recall(asking(b"one")) is not None
    assert again.recall(asking(b"two")) is None, "a busy service is requested again"
    assert again.recall(Request(url=URL, kind=RequestKind.SUBREQUEST)) is None


def test_journal_subrequest_ring_is_bounded(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None, ring_bytes=10_000)
    for number in range(50):
        journal.add(page(f"{URL}/{number}", RequestKind.SUBREQUEST), FRESH)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3 * 10_000
    again = ResponseJournal(tmp_path, state=None)
    assert again.recall(page(f"{URL}/49", RequestKind.SUBREQUEST)) is not None
    assert again.recall(page(f"{URL}/0", RequestKind.SUBREQUEST)) is None


def test_journal_subrequests_continue_after_cut_record(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL, RequestKind.SUBREQUEST), FRESH)
    journal.add(page(URL + "2", RequestKind.SUBREQUEST), FRESH)
    path = next(tmp_path.glob("errands-*"))
    os.truncate(path, path.stat().st_size - 7)
    again = ResponseJournal(tmp_path, state=None)
    again.add(page(URL + "3", RequestKind.SUBREQUEST), FRESH)
    last = ResponseJournal(tmp_path, state=None)
    assert [last.recall(page(URL + end, RequestKind.SUBREQUEST)) is not None for end in ("", "2", "3")] == [
        True,
        False,
        True,
    ]
    assert not last.problems


def test_journal_subrequest_expires_after_a_day(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    journal.add(page(URL, RequestKind.SUBREQUEST), replace(PAGE, fetched_at=time.time() - 90_000))
    assert ResponseJournal(tmp_path, state=None).recall(page(URL, RequestKind.SUBREQUEST)) is None
    journal.add(page(URL, RequestKind.SUBREQUEST), FRESH)
    assert ResponseJournal(tmp_path, state=None).recall(page(URL, RequestKind.SUBREQUEST)) is not None


def test_journal_full_disk_is_permanent_error(tmp_path: Path) -> None:
    journal = ResponseJournal(tmp_path, state=None)
    (tmp_path / "errands-00000001.journal").symlink_to("/dev/full")
    for _ in range(2):
        with pytest.raises(OSError, match=r"response journal.*could not be written"):
            journal.add(page(URL, RequestKind.SUBREQUEST), PAGE)
