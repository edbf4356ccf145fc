"""Names of XML."""

from __future__ import annotations

import pytest
from lxml import etree

from motherlode.transform.rdfa.evaluation_context import coerced, is_name


@pytest.mark.parametrize("name", ["a", "_", "é", "a-b.c", "a1", "Ω·", "名前"])
def test_names(name: str) -> None:
    assert is_name(name)
    assert coerced(name) == name


@pytest.mark.parametrize("name", ["", "1", "-a", ".", "a b", "a:b", "a<", "×", "a\n"])
def test_what_is_no_name_is_made_one(name: str) -> None:
    assert not is_name(name)
    if name:
        assert etree.QName(coerced(name)).localname == coerced(name)
