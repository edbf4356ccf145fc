"""Kinds of targets that other packages add."""

import pytest

from motherlode.model import target_kinds
from motherlode.model.target_kinds import add_target_kind, find_target_kind


def test_find_target_kind_returns_function_and_text_behind_first_colon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_kinds, "_kinds", {})
    add_target_kind("longer", lambda text: lambda statements: len(statements) > int(text))
    found = find_target_kind(" longer:3 ")
    assert found is not None
    make, argument = found
    assert argument == "3"
    assert make(argument)(b"four")
    assert not make(argument)(b"one")


@pytest.mark.parametrize("spec", ["longer", "short:1", "", ":"])
def test_find_target_kind_without_such_kind_returns_none(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setattr(target_kinds, "_kinds", {"longer": lambda text: lambda statements: True})
    assert find_target_kind(spec) is None
