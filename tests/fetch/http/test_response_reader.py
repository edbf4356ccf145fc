"""Reading of responses: pages, and failures as early as possible."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest

from motherlode.fetch.http.decoding import max_encoded_bytes
from motherlode.fetch.http.response import MAX_FAILURE_BODY_BYTES, ResponseReader, failure_from_status
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind
from tests.www.challenge_pages import CHALLENGES, HARMLESS

URL = "http://ex.org/"


def intake(
    kind: RequestKind = RequestKind.PAGE, *, max_body_bytes: int = 1000, useful: tuple[str, ...] = ()
) -> ResponseReader:
    return ResponseReader(Request(url=URL, kind=kind), max_body_bytes=max_body_bytes, useful=useful)


def result(made: ResponseReader) -> Page | Failure:
    return made.result(began=1.0, elapsed=2.0, address="192.0.2.1")


def test_reader_plain_response_gives_page() -> None:
    made = intake()
    assert made.receive_head(200, {"content-type": "text/html"})
    assert made.receive_body(b"<p>")
    assert made.receive_body(b"hello")
    assert result(made) == Page(
        url=URL,
        status=200,
        headers={"content-type": "text/html"},
        body=b"<p>hello",
        address="192.0.2.1",
        fetched_at=1.0,
        elapsed=2.0,
        wire_bytes=8,
    )


def test_reader_failure_status_wants_no_body() -> None:
    made = intake()
    assert not made.receive_head(404, {})
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.status, found.address) == (FailureKind.NOT_FOUND, 404, "192.0.2.1")
    assert (found.fetched_at, found.elapsed) == (1.0, 2.0)


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
def test_reader_body_is_truncated_one_byte_after_limit(size: int, *, truncated: bool) -> None:
    made = intake()
    assert made.receive_head(200, {})
    assert made.receive_body(b"x" * size) is not truncated
    found = result(made)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated) == (min(size, 1000), truncated)


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"content-length": "1001"}, FailureKind.TOO_LARGE),
        ({"content-length": "1001", "content-encoding": "gzip"}, FailureKind.TOO_LARGE),
        ({"content-length": "1000"}, None),
        ({"content-length": "1001", "transfer-encoding": "chunked"}, None),
        ({"content-length": "many"}, None),
        ({"content-length": "1001", "content-type": "image/png"}, None),
    ],
)
def test_reader_ends_before_body_if_length_is_above_limit(headers: dict[str, str], kind: FailureKind | None) -> None:
    made = intake()
    assert made.receive_head(200, headers) is (kind is None)
    found = result(made)
    assert kind is None or (isinstance(found, Failure) and found.kind is kind)


@pytest.mark.parametrize(
    ("body", "kind"), [(b"\x89PNG" + bytes(80), FailureKind.USELESS), (b"<html>" + b" " * 80, FailureKind.TOO_LARGE)]
)
def test_reader_of_long_image_reads_its_first_bytes(body: bytes, kind: FailureKind) -> None:
    made = intake()
    assert made.receive_head(200, {"content-length": "1001", "content-type": "image/png"})
    assert not made.receive_body(body)
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is kind


def test_reader_of_long_robots_txt_reads_up_to_limit() -> None:
    made = intake(RequestKind.ROBOTS)
    assert made.receive_head(200, {"content-length": "1001"})


def test_reader_counts_wire_bytes_and_decoded_bytes() -> None:
    packed = gzip.compress(b"x" * 5000)
    made = intake()
    assert made.receive_head(200, {"content-encoding": "gzip"})
    assert not made.receive_body(packed)
    found = result(made)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated, found.wire_bytes) == (1000, True, len(packed))


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_reader_undecodable_body_is_protocol_failure(encoding: str) -> None:
    made = intake()
    assert made.receive_head(200, {"content-encoding": encoding})
    assert not made.receive_body(b"\xff\xff\xff not packed at all")
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.PROTOCOL
    assert found.detail


@pytest.mark.parametrize("encoding", ["rot13", "text/html", "windows-1252", "gzip, rot13", "gzip;q=1", "gzip, " * 5])
@pytest.mark.parametrize("kind", [RequestKind.PAGE, RequestKind.ROBOTS])
def test_reader_unknown_coding_keeps_bytes(encoding: str, kind: RequestKind) -> None:
    made = intake(kind)
    assert made.receive_head(200, {"content-encoding": encoding})
    assert made.receive_body(b"User-agent: *")
    found = result(made)
    assert isinstance(found, Page)
    assert (found.body, found.truncated) == (b"User-agent: *", False)


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress)])
def test_reader_is_complete_at_end_of_encoded_stream(  # type: ignore[no-untyped-def]
    encoding: str, pack
) -> None:
    made = intake()
    packed = pack(b"hello")
    assert made.receive_head(200, {"content-encoding": encoding})
    assert not made.is_complete
    assert made.receive_body(packed[:5])
    assert not made.is_complete
    assert made.receive_body(packed[5:])
    assert made.is_complete
    assert made.receive_body(b"\0" * 1000), "most likely it is short, and the connection can be reused"
    assert not made.receive_body(b"\0" * 20_000)
    found = result(made)
    assert isinstance(found, Page)
    assert (found.body, found.truncated) == (b"hello", False)
    assert found.wire_bytes == len(packed) + 21_000


def test_reader_plain_body_is_never_complete_by_itself() -> None:
    made = intake()
    assert made.receive_head(200, {})
    assert made.receive_body(b"hello")
    assert not made.is_complete


def test_reader_encoded_bytes_are_bounded() -> None:
    made = intake()
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b"hello") + packer.flush(zlib.Z_FULL_FLUSH)
    assert made.receive_head(200, {"content-encoding": "gzip"})
    assert made.receive_body(start)
    nothing = b"\0\0\0\xff\xff" * 100
    came = len(start)
    while made.receive_body(nothing) and came < 1_000_000:
        came += len(nothing)
    assert came <= max_encoded_bytes(1000) < came + len(nothing)
    found = result(made)
    assert isinstance(found, Page)
    assert (found.body, found.truncated) == (b"hello", True), "more may have followed"


def test_reader_too_many_members_truncate_page() -> None:
    made = intake()
    assert made.receive_head(200, {"content-encoding": "gzip"})
    assert made.receive_body(gzip.compress(b"hello"))
    assert made.receive_body(gzip.compress(b"") * 1000)
    assert not made.receive_body(gzip.compress(b"") * 100_000)
    found = result(made)
    assert isinstance(found, Page)
    assert (found.body, found.truncated) == (b"hello", True)


def test_reader_incompressible_body_is_within_limits() -> None:
    made = intake(max_body_bytes=1_000_000)
    plain = bytes(range(256)) * 3906
    packed = b"".join(
        gzip.compress(plain[place : place + 1000], compresslevel=0) for place in range(0, len(plain), 1000)
    )
    assert made.receive_head(200, {"content-encoding": "gzip"})
    assert made.receive_body(packed)
    found = result(made)
    assert isinstance(found, Page)
    assert (found.body, found.truncated) == (plain, False)


def test_reader_useless_body_ends_after_first_bytes() -> None:
    made = intake()
    assert made.receive_head(200, {"content-type": "image/png"})
    assert made.receive_body(b"\x89PNG" + bytes(40)), "too few bytes to decide"
    assert not made.receive_body(bytes(40))
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.status, found.wire_bytes) == (FailureKind.USELESS, 200, 84)
    assert found.headers == {"content-type": "image/png"}, "its WARC record must say why it is empty"


def test_reader_short_useless_body_is_checked_at_its_end() -> None:
    made = intake()
    assert made.receive_head(200, {"content-type": "image/png"})
    assert made.receive_body(b"\x89PNG")
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.USELESS


@pytest.mark.parametrize(
    ("kind", "useful"), [(RequestKind.ROBOTS, ()), (RequestKind.SUBREQUEST, ()), (RequestKind.PAGE, ("image/*",))]
)
def test_reader_useful_media_type_is_not_checked(kind: RequestKind, useful: tuple[str, ...]) -> None:
    made = intake(kind, useful=useful)
    assert made.receive_head(200, {"content-type": "image/png"})
    assert made.receive_body(b"\x89PNG" + bytes(400))
    assert isinstance(result(made), Page)


@pytest.mark.parametrize("name", CHALLENGES)
@pytest.mark.parametrize("encoded", [False, True])
def test_reader_challenge_page_gives_failure_with_its_product(name: str, *, encoded: bool) -> None:
    product, status, headers, body = CHALLENGES[name]
    made = intake()
    given = {**headers, "content-encoding": "gzip"} if encoded and body else headers
    sent = gzip.compress(body) if encoded else body
    if made.receive_head(status, dict(given)) and body:
        made.receive_body(sent[:10])
        made.receive_body(sent[10:])
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.challenged_by, found.status) == (FailureKind.CHALLENGED, product, status)
    assert found.detail == f"the server answered {status} with a challenge or block page ({product.value})"


@pytest.mark.parametrize("name", [name for name in HARMLESS if name.startswith("plain")])
def test_reader_plain_failure_keeps_its_kind(name: str) -> None:
    status, headers, body = HARMLESS[name]
    made = intake()
    assert made.receive_head(status, dict(headers))
    made.receive_body(body)
    found, expected = result(made), failure_from_status(URL, status, headers)
    assert isinstance(found, Failure)
    assert expected is not None
    assert (found.kind, found.challenged_by) == (expected.kind, None)


def test_reader_challenge_keeps_retry_after() -> None:
    made = intake()
    _, status, headers, body = CHALLENGES["cloudflare-managed"]
    assert made.receive_head(status, {**headers, "retry-after": "30"})
    made.receive_body(body)
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.retry_after) == (FailureKind.CHALLENGED, 30.0)


def test_reader_long_failure_body_is_not_read_to_its_end() -> None:
    made = intake()
    assert made.receive_head(404, {"content-type": "text/html"})
    assert not made.receive_body(b"x" * MAX_FAILURE_BODY_BYTES)
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.NOT_FOUND
