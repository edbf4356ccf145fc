"""Readers beside a writer, in processes of their own, as a crawl and those who ask it are."""

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

from motherlode.index import PROVENANCE, QuadStore

from .fakes import A, B, record, says, union

HERE = Path(__file__).parents[2]

WRITER = """
import sys, time
from pathlib import Path
from motherlode.index import QuadStore
from tests.index.fakes import record, says

def page(host, number, name):
    return record(f"http://h{host}.example/{number}", *(says(f"{name}/{number}/{k}", "v") for k in range(10)))

store, batch = QuadStore(Path(sys.argv[1])), 0
while True:
    size = (320, 40, 3)[batch % 3]  # files written whole, and transactions
    pages = [page(batch, number, batch) for number in range(size)]
    if batch % 5 == 4:
        pages += [page(batch - 1, number, f"again/{batch}") for number in range(3)]
    store.write(pages)
    batch += 1
    print(batch, flush=True)
    time.sleep(0.05)
"""
"""Every page has ten statements, before and after."""

READER = """
import json, sys, time
from pathlib import Path
from motherlode.index import PROVENANCE, QuadStore
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
    assert look() == first, "a picture does not move"
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


def test_readers_see_whole_pages_of_one_moment_while_the_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with running(WRITER, path) as writer:
        lines(writer, 6)
        with running(READER, path, 3) as one, running(READER, path, 3) as two:
            looks = [json.loads(line) for process in (one, two) for line in lines(process, 3)]
            assert (one.wait(), two.wait()) == (0, 0)
        assert writer.poll() is None
    for pages, sizes, _, statements, quads in looks:
        # a page that is being replaced may be caught with both, old and new; new pages are whole or not there
        assert pages >= 320
        assert sizes[0] == 10
        assert sizes[-1] <= 20
        assert abs(statements - quads) <= 20
    assert max(look[0] for look in looks) > min(look[0] for look in looks), "a later picture shows more"
    assert not (tmp_path / "store.readers").exists()


def test_after_a_kill_of_the_writer_every_acknowledged_page_is_whole(tmp_path: Path) -> None:
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


def test_what_a_killed_reader_left_is_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = QuadStore(path)
    store.write([record(A, says("x", "1"))])
    holding = "import sys, time; from pathlib import Path; from motherlode.index import QuadStore\n"
    holding += "s = QuadStore(Path(sys.argv[1]), read_only=True); print('open', flush=True); time.sleep(60)"
    with running(holding, path) as reader:
        lines(reader, 1)
        other = QuadStore(path, read_only=True)
        assert len(list((tmp_path / "store.readers").iterdir())) == 2, "a living reader keeps its folder"
        other.close()
    assert len(list((tmp_path / "store.readers").iterdir())) == 1
    QuadStore(path, read_only=True).close()
    assert not (tmp_path / "store.readers").exists()


def test_a_picture_stays_as_it_was(tmp_path: Path) -> None:
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


def test_a_disk_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one on which only the owner of a file may link it, which is how Linux is set up."""

    def refused(source: Path, target: Path) -> None:
        raise PermissionError(f"{source} -> {target}")

    writer = QuadStore(tmp_path / "store")
    writer.write([record(A, says("x", "1"))])
    monkeypatch.setattr(os, "link", refused)
    reader = QuadStore(tmp_path / "store", read_only=True)
    assert len(union(reader)) == 1
    reader.close()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read(tmp_path: Path) -> None:
    QuadStore(tmp_path / "store").write([record(A, says("x", "1"))])
    tmp_path.chmod(0o555)
    try:
        assert len(union(QuadStore(tmp_path / "store", read_only=True))) == 1
    finally:
        tmp_path.chmod(0o755)
