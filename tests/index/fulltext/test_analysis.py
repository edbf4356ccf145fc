"""Tests of the text analysis, the fields of documents, and indexes with other schemas."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext.analysis import (
    UNSPACED,
    decode,
    domain_suffixes,
    encode,
    language_prefixes,
    normalize_text,
    open_index,
    remove_accents,
    schema,
    to_tantivy,
    tokenize,
)
from motherlode.index.fulltext.documents import SubjectDocument, Text

NAME, TEXT = "http://schema.org/name", "http://schema.org/text"
LETTERS = " -'a1" + "".join(map(chr, [*range(0xC0, 0x180), *range(0x386, 0x3CF), *range(0x400, 0x460), 0x301]))
"""European letters with accents, and separators of words."""
DOCUMENT = SubjectDocument(
    "http://ex.org/soup",
    "http://shop.example.org/a#graph=g",
    "http://shop.example.org/a",
    ["http://schema.org/Recipe"],
    [Text(NAME, "Tomato soup", "de-ch"), Text(TEXT, "red"), Text(TEXT, "warm", "en")],
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> tantivy.Index:
    return index_of(tmp_path_factory.mktemp("words"), DOCUMENT)


def index_of(path: Path, *documents: SubjectDocument) -> tantivy.Index:
    index = open_index(path, create=True)
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for document in documents:
        writer.add_document(to_tantivy(document, encode(document)))
    writer.commit()
    index.reload()
    return index


def count(index: tantivy.Index, query: tantivy.Query) -> int:
    return len(index.searcher().search(query, limit=10).hits)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("don't stop-me now_1", ["don", "t", "stop", "me", "now", "1"]),
        ("cre\u0300me", ["creme"]),
        ("İstanbul IĞDIR ǧ Straße", ["istanbul", "igdir", "g", "strasse"]),
        ("Ёлка ΑΘΉΝΑ οδός ΟΔΌΣ", ["елка", "αθηνα", "οδοσ", "οδοσ"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("한국어 ｶﾞﾗｽ", ["한국어", "ガ", "ラ", "ス"]),
        ("米飯 rice", ["米", "飯", "rice"]),
        ("東京tower", ["東", "京", "tower"]),
        ("a" * 59, ["a" * 59]),
        ("a" * 60 + " b", ["b"]),
        ("", []),
        ("-- !? …", []),
    ],
)
def test_tokenize_removes_case_and_accents(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=LETTERS, max_size=80))
def test_tokenize_is_idempotent(text: str) -> None:
    """The words of a query must equal the words in the index."""
    words = tokenize(text)
    assert tokenize(" ".join(words)) == words


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab \u4e00\u3042\u0e01\u1780ø"), max_size=30))
def test_normalize_text_adds_spaces_only_in_unspaced_scripts(text: str) -> None:
    made = normalize_text(text)
    assert made.replace(" ", "") == text.replace(" ", "")
    assert not re.search(f"[{UNSPACED}][^ ]|[^ ][{UNSPACED}]", made)


def test_document_round_trips_through_index(index: tantivy.Index) -> None:
    searcher = index.searcher()
    ((_, address),) = searcher.search(tantivy.Query.all_query(), limit=10).hits
    assert decode(searcher.doc(address)["stored"][0]) == DOCUMENT


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [
        ("page", "http://shop.example.org/a", 1),
        ("page", "http://shop.example.org", 0),
        ("host", "shop.example.org", 1),
        ("host", "example.org", 1),
        ("host", "org", 0),
        ("type", "http://schema.org/Recipe", 1),
        ("predicate", TEXT, 1),
        ("predicate", "http://schema.org/other", 0),
        ("language", "de", 1),
        ("language", "de-ch", 1),
        ("language", "en", 1),
        ("language", "", 0),
        ("label", "tomato", 1),
        ("label", "red", 0),
        ("text", "red", 1),
    ],
)
def test_document_is_found_by_its_fields(index: tantivy.Index, field: str, value: str, found: int) -> None:
    assert count(index, tantivy.Query.term_query(schema(), field, value)) == found


def test_phrase_does_not_match_across_literals(index: tantivy.Index) -> None:
    assert count(index, tantivy.Query.phrase_query(schema(), "text", ["tomato", "soup"])) == 1
    assert count(index, tantivy.Query.phrase_query(schema(), "text", ["soup", "red"])) == 0
    assert count(index, tantivy.Query.phrase_query(schema(), "text", ["red", "warm"])) == 0


def test_open_index_existing_index_is_kept(tmp_path: Path) -> None:
    index_of(tmp_path / "words", DOCUMENT)
    for create in (False, True):
        assert open_index(tmp_path / "words", create=create).searcher().num_docs == 1


def test_open_index_without_create_raises_if_missing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(FileNotFoundError):
            open_index(folder)
    assert not (tmp_path / "none").exists()
    assert list((tmp_path / "empty").iterdir()) == []


def test_open_index_with_other_schema_is_rebuilt_by_writer_and_refused_to_reader(tmp_path: Path) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True)
    old = tantivy.Index(builder.build(), str(tmp_path))
    old.writer(heap_size=15_000_000, num_threads=1).commit()
    (tmp_path / "pending.journal").write_bytes(b"of another version")
    with pytest.raises(ValueError, match="schema"):
        open_index(tmp_path)
    assert (tmp_path / "pending.journal").exists(), "a reader changes nothing"
    assert open_index(tmp_path, create=True).searcher().num_docs == 0
    assert not (tmp_path / "pending.journal").exists()
    open_index(tmp_path)


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("a.b.example.org", ["a.b.example.org", "b.example.org", "example.org"]),
        ("example.org", ["example.org"]),
        ("localhost", ["localhost"]),
        ("", [""]),
    ],
)
def test_domain_suffixes_exclude_top_level_domain(host: str, found: list[str]) -> None:
    assert domain_suffixes(host) == found


@settings(max_examples=100, deadline=None)
@given(st.lists(st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1, max_size=4))
def test_language_prefixes_are_tags_and_end_with_whole_tag(parts: list[str]) -> None:
    tag = "-".join(parts)
    found = language_prefixes(tag)
    assert found[-1] == tag
    assert len(found) == len(parts)
    assert all(f"{longer}-".startswith(f"{shorter}-") for shorter, longer in pairwise(found))


def test_remove_accents_on_examples_gives_expected_values() -> None:
    assert [remove_accents(word) for word in ("Αθήνα", "чёрный чай", "שָׁלוֹם", "한국어 ガラス ｶﾞﾗｽ")] == [
        "Αθηνα",
        "черныи чаи",
        "שלום",
        "한국어 ガラス ガラス",
    ]


def test_normalize_text_on_examples_gives_expected_values() -> None:
    assert (normalize_text("rice 米飯"), normalize_text("cafe\u0301")) == ("rice  米  飯 ", "cafe")


def test_domain_suffixes_on_examples_gives_expected_values() -> None:
    assert domain_suffixes("shop.example.org") == ["shop.example.org", "example.org"]


def test_language_prefixes_on_examples_gives_expected_values() -> None:
    assert (language_prefixes("de-ch"), language_prefixes("")) == (["de", "de-ch"], [])
