"""Progress of crawls and of other long work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import StringIO

import pytest

from motherlode.cli import progress as module
from motherlode.cli.progress import CrawlProgress, Meter, _format_minutes
from motherlode.cli.terminal import Printer
from motherlode.crawler import Counters, Job
from motherlode.sim.experiment import ExperimentProgress

STEP = ExperimentProgress(
    what="simulating, 1 of 3 runs ended", done=0, of=3_000, unit="requests", under_way=("bfs 900", "dfs 100")
)


@dataclass
class Queue:
    host_count: int = 3
    waiting: int = 1234
    in_flight: int = 5


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def figures(progress: CrawlProgress, clock: Clock) -> dict[str, str]:
    return dict(progress._figures(clock.now))


def test_progress_shows_rate_of_this_run_and_time_left(clock: Clock) -> None:
    totals = Counters()
    totals.fetched = 100
    progress = CrawlProgress(Job(seeds=("http://a.example/",), pages=400), totals, Queue(), quiet=True)
    totals.fetched, clock.now = 200, 10.0
    shown = figures(progress, clock)
    assert (shown["pages"], shown["rate"], shown["left"]) == ("200 of 400", "10.0/s", "0:20")
    assert (shown["known hosts"], shown["queue"], shown["in flight"]) == ("3", "1,234", "5")


def test_time_left_is_that_of_the_first_spent_budget(clock: Clock) -> None:
    totals = Counters()
    job = Job(seeds=("http://a.example/",), pages=1000, time=90.0, bytes=10_000_000)
    progress = CrawlProgress(job, totals, Queue(), quiet=True)
    totals.fetched, totals.seconds, totals.bytes, clock.now = 10, 10.0, 5_000_000, 10.0
    assert figures(progress, clock)["left"] == "0:10"


def test_time_left_without_budget_is_a_dash(clock: Clock) -> None:
    assert (
        figures(CrawlProgress(Job(seeds=("http://a.example/",)), Counters(), Queue(), quiet=True), clock)["left"] == "—"
    )


def test_progress_without_terminal_prints_a_line_every_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with CrawlProgress(Job(seeds=("http://a.example/",)), Counters(), Queue(), quiet=False) as progress:
        for second in range(25):
            clock.now = float(second)
            progress.show(f"http://a.example/{second}")
    told = capsys.readouterr()
    assert (told.out + told.err).count("harvest") == 2


def test_outage_is_reported_once_at_begin_and_end(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters()
    with CrawlProgress(Job(seeds=("http://a.example/",)), totals, Queue(), quiet=False) as progress:
        for since in (None, 60.0, 60.0, 60.0, None, None):
            totals.no_network_since = since
            clock.now += 1.0
            progress.tick()
    told = capsys.readouterr()
    assert told.err.splitlines() == [
        "no network since 1970-01-01 00:01:00 UTC: waiting",
        "the network is back",
    ]


def test_live_display_shows_the_outage(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    monkeypatch.setattr(module, "terminal", Printer(file=shown, force_terminal=True, width=120, highlight=False))
    monkeypatch.setattr(module, "say_above_progress", lambda line: None)
    totals = Counters(no_network_since=60.0)
    with CrawlProgress(Job(seeds=("http://a.example/",)), totals, Queue(), quiet=False) as progress:
        clock.now = 5.0
        progress.tick()
    assert "no network since 1970-01-01 00:01:00 UTC: waiting" in shown.getvalue()


def test_wait_is_reported_once_without_terminal(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    totals = Counters()
    with CrawlProgress(Job(seeds=("http://a.example/",)), totals, Queue(), quiet=False) as progress:
        for until in (None, 60.0, 60.5, 60.5, None, 90.0):
            totals.waits_until, totals.waits_for = until, "the delay of a.example"
            clock.now += 1.0
            progress.tick()
    assert capsys.readouterr().err.splitlines() == [
        f"nothing may be fetched until 1970-01-01 00:01:{seconds} UTC: the delay of a.example"
        for seconds in ("00", "30")
    ]


def test_live_display_shows_the_wait(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    monkeypatch.setattr(module, "terminal", Printer(file=shown, force_terminal=True, width=120, highlight=False))
    totals = Counters(waits_until=60.0, waits_for="the delay of a.example")
    with CrawlProgress(Job(seeds=("http://a.example/",)), totals, Queue(), quiet=False) as progress:
        clock.now = 5.0
        progress.tick()
    assert "nothing may be fetched until 1970-01-01 00:01:00 UTC: the delay of a.example" in shown.getvalue()


def test_rates_are_those_of_the_last_seconds(clock: Clock) -> None:
    totals = Counters()
    job = Job(seeds=("http://a.example/",), bytes=10_000_000)
    progress = CrawlProgress(job, totals, Queue(), quiet=True)
    totals.fetched, totals.bytes, clock.now = 1000, 9_000_000, 10.0
    figures(progress, clock)
    for clock.now in (40.0, 70.0, 100.0):  # since then one page of 3 kB per three seconds
        totals.fetched += 10
        totals.bytes += 30_000
        shown = figures(progress, clock)
    assert (shown["rate"], shown["left"]) == ("0.3/s", "15:10")


def test_quiet_progress_prints_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with CrawlProgress(
        Job(seeds=("http://a.example/",)), Counters(no_network_since=1.0), Queue(), quiet=True
    ) as progress:
        clock.now = 100.0
        progress.show("http://a.example/")
        progress.tick()
    assert capsys.readouterr() == ("", "")


def test_meter_without_terminal_prints_a_line_every_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Meter() as meter:
        for second in range(25):
            clock.now = float(second)
            meter.show(replace(STEP, done=100 * second))
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "simulating, 1 of 3 runs ended · 1,100 of 3,000 requests · left 0:19 · bfs 900 · dfs 100",
        "simulating, 1 of 3 runs ended · 2,200 of 3,000 requests · left 0:08 · bfs 900 · dfs 100",
    ]


def test_meter_estimates_each_unit_on_its_own(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Meter() as meter:
        clock.now = 100.0
        meter.show(ExperimentProgress(what="reading a.warc.gz", done=1_000_000, of=4_000_000, unit="bytes"))
        clock.now = 111.0
        meter.show(replace(STEP, done=10))
        clock.now = 122.0
        meter.show(replace(STEP, done=1_500))
    first, second, third = capsys.readouterr().err.splitlines()
    assert first.startswith("reading a.warc.gz · 1.0 MB of 4.0 MB · left ")
    assert "left" not in second, "it is too early for an estimate"
    assert "left 0:11" in third


def test_meter_on_a_terminal_is_a_transient_bar(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = StringIO()
    monkeypatch.setattr(module, "terminal", Printer(file=screen, force_terminal=True, width=60))
    with Meter() as meter:
        clock.now = 5.0
        meter.show(replace(STEP, done=1_000, under_way=("a-policy-with-a-long-name" * 5,)))
    shown = screen.getvalue()
    assert "━" in shown
    assert "1,000 of 3,000 requests" in shown
    assert "simulating, 1 of 3 runs ended" in shown
    assert max(len(line) for line in shown.splitlines() if "long-name" in line) < 120, "the text is cut to one line"
    assert shown.endswith("\x1b[1A\x1b[2K")


def test_format_minutes_on_examples_gives_expected_values() -> None:
    assert _format_minutes(95.4) == "1:35"
