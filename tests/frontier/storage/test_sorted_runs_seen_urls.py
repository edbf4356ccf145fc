"""The index of known URLs by hash, including hash collisions."""

from __future__ import annotations

from pathlib import Path

import lmdb

from motherlode.frontier.storage.sorted_runs import BIT_SHIFT, BYTE_MASK, SeenUrls


def test_rows_of_a_hash_are_found_in_memory_in_runs_and_after_load(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 26) as environment:
        table = environment.open_db(b"known")
        known = SeenUrls(table)
        with environment.begin(write=True, buffers=True) as txn:
            known.put_all([10, 11, 10], 0)
            known.put_all([10], 3)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3]
            known.flush(txn)
            known.put_all([12, 10], 4)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3, 5]
            known.flush(txn)
            assert sorted(known.rows(txn, 10)) == [0, 2, 3, 5]
            assert list(known.rows(txn, 13)) == []
            known.forget_views()
        again = SeenUrls(table)
        with environment.begin(buffers=True) as txn:
            again.load(txn)
            assert sorted(again.rows(txn, 10)) == [0, 2, 3, 5]
            assert [marked(again, number) for number in (10, 11, 12, 13)] == [True, True, True, False]
            again.forget_views()


def marked(known: SeenUrls, number: int) -> bool:
    return bool(known.bitmap[number & BYTE_MASK] >> (number >> BIT_SHIFT) & 1)


def test_flush_sets_the_bits_of_all_hashes(tmp_path: Path) -> None:
    hashes = [5 | top << BIT_SHIFT for top in (0, 3, 7)] + [1 << 24]
    with lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 26) as environment:
        known = SeenUrls(environment.open_db(b"known"))
        with environment.begin(write=True, buffers=True) as txn:
            known.put_all(hashes, 0)
            assert not any(marked(known, number) for number in hashes), "what is recent is looked up there"
            known.flush(txn)
            assert all(marked(known, number) for number in hashes)
            assert not any(marked(known, 5 | top << BIT_SHIFT) for top in (1, 2, 4, 5, 6))
            known.forget_views()
