"""Tests of the change log."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.index.page_record import PROVENANCE, PageRecord
from motherlode.index.quad_store import QuadStore
from motherlode.index.rdf_patch import Change, ChangeLog, changes_path, copy_changes, read_changes
from motherlode.model.terms import XSD

from .fakes import A, B, P, record, says, union


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> QuadStore:
    return QuadStore(path)


def changes(path: Path, since: datetime | None = None) -> list[Change]:
    return list(read_changes(changes_path(path), since))


def added(change: Change) -> list[str]:
    return [line[2:] for line in change.lines if line.startswith("A ")]


def removed(change: Change) -> list[str]:
    return [line[2:] for line in change.lines if line.startswith("D ")]


def line(name: str, value: str, page: str = A) -> str:
    return f'<http://ex.org/{name}> {P} "{value}" <{page}> .\n'


def test_change_has_page_time_and_difference(store: QuadStore, path: Path) -> None:
    store.write([record(A, says("x", "1"), says("y", "2"))])
    store.write([record(A, says("y", "2"), says("z", "3"), at=2_000_000.0)])
    (change,) = changes(path)
    assert (change.page, change.at.timestamp()) == (A, 2_000_000.0)
    assert (removed(change), added(change)) == ([line("x", "1")], [line("z", "3")])
    assert change.lines[2] == "TX .\n"
    assert change.lines[-1] == "TC .\n"


def test_new_and_unchanged_pages_leave_no_change(store: QuadStore, path: Path) -> None:
    number = ("<http://ex.org/n>", P, f'"007"^^<{XSD}integer>', "")
    store.write([record(A, says("x", "1"), number), record(B, says("x", "1"))])
    store.write([record(A, says("x", "1"), number, at=5.0)])
    assert changes(path) == []
    assert not changes_path(path).exists()


def test_page_that_becomes_redirect_loses_all_quads(store: QuadStore, path: Path) -> None:
    store.write([record(A, says("x", "1"), says("x", "1", graph="<http://ex.org/g>"))])
    store.write([PageRecord(url=A, fetched_at=3.0, status=301, redirects_to=B)])
    (change,) = changes(path)
    assert len(removed(change)) == 2
    assert added(change) == []
    assert union(store) == []


def test_read_changes_since_time(store: QuadStore, path: Path) -> None:
    for at in range(1, 6):
        store.write([record(A, says("x", str(at)), at=float(at))])
    found = changes(path, datetime.fromtimestamp(4, UTC))
    assert [change.at.timestamp() for change in found] == [4, 5]


def test_read_changes_of_merged_stores_are_sorted_by_time(tmp_path: Path) -> None:
    first, second = tmp_path / "1" / "store", tmp_path / "2" / "store"
    for place, moments in ((first, (1, 4, 5)), (second, (2, 3, 5, 6))):
        place.parent.mkdir()
        log = ChangeLog(changes_path(place))
        for at in moments:
            quad = ox.Quad(ox.NamedNode(A), ox.NamedNode(B), ox.Literal("ä" * at), ox.NamedNode(A))
            log.add(f"<{place.as_uri()}>", at=float(at), removed=[], added=[quad])
        log.close()
    copy_changes(second, first)
    found = changes(first)
    assert [change.at.timestamp() for change in found] == [1, 2, 3, 4, 5, 5, 6]
    assert [len(added(change)) for change in found] == [1] * 7
    assert [change.page for change in found[4:6]] == [first.as_uri(), second.as_uri()]
    assert [change.at.timestamp() for change in changes(first, datetime.fromtimestamp(4, UTC))] == [4, 5, 5, 6]


def test_applying_patch_to_old_store_gives_new_store(store: QuadStore, path: Path) -> None:
    def pages() -> set[ox.Quad]:
        return {quad for quad in store.quads() if quad.graph_name != ox.NamedNode(PROVENANCE)}

    store.write([record(A, says("x", "1"), ("_:b1", P, '"a\\nb"@en', "")), record(B, says("x", "1"))])
    copy = ox.Store()
    copy.extend(pages())
    store.write([record(A, ("_:b1", P, '"a\\nb"@en', ""), says("y", "9", graph="_:g"))])
    store.write([record(B), record(A, says("q", "\\\\"))])
    for _ in range(2):  # applying it twice changes nothing
        for change in changes(path):
            for quad in ox.parse("".join(removed(change)).encode(), ox.RdfFormat.N_QUADS):
                copy.remove(quad)
            copy.extend(ox.parse("".join(added(change)).encode(), ox.RdfFormat.N_QUADS))
        assert set(copy) == pages()


def test_crash_between_patch_and_store_is_repaired(store: QuadStore, path: Path) -> None:
    store.write([record(A, says("x", "1"))])
    log = ChangeLog(changes_path(path))
    log.add(f"<{A}>", at=2.0, removed=[], added=[])
    store.write([record(A, says("x", "2"), at=2.0)])
    assert union(store) == [f'<http://ex.org/x> {P} "2"']


@pytest.mark.parametrize("left", [b"H page <http://b.example/> .\nTX .\nA <a:a> <b:b> ", b"H", b"TC .", b"x" * 200_000])
def test_incomplete_transaction_is_truncated(store: QuadStore, path: Path, left: bytes) -> None:
    store.write([record(A, says("x", "1"))])
    store.write([record(A, says("x", "2"))])
    store.close()
    with changes_path(path).open("ab") as file:
        file.write(left)
    assert len(changes(path)) == 1, "a reader returns complete transactions only"
    store.write([record(A, says("x", "3"))])
    first, second = changes(path)
    assert (added(first), removed(second)) == ([line("x", "2")], [line("x", "2")])
    assert left[:20] not in changes_path(path).read_bytes() or left == b"H" or left == b"TC ."


def test_garbage_log_is_emptied(tmp_path: Path) -> None:
    place = tmp_path / "changes.rdfp"
    place.write_bytes(os.urandom(100_000).replace(b"TC", b"tc"))
    ChangeLog(place).add(
        f"<{A}>", at=1.0, removed=[], added=[ox.Quad(ox.NamedNode(A), ox.NamedNode(B), ox.Literal("x"))]
    )
    assert [change.page for change in read_changes(place)] == [A]
