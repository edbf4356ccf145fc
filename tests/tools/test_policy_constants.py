from __future__ import annotations

from pathlib import Path

import pytest
from tools.policy_constants import BOUNDS, ELSEWHERE, NOT_PICKS, constants, module_constants, unnamed_numbers

from motherlode.policies.motherlode import PolicyConfig
from tools import policy_constants


def test_constants_include_settings_and_module_constants() -> None:
    found = {name: value for _, name, value in constants()}
    assert found["host_prior_tries"] == PolicyConfig().host_prior_tries
    assert found["_MAX_URL_PARTS"] == 4
    assert "learns_features" not in found, "a switch is no number"


def test_names_that_are_left_out_exist() -> None:
    names = {name for _, name, _ in module_constants()}
    assert names >= BOUNDS
    assert names >= NOT_PICKS


def test_numbers_without_a_name_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "module.py"
    module.write_text('_LIMIT = 7\n_WORD = re.compile(r"[a-z]{0,14}")\n\ndef cut(text):\n    return text[0][:12]\n')
    monkeypatch.setattr(policy_constants, "_modules", lambda: [module])
    assert [value for _, _, value in unnamed_numbers()] == [14, 12], "_LIMIT has a name"


def test_policy_has_at_most_half_of_its_former_64_constants() -> None:
    assert len(constants()) + len(list(unnamed_numbers())) <= 32


def test_constants_of_the_wait_rule_are_found_in_their_modules() -> None:
    names = {name for _, name, _ in constants()}
    assert names >= {name for wanted in ELSEWHERE.values() for name in wanted}
