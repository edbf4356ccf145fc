"""The sparse tree of HTML and XML: elements that it leaves out must not change the result."""

from __future__ import annotations

from motherlode.model import ContentKind
from motherlode.transform.rdfa.evaluation_context import TERMS
from motherlode.transform.rdfa.sparse_tree import build_html_tree
from tests.transform.rdfa.pages import triples
from tests.www.pages import document

XHTML = "xmlns='http://www.w3.org/1999/xhtml'"
DC = "http://purl.org/dc/terms/"


def tags(markup: str) -> list[str]:
    tree = build_html_tree(document(markup), roles=False)
    assert tree is not None
    return [element.tag for element in tree.elements]


def test_tree_has_only_relevant_elements() -> None:
    assert tags(
        "<body class=x><main><a href=x>y</a><section lang=de><p id=q><b property=dc:title>z</b></p></section>"
    ) == [
        "html",
        "section",
        "b",
    ]


def test_html_keywords_in_rel_are_left_out_without_vocabulary() -> None:
    assert tags("<link rel=icon href=x><p property=dc:title>y") == ["html", "p"]
    assert tags("<link rel=icon href=x><p vocab='http://v/' property=title>y") == ["html", "link", "p"]


def test_selector_finds_all_terms_of_the_initial_context() -> None:
    """The selector has a copy of each term."""
    for term in TERMS:
        assert tags(f"<link rel='x {term.upper()} y' href=z>") == ["html", "link"]
    assert tags("<link rel='x dc:y' href=z>") == ["html", "link"]


def test_ancestor_with_href_is_the_subject() -> None:
    assert triples("<a href='http://x/'><div><b property=dc:title>y</b></div></a>") == [
        ("<http://x/>", f"<{DC}title>", '"y"')
    ]


def test_relation_without_object_is_completed_by_descendants() -> None:
    found = triples("<div about=#s rel=dc:relation><p><a href='http://x/'>y</a><img src='http://z/'></p></div>")
    assert found == [("<#s>", f"<{DC}relation>", "<http://x/>"), ("<#s>", f"<{DC}relation>", "<http://z/>")]


def test_xmlns_attribute_declares_a_prefix() -> None:
    assert triples("<html xmlns:EX='http://ex/'><p property=ex:a>b") == [("<>", "<http://ex/a>", '"b"')]


def test_html_literal_keeps_its_markup() -> None:
    ((_, _, found),) = triples("<p property=dc:title datatype=rdf:HTML>a<b>c</b>")
    assert found == '"a<b>c</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#HTML>'


def test_relation_with_unresolvable_safe_curie_is_completed_by_descendants() -> None:
    for resource in ("[]", " [unknown:x] "):
        markup = f"<p rel=dc:creator resource='{resource}'><a about=x>y</a></p>"
        assert triples(markup) == [("<>", f"<{DC}creator>", "<http://example.org/folder/x>")]


# XML documents


def test_svg_with_xml_base_resolves_against_it() -> None:
    found = triples(
        "<svg xmlns='http://www.w3.org/2000/svg' xml:base='http://b/'>"
        "<g xml:base='c/'><a rel='dc:source' resource='d'/></g></svg>",
        kind=ContentKind.SVG,
    )
    assert found == [("<http://b/>", f"<{DC}source>", "<http://b/c/d>")]


def test_xhtml_base_element_and_languages_count() -> None:
    found = triples(
        f"<html {XHTML} lang='en'><head><base href='http://b/#f'/></head><body><p xml:lang='de' lang='fr' "
        "property='dc:title'>x</p><p property='dc:title'>y</p></body></html>",
        kind=ContentKind.XHTML,
    )
    assert found == [("<http://b/>", f"<{DC}title>", '"x"@de'), ("<http://b/>", f"<{DC}title>", '"y"@en')]


def test_xhtml_terms_count_only_with_the_document_type_of_xhtml_rdfa() -> None:
    body = f"<html {XHTML}><head><link rel='next' href='http://n/'/></head></html>"
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.1//EN" "http://www.w3.org/MarkUp/DTD/xhtml-rdfa-2.dtd">'
    assert triples(body, kind=ContentKind.XHTML) == []
    assert triples(doctype + body, kind=ContentKind.XHTML) == [
        ("<>", "<http://www.w3.org/1999/xhtml/vocab#next>", "<http://n/>")
    ]


def test_other_xml_has_no_special_lang_and_head() -> None:
    found = triples(
        "<root lang='en'><head typeof='dc:Agent'><p property='dc:title'>x</p></head></root>", kind=ContentKind.XML
    )
    assert found[1] == ("_:0", f"<{DC}title>", '"x"')


def test_xml_literal_keeps_namespaces_and_comments() -> None:
    ((_, _, found),) = triples(
        "<r xmlns='urn:d' xmlns:e='urn:e'><p property='dc:title' datatype='rdf:XMLLiteral'>"
        "a<e:b e:c='&lt;'><f xmlns='urn:f'/><!-- g --><?h i?>j</e:b>k</p></r>",
        kind=ContentKind.XML,
    )
    inner = found.rpartition("^^")[0][1:-1].replace('\\"', '"')
    assert inner == ('a<e:b e:c="&lt;" xmlns="urn:d" xmlns:e="urn:e"><f xmlns="urn:f"/><!-- g --><?h i?>j</e:b>k')


def test_text_is_in_document_order_without_unresolved_entities() -> None:
    inner = "1<b>2<i>3</i>4<!-- no --><u/>5</b>6<?no no?>7&odd;8"
    markup = (
        '<!DOCTYPE html [<!ENTITY odd "x">]><html xmlns="http://www.w3.org/1999/xhtml"><body>'
        f'<p property="dc:title">{inner}</p><p property="dc:type" datatype="rdf:XMLLiteral">1&odd;2</p></body></html>'
    )
    found = {predicate: value for _, predicate, value in triples(markup, kind=ContentKind.XHTML)}
    assert found["<http://purl.org/dc/terms/title>"] == '"12345678"'
    assert found["<http://purl.org/dc/terms/type>"].startswith('"12"^^')
