"""Full disks and damaged files: the error says what to do, and no other data is lost."""

from __future__ import annotations

import gc
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lmdb
import pytest

from motherlode.crawler import CrawlFolder, Job, read_stats, read_visits
from motherlode.crawler.config.job_file import job_to_toml
from motherlode.crawler.index_later import index_log
from motherlode.frontier import STORAGE_ERRORS, LmdbStorage, damage
from motherlode.index.quad_store import QuadStore
from tests.crawler.logged_web import LoggedWeb
from tests.crawler.offspring import Offspring
from tests.crawler.test_verification import forget_log

PAGES = 40
ALL = 4 * PAGES


@pytest.fixture(scope="module")
def web() -> Iterator[LoggedWeb]:
    with LoggedWeb(hosts=4, pages=PAGES) as made:
        yield made


def job(web: LoggedWeb, *, pages: int | None = None) -> Job:
    return Job(
        seeds=web.seeds(),
        hosts=web.table(),
        allow=("127.0.0.0/8",),
        policy="bfs",
        delay=0.0,
        retry_wait=0.05,
        workers=1,
        pages=pages,
    )


@dataclass(frozen=True)
class Ended:
    returncode: int
    stderr: str


class Command:
    """Runs the command line, one run at a time."""

    def __init__(self, offspring: Offspring, web: LoggedWeb, room: Path) -> None:
        self._offspring, self._web, self._room = offspring, web, room

    def __call__(self, *arguments: str) -> Ended:
        errors = self._room / "stderr"
        self._offspring.start(*arguments, errors=errors)
        return Ended(self._offspring.wait(), errors.read_text())

    def crawl(self, folder: Path, *, pages: int) -> Ended:
        self._web.forget()
        config = self._room / "job.toml"
        config.write_text(job_to_toml(job(self._web, pages=pages)))
        return self("crawl", "--config", str(config), "--quiet", "-o", str(folder))

    def resume(self, folder: Path) -> Ended:
        return self("resume", str(folder), "--quiet", "--pages", "100000")


