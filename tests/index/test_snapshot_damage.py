"""A damaged store: known by its words, told with what to do, and not mistaken for one that changes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from motherlode.index import QuadStore
from motherlode.index.snapshot import DamagedError, is_damage, is_out_of_memory, is_refused, store_advice
from tests.index.fakes import record, says, spoil, spoil_inside


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
def test_the_library_says_so_in_words(error: Exception, *, damaged: bool) -> None:
    assert is_damage(error) is damaged


def test_the_advice_knows_whether_answers_were_kept(tmp_path: Path) -> None:
    assert "fetches its pages again" in store_advice(tmp_path / "store", "Corruption: x.")
    assert "Corruption: x. The frontier" in store_advice(tmp_path / "store", "Corruption: x.")
    (tmp_path / "warc").mkdir()
    assert "--web FILE.warc.gz" in store_advice(tmp_path / "store", "Corruption: x")
    (tmp_path / "quads").mkdir()
    assert f"`motherlode index {tmp_path}` makes a new one" in store_advice(tmp_path / "store", "Corruption: x")


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
def test_what_the_system_refuses_is_no_damage(error: Exception, *, out_of_memory: bool, refused: bool) -> None:
    assert is_out_of_memory(error) is out_of_memory
    assert is_refused(error) is refused


def test_a_store_that_cannot_be_opened_is_told_at_once(store: Path) -> None:
    spoil(store)
    began = time.monotonic()
    with pytest.raises(DamagedError, match="Put back a copy") as caught:
        QuadStore(store, read_only=True)
    assert time.monotonic() - began < 2, "nobody writes to it, so there is nothing to wait for"
    assert "store.readers" not in str(caught.value), "the files of the store are at fault, and not a reader's"
    assert not store.with_name("store.readers").exists(), "nothing is left behind"


def test_a_file_that_is_missing_is_damage(store: Path) -> None:
    max(store.glob("*.sst"), key=lambda file: file.stat().st_size).unlink()
    with pytest.raises(DamagedError, match="No such file"):
        QuadStore(store, read_only=True)


@pytest.mark.parametrize("read", ["quads", "statements", "match"])
def test_damage_that_is_met_later_is_told_alike(store: Path, read: str) -> None:
    spoil_inside(store)
    opened = QuadStore(store, read_only=True)
    with pytest.raises(DamagedError, match="Put back a copy"):
        list(opened.match(predicate="<http://ex.org/p>") if read == "match" else getattr(opened, read)())
    opened.close()
