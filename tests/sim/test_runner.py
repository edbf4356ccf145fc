from __future__ import annotations

import json
import time
from collections.abc import Sequence
from multiprocessing import active_children
from pathlib import Path

import pytest

from motherlode.model import Policy
from motherlode.policies import Target, policy_from
from motherlode.sim import runner as matrix
from motherlode.sim.runner import Trial, TrialProgress, WebSpec, open_web, prepared, run_trial, run_trials
from motherlode.sim.simulator import Timing
from motherlode.sim.trace.files import TraceError, existing_parts
from tests.sim.fakes import recorded_graph


def trials(*policies: str) -> list[Trial]:
    seeds = tuple(open_web(WebSpec(web="synthetic:500")).home_pages())
    return [Trial(policy=policy, seed=1, pages=60, seeds=seeds) for policy in policies]


def test_trials_in_parallel_equal_sequential_trials() -> None:
    spec, wanted = WebSpec(web="synthetic:500"), trials("bfs", "random", "oracle")
    alone = list(run_trials(spec, wanted, processes=1))
    beside = list(run_trials(spec, wanted, processes=2))
    assert len(beside) == len(wanted)
    assert [one.curve for one in beside] == [one.curve for one in alone]


@pytest.mark.parametrize("processes", [1, 2])
def test_trials_report_progress(processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "_LOOK_SECONDS", 0.01)
    spec = WebSpec(web="synthetic:5000")
    seeds = tuple(open_web(spec).home_pages())
    wanted = [Trial(policy=name, seed=1, pages=3000, seeds=seeds) for name in ("bfs", "motherlode", "oracle")]
    told: list[Sequence[TrialProgress]] = []
    matrix._graphs.clear()
    list(run_trials(spec, wanted, processes=processes, watch=told.append))
    for number, trial in enumerate(wanted):
        own = [trials[number] for trials in told]
        asked = [one.requests for one in own]
        assert own[0].trial == trial
        assert asked == sorted(asked), "it only grows"
        assert any(0 < one < 3000 for one in asked), "within a run"
        assert max(asked) <= 3000
    assert any(trials[2].seen > 0 and not trials[2].requests for trials in told), "the oracle looks first"
    assert any(trials[0].has_ended and not trials[2].has_ended for trials in told)


def test_trials_end_when_caller_stops_iterating() -> None:
    spec = WebSpec(web="synthetic:20000")
    seeds = tuple(open_web(spec).home_pages())
    wanted = [Trial(policy="motherlode", seed=seed, pages=20_000, seeds=seeds) for seed in range(3)]

    def interrupt(_: Sequence[TrialProgress]) -> None:
        raise KeyboardInterrupt

    before = set(active_children())
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(run_trials(spec, wanted, processes=2, watch=interrupt))
    assert time.monotonic() - began < 10
    assert set(active_children()) <= before


def test_failing_trial_is_raised_and_ends_the_others() -> None:
    with pytest.raises(ValueError, match="unknown policy"):
        list(run_trials(WebSpec(web="synthetic:500"), trials("bsf", "bfs"), processes=2))


def test_oracle_finds_most() -> None:
    spec = WebSpec(web="synthetic:500")
    bfs, oracle = (run_trial(spec, trial).relevant for trial in trials("bfs", "oracle"))
    assert oracle > bfs


def test_motherlode_waits_for_snoozed_good_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = WebSpec(web="synthetic:2000")
    timing = Timing(in_flight=16, delay=1.0)
    trial = Trial(policy="motherlode", seed=1, pages=240, seeds=tuple(open_web(spec).home_pages()), timing=timing)
    waiting = run_trial(spec, trial).relevant
    monkeypatch.setattr(matrix, "default_wait_threshold", lambda delay: 0.0)
    assert waiting > 1.2 * run_trial(spec, trial).relevant


def test_synthetic_web_with_other_seed_differs() -> None:
    webs = [open_web(WebSpec(web=f"synthetic:500:{seed}")).home_pages() for seed in (1, 2)]
    assert webs[0] != webs[1]
    assert webs[0] == open_web(WebSpec(web="synthetic:500")).home_pages()


@pytest.mark.parametrize("policy", ["bsf", ""])
def test_trial_with_unknown_policy_is_an_error(policy: str) -> None:
    with pytest.raises(ValueError, match="unknown policy"):
        run_trial(WebSpec(web="synthetic:500"), trials(policy)[0])


def test_trial_policy_knows_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Target | None] = []

    def watched(name: str, seed: int, *, target: Target | None = None) -> Policy:
        told.append(target)
        return policy_from(name, seed, target=target)

    monkeypatch.setattr(matrix, "policy_from", watched)
    (trial,) = trials("motherlode")
    run_trial(WebSpec(web="synthetic:500", target="rdf"), trial)
    assert [target.spec for target in told if target is not None] == ["rdf"]


def silent(done: int, of: int) -> None:
    pass


def test_warc_source_is_recorded_once(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    trace = Path(prepared(str(warc), tmp_path / "cache", silent))
    table = next(trace.glob("*.pages.zst"))
    made = table.stat().st_mtime_ns
    assert prepared(str(warc), tmp_path / "cache", silent) == str(trace)
    assert table.stat().st_mtime_ns == made


def test_cached_trace_of_older_version_is_made_again(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    trace = Path(prepared(str(warc), tmp_path / "cache", silent))
    (trace / "trace.json").write_text(json.dumps({"version": 0, "parts": []}))
    prepared(str(warc), tmp_path / "cache", silent)
    assert existing_parts(trace)[0].pages == 6


def test_other_web_names_are_unchanged(tmp_path: Path) -> None:
    assert prepared("synthetic:1000", tmp_path, silent) == "synthetic:1000"
    assert prepared(str(tmp_path), tmp_path / "cache", silent) == str(tmp_path)


def test_missing_web_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist: give a trace, a WARC file, synthetic:PAGES or"):
        prepared(str(tmp_path / "nothing"), tmp_path / "cache", silent)


def test_unwritable_trace_cache_is_an_error_with_advice(tmp_path: Path) -> None:
    warc = recorded_graph(tmp_path / "w.warc.gz", hosts=2, pages=3)[0]
    (tmp_path / "cache").touch()
    with pytest.raises(TraceError, match=r"`motherlode record .* -o TRACE` makes a trace elsewhere"):
        prepared(str(warc), tmp_path / "cache", silent)
