"""pywb replays an archive. It runs in an environment of its own (`make pywb`), because it needs another brotli."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from ..servers import RawServer, answer
from .test_wire import archive, chunked, head, new_fetcher, warc_file

PYWB = Path(__file__).parents[3] / ".pywb" / "bin" / "python"
HTML = b"<p>hello</p>" * 300
SCRIPT = """
import json, sys
from pywb.manager.manager import main
from pywb.apps.frontendapp import FrontEndApp
from webtest import TestApp
main(["init", "mine"]); main(["add", "mine", sys.argv[1]])
app = TestApp(FrontEndApp(config_file=None))
found = [app.get("/mine/2026id_/" + url, expect_errors=True) for url in sys.argv[2:]]
rows = [[one.status_int, one.headers.getall("Set-Cookie"), one.body.hex()] for one in found]
open("found.json", "w").write(json.dumps(rows))
"""


@pytest.fixture
def pywb() -> Path:
    """The interpreter of pywb's environment."""
    if not PYWB.exists():
        if os.environ.get("CI") == "true":
            pytest.fail("pywb is missing: run `make pywb`")
        pytest.skip("pywb is not here: `make pywb` installs it in an environment of its own")
    return PYWB


async def test_pywb_replays_encoded_bodies_duplicates_and_failures(
    pywb: Path, tmp_path: Path, server: RawServer
) -> None:
    lines = "HTTP/1.1 200 OK", "Content-Type: text/html", "Set-Cookie: a=1", "Set-Cookie: b=2", "Content-Encoding: gzip"
    sent = head(*lines, "Transfer-Encoding: chunked") + chunked(gzip.compress(HTML, mtime=0), 20)
    server.routes |= {
        "/a": sent,
        "/b": sent,
        "/c": answer(b"<h1>gone</h1>", "Content-Type: text/html", status="410 Gone"),
    }
    urls = [server.url(path) for path in ("/a", "/b", "/c")]
    await archive(tmp_path / "warc", urls, new_fetcher())
    command = [str(pywb), "-c", SCRIPT, str(warc_file(tmp_path / "warc")), *urls]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)  # noqa: ASYNC221 - nothing else runs
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())
    for status, cookies, body in found[:2]:
        data = bytes.fromhex(body)
        assert (status, cookies) == (200, ["a=1", "b=2"])
        assert (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data) == HTML
    assert (found[2][0], bytes.fromhex(found[2][2])) == (410, b"<h1>gone</h1>")
