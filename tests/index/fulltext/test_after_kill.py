"""Test that a crawl that is killed and resumed has indexed the words of all its quads."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from motherlode.crawler import CrawlFolder
from motherlode.index.fulltext import WordIndex, WordSearcher
from motherlode.index.quad_store import QuadStore
from tests.support import synthetic_warc


def documents(path: Path) -> set[tuple[str, str]]:
    """Return the subjects and graphs that are found by common words."""
    searcher = WordSearcher(path)
    common = ("the", "and", "for", "with", "of", "a", "recipe", "page", "home", "about", "news", "dataset")
    return {(subject, graph) for word in common for subject, graph, _ in searcher.subjects(word)}


def _journal(out: CrawlFolder) -> tuple[int, int]:
    """Return size and modification time of the journal, which change with each batch of pages."""
    try:
        status = (out.words / "pending.journal").stat()
    except FileNotFoundError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def test_resumed_crawl_after_kill_has_words_of_all_quads(tmp_path: Path) -> None:
    warc, homes = synthetic_warc(tmp_path / "web.warc.gz", pages=500, seed=8)
    (tmp_path / "seeds.txt").write_text("\n".join(homes))
    out = CrawlFolder(tmp_path / "out")
    flags = ["--web", str(warc), "--seeds", str(tmp_path / "seeds.txt"), "--delay", "0.05", "--quiet"]
    command = ["crawl", *flags, "-o", str(out.path)]
    for _ in range(4):
        before = _journal(out)
        process = subprocess.Popen([sys.executable, "-m", "motherlode", *command], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while process.poll() is None and (_journal(out) == before or _journal(out)[0] == 0):
            assert time.monotonic() < deadline, "the crawl has not written to the journal in time"
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if out.has_crawl:
            command = ["resume", str(out.path), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "motherlode", *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    found, size = documents(out.words), len(WordSearcher(out.words))
    anew = WordIndex(tmp_path / "anew")
    anew.rebuild(QuadStore(out.store, read_only=True))
    anew.close()
    assert len(found) > 100
    assert found == documents(tmp_path / "anew")
    assert size == len(WordSearcher(tmp_path / "anew"))
