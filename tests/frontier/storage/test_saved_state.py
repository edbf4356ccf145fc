"""The registry of saved entries agrees with the code, and newer versions are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import motherlode
from motherlode.frontier import LmdbStorage, MemoryStorage, SavedStateError
from motherlode.frontier.storage.tables import SAVED_STATE, unwrap

SOURCE = Path(motherlode.__file__).parent
_USE = re.compile(r"""(put_note|\bnote|save|_load)\(\s*(?:storage, )?(?:"([\w -]+)"|([A-Z_]{3,}))""")


def keys_in(text: str, names: dict[str, str]) -> set[str]:
    """Return the keys of saved entries that a module names in its calls."""
    return {literal or names.get(name, "") for _, literal, name in _USE.findall(text)} - {""}


def constants() -> dict[str, str]:
    return {"MANIFEST": "segments", "REFRESH_BEGUN": "refresh", "BEGUN": "refresh", "_STAMP": "merged"}


def local_constants(text: str) -> dict[str, str]:
    return dict(re.findall(r'^(_?[A-Z]+) = "([\w -]+)"$', text, re.MULTILINE))


@pytest.mark.parametrize("package", ["frontier", "crawler", "cluster"])
def test_every_saved_key_in_the_source_is_in_the_registry(package: str) -> None:
    found = set()
    for path in (SOURCE / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found |= keys_in(text, constants() | local_constants(text))
    assert found and found <= set(SAVED_STATE), found - set(SAVED_STATE)


@pytest.mark.parametrize("key", SAVED_STATE)
def test_writers_and_readers_of_an_entry_name_its_key(key: str) -> None:
    entry = SAVED_STATE[key]
    for module in (*entry.written_by, *entry.read_by):
        text = (SOURCE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
        names = {name for name, named in (constants() | local_constants(text)).items() if named == key}
        assert f'"{key}"' in text or any(re.search(rf"\b{name}\b", text) for name in names), module


@pytest.mark.parametrize("kind", ["memory", "lmdb"])
def test_storage_returns_what_was_saved(kind: str, tmp_path: Path) -> None:
    storage = MemoryStorage() if kind == "memory" else LmdbStorage(tmp_path)
    for key in (*SAVED_STATE, "of a plug-in"):
        storage.put_note(key, key.encode())
    assert [storage.note(key) for key in SAVED_STATE] == [key.encode() for key in SAVED_STATE]
    assert storage.note("of a plug-in") == b"of a plug-in"
    storage.close()


def test_newer_version_is_refused_with_what_to_do() -> None:
    with pytest.raises(SavedStateError, match=r"'totals' was written by a newer version .* update Motherlode"):
        unwrap("totals", b"\xc1ML\x09content")


def test_entry_without_version_is_read_as_it_is() -> None:
    assert unwrap("refresh-mark", b"17") == b"17"
