"""Terms in N-Triples can be parsed by another parser, with the same value."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from motherlode.model.terms import RDF, XSD, iri, iri_value, literal, page_iri
from motherlode.www.urls import canonical

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)  # lone surrogates too


def read(term: str) -> object:
    """Parse a statement with the term as its object. Return the object."""
    line = f"<http://ex.org/s> <http://ex.org/p> {term} .\n".encode()
    (quad,) = ox.parse(line, ox.RdfFormat.N_TRIPLES, lenient=True)
    assert isinstance(quad, ox.Quad)
    return quad.object


def as_kept(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD."""
    return "".join("�" if 0xD800 <= ord(character) <= 0xDFFF else character for character in text)


@given(ANY_TEXT)
@example('" . <http://evil.example/> <http://evil.example/> "')
@example("\\")
@example('\\"')
@example("a\r\nb\tc\0\x85\u2028")
def test_literal_of_any_text_is_parsed_back(text: str) -> None:
    assert read(literal(text)) == ox.Literal(as_kept(text))


@given(ANY_TEXT, st.from_regex(r"\A[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,2}\Z"))
def test_literal_with_language_is_parsed_back(text: str, language: str) -> None:
    found = read(literal(text, language=language))
    assert isinstance(found, ox.Literal)
    assert (found.value, found.language) == (as_kept(text), language.lower())


@given(st.text(max_size=20), ANY_TEXT)
@example("x", "en us")
@example("x", "en-")
@example("x", "12")
@example("x", 'en"@de')
def test_literal_with_invalid_language_is_valid_ntriples(text: str, language: str) -> None:
    found = read(literal(text, language=language))
    assert isinstance(found, ox.Literal)
    assert found.value == text


@given(st.text(max_size=20), ANY_TEXT | ANY_TEXT.map(lambda text: f"http://ex.org/{text}"))
@example("x", "http://ex.org/a> <b")
@example("x", "http://ex.org/a b")
@example("x", "relative")
def test_literal_with_invalid_datatype_is_valid_ntriples(text: str, datatype: str) -> None:
    found = read(literal(text, datatype=datatype))
    assert isinstance(found, ox.Literal)
    assert found.value == text
    assert found.datatype.value in (datatype, XSD + "string")


@pytest.mark.parametrize(
    ("written", "tag"), [("en_US", "@en-us"), ("zh_Hans-CN", "@zh-hans-cn"), ("_", ""), ("en_", ""), ("a b", "")]
)
def test_literal_language_with_underscores_gets_hyphens(written: str, tag: str) -> None:
    assert literal("x", language=written) == f'"x"{tag}'


def test_literal_datatype_is_written_unless_implicit() -> None:
    assert read(literal("1", datatype=XSD + "integer")) == ox.Literal("1", datatype=ox.NamedNode(XSD + "integer"))
    assert literal("x", datatype=XSD + "string") == '"x"'
    for name in ("langString", "dirLangString"):
        assert literal("x", datatype=RDF + name) == '"x"', "no reader takes it without a language"
    assert literal("x", language="de", datatype=XSD + "integer") == '"x"@de', "a language leaves no room for a type"


@given(ANY_TEXT | ANY_TEXT.map(lambda text: f"http://ex.org/{text}"))
@example("http://ex.org/a> <http://evil.example/")
@example("urn:x")
@example("http://ex.org/ä%zz[1]")
def test_iri_is_parsed_back_or_none(value: str) -> None:
    term = iri(value)
    if term is not None:
        found = read(term)
        assert isinstance(found, ox.NamedNode)
        assert found.value == value == iri_value(term)
        assert term.startswith("<")


@pytest.mark.parametrize(
    "value",
    [
        *("", "relative", "/path", "a b:c", "http://ex.org/<", 'http://ex.org/"', "http://a\n/", ":x"),
        *("http://[bad", "http://[x]/", "http://ex.org:port/", "http://a]b/c", "http://a@b@c/"),
    ],
)
def test_iri_of_invalid_value_is_none(value: str) -> None:
    assert iri(value) is None


@pytest.mark.parametrize(
    "value",
    [
        *("http://ex.org/", "urn:isbn:1", "mailto:a@b.example", "x-y+z.1:a", "http://ex.org/ü", "http://ex.org"),
        *("http://[::1]:80/a[0]", "http://a:b@ex.org:8080?c", "file:///a:b", "http://ex.org:/", "urn:a//[b"),
    ],
)
def test_iri_of_valid_value_is_a_term(value: str) -> None:
    assert iri(value) == f"<{value}>"


@given(st.from_regex(r"\A[!-~é ]{0,30}\Z"))
@example("a[0]=%zz&b={|}^`\\'\"<>")
def test_page_iri_of_any_url_is_valid_for_strict_parser(rest: str) -> None:
    for start in ("http://ex.org/", "http://ex.org/?", "https://[2001:db8::1]:8080/"):
        url = canonical(start + rest)
        if url is None:
            continue
        term = page_iri(url)
        name = ox.NamedNode(term[1:-1])  # a strict parser
        assert read(term) == name
        assert page_iri(name.value) == term, "a name has nothing left to escape"


@given(st.from_regex(r"\A[a-zA-Z0-9/._~:?&=+,;@!$()*-]{0,40}\Z"))
def test_page_iri_of_plain_url_is_unchanged(rest: str) -> None:
    assert page_iri(f"http://ex.org/{rest}") == f"<http://ex.org/{rest}>"


def test_page_iri_escapes_each_character_differently() -> None:
    urls = [f"http://ex.org/?{character}" for character in "[]{}|^`\\%"]
    assert len({page_iri(url) for url in urls}) == len(urls)
