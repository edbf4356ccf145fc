"""The command `serve`, and `crawl --serve`."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from motherlode.crawler import CrawlFolder, Job
from tests.support import synthetic_warc


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def fetched(address: str) -> int:
    found = re.search(r"<dt>Fetched</dt><dd class=\"value\">([\d,]+)</dd>", get(f"{address}/"))
    assert found is not None
    return int(found[1].replace(",", ""))


def test_crawl_with_serve_shows_the_crawl_until_its_end(tmp_path: Path) -> None:
    warc, homes = synthetic_warc(tmp_path / "web.warc.gz", pages=600, seed=6)
    (tmp_path / "seeds.txt").write_text("\n".join(homes))
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "motherlode", "crawl", "--web", str(warc), "--seeds", str(tmp_path / "seeds.txt")),
            *("--delay", "3", "-o", str(tmp_path / "out"), "--serve", "0", "--quiet"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        while (match := re.search(r"(http://127\.0\.0\.1:\d+)/", line := process.stderr.readline())) is None:
            assert line, "the crawl ended before it was served"
        address = match[1]
        first = later = fetched(address)
        assert 'class="state on"' in get(f"{address}/")
        deadline = time.monotonic() + 120
        while later <= first and time.monotonic() < deadline:
            time.sleep(0.3)
            later = fetched(address)
        assert later > first, "the page shows the progress of the crawl"
        counted = 0
        while not counted and time.monotonic() < deadline:
            asked = f"{address}/sparql?query=SELECT(COUNT(*)AS?n)%7B?s?p?o%7D"
            counted = int(json.loads(get(asked))["results"]["bindings"][0]["n"]["value"])
        assert counted > 0
    finally:
        process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 0
    try:
        get(f"{address}/")
    except (urllib.error.URLError, ConnectionError):
        return
    raise AssertionError("the server must end with its crawl")


def motherlode_serve(folder: Path, *flags: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "motherlode", "serve", str(folder), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, " ".join(done.stderr.split())


def test_serve_without_crawl_or_free_port_fails(tmp_path: Path) -> None:
    code, message = motherlode_serve(tmp_path)
    assert code == 2
    assert "has no crawl" in message
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",)))
    folder.unlock()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, message = motherlode_serve(folder.path, "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "cannot be used: Address already in use; --port 0 takes a free one" in message


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--allow-host", "http://a.test/", "--allow-host http://a.test/ is not a host name"),
        ("--cors", "a.test", "--cors a.test is not an origin"),
        ("--host", "a.test", "a.test is not an IP address"),
        ("--address", "a.test", "a.test is not an IP address"),
    ],
)
def test_wrong_host_or_origin_is_wrong_usage(tmp_path: Path, flag: str, value: str, message: str) -> None:
    folder = CrawlFolder(tmp_path / "out")
    folder.create(Job(seeds=("http://a.test/",)))
    folder.unlock()
    code, told = motherlode_serve(folder.path, "--port", "0", flag, value)
    assert (code, message in told) == (2, True), told


def test_crawl_with_serve_on_a_used_port_does_not_start(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        flags = ("http://a.test/", "-o", str(out), "--serve", str(taken.getsockname()[1]))
        command = [sys.executable, "-m", "motherlode", "crawl", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "--serve 0 takes a free one" in " ".join(done.stderr.split())
    assert not out.exists()
