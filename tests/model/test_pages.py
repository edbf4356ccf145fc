"""Pages and failures, and that every kind of failure is treated somewhere."""

from __future__ import annotations

import dataclasses

import pytest

from motherlode.frontier.backoff import TREATMENTS
from motherlode.model import Failure, FailureKind, Page, Request, RequestKind


@pytest.mark.parametrize(
    ("headers", "content_type"),
    [({"content-type": "text/html; charset=x"}, "text/html; charset=x"), ({"content-length": "3"}, ""), ({}, "")],
)
def test_the_content_type_is_the_header_or_nothing(headers: dict[str, str], content_type: str) -> None:
    assert Page(url="http://a.example/", status=200, headers=headers).content_type == content_type


def test_every_kind_of_failure_has_its_treatment() -> None:
    assert set(TREATMENTS) == set(FailureKind)


def test_what_page_and_failure_have_in_common_has_one_name() -> None:
    """Those who only count (bytes, seconds, addresses) need not ask which of the two they have."""
    common = {"url", "status", "headers", "address", "fetched_at", "elapsed", "wire_bytes", "recalled"}
    for noun in (Page, Failure):
        assert common <= {field.name for field in dataclasses.fields(noun)}, noun


def test_a_request_is_for_a_page_unless_it_says_otherwise_and_no_two_share_headers() -> None:
    request = Request(url="http://a.example/")
    assert (request.kind, request.posting, request.etag) == (RequestKind.PAGE, None, "")
    first, second = Page(url="http://a.example/", status=200), Page(url="http://b.example/", status=200)
    assert first.headers is not second.headers


def test_nouns_cannot_be_changed() -> None:
    for noun in (Page(url="u", status=200), Failure(url="u", kind=FailureKind.DNS), Request(url="u")):
        with pytest.raises(AttributeError):
            noun.url = "x"  # type: ignore[misc]