@pytest.fixture(scope="module")
def command(web: LoggedWeb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    with Offspring() as offspring:
        yield Command(offspring, web, tmp_path_factory.mktemp("command"))


def pages_of(folder: Path) -> set[str]:
    return {visit.url for visit in read_visits(CrawlFolder(folder)) if visit.failure is None}


def stored(folder: Path, *, index: bool = True) -> set[str]:
    """Return the pages in the store, after indexing what is not indexed yet."""
    if index:
        index_log(CrawlFolder(folder))
        gc.collect()  # releases the store, which is open while references to it exist
    store = QuadStore(CrawlFolder(folder).store, read_only=True)
    found = {quad.subject.value for quad in store.quads() if quad.predicate.value.endswith(":contentHash")}
    store.close()
    return found


@pytest.fixture(scope="module")
def finished_half(command: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a crawl that its budget ended half-way. Tests copy it."""
    folder = tmp_path_factory.mktemp("half")
    done = command.crawl(folder / "crawl", pages=ALL // 2)
    assert done.returncode == 0, done.stderr
    return folder / "crawl"


@pytest.fixture
def half(finished_half: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished_half, tmp_path / "crawl")
    return tmp_path / "crawl"


def garble(path: Path, *, start: int, count: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(random.Random(1).randbytes(count))


def is_clear(done: Ended, *words: str) -> bool:
    """Check that a run ended with exit code 1 and an error message that has these words."""
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert all(word in done.stderr for word in ("error:", *words)), done.stderr
    return True


# Full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of a few megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        message = f"a tmpfs cannot be mounted here: {mounted.stderr.strip()}"
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail(message)
        pytest.skip(message)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def free(place: Path) -> int:
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


@pytest.mark.parametrize("left", [0.1e6, 0.5e6, 1.0e6, 1.5e6])
def test_full_disk_is_reported_and_the_crawl_can_be_resumed(
    command: Command, web: LoggedWeb, small_disk: Path, finished_half: Path, left: float
) -> None:
    """The free space differs, so that different parts of the crawl find the disk full first."""
    web.weight = 60_000
    folder = small_disk / "crawl"
    shutil.copytree(finished_half, folder)
    before = pages_of(folder)
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file:
        file.write(b"x" * max(0, free(small_disk) - int(left)))
    done = command.resume(folder)
    web.weight = 0
    assert is_clear(done, "make space", f"motherlode resume {folder}")
    ballast.unlink()
    committed = pages_of(folder)
    assert before <= committed, "committed pages are in the store"
    assert committed <= stored(folder)
    again = command.resume(folder)
    assert again.returncode == 0, again.stderr
    assert len(pages_of(folder)) >= ALL
    assert pages_of(folder) <= stored(folder)


# Damaged files


@pytest.mark.parametrize("how", ["head", "cut", "middle", "empty"])
def test_damaged_frontier_is_reported_and_the_quads_remain(command: Command, half: Path, how: str) -> None:
    path = half / "frontier" / "data.mdb"
    size = path.stat().st_size
    if how == "head":
        garble(path, start=0, count=8192)
    elif how == "cut":
        os.truncate(path, size // 2 // 4096 * 4096)
    elif how == "middle":
        garble(path, start=8192, count=size - 8192)
    else:
        os.truncate(path, 100)
    stores = stored(half)
    assert is_clear(command.resume(half), "frontier", "is damaged", "quads", "untouched", "move it away")
    assert stored(half) == stores
    (half / "frontier").rename(half.parent / "damaged")
    done = command.resume(half)
    assert done.returncode == 0, done.stderr
    assert len(pages_of(half)) >= ALL
    assert stored(half) >= pages_of(half)


@pytest.mark.parametrize("how", ["current", "manifest", "data"])
def test_damaged_store_is_built_again_by_resume(command: Command, half: Path, how: str) -> None:
    store = half / "store"
    names = {"current": "CURRENT", "manifest": "MANIFEST-*", "data": "*.sst"}
    for path in store.glob(names[how]):
        garble(path, start=0, count=path.stat().st_size)
    done = command.resume(half)
    assert done.returncode == 0, done.stderr
    assert "it is built again from the log" in done.stderr
    assert len(pages_of(half)) >= ALL
    assert stored(half) == pages_of(half)
    assert not (half / "store.damaged").exists()


def test_damaged_store_without_log_is_reported_and_the_frontier_remains(command: Command, half: Path) -> None:
    """Earlier versions wrote no log."""
    known = pages_of(half)
    forget_log(CrawlFolder(half))
    for path in (half / "store").glob("*.sst"):
        garble(path, start=0, count=path.stat().st_size)
    assert is_clear(command.resume(half), "quad store", "damaged", "frontier", "untouched", "move it away")
    assert pages_of(half) == known


def test_damage_of_the_store_found_while_writing_is_repaired(
    command: Command, finished_half: Path, tmp_path: Path
) -> None:
    """The store reads some files only when it writes. Several files are damaged, each in its own copy."""
    repaired = 0
    for data in sorted((finished_half / "store").glob("*.sst"))[-5:]:
        folder = tmp_path / data.stem
        shutil.copytree(finished_half, folder)
        garble(folder / "store" / data.name, start=data.stat().st_size // 3, count=40)
        done = command.resume(folder)
        assert done.returncode == 0, done.stderr
        repaired += "it is built again from the log" in done.stderr
    assert repaired


@pytest.mark.parametrize("gigabytes", [0.6, 2, 16])
def test_address_space_limit_is_not_reported_as_damage(half: Path, gigabytes: float) -> None:
    known = pages_of(half)
    limit = f"ulimit -v {int(gigabytes * 1e6)} && exec {sys.executable} -m motherlode resume {half} --quiet --pages 500"
    found = subprocess.run(["sh", "-c", limit], check=False, capture_output=True, text=True, timeout=120)
    done = Ended(found.returncode, found.stderr)
    assert is_clear(done, "ulimit -v unlimited", f"motherlode resume {half}")
    assert "damaged" not in done.stderr and "move it away" not in done.stderr
    assert pages_of(half) == known


def test_older_copy_of_the_store_is_completed_from_the_log(
    command: Command, web: LoggedWeb, half: Path, finished_half: Path
) -> None:
    done = command.resume(half)
    assert done.returncode == 0, done.stderr
    complete = stored(half)
    shutil.rmtree(half / "store")
    shutil.copytree(finished_half / "store", half / "store")
    assert pages_of(half) - stored(half, index=False)
    web.forget()
    assert stored(half) == complete
    assert not web.log, "nothing was fetched again"


@pytest.mark.parametrize("note", ["totals", "policy", "traps", "journal"])
def test_damaged_note_loses_only_its_own_state(command: Command, half: Path, note: str) -> None:
    before = read_stats(CrawlFolder(half)).totals
    storage = LmdbStorage(half / "frontier")
    storage.put_note(note, b"\xc1 no message pack")
    storage.commit()
    storage.close()
    done = command.resume(half)
    assert done.returncode == 0, done.stderr
    totals = read_stats(CrawlFolder(half)).totals
    assert totals.fetched == len(list(read_visits(CrawlFolder(half))))
    assert totals.quads >= before.quads
    assert len(pages_of(half)) >= ALL
    wanted = "journal" if note == "journal" else "resume"
    assert note == "policy" or any(problem.startswith(wanted) for problem in totals.problems)


def test_corrupt_journal_costs_only_requests(command: Command, half: Path) -> None:
    (half / "journal").mkdir(exist_ok=True)
    (half / "journal" / "answers-00000001.journal").write_bytes(random.Random(2).randbytes(5000))
    done = command.resume(half)
    assert done.returncode == 0, done.stderr
    totals = read_stats(CrawlFolder(half)).totals
    assert any(problem.startswith("journal: 5000 bytes") for problem in totals.problems)
    assert len(pages_of(half)) >= ALL


def test_random_frontier_damage_never_crashes_the_process(half: Path, tmp_path: Path) -> None:
    """Overwrite the pages of the file one by one. Either the damage is reported, or the page was unused."""
    path = half / "frontier" / "data.mdb"
    whole, chance = path.read_bytes(), random.Random(3)
    noticed = 0
    for _ in range(12):
        page = chance.randrange(2, len(whole) // 4096)
        garble(path, start=page * 4096, count=4096)
        found = damage(half / "frontier")
        noticed += bool(found)
        if not found:
            storage = LmdbStorage(half / "frontier")
            assert len(list(storage.visits())) > 0
            storage.close()
        path.write_bytes(whole)
    assert noticed
    assert damage(half / "frontier") == ""


def test_lmdb_errors_are_reported_to_the_user() -> None:
    assert issubclass(lmdb.CorruptedError, STORAGE_ERRORS)
    assert issubclass(lmdb.DiskError, STORAGE_ERRORS)
