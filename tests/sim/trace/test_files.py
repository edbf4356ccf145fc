from __future__ import annotations

import json
from pathlib import Path

import pytest

from motherlode.sim.trace.files import (
    VERSION,
    PartWriter,
    TraceError,
    TracePage,
    TracePart,
    existing_parts,
    read_link_table,
    read_pages,
    read_parts,
    read_statements,
    tidy,
    write_parts,
)

PART = TracePart(name="one", source="/somewhere", fingerprint="one", pages=1, links=0, broken=0)
PAGE = TracePage(url="https://a.example/", status=200, kind="html", counts={"jsonld": 2})


def write(folder: Path, name: str) -> PartWriter:
    writer = PartWriter(folder, name)
    writer.add(PAGE, (), b"<a> <b> <c> .\n")
    return writer


def test_manifest_is_read_back(tmp_path: Path) -> None:
    write_parts(tmp_path, [PART])
    assert read_parts(tmp_path) == [PART]
    assert read_parts(tmp_path / "nowhere") == []


def test_tables_are_read_back(tmp_path: Path) -> None:
    write(tmp_path, "one").finish()
    assert read_pages(tmp_path, PART) == [PAGE]
    assert read_link_table(tmp_path, PART).links_per_page.tolist() == [0]
    assert list(read_statements(tmp_path, PART)) == [(0, b"<a> <b> <c> .\n")]


def test_unfinished_part_has_no_final_name(tmp_path: Path) -> None:
    writer = write(tmp_path, "one")
    assert all(path.suffix == ".part" for path in tmp_path.iterdir())
    writer.abandon()
    assert not list(tmp_path.iterdir())


def test_cleanup_keeps_needed_and_foreign_files(tmp_path: Path) -> None:
    write(tmp_path, "one").finish()
    write(tmp_path, "old").finish()
    (tmp_path / "dead.pages.zst.999999999.part").touch()
    (tmp_path / "alive.pages.zst.1.part").touch()
    tidy(tmp_path, [PART])
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"alive.pages.zst.1.part", *(f"one.{table}.zst" for table in ("pages", "links", "facts"))}


def test_trace_of_version_5_is_read_as_it_is(tmp_path: Path) -> None:
    write_parts(tmp_path, [PART])
    manifest = tmp_path / "trace.json"
    manifest.write_text(manifest.read_text().replace(f'"version": {VERSION}', '"version": 5'))
    assert read_parts(tmp_path) == [PART]


@pytest.mark.parametrize("version", [1, VERSION + 1])
def test_trace_of_another_version_is_an_error(tmp_path: Path, version: int) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({"version": version, "parts": []}))
    with pytest.raises(TraceError, match=f"version {version}, but {VERSION} is needed: make it again"):
        read_parts(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", f'{{"version": {VERSION}}}', f'{{"version": {VERSION}, "parts": [{{"no": "part"}}]}}']
)
def test_broken_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "trace.json").write_text(text)
    with pytest.raises(TraceError, match="is not the manifest of a trace"):
        read_parts(tmp_path)


def test_folder_without_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no trace: make one with `motherlode record"):
        existing_parts(tmp_path)


def test_missing_or_broken_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"cannot be read \(No such file"):
        read_pages(tmp_path, PART)
    (tmp_path / "one.pages.zst").write_bytes(b"\0\0\0\x05wrong")
    with pytest.raises(TraceError, match=r"cannot be read \(it is damaged"):
        read_pages(tmp_path, PART)
    write(tmp_path, "one").finish()
    whole = (tmp_path / "one.facts.zst").read_bytes()
    (tmp_path / "one.facts.zst").write_bytes(whole[:-4])
    with pytest.raises(TraceError, match=r"cannot be read \(it is incomplete"):
        list(read_statements(tmp_path, PART))
