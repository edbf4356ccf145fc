"""Which pages a word index contains."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.index.fulltext import WordIndex
from motherlode.index.fulltext.coverage import WordCoverage
from motherlode.index.fulltext.word_index import OLD_JOURNAL
from tests.index.fakes import A, B, record, says


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """Write a word index with the page A, and return its folder."""
    index = WordIndex(tmp_path / "words")
    index.write([record(A, says("x", "apple"))])
    index.commit()
    index.close()
    return tmp_path / "words"


def test_coverage_has_only_pages_of_the_index(words: Path) -> None:
    coverage = WordCoverage(words)
    assert coverage.has(A)
    assert not coverage.has(B)


@pytest.mark.parametrize(("journal", "expected"), [(b"", False), (b"x", True)])
def test_coverage_of_an_index_that_will_be_built_again_is_complete(words: Path, journal: bytes, expected: bool) -> None:  # noqa: FBT001
    (words / OLD_JOURNAL).write_bytes(journal)
    assert WordCoverage(words).has(B) is expected


def test_coverage_of_read_only_index_leaves_its_folder_unchanged(words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for lock in words.glob("*.lock"):
        lock.unlink()
    before = sorted(words.iterdir())
    monkeypatch.setattr("motherlode.index.fulltext.coverage.is_writable", lambda path: False)
    assert WordCoverage(words).has(A)
    assert sorted(words.iterdir()) == before


@pytest.mark.parametrize("suffix", [".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term"])
@pytest.mark.parametrize("position", [0, -60])
def test_coverage_of_an_index_with_a_changed_byte_raises(words: Path, suffix: str, position: int) -> None:
    (file,) = words.glob(f"*{suffix}")
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"checksum|Failed to open"):
        WordCoverage(words)


def test_coverage_ignores_incomplete_file_of_a_killed_writer(words: Path) -> None:
    (words / f"{'0' * 32}.store").write_bytes(b"x")
    assert WordCoverage(words).has(A)


def test_coverage_without_an_index_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        WordCoverage(tmp_path / "words")
