"""What only the ledger on disk promises: it lasts, it can be read beside its writer, and its keys sort."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motherlode.frontier import DiskLedger, HostRecord, UrlState
from motherlode.frontier.keys import _descending, score_of

from .fakes import entry
from .test_ledger import fill, pop_all

SCORE = st.floats(allow_nan=False)


@given(SCORE, SCORE)
@example(0.0, -0.0)
@example(float("inf"), 1.7976931348623157e308)
@example(-5e-324, 5e-324)
def test_keys_sort_against_scores(one: float, other: float) -> None:
    assert (_descending(one) < _descending(other)) == (one > other)
    assert (_descending(one) == _descending(other)) == (one == other)


@given(SCORE)
def test_a_score_can_be_read_from_its_key(score: float) -> None:
    assert score_of(_descending(score)) == score
    assert 0 <= _descending(score) < 1 << 64


def reopened(ledger: DiskLedger, path: Path) -> DiskLedger:
    ledger.close()
    return DiskLedger(path)


def test_what_was_not_committed_is_gone_and_what_was_is_whole(tmp_path: Path) -> None:
    ledger = DiskLedger(tmp_path / "f")
    fill(ledger, [1, 2, 3])
    ledger.put_host(HostRecord(name="a.example", fetched=1))
    ledger.append_visit(1, b"one")
    ledger.put_note("totals", b"1")
    popped = ledger.pop("a.example")
    ledger.commit()
    assert popped is not None
    ledger.finish(popped, UrlState.DONE, "")
    ledger.add(entry("http://b.example/", sequence=9))
    ledger.append_visit(2, b"two")
    ledger.put_note("totals", b"2")
    ledger = reopened(ledger, tmp_path / "f")
    assert not ledger.known("http://b.example/")
    assert list(ledger.visits()) == [b"one"]
    assert ledger.note("totals") == b"1"
    assert [host.fetched for host in ledger.hosts()] == [1]
    assert ledger.recover() == 1
    assert pop_all(ledger, "a.example") == [2, 1, 0]
    ledger.close()


def test_arms_keep_their_queues_over_a_reopening(tmp_path: Path) -> None:
    ledger = DiskLedger(tmp_path / "f")
    fill(ledger, [1], host="a.example")
    ledger.commit()
    fill(ledger, [2], host="lost.example")
    ledger = reopened(ledger, tmp_path / "f")
    fill(ledger, [3, 4], host="b.example")  # takes the number that the lost arm had
    ledger.commit()
    ledger = reopened(ledger, tmp_path / "f")
    assert sorted(ledger.waiting()) == [("a.example", "a.example", 1), ("b.example", "b.example", 2)]
    assert pop_all(ledger, "b.example") == [1, 0]
    assert pop_all(ledger, "a.example") == [0]
    assert pop_all(ledger, "lost.example") == []
    ledger.close()


def test_an_entry_comes_back_with_everything_it_had(tmp_path: Path) -> None:
    ledger = DiskLedger(tmp_path / "f")
    full = entry("http://a.example/ü?q=\n", score=-2.5, sequence=1 << 40, arm="a.example\nlist")
    ledger.add(full)
    ledger.commit()
    ledger = reopened(ledger, tmp_path / "f")
    assert ledger.pop("a.example\nlist") == full
    ledger.close()


READ = """
import sys
from pathlib import Path
from motherlode.frontier import DiskLedger
ledger = DiskLedger(Path(sys.argv[1]), read_only=True)
print(ledger.note("totals").decode(), len(list(ledger.visits())), len(list(ledger.hosts())), ledger.known("http://b.example/"))
"""


def test_a_reader_beside_the_writer_sees_the_last_commit(tmp_path: Path) -> None:
    writer = DiskLedger(tmp_path / "f")
    writer.put_note("totals", b"first")
    writer.append_visit(1, b"one")
    writer.put_host(HostRecord(name="a.example"))
    writer.commit()
    writer.put_note("totals", b"second")
    writer.add(entry("http://b.example/"))
    command = [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / "f")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.split() == ["first", "1", "1", "False"]
    writer.commit()  # the writer goes on undisturbed
    writer.close()
    reader = DiskLedger(tmp_path / "f", read_only=True)
    assert reader.note("totals") == b"second"
    reader.close()


@pytest.mark.parametrize("read_only", [True, False])
def test_what_cannot_be_opened_is_an_error_that_names_the_place(tmp_path: Path, *, read_only: bool) -> None:
    if not read_only:
        (tmp_path / "f").mkdir()
        (tmp_path / "f" / "data.mdb").write_bytes(b"this is no database" * 1000)
    with pytest.raises(OSError, match=r"the frontier in .*f cannot be opened"):
        DiskLedger(tmp_path / "f", read_only=read_only)


def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    ledger = DiskLedger(tmp_path / "f")
    with pytest.raises(OSError, match="already open"):
        DiskLedger(tmp_path / "f")
    ledger.close()


@pytest.mark.parametrize("flush_rows", [1, 1_000_000])
def test_a_place_in_the_queue_is_where_it_is_popped(tmp_path: Path, flush_rows: int) -> None:
    """Whether the queue lies on disk or in memory, and for a reader beside the writer."""
    ledger = DiskLedger(tmp_path / "frontier", flush_rows=flush_rows)
    scores = [0.5, 2.0, -1.0, 2.0, 0.0]
    entries = [entry(f"http://a.example/{number}", score=score) for number, score in enumerate(scores)]
    for one in entries:
        ledger.add(one)
    ledger.commit()
    places = {one.url: ledger.ahead_of(one) for one in entries}
    order = [popped.url for popped in iter(lambda: ledger.pop(entries[0].arm), None)]
    assert [places[url] for url in order] == [0, 1, 2, 3, 4]
    ledger.close()
    reader = DiskLedger(tmp_path / "frontier", read_only=True)
    assert [reader.ahead_of(one) for one in entries] == [places[one.url] for one in entries]
    reader.close()
