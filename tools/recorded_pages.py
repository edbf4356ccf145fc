"""Random HTML pages of a recorded web."""

from __future__ import annotations

import random
from pathlib import Path

from fastwarc.warc import ArchiveIterator


def draw_pages(archive: Path, count: int, seed: int) -> list[tuple[str, bytes]]:
    """Return URL and body of a random sample of the HTML pages that were answered with 200."""
    found = []
    with archive.open("rb") as stream:
        for entry in ArchiveIterator(stream, parse_http=True):
            http = entry.http_headers
            content_type = (http.get("content-type") or "") if http else ""
            if http and http.status_code == 200 and content_type.startswith(("text/html", "application/xhtml+xml")):
                found.append((entry.headers["WARC-Target-URI"], entry.reader.read()))
    return random.Random(seed).sample(found, min(count, len(found)))
