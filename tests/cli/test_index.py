"""The command `index`, and other commands on quads that are not indexed yet."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.index import fakes
from tests.support import write_warc

PAGE = """<html><head><title>A page</title><script type="application/ld+json">
{"@context": "http://schema.org/", "@type": "Product", "@id": "#it", "name": "Motherlode lamp"}
</script></head></html>"""
WEB = [("http://a.example/", 200, {"Content-Type": "text/html"}, PAGE.encode())]


def motherlode(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *map(str, arguments)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "1000"}
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    motherlode("crawl", "http://a.example/", "--web", web, "-o", tmp_path / "out", "--index", "later", "--quiet")
    return tmp_path / "out"


def test_index_builds_the_store_once(crawl: Path) -> None:
    assert not (crawl / "store").exists()
    assert "not indexed" in motherlode("stats", crawl).stdout
    assert json.loads(motherlode("stats", crawl, "--json").stdout)["unindexed_bytes"] > 0
    assert "1 page indexed" in motherlode("index", crawl).stderr
    assert "0 pages indexed" in motherlode("index", crawl).stderr
    assert motherlode("index", crawl, "--quiet").stderr == ""
    assert "indexed" not in motherlode("stats", crawl).stdout


def test_query_indexes_first_and_prints_only_its_result(crawl: Path) -> None:
    found = motherlode("query", crawl, "SELECT ?n { ?s schema:name ?n }", "--format", "json")
    assert json.loads(found.stdout)["results"]["bindings"][0]["n"]["value"] == "Motherlode lamp"
    assert "1 page indexed" in found.stderr
    assert "indexed" not in motherlode("query", crawl, "ASK {}").stderr


def test_search_indexes_first(crawl: Path) -> None:
    assert json.loads(motherlode("search", crawl, "lamp", "--json").stdout)["count"] == 1


def test_export_indexes_first(crawl: Path) -> None:
    assert "Motherlode lamp" in motherlode("export", crawl, "--format", "nquads").stdout


def test_changes_index_first(crawl: Path) -> None:
    assert "1 page indexed" in motherlode("changes", crawl).stderr


def test_index_of_an_indexed_crawl_does_nothing(tmp_path: Path) -> None:
    web = write_warc(tmp_path / "web.warc.gz", WEB)
    motherlode("crawl", "http://a.example/", "--web", web, "-o", tmp_path / "out", "--quiet")
    assert "0 pages indexed" in motherlode("index", tmp_path / "out").stderr


def test_query_at_a_time_sees_the_pages_of_that_time(crawl: Path) -> None:
    asked = ("query", crawl, "SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o", "--format", "csv")
    now = motherlode(*asked).stdout
    assert len(now.splitlines()) > 1
    assert motherlode(*asked, "--at", "2999-12-31T00:00:00Z").stdout == now
    assert motherlode(*asked, "--at", "2001-01-01").stdout.splitlines() == now.splitlines()[:1]
    assert "is not a date" in motherlode(*asked, "--at", "yesterday", code=2).stderr


def test_index_without_crawl_is_wrong_usage(tmp_path: Path) -> None:
    assert "has no crawl" in motherlode("index", tmp_path, code=2).stderr
    done = motherlode("crawl", "http://a.example/", "-o", tmp_path / "o", "--index", "later", "--serve", "0", code=2)
    assert "--serve shows indexed quads only" in done.stderr
    assert (
        '"now" or "later"'
        in motherlode("crawl", "http://a.example/", "-o", tmp_path / "o", "--index", "x", code=2).stderr
    )


# damaged and missing segments


def _linked(number: int) -> str:
    thing = f'{{"@context": "http://schema.org/", "@type": "Product", "@id": "#it", "name": "thing {number}"}}'
    return f'<script type="application/ld+json">{thing}</script><a href="/{number + 1}">next</a>'


LINKED = [(f"http://a.example/{n}", 200, {"Content-Type": "text/html"}, _linked(n).encode()) for n in range(6)]
NAMES = "SELECT ?n { ?s schema:name ?n } ORDER BY ?n"
EVERY_NAME = [f"thing {number}" for number in range(6)]


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with one segment from each of its three runs. Tests copy it."""
    room = tmp_path_factory.mktemp("runs")
    web, out = write_warc(room / "web.warc.gz", LINKED), room / "out"
    flags = ("--web", web, "-o", out, "--index", "later", "--quiet", "--policy", "bfs")
    motherlode("crawl", "http://a.example/0", *flags, "--pages", "2")
    motherlode("resume", out, "--pages", "4", "--quiet")
    motherlode("resume", out, "--pages", "6", "--quiet")
    assert [path.name for path in sorted((out / "quads").glob("segment-*"))] == [
        f"segment-{number:06d}.nq.gz" for number in (1, 2, 3)
    ]
    return out


@pytest.fixture
def segmented(three_runs: Path, tmp_path: Path) -> Path:
    shutil.copytree(three_runs, tmp_path / "out")
    return tmp_path / "out"


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _cut_at_a_batch(path: Path) -> None:
    """Cut a file at the end of a batch, which cannot be detected without a manifest."""
    from motherlode.index.segment_files import whole_members

    (_, end), *more = whole_members(path)
    assert more, "there is more than one batch"
    path.write_bytes(path.read_bytes()[:end])


