"""Parsing of responses, for any split into pieces and any bytes after them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.fetch.http.parser import ResponseParser

from ..servers import answer

CHUNK_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nContent-Type: x/y\r\n\r\n"
)


class Notes:
    """A receiver that records the response."""

    def __init__(self, *, wants: int = 1_000_000) -> None:
        self.peer = ""
        self.heads: list[tuple[int, dict[str, str]]] = []
        self.body = b""
        self.pieces = 0
        self._wants = wants

    is_slow = False

    def receive_head(self, status: int, headers: dict[str, str]) -> bool:
        self.heads.append((status, headers))
        return self._wants > 0

    def receive_body(self, data: bytes) -> bool:
        self.body += data
        self.pieces += 1
        return len(self.body) < self._wants


def parsed(
    *pieces: bytes, parser: ResponseParser | None = None, head_only: bool = False, wants: int = 1_000_000
) -> tuple[ResponseParser, Notes, str]:
    parser = parser or ResponseParser()
    notes = Notes(wants=wants)
    parser.begin(notes, head_only=head_only)
    wrong = ""
    for piece in pieces:
        if not (wrong or parser.is_done):
            wrong = parser.feed(piece)
    return parser, notes, wrong


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (answer(b"hello", "X: y"), b"hello"),
        (answer(b""), b""),
        (CHUNKED, b"abcde"),
        (
            b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + answer(b"at last"),
            b"at last",
        ),
        (b"HTTP/1.1 200 OK\nX: y\nContent-Length: 2\n\nhi", b"hi"),
        (b"\r\n" + answer(b"hi"), b"hi"),
    ],
    ids=repr,
)
def test_parser_whole_and_single_bytes_give_same_response(sent: bytes, body: bytes) -> None:
    at_once = parsed(sent)
    in_bytes = parsed(*(sent[place : place + 1] for place in range(len(sent))))
    for parser, notes, wrong in (at_once, in_bytes):
        assert wrong == ""
        assert (parser.is_done, parser.is_reusable, notes.body, len(notes.heads)) == (True, True, body, 1)
    assert at_once[1].heads == in_bytes[1].heads


def test_parser_reads_several_responses_in_a_row() -> None:
    parser = ResponseParser()
    for number in range(5):
        _, notes, wrong = parsed(answer(b"%d" % number), parser=parser)
        assert (wrong, notes.body, parser.is_reusable) == ("", b"%d" % number, True)


def test_parser_joins_headers_and_ignores_trailers() -> None:
    _, notes, _ = parsed(answer(b"", "Link: <a>", "LINK:  <b> \t", "X: \xe9", "Y: \xc3\xa9"))
    assert notes.heads == [(200, {"link": "<a>, <b>", "x": "é", "y": "é", "content-length": "0"})]
    parser, notes, _ = parsed(CHUNKED)
    assert notes.heads == [(200, {"transfer-encoding": "chunked"})]
    _, notes, _ = parsed(answer(b""), parser=parser)
    assert notes.heads == [(200, {"content-length": "0"})], "nor are they headers of the next response"


@pytest.mark.parametrize(
    ("name", "first", "second", "both"),
    [
        ("Location", "/a", "/a", "/a"),
        ("Content-Type", "text/html", "text/turtle; charset=utf-8", "text/turtle; charset=utf-8"),
        ("Retry-After", "7", "9", "9"),
        ("Content-Encoding", "gzip", "br", "gzip, br"),
        ("X-Robots-Tag", "otherbot: nofollow", "noindex", "otherbot: nofollow, , noindex"),
    ],
)
def test_parser_repeated_header_follows_its_rule(name: str, first: str, second: str, both: str) -> None:
    _, notes, _ = parsed(answer(b"", f"{name}: {first}", f"{name}: {second}"))
    assert notes.heads[0][1][name.lower()] == both


def test_parser_url_headers_keep_their_bytes() -> None:
    _, notes, _ = parsed(answer(b"", "Location: /caf\xe9", "Link: </\xfc>; rel=next", "Refresh: 0; url=/\xc3\xa9"))
    headers = notes.heads[0][1]
    assert (headers["location"], headers["link"]) == ("/caf%E9", "</%FC>; rel=next")
    assert headers["refresh"] == "0; url=/é", "UTF-8 is what the URL standard makes of it anyway"


@pytest.mark.parametrize(
    "lengths", ["Content-Length: 99\r\nTransfer-Encoding: chunked", "TRANSFER-ENCODING: Chunked\r\ncontent-length: 1"]
)
def test_parser_chunks_win_over_content_length_and_connection_is_not_reused(lengths: str) -> None:
    parser, notes, wrong = parsed(f"HTTP/1.1 200 OK\r\n{lengths}\r\n\r\n5\r\nhello\r\n0\r\n\r\n".encode())
    assert (wrong, notes.body, parser.is_done, parser.is_reusable) == ("", b"hello", True, False)


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize(
    "line",
    [
        "no colon",
        "Server : x",
        "X Powered By: y",
        ": nameless",
        "X(y): z",
        "X: y\rz",
        "Content-Length: 5",
        "Content-Length: 5, 5",
        "Transfer-Encoding: identity",
        "transfer-encoding: utf-8",
    ],
)
def test_parser_faulty_head_is_repaired_and_connection_not_reused(line: str, step: int) -> None:
    sent = answer(b"hello", line, "Content-Type: text/html")
    parser, notes, wrong = parsed(*(sent[place : place + step] for place in range(0, len(sent), step)))
    assert (wrong, notes.body, parser.is_done, parser.is_reusable) == ("", b"hello", True, False)
    assert notes.heads[0][1]["content-type"] == "text/html"
    assert notes.heads[0][1]["content-length"] == "5"


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize(
    "line",
    ["HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/2 200 OK", "HTTP/1.7 200", "http/1.0 200 OK", " HTTP/1.1 200"],
)
def test_parser_faulty_status_line_is_repaired(line: str, step: int) -> None:
    sent = f"{line}\r\nContent-Length: 5\r\nX: y\r\n\r\nhello".encode()
    parser, notes, wrong = parsed(*(sent[place : place + step] for place in range(0, len(sent), step)))
    assert (wrong, notes.body, parser.is_done, parser.is_reusable) == ("", b"hello", True, False)
    assert notes.heads == [(200, {"content-length": "5", "x": "y"})]


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("length", ["", "abc", "+5", "5 bytes", "9" * 30])
def test_parser_invalid_content_length_is_ignored(length: str, step: int) -> None:
    sent = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nX: y\r\n\r\nhello".encode()
    parser, notes, wrong = parsed(*(sent[place : place + step] for place in range(0, len(sent), step)))
    assert (wrong, notes.body, parser.is_done, parser.is_ended_by_close) == ("", b"hello", False, True)


LOOSE = {
    "bare LF": b"5\nhello\n6\n world\n0\n\n",
    "a chunk that begins with LF": b"5\nhello\n6\n\nworld\n0\n\n",
    "LF behind the first": b"5\r\nhello\n6\r\n world\r\n0\r\n\r\n",
    "LF behind the size": b"5\r\nhello\r\n6\n world\r\n0\r\n\r\n",
    "LF at the end": b"5\r\nhello\r\n6\r\n world\r\n0\n\n",
    "LF behind the last": b"5\r\nhello\r\n6\r\n world\r\n0\r\n\n",
    "LF behind an extension": b"5;a=b\nhello\n6\n world\n0\n\n",
    "a trailer that is none": b"5\r\nhello\r\n6\r\n world\r\n0\r\nno header\r\n\r\n",
    "a trailer without CR": b"5\r\nhello\r\n6\r\n world\r\n0\r\nX: y\n\n",
    "a trailer with a wrong length": b"5\r\nhello\r\n6\r\n world\r\n0\r\nContent-Length: x\r\n\r\n",
}


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("after", [b"", answer(b"another")])
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
        b"HTTP/1.1  200 OK\r\nno colon\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
@pytest.mark.parametrize("name", LOOSE)
def test_parser_faulty_chunks_are_read_and_connection_not_reused(
    name: str, head: bytes, after: bytes, step: int
) -> None:
    sent = head + LOOSE[name] + after
    parser, notes, wrong = parsed(*(sent[place : place + step] for place in range(0, len(sent), step)))
    meant = b"hello\nworld" if "begins" in name else b"hello world"
    assert (wrong, notes.body, parser.is_done, parser.is_reusable) == ("", meant, True, False)
    assert len(notes.heads) == 1


@pytest.mark.parametrize("step", [1, 100, 1 << 20])
@pytest.mark.parametrize("size", [60_000, 70_000])
def test_parser_limit_for_faulty_chunks_is_independent_of_splits(size: int, step: int) -> None:
    long = b"%x\r\n%s\r\n" % (size, b"x" * size)
    sent = CHUNKED[: CHUNKED.index(b"3\r\n")] + long + b"5\nhello\n0\n\n"
    parser, notes, wrong = parsed(*(sent[place : place + step] for place in range(0, len(sent), step)))
    if size < 65_536:
        assert (wrong, notes.body, parser.is_reusable) == ("", b"x" * size + b"hello", False)
    else:
        assert "chunk" in wrong, "all received bytes would have to be kept"
        assert notes.body == b"x" * size


def test_parser_small_chunks_are_delivered_together() -> None:
    head = CHUNKED[: CHUNKED.index(b"3\r\n")]
    parser, notes, wrong = parsed(head + b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n")
    assert (wrong, notes.body, parser.is_reusable) == ("", b"x" * 20_000, True)
    assert notes.pieces == 1


@pytest.mark.parametrize("chunk", [b"1\r\nx\r\n", b"8;" + b"a" * 500 + b"\r\n12345678\r\n"])
def test_parser_too_many_chunk_lines_are_an_error(chunk: bytes) -> None:
    head = CHUNKED[: CHUNKED.index(b"3\r\n")]
    _, notes, wrong = parsed(head, *[chunk * 100] * 10_000, wants=100_000_000)
    assert "without end" in wrong
    assert len(notes.body) < 200_000
    parser, _, wrong = parsed(head, *[b"4\r\nabcd\r\n" * 100] * 2000, b"0\r\n\r\n", wants=100_000_000)
    assert (wrong, parser.is_reusable) == ("", True), "four bytes are enough"


def test_parser_faulty_head_after_interim_response_is_an_error() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    assert parsed(interim, b"HTTP/1.1 200 OK\r\noops\r\n", b"\r\nhello")[2] == "Invalid header token"


def test_parser_endless_faulty_head_is_an_error() -> None:
    assert parsed(b"HTTP/1.1 200 OK\r\noops\r\n", *[b"X: y\r\n"] * 5000)[2] == "Invalid header token"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
@pytest.mark.parametrize(
    "head",
    ["Content-Length: 500", "Transfer-Encoding: chunked", "X: y", "Content-Length: 5\r\nTransfer-Encoding: identity"],
)
def test_parser_bodiless_status_has_no_body(status: str, head: str) -> None:
    sent = f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode()
    parser, notes, wrong = parsed(sent)
    assert (wrong, parser.is_done, notes.body) == ("", True, b"")
    _, notes, wrong = parsed(answer(b"next"), parser=parser)
    assert (wrong, notes.body) == ("", b"next")


def test_parser_unexpected_body_taints_connection_only() -> None:
    parser, notes, wrong = parsed(answer(b"hello", status="204 No Content"))
    assert (wrong, parser.is_done, parser.is_reusable, notes.body) == ("", True, False, b"")


def test_parser_head_response_is_complete_without_body() -> None:
    parser, notes, wrong = parsed(answer(b"", length=500), head_only=True)
    assert (wrong, parser.is_done, parser.is_reusable, notes.heads[0][0]) == ("", True, True, 200)
    _, notes, _ = parsed(answer(b"next"), parser=parser)
    assert notes.body == b"next"


@pytest.mark.parametrize("after", [b"x" * 500, b"x", b"5", b"5;", b"HTT"])
def test_parser_head_response_with_extra_bytes_is_not_reusable(after: bytes) -> None:
    for head in (answer(b"", length=500), CHUNKED[: CHUNKED.index(b"3\r\n")]):
        parser, notes, wrong = parsed(head + after, head_only=True)
        assert (wrong, parser.is_done, parser.is_reusable, notes.body) == ("", True, False, b"")


@pytest.mark.parametrize("after", [b"H", b"HTTP/1.1 200", answer(b"another"), CHUNKED, b"garbage", b"\0"])
def test_parser_bytes_after_response_are_ignored_and_taint_connection(after: bytes) -> None:
    parser, notes, wrong = parsed(answer(b"mine", "X: mine") + after)
    assert wrong == ""
    assert (parser.is_done, parser.is_reusable, notes.body, len(notes.heads)) == (True, False, b"mine", 1)


@pytest.mark.parametrize(
    "head", [b"", b"Connection: close\r\n", b"Transfer-Encoding: gzip\r\n", b"Content-Type: x/y\r\n"]
)
def test_parser_body_without_length_ends_with_connection(head: bytes) -> None:
    parser, notes, wrong = parsed(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nhello")
    assert (wrong, parser.is_done, parser.is_ended_by_close, notes.body) == ("", False, True, b"hello")


@pytest.mark.parametrize("sent", [answer(b"half", length=9), CHUNKED[:-8], b"HTTP/1.1 200 OK\r\nX: y\r\n", b""])
def test_parser_body_with_length_does_not_end_with_connection(sent: bytes) -> None:
    parser, _, wrong = parsed(sent)
    assert (wrong, parser.is_done, parser.is_ended_by_close) == ("", False, False)


def test_parser_connection_close_is_not_reusable() -> None:
    assert not parsed(answer(b"hi", "Connection: close"))[0].is_reusable
    assert not parsed(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi")[0].is_reusable


def test_parser_stops_when_receiver_wants_no_more() -> None:
    parser, notes, _ = parsed(answer(b"x" * 10, length=100), b"y" * 10, wants=5)
    assert (parser.is_done, parser.is_reusable, notes.body) == (True, False, b"x" * 10)
    parser, notes, _ = parsed(answer(b"whole"), wants=0)
    assert (parser.is_done, parser.is_reusable, notes.body) == (True, True, b""), (
        "it was not wanted, but it is complete"
    )


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], "HTTP"),
        ([answer(b"x", "Content-Length: 7")], "Content-Length"),
        ([answer(b"x", "X: a\x00b")], "a null byte"),
        ([answer(b"x", *["X: y"] * 512)], "more than 512 headers"),
        ([answer(b"x", "X: " + "y" * 65_536)], "a header of more than 65536 bytes"),
        ([b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 600], "more than 512 headers"),
        ([b"HTTP/1.1 200 OK\r\nX: ", *[b"y" * 1000] * 300], "without end"),
        ([b"HTTP/1.1 200 ", *[b"y" * 1000] * 300], "without end"),
        ([b"HTTP/1.1 102 Processing\r\n\r\n"] * 20_000, "without end"),
        ([b"\r\n" * 1000] * 200, "without end"),
        ([b" " * 1000] * 300, "without end"),
        ([b"\n \t" * 1000] * 100, "without end"),
        ([CHUNK_HEAD, *[b"2\r\nxx\r\n" * 1000] * 200], "without end"),
        ([CHUNK_HEAD, *[b"1\nx\n" * 1000] * 200], "without end"),
        ([CHUNKED[:-21], *[b"X: y\r\n"] * 600], "more than 512 headers"),
        ([CHUNKED[:-21] + b"X: ", *[b"y" * 1000] * 300], "without end"),
        ([CHUNKED[: CHUNKED.index(b"2;") + 2], *[b"y" * 1000] * 300], "without end"),
        ([answer(b"x", "Transfer-Encoding: chunked, gzip")], "without chunks"),
        ([answer(b"x", "Transfer-Encoding: identity", "Content-Length: 7")], "Content-Length"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"], "Content-Length"),
        ([CHUNKED[: CHUNKED.index(b"3\r\n")] + b"<html>"], "chunk"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_parser_reports_what_is_wrong(pieces: list[bytes], said: str) -> None:
    assert said in parsed(*pieces)[2]


@pytest.mark.parametrize("more", [b"Upgrade: x\r\nConnection: upgrade\r\n\r\n", b"\r\n", b"\r\nwhatever"])
def test_parser_switching_protocols_is_a_response(more: bytes) -> None:
    parser, notes, wrong = parsed(b"HTTP/1.1 101 Switching\r\n" + more, wants=0)
    assert (wrong, parser.is_done, parser.is_reusable, notes.heads[0][0]) == ("", True, False, 101)


@settings(deadline=None)
@given(noise=st.binary(max_size=300), step=st.integers(1, 40), head_only=st.booleans())
def test_parser_accepts_any_bytes_without_exception(noise: bytes, step: int, *, head_only: bool) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", answer(b"ab"), CHUNKED[:60]):
        sent = start + noise
        parsed(*(sent[place : place + step] for place in range(0, len(sent), step)), head_only=head_only)


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.sampled_from([CHUNKED, answer(b"hello", "X: y")]))
def test_parser_result_is_independent_of_splits(cuts: list[int], sent: bytes) -> None:
    pieces, rest = [], sent
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    parser, notes, wrong = parsed(*filter(None, [*pieces, rest]))
    assert (wrong, parser.is_reusable) == ("", True)
    assert (notes.heads, notes.body) == (parsed(sent)[1].heads, parsed(sent)[1].body)
