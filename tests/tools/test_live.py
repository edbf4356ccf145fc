"""The figures of bench/live.py: rates from the log of the servers, and failures from the log of a crawl."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("live")


@pytest.mark.parametrize("first_wave", [0, 50, 99])
def test_slope_of_waves_does_not_depend_on_where_the_window_begins(live: ModuleType, first_wave: int) -> None:
    times = [wave * 4.0 + number / 1000 for wave in range(12) for number in range(100)][first_wave : first_wave + 960]
    assert live.slope(times) == pytest.approx(25.0, rel=0.02)


def test_slope_of_one_moment_is_zero(live: ModuleType) -> None:
    assert [live.slope(times) for times in ([], [1.0], [1.0, 1.0])] == [0.0, 0.0, 0.0]


def test_logged_failures_are_those_with_a_failure_kind(live: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    log.write_text(
        "2026-11-18T09:53:57Z INFO https://www.a.com/ dns 0ms no address\n"
        "2026-11-18T09:53:57Z INFO https://www.b.com/1 200 28ms 21 quads relevant\n"
        "2026-11-18T09:53:58Z INFO nothing may be fetched for 3 s: all URLs wait for delays or retries\n"
        "2026-11-18T09:53:59Z INFO https://www.c.com/2 timeout 15000ms the connection was not made\n"
    )
    assert list(live.logged_failures(log)) == [("www.a.com", "dns"), ("www.c.com", "timeout")]


def test_cpu_time_is_grouped_by_part_of_the_box(live: ModuleType) -> None:
    seconds = {"nginx": 1.0, "resolver-0": 0.5, "zone-com": 0.25, "delay": 2.0}
    assert live.group_cpu(seconds) == {"nginx": 1.0, "names": 0.75, "delay": 2.0}