DAMAGES = {
    "flipped": (_flip, "is not what was written"),
    "cut": (_cut, "has only"),
    "cut at a batch": (_cut_at_a_batch, "has only"),
    "emptied": (lambda path: path.write_bytes(b""), "has only 0 of"),
    "missing": (Path.unlink, "is missing"),
}


def _names(folder: Path) -> list[str]:
    found = motherlode("query", folder, NAMES, "--format", "csv").stdout
    return found.splitlines()[1:]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("number", [2, 3])
def test_damaged_segment_is_an_error_of_every_reading_command(segmented: Path, damage: str, number: int) -> None:
    name = f"segment-{number:06d}.nq.gz"
    spoil, says = DAMAGES[damage]
    spoil(segmented / "quads" / name)
    commands: list[tuple[str | Path, ...]] = [
        ("index", segmented),
        ("query", segmented, "ASK {}"),
        ("export", segmented),
        ("resume", segmented, "--pages", "7"),
    ]
    for command in commands:
        told = motherlode(*command, code=1)
        assert f"the segment {segmented / 'quads' / name} {says}" in told.stderr, command
        assert f"motherlode index {segmented} --skip-damaged" in told.stderr
        assert told.stdout == ""
    assert not (segmented / "store").exists(), "nothing was indexed"


def test_missing_log_is_an_error(segmented: Path) -> None:
    shutil.rmtree(segmented / "quads")
    for command in (("index", segmented), ("query", segmented, "ASK {}"), ("search", segmented, "thing")):
        assert "segment-000001.nq.gz is missing" in motherlode(*command, code=1).stderr


def test_stats_report_missing_and_truncated_segments(segmented: Path) -> None:
    assert "damaged_segments" not in json.loads(motherlode("stats", segmented, "--json").stdout)
    _cut(segmented / "quads" / "segment-000001.nq.gz")
    (told,) = json.loads(motherlode("stats", segmented, "--json").stdout)["damaged_segments"]
    assert "segment-000001.nq.gz has only" in told
    assert "has only" in motherlode("stats", segmented).stdout


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
def test_lost_pages_are_queued_and_fetched_by_resume(segmented: Path, damage: Callable[[Path], None]) -> None:
    damage(segmented / "quads" / "segment-000002.nq.gz")
    told = motherlode("index", segmented, "--skip-damaged").stderr
    found = re.search(r"(\d) pages? lost: `motherlode resume", told)
    assert found, told
    lost = set(EVERY_NAME) - set(_names(segmented))
    assert lost <= {"thing 2", "thing 3"}
    assert len(lost) == int(found[1]) > 0, "two pages, or one if they were written in two batches"
    motherlode("resume", segmented, "--pages", "8", "--quiet")
    assert _names(segmented) == EVERY_NAME
    fakes.spoil(segmented / "store")
    assert _names(segmented) == EVERY_NAME, "the log that was written again is complete"


def test_missing_store_is_built_again(segmented: Path) -> None:
    assert _names(segmented) == EVERY_NAME
    shutil.rmtree(segmented / "store")
    assert "6 pages indexed" in motherlode("index", segmented).stderr
    assert _names(segmented) == EVERY_NAME


def _without_records(folder: Path) -> None:
    """Remove the manifest, as in a folder of an earlier version."""
    from motherlode.frontier import LmdbStorage

    storage = LmdbStorage(folder / "frontier")
    assert storage.note("segments")
    storage.put_note("segments", b"")
    storage.commit()
    storage.close()


def test_folder_without_manifest_is_indexed(segmented: Path) -> None:
    _without_records(segmented)
    assert _names(segmented) == EVERY_NAME
    motherlode("resume", segmented, "--pages", "7", "--quiet")
    _cut_at_a_batch(segmented / "quads" / "segment-000001.nq.gz")
    assert "has only" in motherlode("index", segmented, code=1).stderr, "from the resume on there are records"


@pytest.mark.parametrize(("damage", "says"), [(_flip, "cannot be unpacked"), (Path.unlink, "is missing")])
def test_damage_without_manifest_is_reported_if_visible(
    segmented: Path, damage: Callable[[Path], None], says: str
) -> None:
    _without_records(segmented)
    damage(segmented / "quads" / "segment-000002.nq.gz")
    for command in (("index", segmented), ("query", segmented, "ASK {}"), ("resume", segmented)):
        assert f"segment-000002.nq.gz {says}" in motherlode(*command, code=1).stderr


def test_manifest_unreadable_for_lack_of_memory_is_an_error(segmented: Path) -> None:
    (segmented / "quads" / "segment-000003.nq.gz").unlink()
    (segmented / "quads" / "manifest").unlink()  # a copy of the one in the frontier
    limited = f"ulimit -v 4000000 && exec {sys.executable} -m motherlode query {segmented} 'ASK {{}}'"
    done = subprocess.run(["sh", "-c", limited], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "ulimit -v unlimited" in done.stderr
    assert "Traceback" not in done.stderr
