from __future__ import annotations

from tools.policy_constants import BOUNDS, ELSEWHERE, NOT_PICKS, constants, module_constants, unnamed_numbers

from motherlode.policies.motherlode import PolicyConfig


def test_constants_include_settings_and_module_constants() -> None:
    found = {name: value for _, name, value in constants()}
    assert found["host_prior_pages"] == PolicyConfig().host_prior_pages
    assert found["_MAX_DEPTH"] == 4
    assert "learns_features" not in found, "a switch is no number"


def test_names_that_are_left_out_exist() -> None:
    names = {name for _, name, _ in module_constants()}
    assert names >= BOUNDS
    assert names >= NOT_PICKS


def test_numbers_without_a_name_are_found() -> None:
    found = {value for module, _, value in unnamed_numbers() if module == "arm_key.py"}
    assert 14 in found, "the repetitions of _WORD"
    assert 7 not in found, "_MAX_VALUES_PER_PARAMETER has a name"


def test_constants_of_the_wait_rule_are_found_in_their_modules() -> None:
    names = {name for _, name, _ in constants()}
    assert names >= {name for wanted in ELSEWHERE.values() for name in wanted}
