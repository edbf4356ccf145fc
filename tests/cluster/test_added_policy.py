"""Shards know a policy that the program has added, also if its class is in a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.webs import HOME, write_shop

SCRIPT = """
import motherlode as ml

@ml.policy("short-first")
class ShortFirst:
    def score(self, link, parent):
        return -len(link.url)

with ml.crawl([{home!r}], output={output!r}, web={web!r}, pages=8, shards=2, policy="short-first") as crawl:
    print(len(list(crawl)), ml.open({output!r}).path.name)
print(len(ml.open({output!r}).pages()))
"""


def test_shards_run_the_policy_of_a_script(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    shop = write_shop(tmp_path / "shop.warc.gz", pages=20)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(home=HOME, output=str(tmp_path / "out"), web=str(shop)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["8", "out", "8"], done.stderr
