"""Input of `extract` with limits on its size and on the wait for bytes."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from motherlode.crawler.single_page import BoundedInput, InputError, InputLimits, InputSource, open_input, read_source

SHORT_WAIT = InputLimits(timeout_seconds=0.05)


def limited(size: int) -> InputLimits:
    return InputLimits(max_bytes=size)


def test_input_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    with open_input(path, limited(5)) as stream:
        assert stream.read_fully(100) == b"12345"
        assert stream.read(1) == b""


def test_file_over_the_limit_is_refused_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"123456")
    with (
        pytest.raises(InputError, match="a is longer than 5 B: use --max-bytes for a larger limit"),
        open_input(path, limited(5)),
    ):
        pass


def test_limit_applies_to_the_rest_of_a_partly_read_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"123456")
    with path.open("rb", buffering=0) as file:
        file.seek(1)
        assert BoundedInput(file.fileno(), name="a", limits=limited(5)).read_fully(100) == b"23456"


def test_endless_device_stops_at_the_limit() -> None:
    with open_input(Path("/dev/zero"), limited(3_000_000)) as stream:
        head = stream.read_fully(1_000_000)
        assert len(head) == 1_000_000
        with pytest.raises(InputError, match=r"longer than 3\.0 MB"):
            stream.read_rest(head)


def test_bytes_of_a_pipe_are_returned_as_they_arrive() -> None:
    reader, writer = os.pipe()
    try:
        stream = BoundedInput(reader, name="stdin", limits=SHORT_WAIT)
        os.write(writer, b"abc")
        assert stream.read(100) == b"abc"
        with pytest.raises(InputError, match=r"no bytes arrived from stdin for 0\.05 s: use --timeout"):
            stream.read(100)
    finally:
        os.close(reader)
        os.close(writer)


def test_fifo_without_writer_ends_after_the_timeout(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with open_input(fifo, SHORT_WAIT) as stream, pytest.raises(InputError, match="no bytes arrived"):
        stream.read(1)


def test_terminal_has_no_timeout() -> None:
    master, terminal = os.openpty()
    try:
        stream = BoundedInput(terminal, name="stdin", limits=SHORT_WAIT)
        with ThreadPoolExecutor() as pool:
            line = pool.submit(stream.read, 100)
            is_done, _ = wait([line], timeout=4 * SHORT_WAIT.timeout_seconds)
            os.write(master, b"abc\n")
            assert line.result(timeout=30) == b"abc\n"
            assert not is_done
    finally:
        os.close(master)
        os.close(terminal)


def test_fifo_ends_with_its_writer(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(b"x" * 200_000,))
    with open_input(fifo, InputLimits(timeout_seconds=30)) as stream:
        writer.start()
        assert stream.read_rest(b"") == b"x" * 200_000
    writer.join()


def test_read_source_returns_statements_before_the_limit() -> None:
    line = b'<http://a.example/> <http://p.example/> "x" .\n'
    reader, writer = os.pipe()
    feeder = threading.Thread(target=_feed, args=(writer, line * 100_000))
    feeder.start()
    source = InputSource(url="http://a.example/", content_type="application/n-triples", descriptor=reader)
    parts = read_source(source, None, None, limited(2_000_000))
    count = 0
    with pytest.raises(InputError, match=r"stdin is longer than 2\.0 MB"):
        for part in parts:
            count += sum(len(extraction.statements) for extraction in part.result.extractions)
    os.close(reader)
    feeder.join()
    assert 1_900_000 < count * len(line) <= 2_000_000


def _feed(writer: int, text: bytes) -> None:
    rest = memoryview(text)
    try:
        while rest:
            rest = rest[os.write(writer, rest) :]
    except BrokenPipeError:
        pass  # the reader has closed the pipe, as expected
    finally:
        os.close(writer)


def test_read_source_refuses_a_body_over_the_limit() -> None:
    source = InputSource(url="http://a.example/", body=b"x" * 11)
    with pytest.raises(InputError, match=r"http://a\.example/ is longer than 10 B"):
        list(read_source(source, None, None, limited(10)))
