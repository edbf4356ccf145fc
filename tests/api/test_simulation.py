"""`motherlode.simulate`: rows by policy, policies of programs, and processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import motherlode as ml
from tests.api.webs import write_shop

SCRIPT = """
import motherlode as ml

@ml.policy("long-first")
class LongFirst:
    def score(self, link, parent):
        return len(link.url)

for row in ml.simulate({web!r}, policies=["bfs", "motherlode"], pages=10, processes=2):
    print(row["policy"], row["fetched"])
print(ml.simulate({web!r}, policies=["bfs", "long-first"], pages=10)[1]["fetched"])
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_simulate_returns_a_row_for_each_policy_and_repetition(tmp_path: Path) -> None:
    shop = write_shop(tmp_path / "shop.warc.gz", pages=30)
    result = ml.simulate(shop, policies=["bfs", "dfs"], share=0.5, repeat=2, target="type:schema:Product", processes=1)
    assert [(row["policy"], row["seed"]) for row in result] == [("bfs", 0), ("bfs", 1), ("dfs", 0), ("dfs", 1)]
    assert {row["fetched"] for row in result} == {15}
    assert result.curves[0][-1][0] == 15
    assert result.write_report(tmp_path / "report").exists()


async def test_simulate_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    shop = write_shop(tmp_path / "shop.warc.gz", pages=10)
    assert ml.simulate(shop, policies=["bfs"], pages=5, processes=1)[0]["fetched"] == 5


def test_simulate_in_a_plain_script_needs_no_main_guard(tmp_path: Path) -> None:
    shop = write_shop(tmp_path / "shop.warc.gz", pages=20)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(web=str(shop)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == ["bfs", "10", "motherlode", "10", "10"]


def test_simulate_policies_as_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="policies must be a list"):
        ml.simulate("synthetic:200", policies="bfs")
