"""Tests of the store process, on the level of frames."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from motherlode.index.store_client import Call, CallResult, Close, Has, OpenStore, Write
from motherlode.runtime import read_frame, write_frame

from .fakes import A, record, says


def started(parent: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "motherlode.index.store_server", str(parent)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(process: subprocess.Popen[bytes], call: Call) -> CallResult:
    assert process.stdin is not None and process.stdout is not None
    write_frame(process.stdin, msgspec.msgpack.encode(call))
    frame = read_frame(process.stdout)
    assert frame is not None
    return msgspec.msgpack.decode(frame, type=CallResult)


def test_server_handles_calls_until_close(tmp_path: Path) -> None:
    with started(os.getpid()) as process:
        assert ask(process, OpenStore(str(tmp_path / "store"))) == CallResult(value=True)
        assert ask(process, Has(A)) == CallResult(value=False)
        assert ask(process, Write([record(A, says("name", "Ann"))])) == CallResult(value=True)
        assert ask(process, Has(A)) == CallResult(value=True)
        assert ask(process, Close()) == CallResult(value=True)
        assert process.wait(20) == 0


def test_server_call_before_open_is_error_and_server_continues(tmp_path: Path) -> None:
    with started(os.getpid()) as process:
        assert "before a store was opened" in ask(process, Has(A)).error
        assert ask(process, OpenStore(str(tmp_path / "store"))).value


@pytest.mark.parametrize("is_orphan", [True, False])
def test_server_ends_when_stdin_closes_or_parent_is_gone(*, is_orphan: bool) -> None:
    with started(1 if is_orphan else os.getpid()) as process:
        if not is_orphan:
            assert process.stdin is not None
            process.stdin.close()
        assert process.wait(20) == 0
