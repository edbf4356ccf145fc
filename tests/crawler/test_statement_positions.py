"""Tests of the search for nodes and properties in the text of a page."""

from motherlode.crawler.statement_positions import PagePositions

TEXT = """{"@type": "Product", "name": "Product"}
{"@type": "Product", "price": "1"}
{"@type": "Offer", "price": "2"}"""


def test_find_property_prefers_the_one_with_the_value() -> None:
    positions = PagePositions(TEXT)
    offset = positions.find_property("price", "2")
    assert offset is not None
    assert positions.line_and_column(offset) == (3, 21)


def test_find_node_uses_the_number_among_nodes_of_its_type() -> None:
    positions = PagePositions('{"@type": "A"}\n{"@type": "A"}')
    assert positions.find_node(("A",), "", 1) == 26
    assert positions.find_node(("A",), "", 7) == 26
    assert positions.find_node(("B",), "", 0) is None


def test_find_property_does_not_match_parts_of_words() -> None:
    assert PagePositions('<b class="prices" itemprop="price">').find_property("price", "") == 28
