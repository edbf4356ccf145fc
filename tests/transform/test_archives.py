"""Unpacking of archives and compressed files, and their limits."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import time
import tracemalloc
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.model import ContentKind, Detected, DetectionEvidence, Problem
from motherlode.transform.archives import UnpackLimits, member_url, read_tar_members, unpack_members
from motherlode.www.document import Document

LONG = "a/" * 80 + "été.nt"


def _tar(members: dict[str, bytes], tar_format: int) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tar_format) as archive:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_tar_reader_yields_only_regular_files_with_their_names(tar_format: int) -> None:
    members = {"a.nt": b"x" * 1000, LONG: b"y", "empty": b""}
    assert dict(read_tar_members(_tar(members, tar_format))) == members


def test_tar_reader_truncated_archive_yields_available_content() -> None:
    body = _tar({"a": b"x" * 600, "b": b"y" * 5000}, tarfile.USTAR_FORMAT)
    (_, a), (_, b) = read_tar_members(body[: 512 * 6 + 10])
    assert (len(a), b) == (600, b"y" * (len(b)))
    assert 0 < len(b) < 5000


def test_tar_reader_negative_or_invalid_size_stops_reading() -> None:
    body = bytearray(_tar({"a": b"x"}, tarfile.USTAR_FORMAT))
    for size in (b"-0000000777\0", b"\xff" * 12, b"\x80" + b"\xff" * 11, b"99999999999\0"):
        body[1024 + 124 : 1024 + 136] = size
        header = bytes(body[1024 : 1024 + 512])
        checksum = sum(header[:148]) + sum(header[156:]) + 8 * 32
        body[1024 + 148 : 1024 + 156] = b"%06o\0 " % checksum
        started = time.process_time()
        assert len(list(read_tar_members(bytes(body)))) <= 1
        assert time.process_time() - started < 5


@given(body=st.binary(max_size=2000))
def test_tar_reader_random_bytes_terminates(body: bytes) -> None:
    list(read_tar_members(body))


# Archives within limits


TRIPLE = b"<urn:a> <urn:p> <urn:o> .\n"


def _zip(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _plain_tar(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def unpacked(
    body: bytes, kind: ContentKind, url: str = "http://example.org/x", limits: UnpackLimits | None = None
) -> tuple[dict[str, bytes], list[str]]:
    document = Document(url=url, body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))
    found = list(unpack_members(document, limits or UnpackLimits()))
    files = dict(one for one in found if not isinstance(one, Problem))
    return files, [one.message for one in found if isinstance(one, Problem)]


@pytest.mark.parametrize(
    ("body", "kind", "url", "name"),
    [
        (gzip.compress(TRIPLE), ContentKind.GZIP, "http://example.org/dump.nt.gz?x=/y", "dump.nt"),
        (gzip.compress(TRIPLE) + gzip.compress(b"") + b"\0\0", ContentKind.GZIP, "http://example.org/dump", "dump"),
        (bz2.compress(TRIPLE), ContentKind.BZIP2, "http://example.org/dump.nt.bz2", "dump.nt"),
        (_zip({"a/b.nt": TRIPLE}), ContentKind.ZIP, "http://example.org/x.zip", "a/b.nt"),
        (_plain_tar({"a/b.nt": TRIPLE}), ContentKind.TAR, "http://example.org/x.tar", "a/b.nt"),
        (gzip.compress(_plain_tar({"a.nt": TRIPLE})), ContentKind.GZIP, "http://example.org/x.tgz", "a.nt"),
        (bz2.compress(_plain_tar({"a.nt": TRIPLE})), ContentKind.BZIP2, "http://example.org/x.tar.bz2", "a.nt"),
        (_zip({"a.nt.gz": gzip.compress(TRIPLE)}), ContentKind.ZIP, "http://example.org/x.zip", "a.nt"),
    ],
    ids=["gz", "gz twice", "bz2", "zip", "tar", "tgz", "tar.bz2", "gz in zip"],  # packed bytes contain the time of day
)
def test_unpack_members_yields_names_and_contents(body: bytes, kind: ContentKind, url: str, name: str) -> None:
    assert unpacked(body, kind, url) == ({name: TRIPLE}, [])


def test_unpack_members_third_nesting_level_is_a_problem() -> None:
    deep = gzip.compress(gzip.compress(gzip.compress(TRIPLE)))
    assert unpacked(deep, ContentKind.GZIP)[0] == {}
    assert "nested too deep" in unpacked(deep, ContentKind.GZIP)[1][0]
    beside = _zip({"deep": deep, "flat": TRIPLE})
    files, problems = unpacked(beside, ContentKind.ZIP)
    assert files == {"flat": TRIPLE}
    assert len(problems) == 1


ZEROS = b"\0" * (40 << 20)


def _bombs() -> dict[str, tuple[bytes, ContentKind]]:
    small = ZEROS[: 20 << 20]
    return {
        "gzip": (gzip.compress(ZEROS), ContentKind.GZIP),
        "bzip2": (bz2.compress(ZEROS), ContentKind.BZIP2),
        "zip": (_zip({"a.nt": TRIPLE, "b": ZEROS}), ContentKind.ZIP),
        "zip, bzip2": (_zip({"a.nt": TRIPLE, "b": small}, zipfile.ZIP_BZIP2), ContentKind.ZIP),
        "zip, lzma": (_zip({"a.nt": TRIPLE, "b": small}, zipfile.ZIP_LZMA), ContentKind.ZIP),
        "tar.gz": (gzip.compress(_plain_tar({"a.nt": TRIPLE, "b": ZEROS})), ContentKind.GZIP),
        "zip in zip": (_zip({"a.nt": TRIPLE, "b.zip": _zip({"b": small})}), ContentKind.ZIP),
        "gzip in gzip": (gzip.compress(gzip.compress(ZEROS)), ContentKind.GZIP),
    }


BOMBS = _bombs()


@pytest.mark.parametrize("name", BOMBS)
def test_unpack_members_decompression_bomb_is_reported_and_earlier_members_are_kept(name: str) -> None:
    body, kind = BOMBS[name]
    tracemalloc.start()
    files, problems = unpacked(body, kind)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert any("times its size" in problem or "bytes unpacked" in problem for problem in problems)
    assert peak < 250 * len(body) + (150 << 20)
    if "zip" in name.split():
        assert files["a.nt"] == TRIPLE


def test_unpack_members_size_and_member_limits_are_enforced() -> None:
    many = {f"{number}.nt": TRIPLE for number in range(20)}
    for body, kind in ((_zip(many), ContentKind.ZIP), (_plain_tar(many), ContentKind.TAR)):
        files, problems = unpacked(body, kind, limits=UnpackLimits(max_members=5))
        assert len(files) == 5
        assert "more than 5 members" in problems[0]
        files, problems = unpacked(body, kind, limits=UnpackLimits(max_bytes=len(TRIPLE) * 3))
        assert len(files) == 3
        assert "bytes unpacked" in problems[0]


def test_unpack_members_truncated_archive_yields_available_content() -> None:
    text = b"".join(b"<urn:a%d> <urn:p> <urn:o> .\n" % number for number in range(20_000))
    files, problems = unpacked(gzip.compress(text)[:-20_000], ContentKind.GZIP)
    assert text.startswith(files["x"])
    assert len(files["x"]) > 10_000
    assert len(problems) == 1


def test_unpack_members_short_truncated_file_yields_available_content() -> None:
    text = b"".join(b"<urn:a%d> <urn:p> <urn:o> .\n" % (number * 7919 % 10007) for number in range(500))
    packed = gzip.compress(text)
    files, problems = unpacked(packed[: len(packed) // 2], ContentKind.GZIP)
    assert text.startswith(files["x"])
    assert len(files["x"]) > len(text) // 4
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\x1f\x8b\x08 broken", ContentKind.GZIP),
        (b"BZh91AY&SY broken", ContentKind.BZIP2),
        (b"PK\x03\x04 broken", ContentKind.ZIP),
        (b"PK\x01\x02" * 200_000, ContentKind.ZIP),
        (_zip({"a": TRIPLE}).replace(TRIPLE[:4], b"####"), ContentKind.ZIP),
    ],
)
def test_unpack_members_invalid_archive_is_a_problem(body: bytes, kind: ContentKind) -> None:
    files, problems = unpacked(body, kind)
    assert problems or files == {"a": TRIPLE}


def test_unpack_members_encrypted_member_does_not_affect_others() -> None:
    body = bytearray(_zip({"locked": TRIPLE, "open": TRIPLE}, zipfile.ZIP_STORED))
    entry = body.index(b"PK\x01\x02")
    body[6] |= 1  # encryption flag in the header of the member; the next line sets it in the directory
    body[entry + 8] |= 1
    files, problems = unpacked(bytes(body), ContentKind.ZIP)
    assert files == {"open": TRIPLE}
    assert "encrypted" in problems[0]


def test_unpack_members_zip_member_without_a_name_is_read() -> None:
    files, problems = unpacked(_zip({"?": TRIPLE, "a": TRIPLE}).replace(b"?", b"\0"), ContentKind.ZIP)
    assert files == {"": TRIPLE, "a": TRIPLE}
    assert not problems


def test_member_urls_are_distinct_and_resolve_like_the_archive_url() -> None:
    assert member_url("http://example.org/a.zip#old", "ü/1") == "http://example.org/a.zip#%C3%BC/1"


@settings(max_examples=60)
@given(junk=st.binary(max_size=60), at=st.integers(min_value=0, max_value=400))
@pytest.mark.parametrize("kind", [ContentKind.GZIP, ContentKind.BZIP2, ContentKind.ZIP, ContentKind.TAR])
def test_unpack_members_damaged_archive_never_raises(kind: ContentKind, junk: bytes, at: int) -> None:
    body = {
        ContentKind.GZIP: gzip.compress(TRIPLE * 50),
        ContentKind.BZIP2: bz2.compress(TRIPLE * 50),
        ContentKind.ZIP: _zip({"a": TRIPLE * 50, "b": TRIPLE}),
        ContentKind.TAR: _plain_tar({"a": TRIPLE * 50, "b": TRIPLE}),
    }[kind]
    unpacked(body[:at] + junk + body[at + len(junk) :], kind)


def test_member_url_on_examples_gives_expected_values() -> None:
    assert member_url("http://example.org/all.zip", "a b/data.ttl") == "http://example.org/all.zip#a%20b/data.ttl"
