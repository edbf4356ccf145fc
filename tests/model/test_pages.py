"""Pages, failures and requests."""

from __future__ import annotations

import dataclasses

import pytest

from motherlode.frontier.leases import TREATMENTS
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind


@pytest.mark.parametrize(
    ("headers", "content_type"),
    [({"content-type": "text/html; charset=x"}, "text/html; charset=x"), ({"content-length": "3"}, ""), ({}, "")],
)
def test_page_content_type_is_the_header_or_empty(headers: dict[str, str], content_type: str) -> None:
    assert Page(url="http://a.example/", status=200, headers=headers).content_type == content_type


def test_every_failure_kind_has_a_retry_rule() -> None:
    assert set(TREATMENTS) == set(FailureKind)


def test_page_and_failure_share_field_names() -> None:
    """Code that only counts bytes, seconds or addresses need not distinguish the two types."""
    common = {"url", "status", "headers", "address", "fetched_at", "elapsed", "wire_bytes", "recalled"}
    for noun in (Page, Failure):
        assert common <= {field.name for field in dataclasses.fields(noun)}, noun


def test_request_defaults_to_page_and_pages_do_not_share_headers() -> None:
    request = Request(url="http://a.example/")
    assert (request.kind, request.posting, request.etag) == (RequestKind.PAGE, None, "")
    first, second = Page(url="http://a.example/", status=200), Page(url="http://b.example/", status=200)
    assert first.headers is not second.headers


def test_page_failure_and_request_are_immutable() -> None:
    for noun in (Page(url="u", status=200), Failure(url="u", kind=FailureKind.DNS), Request(url="u")):
        with pytest.raises(AttributeError):
            noun.url = "x"  # type: ignore[misc]
