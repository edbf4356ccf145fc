from __future__ import annotations

import re

import pytest

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax
from motherlode.www.media_types import (
    ACCEPT,
    MEDIA,
    by_extension,
    by_magic,
    by_media_type,
    by_root,
    essence,
    extension_of,
    file_extension,
    fits,
)


def test_media_table_covers_every_kind() -> None:
    assert set(MEDIA) == set(ContentKind)
    assert all(row.kind is kind for kind, row in MEDIA.items())


@pytest.mark.parametrize("fact", ["media_types", "extensions", "magic", "roots"])
def test_media_table_no_fact_belongs_to_two_kinds(fact: str) -> None:
    values = [value for row in MEDIA.values() for value in getattr(row, fact)]
    assert len(values) == len(set(values))


def test_media_table_every_document_syntax_has_one_kind() -> None:
    syntaxes = [row.syntax for row in MEDIA.values() if row.syntax is not None]
    assert sorted(s.value for s in syntaxes) == sorted(s.value for s in DOCUMENT_SYNTAXES | {Syntax.JSON_LD})


def test_media_table_facts_are_in_lookup_form() -> None:
    for row in MEDIA.values():
        assert all(re.fullmatch(r"[a-z]+/[a-z0-9.+\-]+", media_type) for media_type in row.media_types)
        assert all(extension == extension.lower() and "." not in extension for extension in row.extensions)
        assert all(marker == marker.lower() for marker in row.markers)


def test_accept_prefers_rdf_and_takes_anything() -> None:
    qualities = {}
    for part in ACCEPT.split(", "):
        media_type, _, quality = part.partition(";q=")
        qualities[media_type] = float(quality or 1)
    html = qualities["text/html"]
    for row in MEDIA.values():
        if row.is_rdf:
            assert qualities[row.media_types[0]] > html
    assert html > qualities["application/xml"] > qualities["*/*"] > 0


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/turtle;charset=UTF-8", ContentKind.TURTLE),
        ("APPLICATION/X-TURTLE", ContentKind.TURTLE),
        ("text/rdf+n3", ContentKind.N3),
        ("application/vnd.geo+json", ContentKind.JSON),
        ("application/rdf+json", ContentKind.JSON),
        ("application/mathml+xml", ContentKind.XML),
        ("image/png", ContentKind.BINARY),
        ("image/svg+xml", ContentKind.SVG),
        ("application/vnd.ms-excel", ContentKind.BINARY),
        ("text/html, text/html", ContentKind.HTML),
        ("nonsense", None),
        ("", None),
    ],
)
def test_by_media_type_finds_kind(content_type: str, kind: ContentKind | None) -> None:
    assert by_media_type(content_type) is kind


@pytest.mark.parametrize(
    ("url", "extension"),
    [
        ("http://example.org/data.ttl", "ttl"),
        ("http://example.org/DATA.TTL?format=x.html", "ttl"),
        ("http://example.org/a.b/c", ""),
        ("http://example.org", ""),
        ("http://example.org/.htaccess", ""),
        ("http://example.org/v1.2.3456789012", ""),
        ("data.nt.gz", "gz"),
    ],
)
def test_extension_of_url(url: str, extension: str) -> None:
    assert extension_of(url) == extension


def test_by_extension_finds_kind() -> None:
    assert by_extension("http://example.org/onto.owl") is ContentKind.RDF_XML
    assert by_extension("http://example.org/onto.xyz") is None


def test_by_magic_checks_its_offset() -> None:
    assert by_magic(b"x" * 257 + b"ustar") is ContentKind.TAR
    assert by_magic(b"ustar") is None
    assert by_magic(b"BZh91AY&SY") is ContentKind.BZIP2
    assert by_magic(b"BZhello 1AY&SY") is None


def test_by_root_needs_known_namespace() -> None:
    assert by_root("http://www.w3.org/2005/Atom", "feed") is ContentKind.ATOM
    assert by_root("", "feed") is None
    assert by_root("", "rss") is ContentKind.RSS
    assert by_root("http://backend.userland.com/rss2", "rss") is ContentKind.RSS
    assert by_root("", "RDF") is None


def test_essence_on_examples_gives_expected_values() -> None:
    assert essence('Text/HTML; charset="utf-8"') == "text/html"


def test_fits_on_examples_gives_expected_values() -> None:
    assert (fits("image/*", "image/png"), fits("application/pdf", "application/pdf"), fits("image/*", "text/html")) == (
        True,
        True,
        False,
    )


def test_file_extension_on_examples_gives_expected_values() -> None:
    assert (
        file_extension("T21.RDF"),
        file_extension("about"),
        file_extension(".ttl"),
        file_extension("a.toolongforone"),
    ) == ("rdf", "", "", "")
