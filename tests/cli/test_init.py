"""Behaviour of all commands with closed pipes, full disks, other locales and Ctrl-C during imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from motherlode import cli
from motherlode.__main__ import main
from tests.crawler.small_web import HOME, crawled, small_web


def motherlode(*arguments: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "motherlode", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, env={**os.environ, **settings})


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("init")
    made = crawled(place / "out", small_web(place / "web.warc.gz"), pages=12)[0]
    motherlode("search", str(made.path), "--rebuild")
    return str(made.path)


@pytest.mark.parametrize("command", ["stats", "verify", "compact", "clusters", "resume", "index"])
def test_folder_without_crawl_gives_a_message_in_every_command(tmp_path: Path, command: str) -> None:
    done = motherlode(command, str(tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"has no crawl" in b" ".join(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("stats",),
        ("export",),
        ("explain", HOME),
        ("search", "item"),
        ("query", "SELECT * { ?s ?p ?o }", "--format", "csv"),
    ],
)
def test_closed_pipe_is_no_failure(out: str, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "motherlode", arguments[0], out, *arguments[1:]]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, b"Traceback" in done.stderr, b"Exception" in done.stderr) == (0, False, False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("command", ["stats", "export"])
def test_full_disk_gives_a_message(out: str, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        asked = [sys.executable, "-m", "motherlode", command, out]
        done = subprocess.run(asked, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "error: no space is left on the disk, so the output is incomplete: free some space and try again"
    ]


def test_output_is_utf_8_in_any_locale(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Küche</title>", encoding="utf-8")
    done = motherlode("extract", str(page), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "Küche" in done.stdout.decode()


def test_ctrl_c_during_imports_ends_without_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "import_module", interrupted)
    monkeypatch.setattr(sys, "argv", ["motherlode", "stats"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == cli.INTERRUPTED
    assert capsys.readouterr().err == ""
