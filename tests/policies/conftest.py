"""Fixtures of policies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from motherlode.policies.extensions import _ADDED
from motherlode.policies.policy_table import POLICY_TABLE, installed_policies


@pytest.fixture
def restored_policies() -> Iterator[None]:
    """Remove the policies that a test adds."""
    before, added = dict(POLICY_TABLE), dict(_ADDED)
    yield
    for saved, current in ((before, POLICY_TABLE), (added, _ADDED)):
        current.clear()
        current.update(saved)
    installed_policies.cache_clear()
