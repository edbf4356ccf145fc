"""Items and values."""

from __future__ import annotations

from motherlode.transform.microformats.items import Item, Value, plain_value


def test_values_omit_unfilled_positions() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    item.properties["a"] = [None, Value(prefix="p", text="1"), Value(prefix="u", text="2")]
    assert [value.text for value in item.values("a")] == ["1", "2"]
    found = item.first("a", "u")
    assert found is not None and found.text == "2"
    assert item.first("b", "p") is None


def test_plain_value_of_text_image_and_item() -> None:
    item = Item(key=1, types=("h-x",), is_classic=False)
    image = Value(prefix="u", text="http://e.org/", alt="x")
    assert plain_value(Value(prefix="p", text="a")) == "a"
    assert plain_value(image) is image
    assert plain_value(Value(prefix="p", text="a", item=item, item_value="b")) == "b"
