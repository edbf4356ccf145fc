"""The window over a document, and feeds for parsers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from motherlode.model import Syntax
from motherlode.transform.rdf_documents import source as source_module
from motherlode.transform.rdf_documents.source import MAX_TRIPLE_TERM_DEPTH, Feed, Source


def _source(body: bytes, charset: str = "utf-8") -> Source:
    return Source(io.BytesIO(body), syntax=Syntax.TURTLE, charset=charset)


def _all(source: Source) -> bytes:
    feed = Feed(source)
    pieces = []
    while piece := feed.read(100):
        pieces.append(piece)
    return b"".join(pieces)


@given(text=st.text(alphabet="ab\n\r\té😀", max_size=60), cut=st.integers(min_value=0, max_value=60))
def test_source_position_and_offset_are_inverse(text: str, cut: int) -> None:
    source = _source(text.encode())
    source.get(0, 1000)
    before = text[:cut]
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if before.endswith("\r") and text[cut : cut + 1] == "\n":
        return  # inside a two-byte line break
    offset = len(before.encode())
    assert source.position_of(offset) == (len(lines), len(lines[-1]) + 1)
    assert source.offset_of(*source.position_of(offset)) == offset


def test_source_positions_can_be_requested_in_any_order() -> None:
    source = _source(b"a\nbc\nd")
    source.get(0, 10)
    assert [source.position_of(offset) for offset in (5, 0, 3, 2, 5)] == [(3, 1), (1, 1), (2, 2), (2, 1), (3, 1)]


def test_source_positions_stay_right_when_window_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "WINDOW_BYTES", 1 << 17)
    body = b"".join(b"line %06d\n" % number for number in range(100_000))
    source = _source(body)
    feed = Feed(source)
    while feed.read(5000):
        pass
    assert source.start > 0
    assert source.position_of(len(body) - 12) == (100_000, 1)
    assert source.get(0, 5) == b"", "what the window has left behind is gone"
    assert source.position_of(0) == source.position_of(source.start)


@pytest.mark.parametrize(
    ("charset", "raw"),
    [
        ("utf-8", b"\xef\xbb\xbfa\xc3\xa9"),
        ("cp1252", b"a\xe9"),
        ("utf-16", "aé".encode("utf-16")),
        ("utf-8-sig", b"a\xc3\xa9"),
    ],
)
def test_source_decodes_to_utf8(charset: str, raw: bytes) -> None:
    source = _source(raw, charset)
    assert _all(source) == "aé".encode()
    assert not source.problems


def test_source_characters_across_chunks_are_decoded() -> None:
    body = b"x" * (source_module.CHUNK_BYTES - 1) + "é".encode() + b"y" * source_module.CHUNK_BYTES
    source = _source(body)
    assert _all(source) == body
    assert not source.problems


def test_source_replacement_character_in_document_is_no_problem() -> None:
    source = _source("a�b".encode())
    assert _all(source) == "a�b".encode()
    assert not source.problems


def test_source_first_invalid_byte_is_located() -> None:
    source = _source(b"x" * source_module.CHUNK_BYTES + b"\nab\xff\xff\xc3")
    assert _all(source).endswith("ab���".encode())
    assert [(p.line, p.column, p.repaired) for p in source.problems] == [(2, 3, True)]


def test_source_too_deep_triple_terms_end_document() -> None:
    deep = _source(b"<<( " * (MAX_TRIPLE_TERM_DEPTH + 1) + b")>> " * (MAX_TRIPLE_TERM_DEPTH + 1))
    assert _all(deep) == b"<<( " * MAX_TRIPLE_TERM_DEPTH
    assert len(deep.problems) == 1
    many = _source(b"<<( )>> " * 10_000)
    assert len(_all(many)) == 80_000
    assert not many.problems


def test_source_detects_generated_looking_labels() -> None:
    label = b"a" * 32
    for body, seen in ((b"_:" + label, True), (b'nodeID="' + label, True), (b"_:x", False), (label, False)):
        source = _source(body)
        _all(source)
        assert source.has_generated_labels is seen


def test_feed_returns_header_and_bytes_from_start_to_end(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")
    with (tmp_path / "x").open("rb") as file:
        feed = Feed(Source(file, syntax=Syntax.TURTLE), start=2, end=5, header=b"ab")
        assert [feed.read(1), feed.read(9), feed.read(2), feed.read(9), feed.read(9)] == [b"a", b"b", b"23", b"4", b""]
        assert feed.position == 5
