"""Short documents for tests."""

from __future__ import annotations

from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.www.document import Document

URL = "http://example.org/folder/page"


def document(
    body: str | bytes, *, url: str = URL, kind: ContentKind = ContentKind.HTML, charset: str = "utf-8"
) -> Document:
    detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset=charset)
    return Document(url=url, body=body.encode(charset) if isinstance(body, str) else body, detected=detected)
