"""What a body really is: by its content first, and by what its sender and its address say where content is silent.

Magic bytes are looked at before any text, a few kilobytes of text before any more, and nothing is parsed: detection
costs some ten microseconds a page. Whatever the bytes are, the answer is a kind; nothing is raised.
"""

from __future__ import annotations

import re
from functools import lru_cache

from motherlode.detect.charset import charset_of, head_of, unmistakable
from motherlode.detect.content_kind import is_plain_html, sniff
from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.www.media_types import MEDIA, by_extension, by_magic, by_media_type, essence

__all__ = ["detect"]

_DECODED = 1 << 17
"""Bytes that are decoded to look at, where a body is not in an encoding that agrees with ASCII."""
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*"})
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has (WHATWG MIME Sniffing, section 3)."""
_NO_TEXT = frozenset(kind for kind, row in MEDIA.items() if row.is_archive) | {ContentKind.BINARY, ContentKind.EMPTY}
_RDF = frozenset(kind for kind, row in MEDIA.items() if row.is_rdf)
_SILENT = frozenset({None, ContentKind.TEXT})
"""What a header says that leaves it to the address."""

Verdict = tuple[ContentKind, DetectionEvidence]


def detect(body: bytes, *, url: str, content_type: str) -> Detected:
    """The kind and the charset of a body.

    >>> detect(b"@prefix a: <urn:a:> . a:b a:c a:d .", url="http://example.org/x", content_type="text/html").kind
    <ContentKind.TURTLE: 'turtle'>
    >>> detect(b"<!doctype html><title>Not found</title>", url="http://example.org/x.ttl", content_type="").kind
    <ContentKind.HTML: 'html'>
    """
    codec = unmistakable(body)
    text = body if codec is None else body[:_DECODED].decode(codec, "ignore").encode()
    kind, evidence = _verdict(text, url, content_type)
    charset = "utf-8" if kind in _NO_TEXT else codec or charset_of(body, content_type)
    return Detected(kind=kind, evidence=evidence, charset=charset)


def _verdict(text: bytes, url: str, content_type: str) -> Verdict:
    declared = _declared(content_type)
    if declared is ContentKind.HTML and is_plain_html(text):
        return ContentKind.HTML, DetectionEvidence.CONTENT
    head = head_of(text)
    if not head:
        return ContentKind.EMPTY, DetectionEvidence.CONTENT
    extension = by_extension(url)
    magic = None if head.startswith(b"<") else by_magic(text)
    if magic is not None:
        is_package = magic is ContentKind.ZIP and ContentKind.BINARY in (declared, extension)
        return ContentKind.BINARY if is_package else magic, DetectionEvidence.CONTENT
    found = sniff(head, text, declared, extension)
    if _is_robots(url) and found is not ContentKind.HTML:
        return ContentKind.ROBOTS, DetectionEvidence.EXTENSION
    if found is not None:
        return found, DetectionEvidence.CONTENT
    return _by_claims(head, declared, extension)


@lru_cache(maxsize=256)
def _declared(content_type: str) -> ContentKind | None:
    """What the header says, if anything. A crawl meets few different ones."""
    return None if essence(content_type) in _VAGUE_TYPES else by_media_type(content_type)


def _by_claims(head: bytes, declared: ContentKind | None, extension: ContentKind | None) -> Verdict:
    """For content that says nothing for itself: the header, unless the content speaks against it; then the address."""
    if _CONTROL.search(head) and not (declared is not None and MEDIA[declared].is_html):
        return ContentKind.BINARY, DetectionEvidence.CONTENT
    if declared is ContentKind.BINARY:
        return ContentKind.BINARY, DetectionEvidence.HEADER
    promised = declared if declared in _RDF else extension if extension in _RDF and declared in _SILENT else None
    if promised is not None:  # its reader says what is wrong with it
        return promised, DetectionEvidence.HEADER if declared is promised else DetectionEvidence.EXTENSION
    is_possible = declared is not None and (not MEDIA[declared].is_xml or head.startswith(b"<"))
    if declared is ContentKind.HTML and extension is ContentKind.TEXT and b"<" not in head:
        return ContentKind.TEXT, DetectionEvidence.EXTENSION  # servers call all that they make HTML, text sitemaps too
    if declared is not None and is_possible and declared is not ContentKind.TEXT and not MEDIA[declared].is_archive:
        return declared, DetectionEvidence.HEADER
    if extension is ContentKind.HTML and declared is None:
        return extension, DetectionEvidence.EXTENSION
    return ContentKind.TEXT, DetectionEvidence.CONTENT


def _is_robots(url: str) -> bool:
    """Only the one at a host's root is what its name says (RFC 9309, section 2.3)."""
    return url.endswith("/robots.txt") and url.count("/") == 3
