"""Known URLs by their hash: URLs that share one are kept apart by their rows."""

from __future__ import annotations

from pathlib import Path

import lmdb

from motherlode.frontier.known import SLOT_MASK, KnownRows


def test_all_rows_of_a_hash_are_found_in_memory_in_runs_and_after_loading(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 26) as environment:
        table = environment.open_db(b"known")
        known = KnownRows(table)
        with environment.begin(write=True, buffers=True) as txn:
            known.put_all([10, 11, 10], 0)
            known.put(10, 3)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3]
            known.flush(txn)
            known.put_all([12, 10], 4)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3, 5]
            known.flush(txn)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3, 5]
            assert list(known.rows(txn, 13)) == []
            known.forget_views()
        again = KnownRows(table)
        with environment.begin(buffers=True) as txn:
            again.load(txn)
            assert sorted(again.rows(txn, 10)) == [0, 2, 3, 5]
            assert [bool(again.slots[number & SLOT_MASK]) for number in (10, 11, 12, 13)] == [True, True, True, False]
            again.forget_views()
