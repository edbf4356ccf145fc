"""The comparison of policies: runs are kept and not repeated, and rivals that are ahead are named."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from tests.crawler.small_web import HOME, small_web
from tools.focus import report, runs
from tools.focus.__main__ import list_webs, main, make_report, split_names
from tools.focus.runs import BUDGETS, Run, RunCache, Web, find_starts, measure, measure_all, missing_runs, run_key

WEB = Web(name="synthetic webs", target="any", pages=600, seed=9001, order=3)
POLICIES = ("pld", "motherlode")


@pytest.fixture(autouse=True)
def any_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MIN_ORACLE_GAIN", 0)
    monkeypatch.setattr(report, "MIN_GAIN", 0)


def test_interrupted_comparison_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, simulated = tmp_path / "runs.jsonl", []
    simulate = runs.simulate

    def interrupted(web: Web, name: str, key: str) -> Run:
        simulated.append(name)
        if name == "motherlode" and len(simulated) < 5:
            raise KeyboardInterrupt
        return simulate(web, name, key)

    monkeypatch.setattr(runs, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(WEB, POLICIES, path)
    with path.open("ab") as file:
        file.write(b'{"key": "cut off')
    measure(WEB, POLICIES, path)
    assert simulated == ["bfs", "oracle", "pld", "motherlode", "motherlode"]
    cache = RunCache(path)
    cache.read()
    assert not list(missing_runs(WEB, POLICIES, cache))
    told: list[tuple[int, int]] = []
    measure_all([WEB], POLICIES, path, processes=1, progress=lambda *numbers: told.append(numbers))
    assert len(simulated) == 5, "nothing was missing"
    (ours,) = [one for one in report.collect([WEB], POLICIES, cache) if one.run.policy == "motherlode"]
    assert ours.run.brier is not None
    assert len(report.calibration_rows(report.group([ours]))) == 1


def test_run_key_changes_with_web_policy_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {run_key(WEB, "pld"), run_key(WEB, "bfs"), run_key(msgspec.structs.replace(WEB, order=4), "pld")}
    monkeypatch.setattr(runs, "code_fingerprint", lambda policy: "other")
    assert len({*keys, run_key(WEB, "pld")}) == 4


def test_code_of_our_policy_changes_only_our_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "src" / "motherlode" / "policies" / "motherlode" / "x.py"
    own.parent.mkdir(parents=True)
    (tmp_path / "src" / "motherlode" / "crawler" / "engine").mkdir(parents=True)
    (tmp_path / "src" / "motherlode" / "crawler" / "engine" / "scheduler.py").write_text("")
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    before, after = [], []
    for text, found in [("a", before), ("b", after)]:
        own.write_text(text)
        runs.code_fingerprint.cache_clear()
        found += [runs.code_fingerprint("motherlode"), runs.code_fingerprint("pld")]
    runs.code_fingerprint.cache_clear()
    assert before[0] != after[0]
    assert before[1] == after[1]


def make_cache(found: dict[str, list[float]]) -> tuple[list[Web], RunCache]:
    """Return webs with runs: for each policy the relevant pages on each web, at all budgets."""
    webs = [msgspec.structs.replace(WEB, seed=number) for number in range(len(found["pld"]))]
    cache = RunCache(Path("unused"))
    for name, values in {"bfs": [0.0] * len(webs), "oracle": [100.0] * len(webs), **found}.items():
        for web, value in zip(webs, values, strict=True):
            run = Run(
                key=run_key(web, name),
                policy=name,
                pages=1000,
                relevant=200,
                found=[value] * len(BUDGETS),
                hosts=1,
                calibration=[],
                brier=None,
                seconds=2.0,
            )
            cache.runs[run.key] = run
    return webs, cache


@pytest.mark.parametrize(
    ("pld", "is_named"),
    [
        ([90.0, 92.0, 95.0], True),
        ([81.0, 82.0, 84.0], False),  # ahead by less than .02
        ([99.0, 99.0, 62.0], False),  # ahead by less than two standard errors
        ([70.0, 70.0, 70.0], False),
    ],
)
def test_rival_is_named_if_it_is_ahead_by_more_than_chance(pld: list[float], *, is_named: bool) -> None:
    webs, cache = make_cache({"motherlode": [80.0, 81.0, 83.0], "pld": pld})
    groups = report.group(report.collect(webs, POLICIES, cache))
    rows = report.rivals_ahead(groups, POLICIES)
    assert [row[2] for row in rows] == ["pld"] * (3 if is_named else 0)
    assert any("**behind**" in row[-1] for row in report.target_rows(groups, POLICIES)) == is_named


def test_report_says_whether_goals_are_reached() -> None:
    webs, cache = make_cache({"motherlode": [96.0, 97.0], "pld": [50.0, 51.0]})
    groups = report.group(report.collect(webs, POLICIES, cache))
    assert report.is_good(groups, POLICIES)
    whole = [msgspec.structs.replace(WEB, order=turn, part=turn - 1) for turn in range(20)]
    assert report.estimate_cpu(webs, whole, cache, POLICIES) == (4 * 2.0, 1 / 20), "the time of folds is not known"
    webs, cache = make_cache({"motherlode": [90.0, 90.0], "pld": [50.0, 51.0]})
    assert not report.is_good(report.group(report.collect(webs, POLICIES, cache)), POLICIES), "the mean goal is .95"


def test_webs_have_folds_fresh_seeds_and_both_starts() -> None:
    class Options:
        start, web, synthetic_pages = "both", "all", 900

    webs = list_webs(Options(), "", 3, ("any",))  # type: ignore[arg-type]
    assert {(web.start, web.seed, web.order) for web in webs} == {
        (start, 9001 + turn, turn) for start in ("home", "seeds") for turn in range(3)
    }
    assert find_starts(webs[0]) != find_starts(msgspec.structs.replace(webs[0], order=7))
    assert len(find_starts(webs[-1])) < len(find_starts(msgspec.structs.replace(webs[-1], start="home")))


def test_targets_of_the_user_replace_the_usual_ones() -> None:
    class Options:
        start, web, synthetic_pages = "home", "all", 900

    webs = list_webs(Options(), "", 1, ("type:schema:Event",))  # type: ignore[arg-type]
    assert [web.target for web in webs] == ["type:schema:Event"]


def run_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(
        sys, "argv", ["focus", "--cache", str(tmp_path / "cache"), "-o", str(tmp_path / "o.md"), *arguments]
    )
    return main()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--corpus", "nothere.warc.gz"), "nothere.warc.gz does not exist"),
        (("--corpus", "EMPTY"), "no HTTP response could be read"),
        (("--policies", "bsf"), "did you mean bfs?"),
        (("--targets", "everything"), "unknown target 'everything'"),
        (("--corpus", "ONE", "--seeds", "nothere.txt"), "nothere.txt"),
    ],
)
def test_wrong_option_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "empty.warc").write_bytes(b"")
    files = {"EMPTY": str(tmp_path / "empty.warc"), "ONE": str(small_web(tmp_path / "w.warc.gz"))}
    assert run_command(tmp_path, monkeypatch, *(files.get(one, one) for one in arguments)) == 2
    assert message in capsys.readouterr().err


def test_recording_of_one_owner_with_an_empty_fold_can_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = small_web(tmp_path / "w.warc.gz")
    (tmp_path / "seeds.txt").write_text(f"{HOME}\n")
    arguments = ("--corpus", str(corpus), "--web", "corpus", "--targets", "any", "--policies", "pld", "--repeat", "3")
    assert run_command(tmp_path, monkeypatch, *arguments, "--processes", "1") == 1
    assert "6 of 6 webs, 12 runs" in capsys.readouterr().err
    assert "On none of the 6 webs" in (tmp_path / "o.md").read_text(), "the oracle gains less than 20 pages"


def test_report_without_gain_is_not_good(tmp_path: Path) -> None:
    text, is_good = make_report([WEB], POLICIES, RunCache(tmp_path / "none"), "")
    assert "On none of the 1 webs" in text
    assert not is_good


def test_split_names_keeps_commas_of_a_name() -> None:
    assert split_names("a;b:x=1,y=2,c") == ["a", "b:x=1,y=2", "c"]
