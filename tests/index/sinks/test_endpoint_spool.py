"""The spool on disk: order, survival, and what is set aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.sinks.endpoint import Spool, SpoolFullError, spool_counts
from motherlode.index.sinks.nquads_sink import PageChange, change_from, drop_nonstandard

from .records import P, record


def _change(number: int) -> PageChange:
    return change_from(record(f"http://h.example/{number}", ("<http://x.example/>", P, f'"{number}"')))


def test_batches_come_out_in_order_and_outlive_the_process(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10**6)
    for number in range(12):
        spool.put([_change(number)])
    spool.sync()
    assert spool.first() == [_change(0)]
    spool.drop_first()
    (tmp_path / "000000000099.new").write_bytes(b"half")  # a kill came in the middle of a put
    again = Spool(tmp_path, max_bytes=10**6)
    again.put([_change(12)])
    found = []
    while (batch := again.first()) is not None:
        found += batch
        again.drop_first()
    assert found == [_change(number) for number in range(1, 13)]
    assert spool_counts(tmp_path) == (0, 0)
    assert not list(tmp_path.glob("*.new"))


def test_what_is_refused_is_kept_with_the_reason(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10**6)
    spool.put([_change(1), _change(2)])
    spool.keep_refused(_change(1), "400 no")
    again = Spool(tmp_path, max_bytes=10**6)  # a kill came before the end of the batch, which is sent again
    again.keep_refused(_change(1), "400 no")
    again.keep_refused(_change(2), "400 never")
    again.drop_first()
    assert spool_counts(tmp_path) == (0, 2)
    reasons = (path.read_text(encoding="utf-8").splitlines()[1] for path in (tmp_path / "refused").glob("*.txt"))
    assert sorted(reasons) == ["400 never", "400 no"]
    assert Spool(tmp_path, max_bytes=10**6).first() is None


def test_no_more_waits_than_may(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=2000)
    spool.put([_change(1)])
    with pytest.raises(SpoolFullError, match="no more may"):
        for number in range(10):
            spool.put([_change(number)])
    while spool.first() is not None:
        spool.drop_first()
    spool.put([_change(1)])


def test_a_batch_that_is_larger_than_all_that_may_wait_is_sent_alone(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=10)
    spool.put([_change(1)])
    with pytest.raises(SpoolFullError):
        spool.put([_change(2)])
    assert spool.first() == [_change(1)]


def test_a_change_holds_each_graph_of_a_page_and_nothing_of_the_union() -> None:
    made = change_from(
        record(
            "http://h.example/",
            ("<http://x.example/>", P, "<http://h.example/>"),
            ("<http://x.example/>", P, '"in"', "<http://g.example/>"),
        )
    )
    inner = "<http://h.example/#graph=http://g.example/>"
    assert made.graphs == {
        "<http://h.example/>": f"<http://x.example/> {P} <http://h.example/> .\n",
        inner: f'<http://x.example/> {P} "in" .\n',
    }
    assert made.nquads(provenance_graph="").count("\n") == 2
    assert f" {inner} .\n" in made.nquads(provenance_graph="")
    assert "<urn:p> .\n" in made.nquads(provenance_graph="<urn:p>")
    assert drop_nonstandard(made) == made
