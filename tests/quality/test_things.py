"""The list of things on disk: order, selection, joined rows and paging."""

import pytest

from motherlode.quality.things import ThingList


@pytest.fixture
def things() -> ThingList:
    made = ThingList()
    made.add([("<b>", "<http://p/2>"), ("<a>", "<http://p/3>"), ("_:c", "<http://p/1>"), ("<a>", "<http://p/0>")])
    made.add([("<a>", "<http://p/3>")])
    return made


def test_things_are_in_the_order_of_their_first_pages(things: ThingList) -> None:
    things.number_things()
    assert [(thing.term, thing.pages) for thing in things] == [("<a>", 2), ("_:c", 1), ("<b>", 1)]
    assert next(iter(things)).graphs == ("<http://p/0>", "<http://p/3>")
    assert (len(things), things.count_rows()) == (3, 3)
    assert "<b>" in things
    assert "<z>" not in things


def test_keep_removes_the_other_things(things: ThingList) -> None:
    things.keep(["<b>", "<unknown>"])
    things.number_things()
    assert [thing.term for thing in things] == ["<b>"]


def test_joined_things_are_one_row_at_the_place_of_the_first(things: ThingList) -> None:
    things.number_things()
    things.join([("<b>", "<a>")])
    assert [[thing.term for thing in row] for row in things.rows()] == [["<a>", "<b>"], ["_:c"]]
    assert (len(things), things.count_rows()) == (3, 2)


def test_rows_are_read_from_an_offset_on(things: ThingList) -> None:
    things.number_things()
    things.join([("<a>", "_:c")])
    assert [[thing.term for thing in row] for row in things.rows(offset=1, limit=1)] == [["<b>"]]
    assert list(things.rows(offset=2)) == []
