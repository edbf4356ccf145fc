"""The command `demo`, with a smaller budget than `make demo`."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from motherlode.cli import application, demo
from motherlode.crawler import CrawlFolder, Job
from tests.cli.crawl_process import wait_for_requests


def _demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "motherlode", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)


def test_demo_compares_crawls_and_writes_a_report(tmp_path: Path) -> None:
    done = _demo("-o", str(tmp_path / "demo"), "--pages", "500")
    assert done.returncode == 0, done.stderr
    rates = {
        line.split("│")[1].strip(): float(line.split("│")[4])
        for line in done.stdout.splitlines()
        if line.startswith(("│ bfs", "│ motherlode"))
    }
    assert rates["motherlode"] > 1.5 * rates["bfs"]
    assert (tmp_path / "demo" / "motherlode" / "report.html").exists()
    assert "rows" in done.stderr
    again = _demo("-o", str(tmp_path / "demo"), "--pages", "20")
    assert again.returncode == 0, "an earlier demo is replaced"
    assert "found no price in euros in 20 pages" in " ".join(again.stderr.split())


def test_demo_query_can_be_copied_into_a_shell(tmp_path: Path) -> None:
    done = _demo("-o", str(tmp_path / "my demo"), "--pages", "15")
    command = done.stderr.partition("\nmotherlode ")[2].partition("LIMIT 8'")[0] + "LIMIT 8'"
    words = shlex.split(command)
    assert words[:2] == ["query", str(tmp_path / "my demo" / "motherlode")]
    assert words[2:] == [demo.QUERY]


def test_demo_interrupted_says_that_the_web_is_gone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "motherlode", "demo", "-o", str(tmp_path / "demo"), "--pages", "5000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stderr is not None
        lines = [running.stderr.readline() for _ in range(2)]
        assert "--policy bfs" in lines[-1]
        wait_for_requests(running, tmp_path / "demo" / "bfs")
        os.killpg(running.pid, signal.SIGINT)
        said = running.stderr.read()
    assert running.returncode == 1
    assert "the web of the demo with it" in said
    assert "resume" not in said


def test_demo_does_not_remove_other_folders(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("important")
    done = _demo("-o", str(tmp_path))
    assert done.returncode == 2
    assert "not from an earlier demo" in " ".join(done.stderr.split())
    assert (tmp_path / "thesis.txt").exists()


def test_demo_with_a_port_in_use_fails(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.2", 0))
        taken.listen()
        done = _demo("-o", str(tmp_path / "demo"), "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "Address already in use" in " ".join(done.stderr.split())
    assert "--port 0 takes a free port" in " ".join(done.stderr.split())


def test_demo_with_impossible_budget_or_port_is_wrong_usage(tmp_path: Path) -> None:
    for flags in (("--pages", "0"), ("--port", "99999")):
        done = _demo("-o", str(tmp_path / "demo"), *flags)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_demo_stopped_in_the_first_crawl_shows_no_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    async def stopped(job: Job, folder: CrawlFolder, *, quiet: bool) -> bool:
        begun.append(job.policy)
        return True

    monkeypatch.setattr(demo, "visit_all", stopped)
    done = CliRunner().invoke(application(["demo", "stats"]), ["demo", "-o", str(tmp_path / "a demo"), "--pages", "5"])
    assert (done.exit_code, begun) == (1, ["bfs"])
    assert "times as many" not in done.output
    assert "resume" not in done.output, "it cannot be resumed without its web"
    assert f"the data found so far is in '{tmp_path}/a demo/bfs'" in done.output.replace("\n", "")
