from __future__ import annotations

from tools.policy_constants import BOUNDS, NOT_PICKS, constants, module_constants

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
