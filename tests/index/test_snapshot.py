"""Tests of snapshots, and of the detection of damaged stores."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
from motherlode.index.snapshot import DamagedError, is_damage, is_out_of_memory, is_refused, remedy, store_advice
from tests.index.fakes import A, B, record, says, spoil, spoil_inside, union

HERE = Path(__file__).parents[2]

WRITER = """
import sys, time
from pathlib import Path
from motherlode.index.quad_store import QuadStore
from tests.index.fakes import record, says

def page(host, number, name):
    return record(f"http://h{host}.example/{number}", *(says(f"{name}/{number}/{k}", "v") for k in range(10)))

store, batch = QuadStore(Path(sys.argv[1])), 0
while True:
    size = (320, 40, 3)[batch % 3]  # bulk loads and transactions
    pages = [page(batch, number, batch) for number in range(size)]
    if batch % 5 == 4:
        pages += [page(batch - 1, number, f"again/{batch}") for number in range(3)]
    store.write(pages)
    batch += 1
    print(batch, flush=True)
    time.sleep(0.05)
"""
"""Writes batches of pages until it is killed. Every version of a page has ten statements."""

READER = """
import json, sys, time
from pathlib import Path
from motherlode.index.page_record import PROVENANCE
from motherlode.index.quad_store import QuadStore
for turn in range(int(sys.argv[2])):
    store = QuadStore(Path(sys.argv[1]), read_only=True)
    def look():
        pages = {}
        for quad in store.quads():
            pages[quad.graph_name.value] = pages.get(quad.graph_name.value, 0) + 1
        about = pages.pop(PROVENANCE)
        return [len(pages), sorted(set(pages.values())), about, sum(1 for _ in store.statements()), sum(pages.values())]
    first = look()
    time.sleep(0.2)
    assert look() == first, "a snapshot does not change"
    print(json.dumps(first), flush=True)
    store.close()
"""


@contextmanager
def running(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True, cwd=HERE
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


def test_readers_see_complete_pages_while_writer_continues(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with running(WRITER, path) as writer:
        lines(writer, 6)
        with running(READER, path, 3) as one, running(READER, path, 3) as two:
            looks = [json.loads(line) for process in (one, two) for line in lines(process, 3)]
            assert (one.wait(), two.wait()) == (0, 0)
        assert writer.poll() is None
    for pages, sizes, _, statements, quads in looks:
        # a page that is being replaced may have old and new statements; a new page is complete or absent
        assert pages >= 320
        assert sizes[0] == 10
        assert sizes[-1] <= 20
        assert abs(statements - quads) <= 20
    assert max(look[0] for look in looks) > min(look[0] for look in looks), "a later snapshot has more pages"
    assert not (tmp_path / "store.readers").exists()


def test_killed_writer_loses_no_acknowledged_page(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with running(WRITER, path) as writer:
        done = int(lines(writer, 4)[-1])
        time.sleep(0.05)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    store = QuadStore(path)
    pages = {quad.subject.value for quad in store.match(graph=f"<{PROVENANCE}>")}
    assert {f"http://h{batch}.example/{n}" for batch in range(done) for n in range(3)} <= pages
    for page in pages:
        assert sum(1 for _ in store.match(graph=f"<{page}>")) in range(10, 21), page
    once = len(union(store))
    store.write([record(f"http://h0.example/{n}", *(says(f"0/{n}/{k}", "v") for k in range(10))) for n in range(320)])
    assert len(union(store)) == once


def test_folder_of_killed_reader_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = QuadStore(path)
    store.write([record(A, says("x", "1"))])
    holding = "import sys, time; from pathlib import Path; from motherlode.index.quad_store import QuadStore\n"
    holding += "s = QuadStore(Path(sys.argv[1]), read_only=True); print('open', flush=True); time.sleep(60)"
    with running(holding, path) as reader:
        lines(reader, 1)
        other = QuadStore(path, read_only=True)
        assert len(list((tmp_path / "store.readers").iterdir())) == 2, "a running reader keeps its folder"
        other.close()
    assert len(list((tmp_path / "store.readers").iterdir())) == 1
    QuadStore(path, read_only=True).close()
    assert not (tmp_path / "store.readers").exists()


def test_snapshot_does_not_see_later_writes(tmp_path: Path) -> None:
    writer = QuadStore(tmp_path / "store")
    writer.write([record(A, says("x", "1"))])
    reader = QuadStore(tmp_path / "store", read_only=True)
    before = union(reader)
    writer.write([record(B, *(says(str(number), "2") for number in range(5000))), record(A)])
    writer.flush()
    assert union(reader) == before
    later = QuadStore(tmp_path / "store", read_only=True)
    assert len(union(later)) == 5000
    reader.close()
    later.close()


def test_snapshot_copies_files_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`os.link` also fails if the file has another owner, by default on Linux (fs.protected_hardlinks)."""

    def refused(source: Path, target: Path) -> None:
        raise PermissionError(f"{source} -> {target}")

    writer = QuadStore(tmp_path / "store")
    writer.write([record(A, says("x", "1"))])
    monkeypatch.setattr(os, "link", refused)
    reader = QuadStore(tmp_path / "store", read_only=True)
    assert len(union(reader)) == 1
    reader.close()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_snapshot_of_read_only_folder_opens_store_directly(tmp_path: Path) -> None:
    QuadStore(tmp_path / "store").write([record(A, says("x", "1"))])
    tmp_path.chmod(0o555)
    try:
        assert len(union(QuadStore(tmp_path / "store", read_only=True))) == 1
    finally:
        tmp_path.chmod(0o755)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = QuadStore(tmp_path / "store")
    made.write([record("http://a.test/", *(says(f"x{n}", f"v{n}") for n in range(5_000)))])
    made.flush()
    made.close()
    return tmp_path / "store"


