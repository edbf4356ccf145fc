"""`motherlode compact` loses nothing if it is killed, loses power or fails at any of its calls, or the disk is full."""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from motherlode.crawler import CrawlFolder
from motherlode.crawler.index_later import compact, needs_indexing
from motherlode.index.segment_files import list_segments
from tests.crawler.fault_runs import fault_environment
from tests.crawler.fault_state import Action, Fault, FaultState, Kind, Loss
from tests.crawler.offspring import Offspring
from tests.crawler.test_disk_errors import free, small_disk  # noqa: F401 - a fixture
from tests.crawler.test_index_later import crawl_with_versions, quads_from_log

pytestmark = [
    pytest.mark.skipif(
        shutil.which("gcc") is None and os.environ.get("CI") != "true", reason="there is no gcc to build the library"
    ),
    pytest.mark.timeout(900),
]
MIN_CALLS = 15
"""Calls that write, sync, rename or unlink files in a compaction, at least."""


class FaultyCompaction:
    """Runs `motherlode compact` on copies of a crawl folder whose log has old versions, with one fault each."""

    def __init__(self, room: Path, offspring: Offspring, state: FaultState) -> None:
        self._room, self._offspring, self._state = room, offspring, state
        self.original = crawl_with_versions(room / "original")
        self.original.unlock()
        self._expected = quads_from_log(self.original, room / "expected")
        self.folder = CrawlFolder(room / "crawl")
        self.copy()
        assert self.compact(Fault())[0] == 0
        self.calls = state.counts[Kind.ANY_IO]

    def copy(self, path: Path | None = None) -> None:
        """Begin again with a copy of the folder."""
        self.folder = CrawlFolder(path or self._room / "crawl")
        shutil.rmtree(self.folder.path, ignore_errors=True)
        shutil.copytree(self.original.path, self.folder.path)

    def compact(self, fault: Fault | None = None) -> tuple[int, str]:
        """Run the command. Return its exit status and its messages."""
        if fault is None:
            self._state.disarm()
        else:
            self._state.arm(self.folder.path, fault)
        errors = self._room / "stderr"
        self._offspring.start("compact", str(self.folder.path), errors=errors)
        return self._offspring.wait(), errors.read_text()

    def lose_power(self, fault: Fault) -> None:
        """Drop or tear what the killed run had not synced."""
        self._state.roll_back(self.folder.path, fault.loss, Random(fault.at))

    def check(self) -> None:
        """Check that no page was lost, and that the compaction can be repeated."""
        assert self._quads() == self._expected
        compact(self.folder)
        assert len(list_segments(self.folder.quads)) == 1
        assert not needs_indexing(self.folder)
        assert self._quads() == self._expected

    def _quads(self) -> set[str]:
        built = self._room / "built"
        shutil.rmtree(built, ignore_errors=True)
        return quads_from_log(self.folder, built)


@pytest.fixture(scope="module")
def compaction(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCompaction]:
    room = tmp_path_factory.mktemp("compaction").resolve()
    state = FaultState(room / "state")
    with Offspring("tests.crawler.fault_server", fault_environment(room)) as offspring:
        yield FaultyCompaction(room, offspring, state)


def faults_at_calls(compaction: FaultyCompaction, fault: Fault, *, every: int = 1) -> Iterator[Fault]:
    """Yield the fault at one call in `every`, and at the last ones, each with a new copy of the folder."""
    assert compaction.calls >= MIN_CALLS
    last = range(compaction.calls - len(Loss), compaction.calls + 1)
    for at in sorted({*range(1, compaction.calls + 1, every), *last}):
        compaction.copy()
        yield Fault(kind=Kind.ANY_IO, action=fault.action, error=fault.error, at=at, loss=list(Loss)[at % len(Loss)])


def test_compaction_killed_at_each_call_loses_nothing_and_can_be_repeated(compaction: FaultyCompaction) -> None:
    for fault in faults_at_calls(compaction, Fault(action=Action.LOSE_POWER)):
        assert compaction.compact(fault)[0] == -signal.SIGKILL
        compaction.check()


def test_compaction_with_power_loss_loses_nothing(compaction: FaultyCompaction) -> None:
    for fault in faults_at_calls(compaction, Fault(action=Action.LOSE_POWER), every=3):
        assert compaction.compact(fault)[0] == -signal.SIGKILL
        compaction.lose_power(fault)
        compaction.check()


def test_compaction_with_disk_that_becomes_full_loses_nothing(compaction: FaultyCompaction) -> None:
    for fault in faults_at_calls(compaction, Fault(action=Action.FAIL_FROM, error=errno.ENOSPC), every=4):
        code, told = compaction.compact(fault)
        assert code in (0, 1) and "Traceback" not in told, told
        assert code == 0 or f"compact {compaction.folder.path}` continues" in told, (fault, told)
        compaction.check()


def test_compaction_on_full_disk_gives_its_space_back(compaction: FaultyCompaction, small_disk: Path) -> None:  # noqa: F811
    compaction.copy(small_disk / "crawl")
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file:
        file.write(bytes(free(small_disk)))
    before = sum(path.stat().st_blocks for path in compaction.folder.path.rglob("*"))
    code, told = compaction.compact()
    assert code == 1 and "make space on the disk" in told, told
    assert sum(path.stat().st_blocks for path in compaction.folder.path.rglob("*")) <= before
    ballast.unlink()
    compaction.check()
