"""A live crawl that writes WARC files, and the same crawl of these files."""

from __future__ import annotations

from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.crawler.changing_web import ChangingWeb, Document, job_file, motherlode, serving

NAMED = '<p vocab="http://schema.org/" typeof="Place"><b property="name">{}</b></p>'


def _page(name: str, *links: str, **headers: str) -> Document:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Document(text=NAMED.format(name) + anchors, headers=headers)


def _site() -> ChangingWeb:
    return ChangingWeb(
        {
            "/": _page("home", "/same", "/copy/1", "/copy/2", "/moved", "/picture", "/gone", "/zürich", ETag='"h"'),
            "/same": _page("same", ETag='"v1"'),
            "/copy/1": _page("copy" + " of one" * 200),
            "/copy/2": _page("copy" + " of one" * 200),
            "/moved": Document(status=302, headers={"Location": "/straße"}),
            "/straße": _page("street"),
            "/zürich": _page("town"),
            "/picture": Document(text="\x01" * 500, content_type="image/png"),
        }
    )


async def _statements(folder: Path) -> str:
    asked = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } FILTER(?g != <urn:motherlode:provenance>) } ORDER BY ?g ?p ?o"
    return await motherlode("query", str(folder), asked, "--format", "csv")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("probe", ["never", "always"])
async def test_crawl_of_its_own_warc_files_finds_the_same_statements(tmp_path: Path, probe: str) -> None:
    live, again, whole = tmp_path / "live", tmp_path / "again", tmp_path / "all.warc.gz"
    async with serving(_site()) as site:
        job = job_file(tmp_path / "job.toml", site, probe=probe)
        await motherlode("crawl", "--config", str(job), "-o", str(live), "--warc", "--quiet")
        site.pages["/same"].status = 500  # a page with a server error keeps its statements
        await motherlode("crawl", "--refresh", "-o", str(live), "--quiet")
        heads = len(site.asked("HEAD"))
    await motherlode("export", str(live), "--format", "warc", "-o", str(whole))
    await motherlode("crawl", "--config", str(job), "-o", str(again), "--web", str(whole), "--quiet")
    found = await _statements(live)
    assert found == await _statements(again)
    assert {"home", "same", "street", "town"} < {line.rpartition(",")[2].strip() for line in found.splitlines()}
    assert _kinds(whole) >= {"warcinfo", "response", "request", "revisit"}
    assert bool(heads) == (probe == "always")


def _kinds(path: Path) -> set[str]:
    """Return the record types, as read by another WARC library."""
    command = type("command", (), {"inputs": [str(path)], "verbose": False})
    assert Checker(command).process_all() in (0, None)
    with path.open("rb") as file:
        return {record.rec_type for record in ArchiveIterator(file)}
