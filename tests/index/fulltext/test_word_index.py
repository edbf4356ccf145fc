"""The journal of the word index: what was appended comes out again, up to where a kill cut it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext.analysis import encode
from motherlode.index.fulltext.documents import SubjectDocument, Text
from motherlode.index.fulltext.word_index import PendingPages

Page = tuple[str, list[SubjectDocument]]


def page(number: int) -> Page:
    """A page with so many documents, at most two."""
    url = f"http://a.test/{number}"
    texts = [Text("http://ex.org/p", f"word{number}", "en"), Text("http://ex.org/p", "Wörter")]
    return url, [SubjectDocument(f"_:{n}", url, url, ["http://ex.org/T"], texts) for n in range(number % 3)]


def encoded(*pages: Page) -> list[tuple[str, list[bytes]]]:
    return [(url, [encode(document) for document in documents]) for url, documents in pages]


def batches(path: Path) -> list[list[Page]]:
    return list(PendingPages(path).pending())


def written(path: Path, *sizes: int) -> list[list[Page]]:
    """A journal with batches of so many pages; what it should hold."""
    journal, number, expected = PendingPages(path), 0, []
    for size in sizes:
        batch = [page(number + place) for place in range(size)]
        number += size
        journal.append(encoded(*batch))
        expected.append(batch)
    return expected


def test_batches_come_out_in_order_and_as_they_went_in(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    expected = written(path, 3, 1, 0, 2)
    assert batches(path) == expected
    assert batches(path) == expected, "reading takes nothing away"


def test_the_size_is_that_of_the_file_also_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = PendingPages(path)
    assert journal.size == 0
    for number in range(3):
        journal.append(encoded(page(number)))
        assert journal.size == path.stat().st_size == PendingPages(path).size > 0
    journal.clear()
    assert journal.size == path.stat().st_size == 0
    assert batches(path) == []


def test_a_journal_that_is_opened_again_goes_on_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = written(path, 2)
    assert batches(path) == first
    assert [*first, *written(path, 1)] == batches(path)


def test_what_was_appended_after_a_commit_is_all_that_is_left(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = PendingPages(path)
    journal.append(encoded(page(1)))
    journal.clear()
    journal.append(encoded(page(2)))
    assert [[url for url, _ in batch] for batch in batches(path)] == [["http://a.test/2"]]


def test_cut_anywhere_the_whole_batches_before_the_cut_are_there(tmp_path: Path) -> None:
    path, ends = tmp_path / "journal", [0]
    expected = []
    for size in (1, 2, 1):
        expected += written(path, size)
        ends.append(path.stat().st_size)
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end <= cut for end in ends[1:])
        assert batches(path) == expected[:whole], f"cut after {cut} of {len(content)} bytes"


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=64))
def test_rubbish_at_the_end_costs_nothing_that_came_before(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal"
    expected = written(path, 2)
    with path.open("ab") as file:
        file.write(rest)
    assert batches(path) == expected


def test_a_batch_whose_bytes_have_turned_ends_the_reading_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    first = written(path, 1)
    start = path.stat().st_size
    written(path, 1)
    content = bytearray(path.read_bytes())
    content[start + 4] ^= 0xFF  # the first byte of the second frame, behind its length
    path.write_bytes(bytes(content))
    assert batches(path) == first
