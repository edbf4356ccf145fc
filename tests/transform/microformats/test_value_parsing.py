from __future__ import annotations

from motherlode.transform.microformats.value_parsing import Image, Images, Piece, collapse, join

PIECES: list[Piece] = [" a", Image("b", "http://e.org/c"), Image(None, "http://e.org/d"), Image("", None), " "]


def test_what_images_add() -> None:
    assert join(PIECES, Images.NOTHING) == "a"
    assert join(PIECES, Images.ALT) == "ab"
    assert join(PIECES, Images.ALT_OR_SRC) == "ab http://e.org/d"


def test_collapse() -> None:
    assert collapse("\n a\xa0 b\t") == "a b"
