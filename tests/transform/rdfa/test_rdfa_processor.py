"""Property values, processing rules and property copying."""

from __future__ import annotations

import pytest

from motherlode.model import Statement
from motherlode.model.terms import RDF_TYPE
from motherlode.transform.rdfa.rdfa_processor import copy_patterns
from tests.transform.rdfa.pages import triples

XSD = "http://www.w3.org/2001/XMLSchema#"
DC = "http://purl.org/dc/terms/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p property=dc:title content=c>x", '"c"'),
        ("<p property=dc:title content='' lang=en>x", '""@en'),
        ("<p property=dc:title datatype=xsd:integer lang=en>7</p>", f'"7"^^<{XSD}integer>'),
        ("<p property=dc:title datatype='' href=y>x</p>", '"x"'),
        ("<p property=dc:title datatype=nonsense href=y lang=en>x</p>", '"x"@en'),
        ("<p property=dc:title datatype=xsd:string>x</p>", '"x"'),
        ("<a property=dc:title href='http://h/' resource='http://r/'>x</a>", "<http://r/>"),
        ("<a property=dc:title href='http://h/' resource='[]'>x</a>", "<http://h/>"),
        ("<a property=dc:title href='' content=c>x</a>", '"c"'),
        ("<time property=dc:date>2026-01-02</time>", f'"2026-01-02"^^<{XSD}date>'),
        ("<time property=dc:date datetime=PT5M>x</time>", f'"PT5M"^^<{XSD}duration>'),
        ("<time property=dc:date lang=en>soon</time>", '"soon"@en'),
        ("<time property=dc:date datetime=2026 datatype=xsd:string>x</time>", '"2026"'),
        ("<p property=dc:date datetime=2026>x</p>", f'"2026"^^<{XSD}gYear>'),
        ("<p property=dc:title>a<script>b</script><!-- c --></p>", '"ab"'),
    ],
)
def test_property_value_depends_on_attributes_and_element(markup: str, expected: str) -> None:
    ((_, _, found),) = triples(markup)
    assert found == expected


def test_lang_string_datatype_is_replaced_by_the_language() -> None:
    """`"x"^^rdf:langString` is not valid RDF, and parsers reject it."""
    markup = "<p lang='{}' property=dc:title datatype=rdf:langString content=x>y</p>"
    assert [triples(markup.format(tag))[0][2] for tag in ("de", "")] == ['"x"@de', '"x"']


def test_body_has_the_page_as_subject() -> None:
    assert triples("<body typeof=dc:Agent><p property=dc:title>x</p>") == [
        ("<>", TYPE, f"<{DC}Agent>"),
        ("<>", f"<{DC}title>", '"x"'),
    ]


def test_list_inside_a_relation_belongs_to_its_object() -> None:
    found = triples("<div about=#s rel=dc:relation resource=#o><b property=dc:title inlist>x</b></div>")
    assert ("<#s>", f"<{DC}relation>", "<#o>") in found
    assert [s for s, p, _ in found if p == f"<{DC}title>"] == ["<#o>"]


def test_lists_of_one_subject_in_two_elements_are_not_joined() -> None:
    found = triples(
        "<p about=#s><b property=dc:title inlist>x</b></p><p about=#s><b property=dc:title inlist>y</b></p>"
    )
    assert len([1 for s, p, _ in found if p == f"<{DC}title>"]) == 2
    assert len([1 for _, p, o in found if p == f"<{RDF}rest>" and o == f"<{RDF}nil>"]) == 2


def test_empty_inlist_relation_gives_an_empty_list() -> None:
    assert triples("<p about=#s rel=dc:creator inlist></p>") == [("<#s>", f"<{DC}creator>", f"<{RDF}nil>")]


def test_rel_without_colon_is_ignored_beside_property() -> None:
    assert triples("<div vocab='http://v/'><a property=url rel=nofollow href='http://x/'>y</a></div>")[1:] == [
        ("<>", "<http://v/url>", "<http://x/>")
    ]


def test_named_blank_nodes_are_shared_and_are_not_predicates() -> None:
    found = triples("<p about=_:a property='dc:title _:b'>x</p><p about=[_:a] property=dc:date>y</p>")
    assert found == [("_:0", f"<{DC}title>", '"x"'), ("_:0", f"<{DC}date>", '"y"')]


def test_role_attribute_counts_only_with_option() -> None:
    markup = "<nav role='navigation' id=n></nav><p role=doc:x>"
    assert triples(markup) == []
    role = "<http://www.w3.org/1999/xhtml/vocab#role>"
    assert triples(markup, roles=True) == [
        ("<#n>", role, "<http://www.w3.org/1999/xhtml/vocab#navigation>"),
        ("_:0", role, "<doc:x>"),
    ]


def test_rel_and_rev_without_object_are_both_completed() -> None:
    found = triples("<div about=#s rel=dc:source rev=dc:isPartOf><p about=#a></p><p typeof=dc:Agent></p></div>")
    assert {(s, p, o) for s, p, o in found if p != TYPE} == {
        ("<#s>", f"<{DC}source>", "<#a>"),
        ("<#a>", f"<{DC}isPartOf>", "<#s>"),
        ("<#s>", f"<{DC}source>", "_:0"),
        ("_:0", f"<{DC}isPartOf>", "<#s>"),
    }


# Property copying

COPY = "<http://www.w3.org/ns/rdfa#copy>"
PATTERN = "<http://www.w3.org/ns/rdfa#Pattern>"


def run(*triples: tuple[str, str, str], limit: int = 1_000) -> set[tuple[str, str, str]]:
    statements: list[Statement] = [(s, p, o, "") for s, p, o in triples]
    return {(s, p, o) for s, p, o, _ in copy_patterns(statements, limit=limit)}


def test_pattern_that_copies_a_pattern_is_copied_as_a_whole() -> None:
    assert run(
        ("a", COPY, "b"), ("b", RDF_TYPE, PATTERN), ("b", COPY, "c"), ("c", RDF_TYPE, PATTERN), ("c", "p", "x")
    ) == {("a", "p", "x")}


def test_patterns_that_copy_each_other_end() -> None:
    found = run(("a", COPY, "b"), ("b", COPY, "a"), ("a", RDF_TYPE, PATTERN), ("b", RDF_TYPE, PATTERN), ("a", "p", "x"))
    assert found == set()


def test_resource_without_pattern_type_and_unused_pattern_are_kept() -> None:
    statements = (("a", COPY, "b"), ("b", "p", "x"), ("c", RDF_TYPE, PATTERN), ("c", "p", "y"))
    assert run(*statements) == set(statements)


def test_copies_end_near_the_limit() -> None:
    many = [(f"a{i}", COPY, "b") for i in range(100)] + [("b", f"p{i}", "x") for i in range(100)]
    assert len(run(("b", RDF_TYPE, PATTERN), *many, limit=500)) < 1_000
