"""Known URLs in sorted runs: the ledger on disk against the one in memory, with flushes at every turn."""

from __future__ import annotations

from array import array
from pathlib import Path
from random import Random

import pytest

from motherlode.frontier import DiskLedger, Ledger, MemoryLedger, UrlState
from motherlode.frontier import disk as disk_module
from motherlode.frontier.runs import _place

from .fakes import entry


def url(number: int) -> str:
    return f"http://h{number % 7}.example/{number}"


class Killed(Exception):  # noqa: N818 - stands for a signal
    """The process ends here."""


def step(ledger: Ledger, random: Random, number: int) -> list[object]:
    """One random thing, done the same way to any ledger; what it says about itself."""
    choice = random.random()
    said: list[object] = [ledger.known(url(random.randrange(number + 3)))]
    if choice < 0.6:
        if not ledger.known(url(number)):
            ledger.add(entry(url(number), score=random.choice([0.0, 1.5, -2.0]), sequence=number))
    elif choice < 0.7 and not ledger.known(url(number)):
        ledger.refuse(entry(url(number), sequence=number), "no")
    else:
        popped = ledger.pop(f"h{random.randrange(7)}.example")
        said.append(popped)
        if popped is not None and random.random() < 0.7:
            ledger.finish(popped, UrlState.DONE, "")
        elif popped is not None:
            ledger.add(popped)
    said.append(ledger.best(f"h{random.randrange(7)}.example"))
    return said


def compare(disk: Ledger, memory: Ledger, numbers: int) -> None:
    assert sorted(disk.waiting()) == sorted(memory.waiting())
    assert [disk.find(url(number)) for number in range(numbers)] == [
        memory.find(url(number)) for number in range(numbers)
    ]


@pytest.mark.parametrize("buckets", [0, 3], ids=["", "colliding"])
@pytest.mark.parametrize("seed", range(4))
def test_with_flushes_and_reopenings_it_says_what_memory_says(
    seed: int, buckets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if buckets:
        monkeypatch.setattr(disk_module, "hash_of", lambda url: (len(url) * 7919 % buckets) << 62 | 5)
    memory, disk = MemoryLedger(), DiskLedger(tmp_path / "f", flush_rows=16)
    one, other, chance = Random(seed), Random(seed), Random(seed)
    for number in range(400):
        assert step(disk, one, number) == step(memory, other, number)
        if chance.random() < 0.15:
            disk.commit()
        if chance.random() < 0.02:
            disk.commit()
            disk.close()
            disk = DiskLedger(tmp_path / "f", flush_rows=16)
    compare(disk, memory, 400)
    disk.close()


@pytest.mark.parametrize("commits", range(2, 6))
def test_a_flush_that_is_cut_short_loses_nothing_and_doubles_nothing(
    commits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_module, "_SLICE", 10)
    memory, disk = MemoryLedger(), DiskLedger(tmp_path / "f", flush_rows=40)
    one, other = Random(commits), Random(commits)
    for number in range(120):
        step(disk, one, number)
        step(memory, other, number)
    done, left = disk._commit, [commits]

    def commit_or_die() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        done()

    monkeypatch.setattr(disk, "_commit", commit_or_die)
    with pytest.raises(Killed):
        disk.commit()
    disk.close()
    disk = DiskLedger(tmp_path / "f", flush_rows=40)
    compare(disk, memory, 120)
    disk.commit()
    for number in range(120, 300):
        assert step(disk, one, number) == step(memory, other, number)
        if number % 50 == 0:
            disk.commit()
    compare(disk, memory, 300)
    disk.close()


def test_a_reader_finds_urls_that_are_in_no_run_yet(tmp_path: Path) -> None:
    writer = DiskLedger(tmp_path / "f", flush_rows=4)
    for number in range(4):
        writer.add(entry(url(number), sequence=number))
    writer.commit()
    writer.add(entry(url(9), sequence=9))
    writer.commit()
    writer.close()
    reader = DiskLedger(tmp_path / "f", read_only=True)
    assert all(reader.known(url(number)) for number in (0, 1, 2, 3, 9))
    assert reader.find(url(5)) is None
    reader.close()


def test_the_search_in_a_run_finds_the_first_of_equals() -> None:
    random = Random(1)
    hashes = sorted([random.getrandbits(60) for _ in range(5000)] + [7 << 50] * 300)
    view = memoryview(array("Q", hashes))
    for wanted in [*random.sample(hashes, 200), 0, (1 << 60) - 1, 7 << 50, 7 << 50 | 1]:
        place = _place(view, wanted)
        assert all(found < wanted for found in hashes[max(0, place - 3) : place])
        assert place == len(hashes) or hashes[place] >= wanted
