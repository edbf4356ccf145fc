"""Metadata of HTML pages."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.html_metadata import extract
from tests.www.pages import URL, document

TERMS = "http://purl.org/dc/terms/"
ELEMENTS = "http://purl.org/dc/elements/1.1/"
RELATION = "http://www.iana.org/assignments/relation/"


def metadata(markup: str, kind: ContentKind = ContentKind.HTML) -> list[tuple[str, str]]:
    found = extract(document(markup, kind=kind), BlankNames(URL, Syntax.PAGE))
    assert all(subject == f"<{URL}>" for subject, *_ in found.statements)
    return [(predicate[1:-1], value) for _, predicate, value, _ in found.statements]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<title> A \n page </title><svg><title>no</title></svg>", [(f"{TERMS}title", '"A page"')]),
        ("<meta name=Description content=' d '>", [(f"{TERMS}description", '"d"')]),
        ("<meta name=keywords content='a, b,,a'>", [(f"{TERMS}subject", '"a"'), (f"{TERMS}subject", '"b"')]),
        ("<meta name=author content=Ann>", [(f"{TERMS}creator", '"Ann"')]),
        ("<link rel=canonical href=/c>", [(f"{RELATION}canonical", "<http://example.org/c>")]),
        (
            "<link rel='alternate next' href=a>",
            [
                (f"{RELATION}alternate", "<http://example.org/folder/a>"),
                (f"{RELATION}next", "<http://example.org/folder/a>"),
            ],
        ),
        ("<meta name=DC.Title content=t lang=de>", [(f"{ELEMENTS}title", '"t"@de')]),
        ("<meta name=dcterms.rightsHolder content=r>", [(f"{TERMS}rightsHolder", '"r"')]),
        ("<meta name=DC.Date.issued content=2026>", [(f"{TERMS}issued", '"2026"')]),
        ("<link rel=schema.X href='http://x/'><meta name=X.a content=b>", [("http://x/a", '"b"')]),
        ("<link rel=DC.relation href='http://r/'>", [(f"{ELEMENTS}relation", "<http://r/>")]),
    ],
)
def test_html_metadata_gives_expected_statements(markup: str, expected: list[tuple[str, str]]) -> None:
    assert metadata(markup) == expected


def test_html_metadata_language_of_page_is_used() -> None:
    assert metadata("<html lang=en><title>t</title>") == [(f"{TERMS}language", '"en"'), (f"{TERMS}title", '"t"@en')]


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "<title></title>",
        "<meta name=viewport content=x>",
        "<meta name=description>",
        "<meta name=other.x content=y>",
        "<meta name=DC. content=y>",
        "<link rel=stylesheet href=x>",
        "<link rel=canonical>",
    ],
)
def test_html_metadata_empty_or_unknown_elements_give_nothing(markup: str) -> None:
    assert metadata(markup) == []


def test_html_metadata_keywords_and_elements_are_limited() -> None:
    assert len(metadata("<head>" + "".join(f"<meta name=author content=a{i}>" for i in range(5_000)))) == 1_000
    assert len(metadata(f"<meta name=keywords content='{','.join(str(i) for i in range(5_000))}'>")) == 100


def test_html_metadata_invalid_href_is_a_problem() -> None:
    found = extract(
        document("<link rel=canonical href='http://[bad'><link rel='next' href=x>"), BlankNames(URL, Syntax.PAGE)
    )
    assert [statement[2] for statement in found.statements] == ["<http://example.org/folder/x>"]
    assert [problem.message for problem in found.problems] == ["not a valid IRI: <http://[bad>"]


def test_html_metadata_alternate_stylesheet_is_not_an_alternate_page() -> None:
    assert metadata("<link rel='Alternate StyleSheet' href=s.css>") == []
    assert metadata("<link rel='stylesheet next' href=s>") == [(f"{RELATION}next", "<http://example.org/folder/s>")]


def test_html_metadata_accepts_xml_lang_in_html() -> None:
    assert metadata("<html xml:lang=fr><title>T</title>") == [(f"{TERMS}language", '"fr"'), (f"{TERMS}title", '"T"@fr')]


def test_html_metadata_xml_lang_overrides_lang_in_xhtml_only() -> None:
    markup = "<html lang='en' xml:lang='de'><head><meta name='author' content='Ann'/></head></html>"
    assert (f"{TERMS}creator", '"Ann"@de') in metadata(markup, ContentKind.XHTML)
    assert (f"{TERMS}creator", '"Ann"@en') in metadata(markup)
