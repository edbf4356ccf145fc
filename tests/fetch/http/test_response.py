"""Statuses, Retry-After, and useless bodies."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.http.response import failure_from_status, is_useless, parse_retry_after
from motherlode.model import FailureKind

URL = "http://ex.org/dir/page"
NOW = "Thu, 01 Jan 2026 00:00:00 GMT"


@pytest.mark.parametrize("status", [200, 201, 203, 204, 206, 299])
def test_status_2xx_is_no_failure(status: int) -> None:
    assert failure_from_status(URL, status, {}) is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (304, FailureKind.NOT_MODIFIED),
        (400, FailureKind.CLIENT_ERROR),
        (401, FailureKind.FORBIDDEN),
        (402, FailureKind.FORBIDDEN),
        (403, FailureKind.FORBIDDEN),
        (404, FailureKind.NOT_FOUND),
        (406, FailureKind.CLIENT_ERROR),
        (407, FailureKind.FORBIDDEN),
        (408, FailureKind.SERVER_ERROR),
        (410, FailureKind.NOT_FOUND),
        (418, FailureKind.CLIENT_ERROR),
        (421, FailureKind.SERVER_ERROR),
        (425, FailureKind.SERVER_ERROR),
        (429, FailureKind.TOO_MANY),
        (451, FailureKind.FORBIDDEN),
        (499, FailureKind.CLIENT_ERROR),
        (500, FailureKind.SERVER_ERROR),
        (502, FailureKind.SERVER_ERROR),
        (503, FailureKind.UNAVAILABLE),
        (504, FailureKind.SERVER_ERROR),
        (509, FailureKind.UNAVAILABLE),
        (529, FailureKind.UNAVAILABLE),
        (599, FailureKind.SERVER_ERROR),
        (999, FailureKind.SERVER_ERROR),
        (0, FailureKind.SERVER_ERROR),
        (101, FailureKind.PROTOCOL),
        (305, FailureKind.REDIRECT_BROKEN),
        (306, FailureKind.REDIRECT_BROKEN),
        (399, FailureKind.REDIRECT_BROKEN),
    ],
)
def test_status_has_expected_failure_kind(status: int, kind: FailureKind) -> None:
    found = failure_from_status(URL, status, {"location": "/elsewhere", "x": "y"})
    assert found is not None
    assert (found.kind, found.status, found.url, found.headers["x"]) == (kind, status, URL, "y")
    assert found.location == ""
    assert str(status) in found.detail


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/new", "http://ex.org/new"),
        ("new", "http://ex.org/dir/new"),
        ("//other.example/x", "http://other.example/x"),
        ("https://ex.org/dir/page", "https://ex.org/dir/page"),
        ("HTTP://EX.org:80/a/../b#c", "http://ex.org/b"),
        ("http://user:secret@ex.org/x", "http://ex.org/x"),
        (" /spaced ", "http://ex.org/spaced"),
        ("?q=1", "http://ex.org/dir/page?q=1"),
    ],
)
def test_redirect_has_resolved_location(status: int, location: str, target: str) -> None:
    found = failure_from_status(URL, status, {"location": location})
    assert found is not None
    assert (found.kind, found.location) == (FailureKind.REDIRECT, target)


@pytest.mark.parametrize(
    "target", [f"{URL};jsessionid=12", f"{URL}?PHPSESSID=ab", f"{URL}?utm_source=x", f"{URL}?", URL.replace("d", "%64")]
)
def test_redirect_to_itself_with_session_keeps_session(target: str) -> None:
    """Without the session id, the server would redirect again and the page would be unreachable."""
    found = failure_from_status(URL, 302, {"location": target.replace("//", "//ann:secret@") + "#top"})
    assert found is not None
    assert (found.kind, found.location) == (FailureKind.REDIRECT, target)
    back = failure_from_status(target, 302, {"location": f"{URL};jsessionid=13"})
    assert back is not None
    assert back.location == URL, "a known URL, so that there is no loop"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "headers",
    [
        *({}, {"location": ""}, {"location": "file:///etc/passwd"}, {"location": "http://"}, {"location": "data:,x"}),
        *({"location": URL}, {"location": "#top"}, {"location": "http://ex.org:99999/"}, {"location": "http://a b/"}),
        *({"location": "http://ann:secret@ex.org/dir/page"}, {"location": "http://ex.org./dir/page"}),
    ],
)
def test_redirect_without_usable_location_is_broken(status: int, headers: dict[str, str]) -> None:
    found = failure_from_status(URL, status, headers)
    assert found is not None
    assert found.kind is FailureKind.REDIRECT_BROKEN
    assert found.location == ""


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 120 ", 120.0),
        ("Thu, 01 Jan 2026 00:01:30 GMT", 90.0),
        ("Thursday, 01-Jan-26 00:01:30 GMT", 90.0),
        ("Thu Jan  1 00:01:30 2026", 90.0),
        ("Thu, 01 Jan 2026 01:01:30 +0100", 90.0),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("7.5", 7.0),
        ("60 seconds", 60.0),
        ("60s", 60.0),
        ("60 minutes", None),
        ("٣", None),
        ("Thu, 01 Jan 99999999999999 00:00:00 GMT", None),
        ("Thu, 01 Jan 2026 00:00:00 +9999999999999999999999", None),
        ("Thu, 99 Jan 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_parsed(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, date=NOW) == seconds


@settings(deadline=None)
@given(st.text(max_size=60) | st.from_regex(r"(\w{3}, )?[\d :+-]{0,40} \w{3} [\d :+-]{0,30}"))
def test_retry_after_with_any_text_does_not_raise(value: str) -> None:
    found = parse_retry_after(value, date=NOW)
    assert found is None or 0 <= found < timedelta(days=366 * 10_000).total_seconds()


def test_retry_after_date_is_relative_to_server_clock() -> None:
    late = {"date": "Thu, 01 Jan 2015 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2015 00:05:00 GMT"}
    found = failure_from_status(URL, 503, late)
    assert found is not None
    assert found.retry_after == 300.0
    without = failure_from_status(URL, 503, {**late, "date": "?"})
    assert without is not None
    assert without.retry_after == 0.0, "then our own clock is used"


def test_retry_after_with_many_digits_is_bounded() -> None:
    found = parse_retry_after("9" * 400)
    assert found is not None
    assert found < 1e9


@pytest.mark.parametrize(
    ("content_type", "head"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n"),
        ("image/jpeg", b""),
        ("IMAGE/PNG; foo=bar", b"\x89PNG"),
        ("video/mp4", b"\x00\x00\x00\x18ftyp"),
        ("font/woff2", b"wOF2"),
        ("application/pdf", b"%PDF-1.7"),
        ("application/vnd.ms-excel", b"\xd0\xcf"),
        ("text/css", b"body { color: red }"),
        ("text/javascript", b"var x = 1;"),
        ("application/javascript", b"(function() {"),
    ],
)
def test_is_useless_if_type_and_first_bytes_agree(content_type: str, head: bytes) -> None:
    assert is_useless(content_type, head)


@pytest.mark.parametrize(
    ("content_type", "head"),
    [
        ("text/html", b"\x89PNG"),
        ("", b"\x89PNG"),
        ("image/svg+xml", b"<svg"),
        ("image/png", b"  <!DOCTYPE html>"),
        ("image/png", b"\xef\xbb\xbf<html"),
        ("text/css", b"@prefix ex: <http://ex.org/> ."),
        ("application/pdf", b"PREFIX ex: <http://ex.org/>"),
        ("application/javascript", b'{"@context": "http://schema.org"}'),
        ("application/octet-stream", b"<a> <b> <c> ."),
        ("application/octet-stream", b"# a comment, then Turtle"),
        ("text/plain", b"x"),
        ("application/gzip", b"\x1f\x8b"),
        ("application/json", b"x"),
    ],
)
def test_is_useless_is_false_if_body_may_contain_data_or_links(content_type: str, head: bytes) -> None:
    assert not is_useless(content_type, head)


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({}, FailureKind.FORBIDDEN),
        ({"retry-after": "0"}, FailureKind.FORBIDDEN),
        ({"retry-after": "60"}, FailureKind.TOO_MANY),
    ],
)
def test_status_403_with_retry_after_is_rate_limit(headers: dict[str, str], kind: FailureKind) -> None:
    failure = failure_from_status("http://ex.org/", 403, headers)
    assert failure is not None
    assert failure.kind is kind
