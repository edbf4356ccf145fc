"""Tests of the metrics: their format, and that each is documented and used by the Grafana dashboard."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from motherlode.crawler.stats.counters import Counters, Estimate
from motherlode.model import Visit
from motherlode.serve.metrics import render_metrics
from tests.serve.test_pages_overview import EMPTY, FULL, make_state

ROOT = Path(__file__).parents[2]
LINE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"\})? -?[0-9.e+-]+')


def render(text: str = "") -> str:
    state = make_state(FULL, is_running=True, done=(3, None))
    totals = Counters(fetched=3, failures={f"a{text}": 1}, redirects=1, in_flight=2, rate=1.5, waits_until=110.0)
    for elapsed in (0.01, 0.3, 99.0):
        totals.add(Visit(number=1, url="", host="", status=200, elapsed=elapsed, size=2_000, received=7))
    return render_metrics(
        dataclasses.replace(
            state, stats=dataclasses.replace(state.stats, totals=totals, left=Estimate(relevant=4.5)), recent_rate=0.5
        ),
        100.0,
    )


def test_metrics_have_valid_lines_and_one_type_each() -> None:
    lines = render('"\\\n').splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert all(LINE.fullmatch(line.replace('le="+Inf"', 'le="inf"')) for line in samples), samples
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(types) == len(set(types))
    assert r'motherlode_requests_total{result="a\"\\\n"} 1' in lines


def test_metrics_have_values_of_state() -> None:
    lines = render().splitlines()
    assert 'motherlode_requests_total{result="page"} 4' in lines
    assert "motherlode_waiting_seconds 10" in lines
    assert 'motherlode_queue_urls{state="in_flight"} 2' in lines
    assert "motherlode_estimated_relevant_left 4.5" in lines


def test_histogram_buckets_are_cumulative() -> None:
    lines = render().splitlines()
    found = [int(line.split()[-1]) for line in lines if line.startswith("motherlode_response_seconds_bucket")]
    assert found == [1, 1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert "motherlode_response_seconds_count 3" in lines
    assert 'motherlode_page_bytes_bucket{le="10000"} 3' in lines
    assert "motherlode_page_bytes_sum 6000" in lines


def test_metrics_of_new_crawl_have_no_estimate() -> None:
    assert "estimated_relevant_left" not in render_metrics(make_state(EMPTY), 0.0)


def test_every_metric_is_documented() -> None:
    names = {line.split()[2] for line in render().splitlines() if line.startswith("# TYPE")}
    documented = set(re.findall(r"`(motherlode_\w+)`", (ROOT / "docs/reference/metrics.md").read_text()))
    assert names == documented


def test_grafana_dashboard_uses_existing_metrics() -> None:
    dashboard = json.loads((ROOT / "examples/grafana/motherlode.json").read_text())
    used = set(re.findall(r"motherlode_\w+", json.dumps([panel["targets"] for panel in dashboard["panels"]])))
    names = {line.split()[2] for line in render().splitlines() if line.startswith("# TYPE")}
    assert used
    assert {name.removesuffix("_bucket") for name in used} <= names
