"""Recognition of challenge and block pages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from motherlode.model import ChallengeProduct
from motherlode.www import challenges
from motherlode.www.challenges import MAX_CHALLENGE_BYTES, find_challenge, may_be_challenge

from ..support import shared
from .challenge_pages import ARTICLES, CHALLENGES, HARMLESS, HTML


@pytest.mark.parametrize("name", CHALLENGES)
def test_find_challenge_of_a_challenge_page_returns_its_product(name: str) -> None:
    product, status, headers, body = CHALLENGES[name]
    assert find_challenge(status, headers, body) is product


@pytest.mark.parametrize("name", CHALLENGES)
def test_find_challenge_after_many_bodies_scans_and_finds_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(challenges, "_MAX_PLAIN_SEARCHES", 0)
    test_find_challenge_of_a_challenge_page_returns_its_product(name)


def test_samples_cover_every_product() -> None:
    assert {product for product, *_ in CHALLENGES.values()} == set(ChallengeProduct)


@pytest.mark.parametrize("status", [200, 403, 503])
@pytest.mark.parametrize("name", ARTICLES)
def test_find_challenge_of_an_article_that_quotes_markers_returns_none(name: str, status: int) -> None:
    assert find_challenge(status, HTML, ARTICLES[name]) is None


@pytest.mark.parametrize("name", HARMLESS)
def test_find_challenge_of_an_ordinary_response_returns_none(name: str) -> None:
    assert find_challenge(*HARMLESS[name]) is None


def test_find_challenge_of_a_long_page_returns_none() -> None:
    _, status, headers, body = CHALLENGES["cloudflare-managed"]
    text = b"<p>" + b"A page with much text. " * 250 + b"</p></body>"
    assert find_challenge(status, headers, body.replace(b"</body>", text)) is None
    assert find_challenge(status, headers, body + b" " * MAX_CHALLENGE_BYTES) is None


@pytest.mark.parametrize(
    "body", [b"<" * 60_000, b"<title>just a moment" + b"<div>" * 10_000, b"_pxUuid" + b"'\"" * 30_000]
)
def test_find_challenge_of_broken_markup_raises_nothing(body: bytes) -> None:
    assert find_challenge(200, HTML, b"<script>" + body) is None
    assert find_challenge(200, HTML, body) is None


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (403, HTML, True),
        (404, HTML, True),
        (404, {}, False),
        (503, {"content-type": "application/json"}, True),
        (403, {"content-type": "image/png"}, False),
        (403, {**HTML, "content-length": "0"}, False),
        (403, {**HTML, "content-length": str(MAX_CHALLENGE_BYTES + 1)}, False),
        (301, HTML, False),
    ],
)
def test_may_be_challenge_depends_on_status_type_and_length(
    *, status: int, headers: dict[str, str], expected: bool
) -> None:
    assert may_be_challenge(status, headers) is expected


def test_find_challenge_of_the_recorded_pages_finds_none_and_parses_hardly_any(monkeypatch: pytest.MonkeyPatch) -> None:
    found, pages, parsed = [], 0, []
    parse = challenges._parse
    monkeypatch.setattr(challenges, "_parse", lambda body: parsed.append(body) or parse(body))
    with shared("corpus", "sites.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            headers = {name.lower(): value for name, value in record.http_headers.items()}
            body = record.reader.read()
            for status in (record.http_headers.status_code, 403):
                product = find_challenge(status, headers, body)
                pages += 1
                if product is not None:
                    found.append((record.headers["WARC-Target-URI"], status, product))
    assert not found
    assert pages > 10_000
    assert len(parsed) < pages / 100


def test_find_challenge_in_several_threads_finds_the_same() -> None:
    product, status, headers, body = next(iter(CHALLENGES.values()))
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda one: find_challenge(status, headers, one), [body] * 64)) == {product}
