"""Progress of `crawl`: in a notebook, on a terminal, and elsewhere."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from motherlode.api.progress import NoProgress, make_progress
from motherlode.crawler import Counters, Job

JOB = Job(seeds=("http://a.example/",), pages=20)


def test_progress_without_a_terminal_is_shown_only_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(make_progress(JOB, wanted=None), NoProgress)
    make_progress(JOB, wanted=True).show(Counters(fetched=7), is_last=True)
    assert "pages 7 of 20" in capsys.readouterr().err


def test_progress_on_a_terminal_rewrites_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = make_progress(JOB, wanted=None)
    progress.show(Counters(fetched=7))  # too early
    progress.show(Counters(fetched=8), is_last=True)
    shown = capsys.readouterr().err
    assert "pages 8 of 20" in shown
    assert "pages 7" not in shown


def test_progress_in_a_notebook_updates_one_display(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda figures: shown.append(figures._repr_html_()))
    display = SimpleNamespace(display=lambda figures, display_id: handle)
    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()), display=display)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    make_progress(JOB, wanted=None).show(Counters(fetched=9), is_last=True)
    assert len(shown) == 1
    assert '<progress value="9" max="20">' in shown[0]
    assert "pages 9 of 20" in shown[0]
