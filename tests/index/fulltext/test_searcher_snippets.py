"""Pieces of text around what was looked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from motherlode.index.fulltext.documents import Text
from motherlode.index.fulltext.searcher import best_text, make_snippet


def test_a_long_text_is_cut_around_the_word() -> None:
    text = "nothing here " * 50 + "the Übergröße stands here " + "nothing after " * 50
    piece = make_snippet(text, ["ubergroße", "ubergrosse", "ubergro"])
    assert piece.text.startswith("… ")
    assert piece.text.endswith(" …")
    assert [piece.text[start:end] for start, end in piece.marks] == ["Übergröße"]
    assert len(piece.text) < 260


def test_the_text_with_most_words_is_shown() -> None:
    texts = [Text("p", "red"), Text("q", "red and green and more"), Text("r", "red green")]
    assert best_text(texts, ["red", "green"]) == texts[2]
    assert best_text(texts, ["blue"]) is None


@given(st.text(max_size=500), st.lists(st.text(min_size=1, max_size=8), max_size=4))
def test_marks_lie_inside(text: str, wanted: list[str]) -> None:
    piece = make_snippet(text, wanted)
    assert all(0 <= start < end <= len(piece.text) for start, end in piece.marks)