@pytest.mark.parametrize(
    ("error", "damaged"),
    [
        (RuntimeError("Corruption: Sst file size mismatch"), True),
        (OSError("Corruption: CURRENT file corrupted"), True),
        (RuntimeError("Already borrowed"), False),
        (ValueError("Corruption: of a value"), False),
    ],
)
def test_is_damage_recognizes_message_of_library(error: Exception, *, damaged: bool) -> None:
    assert is_damage(error) is damaged


def test_store_advice_mentions_warc_if_present(tmp_path: Path) -> None:
    assert "fetches its pages again" in store_advice(tmp_path / "store", "Corruption: x.")
    assert "Corruption: x. The frontier" in store_advice(tmp_path / "store", "Corruption: x.")
    (tmp_path / "warc").mkdir()
    assert "--web FILE.warc.gz" in store_advice(tmp_path / "store", "Corruption: x")
    (tmp_path / "quads").mkdir()
    assert f"`motherlode verify {tmp_path} --repair` builds" in store_advice(tmp_path / "store", "Corruption: x")


@pytest.mark.parametrize(
    ("error", "out_of_memory", "refused"),
    [
        (OSError("the frontier in f cannot be opened: f: Cannot allocate memory"), True, True),
        (MemoryError(), True, True),
        (OSError("IO error: While lock file: s/LOCK: Resource temporarily unavailable"), False, True),
        (OSError("IO error: While opening a file: s/CURRENT: Permission denied"), False, True),
        (OSError("No space left on device"), False, True),
        (RuntimeError("Corruption: block checksum mismatch"), False, False),
        (OSError("IO error: No such file or directory: While opening s/MANIFEST-000005"), False, False),
    ],
)
def test_is_refused_errors_are_not_damage(error: Exception, *, out_of_memory: bool, refused: bool) -> None:
    assert is_out_of_memory(error) is out_of_memory
    assert is_refused(error) is refused


def test_damaged_store_raises_at_once_on_open(store: Path) -> None:
    spoil(store)
    began = time.monotonic()
    with pytest.raises(DamagedError, match="Put back a copy") as caught:
        QuadStore(store, read_only=True)
    assert time.monotonic() - began < 2, "no process writes to the store, so the reader does not retry"
    assert "store.readers" not in str(caught.value), (
        "the message names the files of the store, not those of the reader's folder"
    )
    assert not store.with_name("store.readers").exists(), "the folder of the reader was removed"


def test_missing_file_is_damage(store: Path) -> None:
    max(store.glob("*.sst"), key=lambda file: file.stat().st_size).unlink()
    with pytest.raises(DamagedError, match="No such file"):
        QuadStore(store, read_only=True)


@pytest.mark.parametrize("read", ["quads", "statements", "match"])
def test_damage_during_reading_raises_with_advice(store: Path, read: str) -> None:
    spoil_inside(store)
    opened = QuadStore(store, read_only=True)
    with pytest.raises(DamagedError, match="Put back a copy"):
        list(opened.match(predicate="<http://ex.org/p>") if read == "match" else getattr(opened, read)())
    opened.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "out/quads/lock"), "make the folder of the crawl writable"),
        (OSError(30, "Read-only file system"), "make the folder of the crawl writable"),
        (OSError(28, "No space left on device"), "make space on the disk"),
        (OSError("no such file"), ""),
    ],
)
def test_remedy_says_what_to_do_first(error: Exception, words: str) -> None:
    assert remedy(error) == (f"{words}, then " if words else "")
