"""Tests of the WARC export."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from motherlode.fetch.warc.writer import WarcResponse, new_id, response_record
from motherlode.index.export.warc import export_warc


def records(*numbers: int) -> list[bytes]:
    urls = [(f"http://a.example/{number}", f"body {number}".encode() * 1000) for number in numbers]
    return [response_record(WarcResponse(url=url, at=0.0, status=200, body=body), new_id()) for url, body in urls]


def read(data: bytes) -> dict[str, bytes]:
    return {r.rec_headers["WARC-Target-URI"]: r.content_stream().read() for r in ArchiveIterator(io.BytesIO(data))}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cut", [0, 1, 40, 10_000_000])
def test_export_warc_joins_files_and_skips_truncated_record(tmp_path: Path, cut: int, packed: bool) -> None:  # noqa: FBT001 - pytest calls it
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    *whole, last = records(1, 2, 3)
    first.write_bytes(b"".join(whole) + last[: max(0, len(last) - cut)])
    second.write_bytes(b"".join(records(4, 5)))
    output = io.BytesIO()
    count = export_warc([first, second], output, packed=packed)
    found = read(output.getvalue())
    expected = [1, 2, 3, 4, 5] if cut == 0 else [1, 2, 4, 5]
    assert count == len(expected)
    assert found == {f"http://a.example/{number}": f"body {number}".encode() * 1000 for number in expected}


def test_export_warc_plain_equals_decompressed_export(tmp_path: Path) -> None:
    path = tmp_path / "1.warc.gz"
    path.write_bytes(b"".join(records(*range(300))))
    packed, plain = io.BytesIO(), io.BytesIO()
    export_warc([path], packed, packed=True)
    export_warc([path], plain, packed=False)
    assert packed.getvalue() == path.read_bytes()
    assert gzip.decompress(packed.getvalue()) == plain.getvalue()


def test_export_warc_skips_file_that_is_not_gzip(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"rubbish" * 100)
    (tmp_path / "2").write_bytes(records(1)[0])
    assert export_warc([tmp_path / "1", tmp_path / "2"], io.BytesIO(), packed=True) == 1
