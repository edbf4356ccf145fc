"""Answers as they come in: pages, and failures as soon as they are certain."""

from __future__ import annotations

import gzip

import pytest

from motherlode.fetch.intake import Intake
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind

URL = "http://ex.org/"


def intake(kind: RequestKind = RequestKind.PAGE, *, most: int = 1000, useful: tuple[str, ...] = ()) -> Intake:
    return Intake(Request(url=URL, kind=kind), most=most, useful=useful)


def result(made: Intake) -> Page | Failure:
    return made.result(began=1.0, elapsed=2.0, address="192.0.2.1")


def test_a_page() -> None:
    made = intake()
    assert made.head(200, {"content-type": "text/html"})
    assert made.piece(b"<p>")
    assert made.piece(b"hello")
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


def test_a_status_that_is_a_failure_wants_no_body() -> None:
    made = intake()
    assert not made.head(404, {})
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.status, found.address) == (FailureKind.NOT_FOUND, 404, "192.0.2.1")
    assert (found.fetched_at, found.elapsed) == (1.0, 2.0)


@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True)])
def test_one_byte_more_than_the_limit_is_enough(size: int, *, truncated: bool) -> None:
    made = intake()
    assert made.head(200, {})
    assert made.piece(b"x" * size) is not truncated
    found = result(made)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated) == (min(size, 1000), truncated)


def test_an_unpacked_body_is_counted_by_what_comes_out_and_what_came_in() -> None:
    packed = gzip.compress(b"x" * 5000)
    made = intake()
    assert made.head(200, {"content-encoding": "gzip"})
    assert not made.piece(packed)
    found = result(made)
    assert isinstance(found, Page)
    assert (len(found.body), found.truncated, found.wire_bytes) == (1000, True, len(packed))


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_what_cannot_be_unpacked_is_a_failure_at_once(encoding: str) -> None:
    made = intake()
    assert made.head(200, {"content-encoding": encoding})
    assert not made.piece(b"\xff\xff\xff not packed at all")
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.PROTOCOL
    assert found.detail


def test_a_useless_body_ends_after_its_first_bytes() -> None:
    made = intake()
    assert made.head(200, {"content-type": "image/png"})
    assert made.piece(b"\x89PNG" + bytes(40)), "too few to be judged"
    assert not made.piece(bytes(40))
    found = result(made)
    assert isinstance(found, Failure)
    assert (found.kind, found.status, found.wire_bytes) == (FailureKind.USELESS, 200, 84)
    assert found.headers == {"content-type": "image/png"}, "or nobody who reads its WARC record knows why it is empty"


def test_a_short_one_is_judged_at_its_end() -> None:
    made = intake()
    assert made.head(200, {"content-type": "image/png"})
    assert made.piece(b"\x89PNG")
    found = result(made)
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.USELESS


@pytest.mark.parametrize(
    ("kind", "useful"), [(RequestKind.ROBOTS, ()), (RequestKind.ERRAND, ()), (RequestKind.PAGE, ("image/*",))]
)
def test_what_somebody_wants_is_not_judged(kind: RequestKind, useful: tuple[str, ...]) -> None:
    made = intake(kind, useful=useful)
    assert made.head(200, {"content-type": "image/png"})
    assert made.piece(b"\x89PNG" + bytes(400))
    assert isinstance(result(made), Page)
