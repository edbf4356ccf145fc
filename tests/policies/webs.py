"""A small trace of real pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType

from motherlode.policies import target_from
from motherlode.sim.trace.recorder import record
from motherlode.sim.trace.trace_web import TraceWeb
from motherlode.www.urls import host_of
from tests.support import shared, write_warc

_PAGES_PER_HOST = 12
_MAX_PAGE_BYTES = 100_000


def real_web(folder: Path, target: str = "any") -> TraceWeb:
    """Record the first pages of each host of the recorded web as a trace in a folder."""
    taken: Counter[str] = Counter()
    responses = []
    with shared("corpus", "sites.warc.gz").open("rb") as file:
        for record_ in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            url = record_.headers["WARC-Target-URI"]
            host, body = host_of(url), record_.reader.read()
            if taken[host] < _PAGES_PER_HOST and len(body) <= _MAX_PAGE_BYTES:
                taken[host] += 1
                headers = {"Content-Type": record_.http_headers.get("Content-Type", "")}
                if "Location" in record_.http_headers:
                    headers["Location"] = record_.http_headers["Location"]
                responses.append((url, record_.http_headers.status_code, headers, body))
    source = write_warc(folder / "sample.warc.gz", responses)
    record([source], folder / "trace", workers=1, progress=lambda done, of: None)
    return TraceWeb(folder / "trace", target_from(target), dead=1.0)
