"""The documents that are made from bench/results are up to date, and the README quotes them."""

import re
import runpy
from pathlib import Path

import pytest
from tools.scale import RESULTS, Assumptions, page, read_measured

ROOT = Path(__file__).resolve().parents[2]
QUOTED = {
    r"finds ([\d.]+) times as many pages": ("scrapy", r"\| `any` \|.*\| ([\d.]+) \|"),
    r"as extruct, (\d+) times as fast": ("extruct_dropin", r"all syntaxes: \*\*(\d+)[\d.]* times"),
    r"indexed store run ([\d.]+) times": ("crawl", r"with words, on one core: ([\d.]+) times"),
    r"reaches (\d+) % of the speed": ("live", r"crawl, 1,000 hosts: \*\*(\d+) %"),
    r"allow, ([\d.]+) times that of Scrapy": ("live", r"crawl, 1,000 hosts: .*?\*\*([\d.]+) times"),
}
"""Pattern of a figure in the README → the section with the figure, and its pattern there."""


def test_results_md_has_the_newest_section_of_each_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")  # the scripts there import each other by their names
    join = runpy.run_path(str(ROOT / "bench" / "run.py"))["join"]
    assert (ROOT / "bench" / "RESULTS.md").read_text() == join(), "`python bench/run.py --join` writes it"


def test_scale_md_is_computed_from_the_results() -> None:
    assert (ROOT / "docs" / "scale.md").read_text() == page(read_measured(RESULTS), Assumptions()), (
        "`python tools/scale.py` writes it"
    )


@pytest.mark.parametrize(("pattern", "source"), QUOTED.items())
def test_figure_of_the_readme_is_in_the_results(pattern: str, source: tuple[str, str]) -> None:
    section, measured = source
    text = " ".join((ROOT / "README.md").read_text().split())
    quoted, found = re.search(pattern, text), re.search(measured, (RESULTS / f"{section}.md").read_text())
    assert quoted and found, (pattern, source)
    assert quoted[1] == found[1]
