"""Tests of the documents that are made from the statements of a page."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.index.fulltext.documents import (
    MAX_LITERALS_PER_SUBJECT,
    MAX_TEXT_CHARACTERS,
    SubjectDocument,
    Text,
    _parse_tail,
    local_name,
    make_documents,
    unescape,
)
from motherlode.index.page_record import PageRecord
from motherlode.model.terms import literal
from tests.index.fakes import record, says

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
NAME = "<http://schema.org/name>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def test_make_documents_subject_becomes_one_document_with_types() -> None:
    made = make_documents(
        record(
            "http://a.example/",
            says("soup", "Tomato soup", predicate=NAME),
            says("soup", "Red and warm"),
            ("<http://ex.org/soup>", TYPE, "<http://schema.org/Recipe>", ""),
            says("bread", "Bread"),
        )
    )
    soup, bread = sorted(made, key=lambda document: -len(document.texts))
    assert [text.value for text in soup.texts] == ["Tomato soup", "Red and warm"]
    assert (soup.subject, soup.types, soup.label) == ("http://ex.org/soup", ["http://schema.org/Recipe"], "Tomato soup")
    assert bread.name == ""
    assert bread.label == "Bread"
    assert {document.page for document in made} == {"http://a.example/"}


def test_make_documents_separates_graphs_of_page() -> None:
    made = make_documents(record("http://a.example/", says("x", "one"), says("x", "two", graph="<http://ex.org/g>")))
    assert [(document.graph, document.texts[0].value) for document in made] == [
        ("http://a.example/", "one"),
        ("http://a.example/#graph=http://ex.org/g", "two"),
    ]


def test_make_documents_skips_numbers_and_dates_but_keeps_unknown_datatypes() -> None:
    lines = "".join(
        f"<u:s> <u:p> {value} <http://a/> .\n"
        for value in (
            f'"1"^^<{XSD}integer>',
            f'"2020-01-01"^^<{XSD}date>',
            f'"plain"^^<{XSD}string>',
            '"<b>html</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML>',
            '"Grüezi"@de-CH',
        )
    )
    (document,) = make_documents(PageRecord(url="http://a/", fetched_at=0, status=200, graph_quads=lines.encode()))
    assert [(text.value, text.language) for text in document.texts] == [
        ("plain", ""),
        ("<b>html</b>", ""),
        ("Grüezi", "de-ch"),
    ]


def test_make_documents_keeps_quotes_escapes_and_syntax_in_text() -> None:
    hostile = 'a " <u:g> . b \\ \n\t _:x'
    (document,) = make_documents(record("http://a/", ("_:b1", "<u:p>", '"' + _escaped(hostile) + '"', "")))
    assert document.texts[0].value == hostile
    assert document.subject == "_:b1"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=30)
            | st.sampled_from(['" .', "\\", "\\n", ' "@en .', "\x85\u2028"]),
            st.sampled_from(["", "en", "de-ch"]),
            st.sampled_from(["", "<http://ex.org/g>", "_:g"]),
        ),
        max_size=5,
        unique=True,
    )
)
def test_make_documents_any_text_round_trips(said: list[tuple[str, str, str]]) -> None:
    page = "http://a.example/"
    made = make_documents(
        record(page, *(("<u:s>", "<u:p>", literal(text, language=tag), graph) for text, tag, graph in said))
    )
    names = {"": page, "<http://ex.org/g>": f"{page}#graph=http://ex.org/g", "_:g": f"{page}#graph=_:g"}
    found = [(text.value, text.language, document.graph) for document in made for text in document.texts]
    assert sorted(found) == sorted((text.strip(), tag, names[graph]) for text, tag, graph in said if text.strip())


def test_make_documents_bounds_literals_and_characters() -> None:
    many = (says("x", f"word{number}") for number in range(MAX_LITERALS_PER_SUBJECT + 50))
    (document,) = make_documents(record("http://a/", *many))
    assert len(document.texts) == MAX_LITERALS_PER_SUBJECT
    (document,) = make_documents(record("http://a/", says("x", "é" * (MAX_TEXT_CHARACTERS * 2))))
    assert len(document.texts[0].value) == MAX_TEXT_CHARACTERS


def test_make_documents_skips_broken_lines() -> None:
    lines = b'rubbish\n<u:s> <u:p> "open\n<u:s> <u:p> "good" .\n\xff\xfe <u:p> "x" .\n'
    made = make_documents(PageRecord(url="http://a/", fetched_at=0, status=200, graph_quads=lines))
    assert "good" in {text.value for document in made for text in document.texts}


def test_local_name_on_examples_gives_expected_values() -> None:
    assert (local_name("http://schema.org/name"), local_name("http://www.w3.org/2000/01/rdf-schema#label")) == (
        "name",
        "label",
    )


def test_parse_tail_on_examples_gives_expected_values() -> None:
    assert (_parse_tail("@de-CH <http://a.example/> ."), _parse_tail(" .")) == (
        ("de-ch", "<http://a.example/>"),
        ("", ""),
    )
    assert _parse_tail("^^<http://www.w3.org/2001/XMLSchema#date> .") is None


def test_unescape_on_examples_gives_expected_values() -> None:
    assert unescape(r"caf\u00E9 \"x\"\n") == 'café "x"\n'


def test_name_on_examples_gives_expected_values() -> None:
    texts = [Text("http://schema.org/about", "Naples"), Text("http://schema.org/name", "Pizza")]
    assert SubjectDocument("_:b", "g", "p", texts=texts).name == "Pizza"
