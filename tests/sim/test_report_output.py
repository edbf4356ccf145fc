from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from motherlode.sim.experiment import Experiment, ExperimentSetup, run_experiment
from motherlode.sim.report import write_outputs

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found() -> Experiment:
    question = ExperimentSetup(
        web="synthetic:1000", policies=("bfs", "random", "bandit:success-rate"), repeat=2, share=0.5
    )
    return run_experiment(question, processes=1)


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_report_writes_all_files(found: Experiment, tmp_path: Path) -> None:
    report = write_outputs(tmp_path / "new" / "out", found)
    names = {path.name for path in report.parent.iterdir()}
    assert names == {
        "report.html", "rows.csv", "curves.csv", "hosts.csv", "harvest.svg", "focus.svg", "hosts.svg", "picking.svg",
    }  # fmt: skip


def test_report_loads_and_runs_nothing(found: Experiment, tmp_path: Path) -> None:
    hostile = replace(found, notes=(HOSTILE,), available={HOSTILE: 3, **(found.available or {})})
    hostile = replace(hostile, rows=tuple(replace(row, policy=row.policy + HOSTILE) for row in found.rows))
    text = write_outputs(tmp_path, hostile).read_text(encoding="utf-8")
    elements = Elements(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(elements.names)
    assert not [name for name in elements.attributes if name.startswith("on") or name in ("src", "href")]
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;") >= 3


def test_report_charts_are_valid_svg(found: Experiment, tmp_path: Path) -> None:
    write_outputs(tmp_path, found)
    for name in ("harvest", "focus", "hosts", "picking"):
        picture = ElementTree.fromstring((tmp_path / f"{name}.svg").read_text(encoding="utf-8"))
        series = [node for node in picture.iter() if "series" in node.get("class", "").split() and node.get("d")]
        assert len(series) == 4, name  # three policies and the oracle
        bands = [node for node in picture.iter() if "band" in node.get("class", "").split()]
        assert bool(bands) == (name in ("harvest", "focus"))
        numbers = [float(n) for node in series for n in re.findall(r"-?[\d.]+", node.get("d", ""))]
        assert all(0 <= number <= 860 for number in numbers)


def test_report_tables_hold_results(found: Experiment, tmp_path: Path) -> None:
    write_outputs(tmp_path, found)
    told = rows(tmp_path / "rows.csv")
    assert [(row["policy"], int(row["seed"]), int(row["relevant"])) for row in told] == [
        (row.policy, row.seed, row.result.relevant) for row in found.rows
    ]
    last = rows(tmp_path / "curves.csv")[-1]
    assert (int(last["fetched"]), int(last["relevant"])) == found.rows[-1].result.curve[-1]
    hosts = [row for row in rows(tmp_path / "hosts.csv") if (row["policy"], row["seed"]) == ("bfs", "0")]
    assert sum(int(row["found"]) for row in hosts) == found.rows[0].result.relevant
    assert sum(int(row["available"]) for row in hosts) == sum((found.available or {}).values())


def test_report_of_empty_result_is_written(tmp_path: Path) -> None:
    question = ExperimentSetup(web="synthetic:1000", policies=("bfs",), target="type:schema:Unicorn", pages=20)
    text = write_outputs(tmp_path, run_experiment(question, processes=1)).read_text(encoding="utf-8")
    assert "there is nothing to find" in text
