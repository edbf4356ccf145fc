"""The ablation: every constant and switch has rows, a variant changes one of them, and verdicts follow the figures."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
from tools.ablation import BASE, Variant, differences, measure, rows, variants, verdict
from tools.focus.runs import BUDGETS, Run, RunCache, Web, run_key
from tools.policy_constants import ELSEWHERE, constants

from motherlode.policies.motherlode import PolicyConfig, arm_key
from tools import ablation

WEB = Web(name="a", target="any", pages=600, seed=7001, order=3)
DEEPER = Variant("arm_key.py", "_MAX_URL_PARTS", 4, 1)


def test_every_constant_and_switch_has_variants() -> None:
    found = {variant.name for variant in variants()}
    elsewhere = {name for names in ELSEWHERE.values() for name in names}
    assert found >= {name for _, name, _ in constants()} - elsewhere
    assert found >= {one.name for one in fields(PolicyConfig) if isinstance(getattr(PolicyConfig(), one.name), bool)}
    assert all(variant.value != variant.was for variant in variants())


def test_variant_sets_a_constant_of_a_module_for_its_own_run_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablation, "MIN_ORACLE_GAIN", 0)
    seen = []
    simulate = ablation.simulate

    def watched(web: Web, name: str, key: str, **options: object) -> Run:
        seen.append((name, arm_key._MAX_URL_PARTS))
        return simulate(web, name, key, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(ablation, "simulate", watched)
    path = tmp_path / "ablation.jsonl"
    measure(WEB, [DEEPER], path)
    assert seen == [("bfs", 4), ("oracle", 4), (BASE, 4), (DEEPER.key, 1)]
    measure(WEB, [DEEPER], path)
    assert len(seen) == 4, "nothing was missing"
    cache = RunCache(path)
    cache.read()
    found = differences(DEEPER.key, [WEB], cache, 0.12)
    assert found is not None
    assert found.pairs == 1


def make_cache(change: dict[str, list[float]]) -> tuple[list[Web], RunCache]:
    """Return webs, half of them of each fold, and runs whose focus differs from that of the policy by `change`."""
    number = len(next(iter(change.values())))
    webs = [msgspec.structs.replace(WEB, name="ab"[index % 2], seed=index) for index in range(number)]
    cache = RunCache(Path("unused"))
    focus = {"bfs": [0.0] * number, "oracle": [1.0] * number, BASE: [0.5] * number}
    focus |= {name: [0.5 + one for one in values] for name, values in change.items()}
    for name, values in focus.items():
        for web, value in zip(webs, values, strict=True):
            key = run_key(web, name)
            cache.runs[key] = Run(
                key=key,
                policy=name,
                pages=1000,
                relevant=200,
                found=[100 * value] * len(BUDGETS),
                hosts=1,
                calibration=[],
                brier=None,
                seconds=1.0,
            )
    return webs, cache


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ([0.0, 0.001, -0.002, 0.001], "flat"),
        ([-0.002, -0.002, -0.002, -0.002], "flat"),  # certain, but too small to matter
        ([-0.10, -0.11, -0.09, -0.10], "needed"),
        ([0.10, 0.10, 0.11, 0.12], "**1 is better on both folds**"),
        ([0.10, -0.01, 0.11, 0.0], "uncertain"),  # better on fold A only
        ([-0.10, 0.05, -0.10, 0.20], "uncertain"),
    ],
)
def test_verdict_follows_the_differences(monkeypatch: pytest.MonkeyPatch, change: list[float], expected: str) -> None:
    webs, cache = make_cache({DEEPER.key: change})
    assert verdict([DEEPER], webs, cache) == "not run on enough webs"
    monkeypatch.setattr(ablation, "MIN_WEBS", 4)
    assert verdict([DEEPER], webs, cache) == expected
    (row,) = rows([DEEPER], webs, cache)
    assert row[:2] == ("`_MAX_URL_PARTS` 4 → 1", "4")
    assert verdict([DEEPER._replace(value=2)], webs, cache) == "not run on enough webs"
