"""From references to addresses."""

from __future__ import annotations

import pytest

from motherlode.extract.addresses import Addresses, is_asset
from motherlode.www.urls import resolve

BASES = (
    "http://example.org/a/b/c?d=e",
    "http://example.org",
    "https://example.org:8080/x/",
    "http://example.org/?q=/a/b",
)
REFERENCES = (
    "x",
    "./x",
    "../x",
    "/x",
    "//other.example/x",
    "?x",
    "x?y",
    "x/",
    "http://other.example",
    "HTTPS:x",
    "a:b",
)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("reference", REFERENCES)
def test_what_is_remembered_is_what_resolution_gives(base: str, reference: str) -> None:
    assert Addresses(base).page(reference) == resolve(base, reference)


def test_assets() -> None:
    yes = (
        "http://example.org/a.css",
        "http://example.org/a.js?v=1",
        "http://example.org/a.woff2",
        "http://e.org/a.mp4",
    )
    no = ("http://example.org/a.html", "http://example.org/a", "http://example.org/a.rdf", "http://example.png/")
    assert all(map(is_asset, yes))
    assert not any(map(is_asset, no))
