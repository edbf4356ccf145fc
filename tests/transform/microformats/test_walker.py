from __future__ import annotations

from motherlode.transform.microformats.items import Item
from motherlode.transform.microformats.walker import take_slot


def test_a_slot_keeps_the_place_of_a_value() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    first = take_slot(item, "p", "a", rel_tag=False)
    second = take_slot(item, "u", "a", rel_tag=False)
    assert (first.position, second.position) == (0, 1)
    assert item.properties == {"a": [None, None]}
    assert item.prefixes == {"p", "u"}
