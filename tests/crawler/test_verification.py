"""Verification of crawl folders: each kind of loss is found, and repaired where that is possible."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.crawler.folder import CrawlFolder
from motherlode.crawler.verification import Part, Verification, repair, verify
from motherlode.frontier import LmdbStorage
from motherlode.index.fulltext import WordIndex
from motherlode.index.quad_store import QuadStore
from tests.index.fakes import spoil, spoil_words
from tests.support import write_warc

PAGES = 6


def page(number: int) -> bytes:
    links = "".join(f'<a href="/{other}">page {other}</a>' for other in range(PAGES))
    data = {"@context": "http://schema.org/", "@type": "Product", "@id": f"#{number}", "name": f"Lamp {number}"}
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return f"<html><head>{script}</head><body>{links}</body></html>".encode()


WEB = [(f"http://a.example/{number}", 200, {"Content-Type": "text/html"}, page(number)) for number in range(PAGES)]
EARLIER = [(url, status, headers, body.replace(b"Lamp", b"Old lamp")) for url, status, headers, body in WEB]


def motherlode(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "1000"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == code, done.stderr + done.stdout
    return done


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("crawls")
    web, earlier = write_warc(folder / "web.warc.gz", WEB), write_warc(folder / "earlier.warc.gz", EARLIER)
    for name, source, more in (
        ("earlier", earlier, []),
        ("now", web, ["--warc"]),
        ("later", web, ["--index", "later"]),
    ):
        motherlode("crawl", WEB[0][0], "--web", source, "-o", folder / name, "--delay", "0", "--quiet", *more)
    return {name: folder / name for name in ("earlier", "now", "later")}


@pytest.fixture
def copy(crawls: dict[str, Path], tmp_path: Path) -> Callable[[str], CrawlFolder]:
    def make(name: str) -> CrawlFolder:
        shutil.copytree(crawls[name], tmp_path / name)
        return CrawlFolder(tmp_path / name)

    return make


def parts(found: Verification) -> list[Part]:
    return [finding.part for finding in found.findings]


def quads_of(folder: CrawlFolder) -> set[str]:
    store = QuadStore(folder.store, read_only=True)
    try:
        return {str(quad) for quad in store.quads()}
    finally:
        store.close()


def forget_log(folder: CrawlFolder) -> None:
    """Remove the log and its manifest, as in a folder of an earlier version."""
    shutil.rmtree(folder.quads)
    storage = LmdbStorage(folder.frontier)
    storage.put_note("segments", b"")
    storage.commit()
    storage.close()


def edit_store(folder: CrawlFolder, *, remove_graph: str = "", quad: ox.Quad | None = None) -> None:
    """Change the store as damage would. A child process does it, because a store stays locked in this one."""
    code = "import sys, pyoxigraph as ox\nstore = ox.Store(sys.argv[1])\n"
    code += f"store.remove_graph(ox.NamedNode({remove_graph!r}))\n" if remove_graph else ""
    code += f"store.extend(ox.parse({f'{quad} .'!r}, ox.RdfFormat.N_QUADS))\n" if quad is not None else ""
    subprocess.run([sys.executable, "-c", f"{code}store.flush()", str(folder.store)], check=True)


def test_verify_complete_crawl_finds_no_problem(copy: Callable[[str], CrawlFolder]) -> None:
    found = verify(copy("now"))
    assert (found.findings, found.is_good) == ([], True)
    assert (found.pages, found.stored_pages, found.unindexed_pages) == (PAGES, PAGES, 0)
    assert found.statements >= 2 * PAGES
    assert found.warc_records >= PAGES


def test_verify_store_without_provenance_finds_lost_pages_and_graphs_without_page(
    copy: Callable[[str], CrawlFolder],
) -> None:
    folder = copy("now")
    edit_store(folder, remove_graph="urn:motherlode:provenance")
    found = verify(folder)
    assert {Part.PAGES, Part.GRAPHS} <= set(parts(found))
    assert next(one.count for one in found.findings if one.part is Part.PAGES) == PAGES
    assert next(one.count for one in found.findings if one.part is Part.GRAPHS) == PAGES


def test_verify_statement_outside_pages_is_found(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    node = ox.NamedNode("http://b.example/")
    edit_store(folder, quad=ox.Quad(node, node, node))
    assert [(one.part, one.count) for one in verify(folder).findings] == [(Part.GRAPHS, 1)]


def test_verify_store_of_earlier_crawl_finds_outdated_pages(copy: Callable[[str], CrawlFolder]) -> None:
    folder, earlier = copy("now"), copy("earlier")
    shutil.copy(folder.store / "indexed", earlier.store / "indexed")  # the store claims to be up to date
    shutil.rmtree(folder.store)
    earlier.store.rename(folder.store)
    found = verify(folder)
    assert [(one.part, one.count) for one in found.findings if "earlier visit" in one.problem] == [(Part.PAGES, PAGES)]


def test_repair_queues_pages_lost_by_store_and_log_and_resume_fetches_them(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    forget_log(folder)
    shutil.rmtree(folder.store)
    assert parts(verify(folder)) == [Part.PAGES]
    done = motherlode("verify", folder.path, "--repair")
    assert f"{PAGES} pages queued again" in done.stderr
    motherlode("resume", folder.path, "--quiet")
    assert verify(folder).findings == []


@pytest.mark.parametrize("damage", ["provenance", "files"])
def test_repair_builds_damaged_store_again_from_the_log(copy: Callable[[str], CrawlFolder], damage: str) -> None:
    folder = copy("now")
    before = quads_of(folder)
    if damage == "provenance":
        edit_store(folder, remove_graph="urn:motherlode:provenance")
    else:
        spoil(folder.store)
    assert verify(folder).findings
    done = motherlode("verify", folder.path, "--repair")
    assert f"{PAGES} pages of the log indexed again, 0 lost pages queued again" in done.stderr
    assert verify(folder).findings == []
    assert quads_of(folder) == before
    assert not (folder.path / "store.damaged").exists()


REPORT = ox.Quad(*[ox.NamedNode("http://b.example/")] * 3, ox.NamedNode("urn:motherlode:validation"))


def test_repair_keeps_derived_graph_of_an_earlier_version(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    edit_store(folder, remove_graph="urn:motherlode:provenance", quad=REPORT)
    motherlode("verify", folder.path, "--repair")
    assert str(REPORT) in quads_of(folder)
    assert verify(folder).findings == []


def test_repair_of_unreadable_store_says_how_to_get_the_clusters_again(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    folder.identity.touch()
    spoil(folder.store)
    assert f"`motherlode clusters {folder.path}`" in motherlode("verify", folder.path, "--repair").stderr


def test_repair_of_indexed_log_keeps_the_pages_of_its_damaged_part(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    before = quads_of(folder)
    for segment in folder.quads.glob("segment-*"):
        segment.write_bytes(segment.read_bytes()[:100])
    assert Part.LOG in parts(verify(folder))
    motherlode("verify", folder.path, "--repair")
    assert verify(folder).findings == []
    shutil.rmtree(folder.store)
    motherlode("index", folder.path, "--quiet")
    assert quads_of(folder) == before


def test_damaged_log_with_damaged_store_is_replaced_as_the_messages_say(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    for segment in folder.quads.glob("segment-*"):
        segment.write_bytes(segment.read_bytes()[:100])
    spoil(folder.store)
    advice = f"move {folder.store} away, and `motherlode index {folder.path} --skip-damaged`"
    found = verify(folder)
    assert parts(found) == [Part.LOG, Part.STORE] and advice in found.findings[1].advice
    assert found.pages == PAGES
    assert advice in motherlode("index", folder.path, "--skip-damaged", code=1).stderr
    folder.store.rename(folder.path / "away")
    motherlode("index", folder.path, "--skip-damaged")
    motherlode("resume", folder.path, "--quiet")
    assert verify(folder).findings == []


@pytest.mark.parametrize("command", ["stats", "explain", "pages", "model"])
def test_reading_command_reports_truncated_frontier(copy: Callable[[str], CrawlFolder], command: str) -> None:
    folder = copy("now")
    file = folder.frontier / "data.mdb"
    os.truncate(file, 8192)
    arguments = {"explain": (folder.path, WEB[0][0]), "model": ("show", folder.path)}.get(command, (folder.path,))
    message = motherlode(command, *arguments, code=1).stderr
    assert f"the frontier in {folder.frontier} is damaged" in message and "Put back a copy" in message


def test_verify_removed_store_counts_its_pages_as_unindexed(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    shutil.rmtree(folder.store)
    found = verify(folder)
    assert (found.findings, found.unindexed_pages) == ([], PAGES)
    motherlode("index", folder.path, "--quiet")
    assert verify(folder).findings == []


def test_repair_builds_missing_words_again(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    index = WordIndex(folder.words)
    index._writer.delete_documents_by_term("page", WEB[2][0])  # a lost page
    index.close()
    found = verify(folder)
    assert [(one.part, one.examples) for one in found.findings] == [(Part.WORDS, [WEB[2][0]])]
    repair(folder, found)
    assert found.is_good
    assert verify(folder).findings == []


@pytest.mark.parametrize("is_noticed_at_open", [True, False])
def test_repair_builds_damaged_words_again(copy: Callable[[str], CrawlFolder], *, is_noticed_at_open: bool) -> None:
    folder = copy("now")
    spoil_words(folder.words, is_noticed_at_open=is_noticed_at_open)
    found = verify(folder)
    assert parts(found) == [Part.WORDS]
    repair(folder, found)
    assert found.is_good
    assert verify(folder).findings == []


def test_repair_cuts_incomplete_warc_record_off(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    file = folder.list_warc_files()[-1]
    os.truncate(file, file.stat().st_size - 40)
    found = verify(folder)
    assert parts(found) == [Part.WARC]
    repair(folder, found)
    assert found.is_good
    assert verify(folder).findings == []


def test_verify_changed_warc_record_is_found(copy: Callable[[str], CrawlFolder], tmp_path: Path) -> None:
    folder = copy("now")
    file = folder.list_warc_files()[-1]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    found = verify(folder)
    assert parts(found) == [Part.WARC]
    repair(folder, found)
    assert not found.is_good, "what is lost in the middle of a file cannot be repaired"


def test_verify_unindexed_log_counts_its_pages(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("later")
    found = verify(folder)
    assert (found.findings, found.pages, found.unindexed_pages) == ([], PAGES, PAGES)


def test_repair_damaged_log_queues_its_pages(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("later")
    segment = next(folder.quads.glob("segment-*.nq.gz"))
    os.truncate(segment, segment.stat().st_size // 2)
    assert parts(verify(folder)) == [Part.LOG]
    motherlode("verify", folder.path, "--repair")
    motherlode("resume", folder.path, "--quiet")
    motherlode("index", folder.path, "--quiet")
    assert verify(folder).findings == []


def test_verify_damaged_frontier_is_found_and_not_repaired(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    file = folder.frontier / "data.mdb"
    file.write_bytes(file.read_bytes()[:8192])
    assert parts(verify(folder)) == [Part.FRONTIER]
    done = motherlode("verify", folder.path, "--repair", "--json", code=1)
    assert json.loads(done.stdout)["ok"] is False


def test_verify_damaged_store_is_found(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    edit_store(folder)
    for file in folder.store.glob("*.sst"):
        file.write_bytes(b"\0" * file.stat().st_size)
    assert Part.STORE in parts(verify(folder))


def test_verify_command_reports_problems_with_exit_code_1(copy: Callable[[str], CrawlFolder], tmp_path: Path) -> None:
    folder = copy("now")
    assert "all right" in motherlode("verify", folder.path).stderr
    edit_store(folder, remove_graph="urn:motherlode:provenance")
    done = motherlode("verify", folder.path, code=1)
    assert "6 fetched pages are not in the store" in done.stderr
    assert "what to do: --repair builds the store again from the log" in done.stderr
    assert "has no crawl" in motherlode("verify", tmp_path / "nothing", code=2).stderr


def test_verify_running_crawl_is_wrong_usage(copy: Callable[[str], CrawlFolder]) -> None:
    folder = copy("now")
    folder.lock()
    try:
        assert "is running" in motherlode("verify", folder.path, code=2).stderr
        assert "another process" in motherlode("verify", folder.path, "--repair", code=2).stderr
    finally:
        folder.unlock()
