"""Detection of a body's content kind and charset.

Content counts first. The Content-Type header and the extension of the URL decide if the content gives no evidence.
Magic numbers are compared before any text, a few kilobytes of text are read before more, and nothing is parsed: one
detection takes about 10 µs. Every body has a kind, and no input raises an exception.
"""

import re
from functools import lru_cache

from motherlode.detect.charset import detect_charset, detect_unicode_signature, get_head
from motherlode.detect.content_kind import KindHints, is_plain_html, sniff
from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.www.media_types import MEDIA, by_extension, by_magic, by_media_type, essence

__all__ = ["detect"]

_MAX_TRANSCODED_BYTES = 1 << 17
"""Maximum number of bytes that are transcoded to UTF-8 for sniffing if a body has a Unicode signature."""
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown", "*/*"})
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that do not occur in text (WHATWG MIME Sniffing, section 3)."""
_NOT_TEXT = frozenset(kind for kind, row in MEDIA.items() if row.is_archive) | {ContentKind.BINARY, ContentKind.EMPTY}
_RDF = frozenset(kind for kind, row in MEDIA.items() if row.is_rdf)
_UNSPECIFIC = frozenset({None, ContentKind.TEXT})
"""Declared kinds that leave the decision to the extension."""

_Decision = tuple[ContentKind, DetectionEvidence]


def detect(body: bytes, *, url: str, content_type: str) -> Detected:
    """Return the kind and the charset of a body.

    >>> detect(b"@prefix a: <urn:a:> . a:b a:c a:d .", url="http://example.org/x", content_type="text/html").kind
    <ContentKind.TURTLE: 'turtle'>
    >>> detect(b"<!doctype html><title>Not found</title>", url="http://example.org/x.ttl", content_type="").kind
    <ContentKind.HTML: 'html'>
    """
    codec = detect_unicode_signature(body)
    text = body if codec is None else body[:_MAX_TRANSCODED_BYTES].decode(codec, "ignore").encode()
    kind, evidence = _detect_kind(text, url, content_type)
    charset = "utf-8" if kind in _NOT_TEXT else codec or detect_charset(body, content_type)
    return Detected(kind=kind, evidence=evidence, charset=charset)


def _detect_kind(text: bytes, url: str, content_type: str) -> _Decision:
    declared = _declared_kind(content_type)
    if declared is ContentKind.HTML and is_plain_html(text):
        return ContentKind.HTML, DetectionEvidence.CONTENT
    head = get_head(text)
    if not head:
        return ContentKind.EMPTY, DetectionEvidence.CONTENT
    hints = KindHints(declared, by_extension(url))
    magic = None if head.startswith(b"<") else by_magic(text)
    if magic is not None:
        is_package = magic is ContentKind.ZIP and ContentKind.BINARY in hints
        return ContentKind.BINARY if is_package else magic, DetectionEvidence.CONTENT
    found = sniff(head, text, hints)
    if _is_robots_txt(url) and found is not ContentKind.HTML:
        return ContentKind.ROBOTS, DetectionEvidence.EXTENSION
    if found is not None:
        return found, DetectionEvidence.CONTENT
    return _choose_declared_kind(head, hints)


@lru_cache(maxsize=256)
def _declared_kind(content_type: str) -> ContentKind | None:
    """Return the kind that a Content-Type header names, or None. A crawl meets few different headers."""
    return None if essence(content_type) in _VAGUE_TYPES else by_media_type(content_type)


def _choose_declared_kind(head: bytes, hints: KindHints) -> _Decision:
    """Return the kind by header, else by extension, unless the content contradicts it."""
    declared, extension = hints
    if _CONTROL.search(head) and not (declared is not None and MEDIA[declared].is_html):
        return ContentKind.BINARY, DetectionEvidence.CONTENT
    if declared is ContentKind.BINARY:
        return ContentKind.BINARY, DetectionEvidence.HEADER
    rdf = declared if declared in _RDF else extension if extension in _RDF and declared in _UNSPECIFIC else None
    if rdf is not None:  # the RDF parser reports the errors
        return rdf, DetectionEvidence.HEADER if declared is rdf else DetectionEvidence.EXTENSION
    is_possible = declared is not None and (not MEDIA[declared].is_xml or head.startswith(b"<"))
    if declared is ContentKind.HTML and extension is ContentKind.TEXT and b"<" not in head:
        return ContentKind.TEXT, DetectionEvidence.EXTENSION  # some servers send text sitemaps as HTML
    if declared is not None and is_possible and declared is not ContentKind.TEXT and not MEDIA[declared].is_archive:
        return declared, DetectionEvidence.HEADER
    if extension is ContentKind.HTML and declared is None:
        return extension, DetectionEvidence.EXTENSION
    return ContentKind.TEXT, DetectionEvidence.CONTENT


def _is_robots_txt(url: str) -> bool:
    """Whether a URL is the robots.txt at the root of a host (RFC 9309, section 2.3)."""
    return url.endswith("/robots.txt") and url.count("/") == 3
