"""The parser process: the frames that it reads and writes, and how it ends."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
import pytest

from motherlode.crawler.parsing.messages import PageBody, ParsedPage, ParseOptions
from motherlode.runtime import STATUS_ERROR, STATUS_OK, read_frame, write_frame

PAGE = b'<title>T</title><p vocab="http://schema.org/" typeof="Place"><b property="name">P</b></p>'
Worker = subprocess.Popen[bytes]


def encoded(number: int, body: bytes = PAGE) -> bytes:
    page = PageBody(url=f"http://a.example/{number}", content_type="text/html", body=body)
    return msgspec.msgpack.encode(page)


def pipes(worker: Worker) -> tuple[BinaryIO, BinaryIO]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    return worker.stdin, worker.stdout  # type: ignore[return-value]


def _hear_interrupts() -> None:
    """Restore the default handler, because a shell starts background processes with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def worker() -> Iterator[Worker]:
    command = [sys.executable, "-m", "motherlode.crawler.parsing.worker"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=_hear_interrupts,
    ) as made:
        yield made
        made.kill()


def test_worker_responds_in_order_and_ends_with_its_input(worker: Worker) -> None:
    to, back = pipes(worker)
    write_frame(to, msgspec.msgpack.encode(ParseOptions(target="any")))
    assert read_frame(back) == STATUS_OK
    for number in range(5):
        write_frame(to, encoded(number))
    for number in range(5):
        answer = read_frame(back)
        assert answer is not None
        assert answer[:1] == STATUS_OK
        reading = msgspec.msgpack.decode(answer[1:], type=ParsedPage)
        assert reading.relevant
        assert f"<http://a.example/{number}>".encode() in reading.graph_quads
    to.close()
    assert read_frame(back) is None
    assert worker.wait(timeout=30) == 0


def test_worker_reports_an_invalid_frame_and_parses_the_next(worker: Worker) -> None:
    to, back = pipes(worker)
    write_frame(to, msgspec.msgpack.encode(ParseOptions(target="any")))
    assert read_frame(back) == STATUS_OK
    worker.send_signal(signal.SIGINT)  # the worker ignores Ctrl-C and finishes its pages
    write_frame(to, b"no page")
    write_frame(to, encoded(1))
    refused, read = read_frame(back), read_frame(back)
    assert refused is not None
    assert read is not None
    assert refused.startswith(STATUS_ERROR)
    assert b"Error: " in refused
    assert read.startswith(STATUS_OK)


def test_worker_without_options_ends_with_status_0(worker: Worker) -> None:
    to, back = pipes(worker)
    to.close()
    assert read_frame(back) is None
    assert worker.wait(timeout=30) == 0


def test_worker_ends_when_its_output_is_closed(worker: Worker) -> None:
    to, back = pipes(worker)
    write_frame(to, msgspec.msgpack.encode(ParseOptions(target="any")))
    assert read_frame(back) == STATUS_OK
    back.close()
    write_frame(to, encoded(1))
    assert worker.wait(timeout=30) == 0


def test_worker_with_a_lower_limit_of_address_space_keeps_it() -> None:
    limit = 2 << 30

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [sys.executable, "-m", "motherlode.crawler.parsing.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lower) as worker:
        to, back = pipes(worker)
        write_frame(to, msgspec.msgpack.encode(ParseOptions(target="any")))
        assert read_frame(back) == STATUS_OK
        assert resource.prlimit(worker.pid, resource.RLIMIT_AS) == (limit, limit)
        to.close()
        assert worker.wait(timeout=30) == 0
