"""Names without a colon."""

from __future__ import annotations

import pytest
from lxml import etree

from motherlode.www.xml import coerce_ncname, is_ncname


@pytest.mark.parametrize("name", ["a", "_", "é", "a-b.c", "a1", "Ω·", "名前"])
def test_valid_name_is_accepted_and_not_changed(name: str) -> None:
    assert is_ncname(name)
    assert coerce_ncname(name) == name


@pytest.mark.parametrize("name", ["", "1", "-a", ".", "a b", "a:b", "a<", "×", "a\n"])
def test_invalid_name_is_rejected_and_coerced_to_a_valid_one(name: str) -> None:
    assert not is_ncname(name)
    if name:
        assert etree.QName(coerce_ncname(name)).localname == coerce_ncname(name)
