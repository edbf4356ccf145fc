"""The library of faults fails the call that was asked for, and a power loss keeps what was synced."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from motherlode.frontier import LmdbStorage
from motherlode.index.fulltext import WordIndex
from motherlode.index.quad_store import QuadStore
from tests.crawler.fault_state import Action, Fault, FaultState, Kind, Loss, build_library

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None and os.environ.get("CI") != "true", reason="there is no gcc to build the library"
)

_WRITES = """
import os, sys
os.chdir(sys.argv[1])
def write(name, *parts, sync=False, flags=os.O_CREAT | os.O_WRONLY):
    file = os.open(name, flags, 0o644)
    for part in parts:
        while part:
            part = part[os.write(file, part):]
    if sync:
        os.fsync(file)
    os.close(file)
if os.fork() == 0:
    try:
        exec(sys.argv[2])
    except OSError as error:
        os._exit(error.errno)
    os._exit(0)
code = os.waitstatus_to_exitcode(os.wait()[1])
sys.exit(code if code >= 0 else 100 - code)
"""
"""Runs Python statements in a process of its own, and exits with the error number, or 100 and the signal."""


class Runs:
    """Runs statements with a fault, in a folder."""

    def __init__(self, room: Path) -> None:
        self.folder = room / "crawl"
        self.folder.mkdir()
        self._room = room
        self._library = build_library(room)

    def __call__(self, statements: str, fault: Fault) -> int:
        self.state = FaultState(self._room / "state")
        self.state.arm(self.folder, fault)
        environment = {**os.environ, "LD_PRELOAD": str(self._library), "FAULT_STATE": str(self._room / "state")}
        command = [sys.executable, "-S", "-c", _WRITES, str(self.folder), statements]
        return subprocess.run(command, check=False, env=environment, timeout=60).returncode

    def content(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def lose_power(at: int, loss: Loss = Loss.DROPPED) -> Fault:
    return Fault(kind=Kind.ANY_IO, action=Action.LOSE_POWER, at=at, loss=loss)


KILLED = 109


def test_files_of_a_crawl_are_not_changed_by_mapped_memory(tmp_path: Path) -> None:
    """The library does not see such changes. Only LMDB's table of readers, which needs no durability, has them."""
    storage, store, words = (
        LmdbStorage(tmp_path / "frontier"),
        QuadStore(tmp_path / "store"),
        WordIndex(tmp_path / "words"),
    )
    storage.put_note("totals", b"1")
    storage.commit()
    maps = Path("/proc/self/maps").read_text().splitlines()
    mapped = [line.split(maxsplit=5) for line in maps if str(tmp_path) in line]
    assert [parts[1] for parts in mapped if parts[5].endswith("data.mdb")] == ["r--s"]
    assert {Path(parts[5]).name for parts in mapped if "w" in parts[1]} == {"lock.mdb"}
    words.close()
    store.close()
    storage.close()


def test_library_fails_only_the_call_with_the_number(runs: Runs) -> None:
    fault = Fault(kind=Kind.WRITE, action=Action.FAIL_ONCE, at=2, error=errno.EIO)
    statements = """
write('a', b'1')
try: write('b', b'2')
except OSError as error: write('c', str(error.errno).encode())
"""
    assert runs(statements, fault) == 0
    assert (runs.content("a"), runs.content("b"), runs.content("c")) == (b"1", b"", str(errno.EIO).encode())
    assert runs.state.hits == 1
    assert runs.state.hit_path == str(runs.folder / "b")


def test_library_full_disk_takes_half_a_write_and_no_more(runs: Runs) -> None:
    fault = Fault(kind=Kind.WRITE, action=Action.FAIL_FROM, at=2, error=errno.ENOSPC)
    assert runs("write('a', b'1234'); write('b', b'5678')", fault) == errno.ENOSPC
    assert (runs.content("a"), runs.content("b")) == (b"1234", b"56")


@pytest.mark.parametrize(
    ("kind", "statements"),
    [
        (Kind.SYNC, "write('a', b'1', sync=True)"),
        (Kind.RENAME, "write('a', b'1'); os.rename('a', 'b')"),
        (Kind.TRUNCATE, "write('a', b'1'); os.truncate('a', 0)"),
        (Kind.UNLINK, "write('a', b'1'); os.unlink('a')"),
        (Kind.FORK, "os.fork()"),
        (Kind.EXEC, "os.execv('/bin/true', ['true'])"),
    ],
)
def test_library_fails_calls_of_every_kind(runs: Runs, kind: Kind, statements: str) -> None:
    assert runs(statements, Fault(kind=kind, action=Action.FAIL_ONCE, at=1, error=errno.EDQUOT)) == errno.EDQUOT
    assert runs.state.counts[kind] == 1
    runs(statements, Fault())
    assert (runs.state.counts[kind], runs.state.hits) == (1, 0)


def test_library_ignores_files_of_other_folders(runs: Runs) -> None:
    fault = Fault(kind=Kind.WRITE, action=Action.FAIL_ONCE, at=1, error=errno.EIO)
    assert runs("write('../crawl2', b'1')", fault) == 0
    assert runs.state.counts[Kind.WRITE] == 0


def test_power_loss_drops_what_was_not_synced(runs: Runs) -> None:
    statements = """
write('a', b'synced', sync=True)
write('a', b'lost', flags=os.O_WRONLY)
write('b', b'lost')
write('c', b'synced', sync=True)
write('c', b'lost', flags=os.O_WRONLY | os.O_APPEND)
write('c', b'', flags=os.O_WRONLY | os.O_TRUNC)
os.truncate('a', 1)
write('d', b'never')
"""
    assert runs(statements, lose_power(9)) == KILLED
    runs.state.roll_back(runs.folder, Loss.DROPPED, Random(0))
    assert {path.name: path.read_bytes() for path in runs.folder.iterdir()} == {
        "a": b"synced",
        "b": b"",
        "c": b"synced",
        "d": b"",
    }


def test_power_loss_undoes_renames_and_unlinks_unless_the_folder_was_synced(runs: Runs) -> None:
    statements = """
for name in 'abcde': write(name, name.encode(), sync=True)
os.rename('a', 'b')
os.unlink('e')
folder = os.open('.', os.O_RDONLY)
os.fsync(folder)
os.rename('b', 'c')
os.unlink('d')
write('x', b'1')
"""
    assert runs(statements, lose_power(16)) == KILLED
    runs.state.roll_back(runs.folder, Loss.UNDONE, Random(0))
    found = {path.name: path.read_bytes() for path in runs.folder.iterdir()}
    assert found == {"b": b"a", "c": b"c", "d": b"d", "x": b""}


def test_power_loss_tears_writes_at_sectors(runs: Runs) -> None:
    statements = "write('a', b'o' * 4096, sync=True); write('a', b'n' * 4096, flags=os.O_WRONLY); write('b', b'1')"
    assert runs(statements, lose_power(4)) == KILLED
    runs.state.roll_back(runs.folder, Loss.TORN, Random(1))
    sectors = {runs.content("a")[start : start + 512] for start in range(0, 4096, 512)}
    assert sectors == {b"o" * 512, b"n" * 512}


def test_limit_of_address_space_holds_for_child_processes_alone(runs: Runs) -> None:
    statements = """
import resource
if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY: os._exit(1)
program = 'import resource, sys; sys.exit(resource.getrlimit(resource.RLIMIT_AS)[0] != 300000000)'
os.execv(sys.executable, [sys.executable, '-S', '-c', program])
"""
    assert runs(statements, Fault(child_bytes=300_000_000)) == 0
