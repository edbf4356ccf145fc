from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from motherlode.sim.experiment import Experiment, ExperimentSetup, run_experiment
from motherlode.sim.report import Chart, make_charts, results_by_policy, write_outputs


@pytest.fixture(scope="module")
def found() -> Experiment:
    return run_experiment(
        ExperimentSetup(web="synthetic:1000", policies=("random", "bfs"), repeat=3, share=0.5), processes=1
    )


@pytest.fixture(scope="module")
def drawn(found: Experiment) -> dict[str, Chart]:
    return {chart.name: chart for chart in make_charts(found)}


def test_report_lists_policies_before_baselines(found: Experiment) -> None:
    assert list(results_by_policy(found)) == ["random", "bfs", "oracle"]


def test_report_harvest_is_mean_within_band(found: Experiment, drawn: dict[str, Chart]) -> None:
    random = drawn["harvest"].curves[0]
    ends = [row.result.relevant for row in found.rows if row.policy == "random"]
    assert random.end == (found.budget, round(sum(ends) / 3))
    assert random.band[-1] == (found.budget, min(ends), max(ends))
    assert all(low <= y <= high for (_, y), (_, low, high) in zip(random.points, random.band, strict=True))
    assert len(drawn["harvest"].curves[2].band) == len(drawn["harvest"].curves[2].points)


def test_report_focus_is_0_for_bfs_and_100_for_oracle(drawn: dict[str, Chart]) -> None:
    _, bfs, oracle = drawn["focus"].curves
    assert {y for _, y in bfs.points} == {0}
    assert {y for _, y in oracle.points} == {100}


def test_report_hosts_are_sorted_by_result(found: Experiment, drawn: dict[str, Chart]) -> None:
    for curve in drawn["hosts"].curves:
        shares = [y for _, y in curve.points]
        assert shares == sorted(shares, reverse=True)
        assert len(shares) == len(found.available or {})
        assert all(0 <= share <= 100 for share in shares)


def test_report_pick_times_are_sorted(drawn: dict[str, Chart]) -> None:
    for curve in drawn["picking"].curves:
        sizes = [x for x, _ in curve.points]
        assert sizes == sorted(set(sizes))
        assert all(time > 0 for _, time in curve.points)


HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found_pages() -> Experiment:
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


def test_report_writes_all_files(found_pages: Experiment, tmp_path: Path) -> None:
    report = write_outputs(tmp_path / "new" / "out", found_pages)
    names = {path.name for path in report.parent.iterdir()}
    assert names == {
        "report.html", "rows.csv", "curves.csv", "hosts.csv", "harvest.svg", "focus.svg", "hosts.svg", "picking.svg",
    }  # fmt: skip


def test_report_loads_and_runs_nothing(found_pages: Experiment, tmp_path: Path) -> None:
    hostile = replace(found_pages, notes=(HOSTILE,), available={HOSTILE: 3, **(found_pages.available or {})})
    hostile = replace(hostile, rows=tuple(replace(row, policy=row.policy + HOSTILE) for row in found_pages.rows))
    text = write_outputs(tmp_path, hostile).read_text(encoding="utf-8")
    elements = Elements(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(elements.names)
    assert not [name for name in elements.attributes if name.startswith("on") or name in ("src", "href")]
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;") >= 3


def test_report_charts_are_valid_svg(found_pages: Experiment, tmp_path: Path) -> None:
    write_outputs(tmp_path, found_pages)
    for name in ("harvest", "focus", "hosts", "picking"):
        chart = ElementTree.fromstring((tmp_path / f"{name}.svg").read_text(encoding="utf-8"))
        series = [node for node in chart.iter() if "series" in node.get("class", "").split() and node.get("d")]
        assert len(series) == 4, name  # three policies and the oracle
        bands = [node for node in chart.iter() if "band" in node.get("class", "").split()]
        assert bool(bands) == (name in ("harvest", "focus"))
        numbers = [float(n) for node in series for n in re.findall(r"-?[\d.]+", node.get("d", ""))]
        assert all(0 <= number <= 860 for number in numbers)


def test_report_tables_hold_results(found_pages: Experiment, tmp_path: Path) -> None:
    write_outputs(tmp_path, found_pages)
    told = rows(tmp_path / "rows.csv")
    assert [(row["policy"], int(row["seed"]), int(row["relevant"])) for row in told] == [
        (row.policy, row.seed, row.result.relevant) for row in found_pages.rows
    ]
    last = rows(tmp_path / "curves.csv")[-1]
    assert (int(last["fetched"]), int(last["relevant"])) == found_pages.rows[-1].result.curve[-1]
    hosts = [row for row in rows(tmp_path / "hosts.csv") if (row["policy"], row["seed"]) == ("bfs", "0")]
    assert sum(int(row["found"]) for row in hosts) == found_pages.rows[0].result.relevant
    assert sum(int(row["available"]) for row in hosts) == sum((found_pages.available or {}).values())


def test_report_of_empty_result_is_written(tmp_path: Path) -> None:
    question = ExperimentSetup(web="synthetic:1000", policies=("bfs",), target="type:schema:Unicorn", pages=20)
    text = write_outputs(tmp_path, run_experiment(question, processes=1)).read_text(encoding="utf-8")
    assert "there is nothing to find" in text
