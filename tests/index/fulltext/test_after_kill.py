"""A crawl that is killed and resumed has the words of all its quads."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from motherlode.crawler import CrawlFolder
from motherlode.index import QuadStore
from motherlode.index.fulltext import WordIndex, WordSearcher
from tests.support import synthetic_warc


def documents(path: Path) -> set[tuple[str, str]]:
    """Subjects and graphs that can be found by the letters that most words begin with."""
    searcher = WordSearcher(path)
    common = ("the", "and", "for", "with", "of", "a", "recipe", "page", "home", "about", "news", "dataset")
    return {(subject, graph) for word in common for subject, graph, _ in searcher.subjects(word)}


def test_words_catch_up_with_the_quads(tmp_path: Path) -> None:
    warc, homes = synthetic_warc(tmp_path / "web.warc.gz", pages=500, seed=8)
    (tmp_path / "seeds.txt").write_text("\n".join(homes))
    out = CrawlFolder(tmp_path / "out")
    flags = ["--web", str(warc), "--seeds", str(tmp_path / "seeds.txt"), "--delay", "0.05", "--quiet"]
    command = ["crawl", *flags, "-o", str(out.path)]
    chance = random.Random(3)
    for _ in range(4):
        process = subprocess.Popen([sys.executable, "-m", "motherlode", *command], stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(1.5, 3.0))
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
