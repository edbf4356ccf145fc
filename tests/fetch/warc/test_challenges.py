"""Challenge and block pages in a recorded web."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.fetch import RecordedWeb
from motherlode.model import Failure, FailureKind, Page
from tests.support import write_warc
from tests.www.challenge_pages import CHALLENGES, HTML

PAGE = b"<title>A page</title><p>text"
Record = tuple[str, int, dict[str, str], bytes]


async def replay(folder: Path, records: list[Record], *urls: str) -> list[Page | Failure]:
    web = RecordedWeb(write_warc(folder / "a.warc.gz", records))
    found = [web.read_response(url) for url in urls]
    await web.close()
    return found


@pytest.mark.parametrize("name", CHALLENGES)
async def test_recorded_challenge_is_a_challenge_again(tmp_path: Path, name: str) -> None:
    product, status, headers, body = CHALLENGES[name]
    (found,) = await replay(tmp_path, [("http://ex.org/", status, headers, body)], "http://ex.org/")
    assert isinstance(found, Failure)
    assert (found.kind, found.challenged_by) == (FailureKind.CHALLENGED, product)


@pytest.mark.parametrize("status", [200, 403])
async def test_recorded_challenge_with_its_body_in_another_record_is_a_challenge(tmp_path: Path, status: int) -> None:
    body = CHALLENGES["cloudflare-managed"][3] + b" " * 1024  # long enough to be written once
    urls = ("http://ex.org/a", "http://ex.org/b")
    found = await replay(tmp_path, [(url, status, HTML, body) for url in urls], *urls)
    assert [response.kind for response in found if isinstance(response, Failure)] == [FailureKind.CHALLENGED] * 2


async def test_recorded_page_before_a_challenge_counts(tmp_path: Path) -> None:
    _, status, headers, body = CHALLENGES["anubis-page"]
    records: list[Record] = [("http://ex.org/", 200, HTML, PAGE), ("http://ex.org/", status, headers, body)]
    (found,) = await replay(tmp_path, records, "http://ex.org/")
    assert isinstance(found, Page)
    assert found.body == PAGE
