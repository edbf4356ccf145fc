"""The file tdmrep.json."""

from __future__ import annotations

import json

import pytest

from motherlode.fetch.tdm_file import parse_tdm_file

EXAMPLE = [  # of the TDM Reservation Protocol, section "Examples"
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": "https://provider.com/policies/policy.json"},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
]


@pytest.mark.parametrize(
    ("path", "uses", "policy"),
    [
        ("/directory-a/x.pdf", {"tdm": False}, ""),
        ("/directory-b/html/y", {"tdm": False}, "https://provider.com/policies/policy.json"),
        ("/directory-b/images/z/a.jpg?x", {"tdm": True}, ""),
        ("/directory-b/images/a.png", {}, ""),
        ("/Directory-a/x", {}, ""),
        ("/", {}, ""),
    ],
)
def test_parse_tdm_file_of_the_example(path: str, uses: dict[str, bool], policy: str) -> None:
    found = parse_tdm_file(json.dumps(EXAMPLE).encode()).preferences(f"https://provider.com{path}")
    assert (found.uses, found.tdm_policy) == (uses, policy)


def test_parse_tdm_file_first_match_decides() -> None:
    rules = [{"location": "/a/b$", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]
    found = parse_tdm_file(json.dumps(rules).encode())
    assert [found.preferences(f"http://a.example{path}").uses for path in ("/a/b", "/a/bc")] == [
        {"tdm": True},
        {"tdm": False},
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b"[1, null, []]",
        b'[{"location": 1, "tdm-reservation": 1}]',
        b'[{"location": "/", "tdm-reservation": 2}]',
        b'[{"tdm-reservation": 1}]',
        b"\xff\xfe",
    ],
)
def test_parse_tdm_file_of_something_else_states_nothing(body: bytes) -> None:
    assert parse_tdm_file(body).preferences("http://a.example/").uses == {}


def test_parse_tdm_file_with_byte_order_mark_is_read() -> None:
    found = parse_tdm_file(b'\xef\xbb\xbf[{"location": "/", "tdm-reservation": "1"}]')
    assert found.preferences("http://a.example/").reserved == ["tdm"]
