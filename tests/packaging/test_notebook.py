"""The API in a notebook: a running event loop, progress below the cell, tables, and policies of the notebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.api.webs import write_shop
from tests.packaging.environments import build_sdist, build_wheel, install_with_uv


def test_notebook_crawls_shows_progress_and_tables(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    wheel = build_wheel(build_sdist(build), build)
    python = install_with_uv(tmp_path, sys.executable, str(wheel), "ipykernel", "nbclient")
    warc = write_shop(tmp_path / "shop.warc.gz", pages=30)
    command = [str(python), str(Path(__file__).with_name("notebook.py")), str(warc)]
    environment = os.environ | {
        "HOME": str(tmp_path),
        "PYTHONPATH": "",
        "PATH": f"{python.parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    crawled, awaited, table, simulated = map(json.loads, done.stdout.splitlines())
    assert '<progress value="20" max="20">' in crawled[0]["text/html"]
    assert crawled[1]["text/plain"] == "20"
    assert "pages 10 of 10" in awaited[0]["text/plain"]
    assert awaited[1]["text/plain"] == "10"
    assert "<td>Lemon cake 1</td>" in table[0]["text/html"]
    assert simulated[0]["text/plain"] == "10"
