"""Tests of the search in a word index, of snippets, and of read-only indexes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext import Search, WordIndex, WordSearcher
from motherlode.index.fulltext import searcher as searching
from motherlode.index.fulltext.documents import Text
from motherlode.index.fulltext.searcher import (
    LinkedFolder,
    Snippet,
    best_text,
    fold,
    is_writable,
    make_snippet,
    similar_words,
)
from tests.index.fakes import record, says


def _written(index: WordIndex, name: str, text: str) -> None:
    index.write([record(f"http://{name}.example/", says(name, text))])
    index.commit()


def test_read_only_index_is_searched_through_links_and_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = WordIndex(tmp_path)
    _written(index, "pan", "A frying pan")
    monkeypatch.setattr(searching, "is_writable", lambda path: False)
    before = sorted(tmp_path.iterdir())
    searcher = WordSearcher(tmp_path)
    assert [hit.subject for hit in searcher.search(Search(words="frying"))] == ["http://ex.org/pan"]
    assert sorted(tmp_path.iterdir()) == before
    _written(index, "pot", "A frying pot")
    searcher.refresh()
    assert len(searcher.search(Search(words="frying"))) == 2
    index.close()


def test_linked_folder_skips_locks_and_is_removed_with_reader(tmp_path: Path) -> None:
    for name in ("meta.json", ".tantivy-meta.lock"):
        (tmp_path / name).touch()
    folder = LinkedFolder(tmp_path)
    path = folder.path
    assert [link.name for link in path.iterdir()] == ["meta.json"]
    del folder
    assert not path.exists()


def test_writable_index_is_opened_without_links(tmp_path: Path) -> None:
    assert is_writable(tmp_path)


NAME, TEXT = "<http://schema.org/name>", "<http://schema.org/description>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RECIPE = "<http://schema.org/Recipe>"
PAN = tuple(says("pan", "A frying pan", graph=f"<urn:{name}>") for name in "ab")
"""A page that has the same statement in two of its graphs."""
WORLD = {"ru": "Зелёный чай", "ko": "한국어 사전", "el": "Αθήνα", "ja": "ｶﾞﾗｽ", "en-gb": "Tomato soup"}


def literal(name: str, value: str, language: str, predicate: str = TEXT) -> tuple[str, str, str, str]:
    return (f"<http://ex.org/{name}>", predicate, f'"{value}"@{language}', "")


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> WordSearcher:
    path = tmp_path_factory.mktemp("words")
    index = WordIndex(path)
    pages = [
        record(
            "http://kitchen.example.org/soup",
            says("soup", "Tomato soup", predicate=NAME),
            says("soup", "San Marzano tomatoes, basil, salt", predicate=TEXT),
            ("<http://ex.org/soup>", TYPE, RECIPE, ""),
            says("cook", "Mario Crème", predicate=NAME),
        ),
        record("http://shop.test/", says("seeds", "Seeds of tomato and basil; marzano from san"), says("saw", "A saw")),
        record(
            "http://a.test/x",
            literal("lake", "der Zürichsee", "de-ch"),
            literal("lake", "the lake of Zurich", "en"),
            ("<http://ex.org/rice>", NAME, '"白米飯の作り方"@ja', ""),
        ),
        *(record(f"http://b.test/{n}", (f"_:b{n}", NAME, '"The same footer"', "")) for n in range(5)),
        *(record(f"http://c.test:{8000 + n % 2}/{n}", *PAN) for n in range(60)),
        record("http://c.test/lid", says("lid", "A lid for a frying pan")),
        record("http://[2001:db8::1]:81/", says("wok", "An iron wok")),
        record("http://shop.xn--mller-kva.test/", says("spoon", "A wooden spoon")),
    ]
    index.write(pages)
    index.close()
    return WordSearcher(path)


def found(searcher: WordSearcher, words: str, **filters: str) -> list[str]:
    return [hit.subject.rpartition("/")[2] for hit in searcher.search(Search(words=words, **filters))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "subjects"),
    [
        ("tomato", ["soup", "seeds"]),
        ("TOMATO basil", ["soup", "seeds"]),
        ("creme", ["cook"]),
        ("crème", ["cook"]),
        ("tomat", ["soup", "seeds"]),
        ('"san marzano"', ["soup"]),
        ("tomato -salt", ["seeds"]),
        ("-saw", ["saw"]),
        ("米飯", ["rice"]),
        ("飯米", []),
        ("tomato zzzzz", ["soup", "seeds"]),
        ("tomaqo", ["soup", "seeds"]),
        ("nothingofthekind", []),
        ("", []),
        ("*** ()", []),
    ],
)
def test_search_finds_expected_subjects(searcher: WordSearcher, words: str, subjects: list[str]) -> None:
    assert sorted(found(searcher, words)) == sorted(subjects)


def test_search_name_ranks_above_other_text(searcher: WordSearcher) -> None:
    assert found(searcher, "tomato")[0] == "soup"


@pytest.mark.parametrize(
    ("filters", "subjects"),
    [
        ({"type": "schema:Recipe"}, ["soup"]),
        ({"type": "https://schema.org/Recipe"}, ["soup"]),
        ({"type": "schema:Book"}, []),
        ({"predicate": "schema:description"}, ["soup"]),
        ({"host": "shop.test"}, ["seeds"]),
        ({"host": "example.org"}, ["soup"]),
        ({"host": "kitchen.example.org"}, ["soup"]),
        ({"host": "ample.org"}, []),
    ],
)
def test_search_filters_results(searcher: WordSearcher, filters: dict[str, str], subjects: list[str]) -> None:
    assert found(searcher, "tomato", **filters) == subjects


def test_search_filter_applies_to_literal_with_the_word(searcher: WordSearcher) -> None:
    assert found(searcher, "lake", language="en") == ["lake"]
    assert found(searcher, "lake", language="de") == []
    assert found(searcher, "zurichsee", language="de") == ["lake"]
    assert found(searcher, "zurichsee", language="de-CH") == ["lake"]
    assert found(searcher, "soup", predicate="schema:description") == []


def test_search_hit_has_snippet_predicate_and_page(searcher: WordSearcher) -> None:
    (hit,) = searcher.search(Search(words="marzano basil", type="schema:Recipe"))
    assert hit.label == "Tomato soup"
    assert hit.types == ("http://schema.org/Recipe",)
    assert hit.predicate == "http://schema.org/description"
    assert hit.page == "http://kitchen.example.org/soup"
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["Marzano", "basil"]


def test_search_subject_on_every_page_does_not_hide_others(
    searcher: WordSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_DOCUMENTS_PER_ROUND", 40)
    assert found(searcher, "pan") == ["pan", "lid"], "there are more documents about the pan than one round reads"


@pytest.mark.parametrize(
    ("words", "language", "predicate", "shown"),
    [
        ("чай", "ru", "", "Зелёный чай"),
        ("зеленый", "ru", "", "Зелёный чай"),
        ("한국어", "ko", "", "한국어 사전"),
        ("αθηνα", "el", "", "Αθήνα"),
        ("ガラス", "ja", "", "ｶﾞﾗｽ"),
        ("tomatoe", "", "schema:name", "Tomato soup"),
    ],
)
def test_search_filter_accepts_literal_of_fuzzy_match(
    tmp_path: Path, words: str, language: str, predicate: str, shown: str
) -> None:
    others = [literal(f"{tag}-thing", text, tag, NAME) for tag, text in WORLD.items()]
    index = WordIndex(tmp_path)
    pages = [record("http://a.test/", *others, *(literal(f"{tag}-thing", "more", "en") for tag in WORLD))]
    index.write(pages)
    index.close()
    (hit,) = WordSearcher(tmp_path).search(Search(words=words, language=language, predicate=predicate))
    assert hit.snippet.text == shown


def test_search_without_words_finds_nothing(searcher: WordSearcher) -> None:
    assert searcher.subjects("pan", limit=0) == []
    assert searcher.search(Search(words="pan", limit=0)) == []


def test_search_blank_nodes_with_same_label_and_types_are_one_hit(searcher: WordSearcher) -> None:
    (hit,) = searcher.search(Search(words="footer"))
    assert hit.pages == 5


def test_search_page_count_is_independent_of_limit(searcher: WordSearcher, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (1, 2, 10):
        first = searcher.search(Search(words="pan", limit=limit))[0]
        assert (first.pages, first.has_more_pages, first.other_pages) == (60, False, " and 59 more")
        assert first.summary()["pages"] == 60
    monkeypatch.setattr(searching, "_DOCUMENTS_PER_ROUND", 40)
    few = [searcher.search(Search(words="pan", limit=limit))[0] for limit in (1, 10)]
    assert few[0].pages == few[1].pages < 60
    assert few[0].other_pages.startswith(" and at least ")


@pytest.mark.parametrize(
    ("words", "host", "subjects"),
    [
        ("pan", "c.test", ["pan", "lid"]),
        ("pan", " C.Test ", ["pan", "lid"]),
        ("pan", "c.test:8001", ["pan"]),
        ("pan", "c.test:800", []),
        ("pan", "test", []),
        ("pan", "cxtest", []),
        ("pan", "c.tes.", []),
        ("wok", "[2001:db8::1]", ["wok"]),
        ("spoon", "Müller.test", ["spoon"]),
        ("spoon", "müller.test:81", []),
        ("wok", "[2001:db8::1]:81", ["wok"]),
        ("pan", "c test (", []),
    ],
)
def test_search_host_without_port_matches_all_ports(
    searcher: WordSearcher, words: str, host: str, subjects: list[str]
) -> None:
    assert sorted(found(searcher, words, host=host)) == sorted(subjects)


@settings(max_examples=100, deadline=None)
@given(host=st.text(max_size=20) | st.text(alphabet="a.-[]:1_*\\(", max_size=12))
def test_search_any_host_filter_is_accepted(searcher: WordSearcher, host: str) -> None:
    searcher.search(Search(words="pan", host=host))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='"-*()[]{}:^~+\\/ ANDORTO.?|&!<>', max_size=40))
def test_search_any_input_is_accepted(searcher: WordSearcher, words: str) -> None:
    searcher.search(Search(words=words, limit=3))


def test_searcher_without_index_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        WordSearcher(tmp_path / "none")


def test_make_snippet_cuts_long_text_around_match() -> None:
    text = "nothing here " * 50 + "the Übergröße stands here " + "nothing after " * 50
    piece = make_snippet(text, ["ubergroße", "ubergrosse", "ubergro"])
    assert piece.text.startswith("… ")
    assert piece.text.endswith(" …")
    assert [piece.text[start:end] for start, end in piece.marks] == ["Übergröße"]
    assert len(piece.text) < 260


def test_best_text_has_most_words() -> None:
    texts = [Text("p", "red"), Text("q", "red and green and more"), Text("r", "red green")]
    assert best_text(texts, ["red", "green"]) == texts[2]
    assert best_text(texts, ["blue"]) is None


@given(st.text(max_size=500), st.lists(st.text(min_size=1, max_size=8), max_size=4))
def test_make_snippet_marks_are_inside_text(text: str, wanted: list[str]) -> None:
    piece = make_snippet(text, wanted)
    assert all(0 <= start < end <= len(piece.text) for start, end in piece.marks)


def test_fold_on_examples_gives_expected_values() -> None:
    assert (fold("Crème"), fold("ÅNGSTRÖM"), fold("Straße")) == ("creme", "angstrom", "strasse")


def test_similar_words_on_examples_gives_expected_values() -> None:
    assert similar_words([Text("p", "Tomato soup, Tomaten")], ["tomatoe", "suop"]) == ["tomato", "soup"]


def test_make_snippet_on_examples_gives_expected_values() -> None:
    assert make_snippet("The tomato is red", ["tomato"]) == Snippet(text="The tomato is red", marks=((4, 10),))


@pytest.fixture(scope="module")
def frequent(tmp_path_factory: pytest.TempPathFactory) -> WordSearcher:
    """An index in which many subjects have the words "red lamp", fewer "green lamps", and three "blue lamp"."""
    path = tmp_path_factory.mktemp("frequent")
    texts = [f"red lamp {'and lamp ' * (number % 7)}{number}" for number in range(300)]
    texts += [f"green lamps {number}" for number in range(250)] + [f"blue lamp {number}" for number in range(3)]
    index = WordIndex(path)
    index.write(record(f"http://a.example/{n}", says(f"n{n}", text)) for n, text in enumerate(texts))
    index.close()
    return WordSearcher(path)


def _subjects(searcher: WordSearcher, words: str, limit: int = 10) -> list[str]:
    return [hit.subject for hit in searcher.search(Search(words=words, limit=limit))]


@pytest.mark.parametrize("words", ["red lamp", "lamp", "red"])
def test_frequent_words_give_the_subjects_of_the_query_for_all_words(
    frequent: WordSearcher, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = frequent.search(Search(words=words))
    monkeypatch.setattr(searching, "build_quick_query", lambda search: None)
    slow = frequent.search(Search(words=words))
    assert len(quick) == 10
    assert [round(hit.score, 3) for hit in quick] == [round(hit.score, 3) for hit in slow]
    assert all(word in hit.snippet.text for hit in quick for word in words.split())


def test_frequent_words_that_are_rarely_together_give_the_subjects_with_both(frequent: WordSearcher) -> None:
    assert sorted(_subjects(frequent, "blue lamp")) == [
        "http://ex.org/n550",
        "http://ex.org/n551",
        "http://ex.org/n552",
    ]


def test_frequent_word_matches_longer_words_if_the_limit_is_not_reached(frequent: WordSearcher) -> None:
    assert len(_subjects(frequent, "green lamp")) == 10, "no subject has the word lamp itself"
    assert len(_subjects(frequent, "lamp", limit=500)) == 500, "303 subjects have the word itself"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> WordSearcher:
    """An index with 230 things named "oak table", one on 120 pages, and one thing whose text repeats the words."""
    path = tmp_path_factory.mktemp("named")
    index = WordIndex(path)
    index.write([record("http://a.example/text", says("text", "oak table " * 9))])
    index.write(record(f"http://b.example/{n}", says("same", "oak table", predicate=NAME)) for n in range(120))
    things = [says(f"n{n}", f"oak table {n}", predicate=NAME) for n in range(230)]
    index.write(record(f"http://c.example/{n}", thing) for n, thing in enumerate(things))
    index.close()
    return WordSearcher(path)


def test_many_subjects_with_all_words_in_their_names_are_the_result(named: WordSearcher) -> None:
    for words in ("oak table", "oak", '"oak table"', "oak -chair"):
        hits = named.search(Search(words=words))
        assert len(hits) == 10
        assert all(hit.label.startswith("oak table") for hit in hits)
    assert named.search(Search(words="oak table", host="a.example"))[0].subject == "http://ex.org/text"
    assert "http://ex.org/text" in _subjects(named, "oak table", limit=500)


@pytest.mark.parametrize("words", ["oak table", "oak"])
def test_pages_of_frequent_words_are_counted_among_the_first_documents_that_give_enough_subjects(
    named: WordSearcher, words: str
) -> None:
    one, ten = (named.search(Search(words=words, limit=limit))[0] for limit in (1, 10))
    assert (one.subject, one.pages, one.has_more_pages) == ("http://ex.org/same", 50, True)
    assert (ten.subject, ten.pages, ten.has_more_pages) == ("http://ex.org/same", 50, True)
