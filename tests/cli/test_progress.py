"""What a crawl shows of itself while it runs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from motherlode.cli import progress as module
from motherlode.cli.progress import Progress
from motherlode.crawl import Job, Totals


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


def figures(progress: Progress, clock: Clock) -> dict[str, str]:
    return dict(progress._figures(clock.now))


def test_the_rate_counts_from_this_run_and_the_budget_says_what_is_left(clock: Clock) -> None:
    totals = Totals()
    totals.fetched = 100
    progress = Progress(Job(seeds=("http://a.example/",), pages=400), totals, Queue(), quiet=True)
    totals.fetched, clock.now = 200, 10.0
    shown = figures(progress, clock)
    assert (shown["pages"], shown["rate"], shown["left"]) == ("200 of 400", "10.0/s", "0:20")
    assert (shown["hosts"], shown["queue"], shown["in flight"]) == ("3", "1,234", "5")


def test_of_several_budgets_the_one_that_ends_first_counts(clock: Clock) -> None:
    totals = Totals()
    job = Job(seeds=("http://a.example/",), pages=1000, time=90.0, bytes=10_000_000)
    progress = Progress(job, totals, Queue(), quiet=True)
    totals.fetched, totals.seconds, totals.bytes, clock.now = 10, 10.0, 5_000_000, 10.0
    assert figures(progress, clock)["left"] == "0:10"


def test_without_a_budget_nothing_is_promised(clock: Clock) -> None:
    assert figures(Progress(Job(seeds=("http://a.example/",)), Totals(), Queue(), quiet=True), clock)["left"] == "—"


def test_away_from_a_terminal_a_line_comes_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(Job(seeds=("http://a.example/",)), Totals(), Queue(), quiet=False) as progress:
        for second in range(25):
            clock.now = float(second)
            progress.show(f"http://a.example/{second}")
    told = capsys.readouterr()
    assert (told.out + told.err).count("harvest") == 2


def test_quiet_is_quiet(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(Job(seeds=("http://a.example/",)), Totals(), Queue(), quiet=True) as progress:
        clock.now = 100.0
        progress.show("http://a.example/")
    assert capsys.readouterr() == ("", "")
