"""Sniffing of content kinds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.detect import detect
from motherlode.detect.content_kind import KindHints, sniff, sniff_rdf_text
from motherlode.model import ContentKind


@pytest.mark.parametrize(
    "text",
    [
        b"<p> <b> <i>",
        b"<a:b> <c:d> text </c:d></a:b>",
        b"base camp <x>",
        b"prefix: <x>",
        b"version 1.2 of <x>",
        b"[] and {}",
        b"_: _:",
        b"#!/bin/sh\necho <http://example.org/>",
        b"<http://example.org/> is a page",
    ],
)
def test_text_that_resembles_turtle_has_no_rdf_kind(text: bytes) -> None:
    assert sniff_rdf_text(text, KindHints()) is None


@pytest.mark.parametrize(
    "text",
    [
        b"@prefix : <#> .",
        b"@PREFIX a:<urn:a:>.",
        b"BASE <http://example.org/>\nPREFIX x: <y#>\n<a> x:b 1 .",
        b"\n# c\n\n@base <http://example.org/> .",
        "@prefix é: <urn:é> . é:a a é:b .".encode(),
        b"[] a <http://example.org/A> .",
        b"_:x a <http://example.org/A> .",
        b'<#a> <#b> """x""" .',
        b'VERSION "1.2"\nPREFIX x: <y#>',
    ],
)
def test_turtle_without_declared_kind_is_turtle(text: bytes) -> None:
    assert sniff_rdf_text(text, KindHints()) is ContentKind.TURTLE


LICENSE = b"# Permission is hereby granted.\n" * 400


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LICENSE + b"@prefix : <#> .\n:a a :B .", ContentKind.TURTLE),
        (LICENSE + b'<http://a/> <http://b/> "c" .\n', ContentKind.N_TRIPLES),
        (b"@prefix : <#> .\n" + LICENSE + b":g { :a a :B . }", ContentKind.TRIG),
        (b"@prefix : <#> .\n" + LICENSE + b':a :b "{" . # {', ContentKind.TURTLE),
        (LICENSE + b"Disallow: /", ContentKind.TEXT),
    ],
)
def test_rdf_text_behind_long_comments_has_its_kind(text: bytes, kind: ContentKind) -> None:
    assert detect(text, url="http://example.org/x", content_type="text/plain").kind is kind


@pytest.mark.parametrize("declared", [ContentKind.N_TRIPLES, ContentKind.N_QUADS, None])
@pytest.mark.parametrize("version", [b'VERSION "1.2"\n', b'# c\nVERSION "1.2" # x\r\n\nVERSION  "1.1"\n'])
def test_version_directive_does_not_change_kind_of_lines(declared: ContentKind | None, version: bytes) -> None:
    triple = version + b'<urn:a> <urn:p> "x"@en--ltr .\n' + version
    assert sniff_rdf_text(triple, KindHints(declared)) is (declared or ContentKind.N_TRIPLES)
    quad = version + b"<urn:a> <urn:p> <urn:o> <urn:g> .\n"
    assert sniff_rdf_text(quad, KindHints(declared)) is ContentKind.N_QUADS


@pytest.mark.parametrize("version", [b'version "1.2"\n', b'@version "1.2" .\n', b"VERSION '1.2'\n"])
def test_version_directive_of_turtle_makes_lines_turtle(version: bytes) -> None:
    body = version + b"<urn:a> <urn:p> <urn:o> .\n"
    assert sniff_rdf_text(body, KindHints(ContentKind.N_TRIPLES)) is ContentKind.TURTLE


def test_json_ld_context_far_into_the_body_is_found() -> None:
    body = b'{"a": "' + b"x" * 20_000 + b'", "@context": {}}'
    assert sniff(body[:4096], body, KindHints()) is ContentKind.JSON_LD


def test_json_with_keys_similar_to_json_ld_is_json() -> None:
    body = b'{"@type": "x", "@attributes": {"id": 1}}'
    assert sniff(body, body, KindHints()) is ContentKind.JSON


@given(body=st.binary(max_size=300), url=st.text(max_size=30), content_type=st.text(max_size=30))
def test_any_bytes_have_a_kind_and_a_codec(body: bytes, url: str, content_type: str) -> None:
    found = detect(body, url=url, content_type=content_type)
    body.decode(found.charset, "replace")


_PIECES = (
    *(b"<", b">", b"<!--", b"-->", b"<?xml ", b"?>", b"<!DOCTYPE html", b"[", b"]", b'"', b"'", b"html", b"rdf:RDF"),
    *(b" xmlns:rdf=", b"@prefix ", b": <urn:x> ", b" .\n", b"{", b"}", b'"@context":', b"\xff\xfe", b"\0", b"&e;"),
    *(b"<!ENTITY e ", b"charset=", b"<meta ", b"utf-16", b"_:b ", b"#", b"\n", b"\xef\xbb\xbf", b"<<("),
)
_TYPES = ("", "text/html; charset=utf-16", "text/turtle", "application/xml")


@given(body=st.lists(st.sampled_from(_PIECES), max_size=60).map(b"".join), content_type=st.sampled_from(_TYPES))
def test_random_markup_has_a_kind_and_a_codec(body: bytes, content_type: str) -> None:
    found = detect(body, url="http://example.org/x.rdf", content_type=content_type)
    body.decode(found.charset, "replace")
