"""The processing rules, where the suite is thin."""

from __future__ import annotations

from tests.transform.rdfa.pages import triples

DC = "http://purl.org/dc/terms/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def test_body_takes_the_subject_of_the_page() -> None:
    assert triples("<body typeof=dc:Agent><p property=dc:title>x</p>") == [
        ("<>", TYPE, f"<{DC}Agent>"),
        ("<>", f"<{DC}title>", '"x"'),
    ]


def test_a_list_belongs_to_the_resource_inside_a_relation() -> None:
    found = triples("<div about=#s rel=dc:relation resource=#o><b property=dc:title inlist>x</b></div>")
    assert ("<#s>", f"<{DC}relation>", "<#o>") in found
    assert [s for s, p, _ in found if p == f"<{DC}title>"] == ["<#o>"]


def test_two_lists_of_one_subject_stay_two() -> None:
    found = triples(
        "<p about=#s><b property=dc:title inlist>x</b></p><p about=#s><b property=dc:title inlist>y</b></p>"
    )
    assert len([1 for s, p, _ in found if p == f"<{DC}title>"]) == 2
    assert len([1 for _, p, o in found if p == f"<{RDF}rest>" and o == f"<{RDF}nil>"]) == 2


def test_an_empty_list() -> None:
    assert triples("<p about=#s rel=dc:creator inlist></p>") == [("<#s>", f"<{DC}creator>", f"<{RDF}nil>")]


def test_relations_are_muted_by_a_property() -> None:
    assert triples("<div vocab='http://v/'><a property=url rel=nofollow href='http://x/'>y</a></div>")[1:] == [
        ("<>", "<http://v/url>", "<http://x/>")
    ]


def test_blank_nodes_by_name_are_shared_and_never_predicates() -> None:
    found = triples("<p about=_:a property='dc:title _:b'>x</p><p about=[_:a] property=dc:date>y</p>")
    assert found == [("_:0", f"<{DC}title>", '"x"'), ("_:0", f"<{DC}date>", '"y"')]


def test_roles_are_for_whoever_wants_them() -> None:
    markup = "<nav role='navigation' id=n></nav><p role=doc:x>"
    assert triples(markup) == []
    role = "<http://www.w3.org/1999/xhtml/vocab#role>"
    assert triples(markup, roles=True) == [
        ("<#n>", role, "<http://www.w3.org/1999/xhtml/vocab#navigation>"),
        ("_:0", role, "<doc:x>"),
    ]


def test_both_directions_wait_together() -> None:
    found = triples("<div about=#s rel=dc:source rev=dc:isPartOf><p about=#a></p><p typeof=dc:Agent></p></div>")
    assert {(s, p, o) for s, p, o in found if p != TYPE} == {
        ("<#s>", f"<{DC}source>", "<#a>"),
        ("<#a>", f"<{DC}isPartOf>", "<#s>"),
        ("<#s>", f"<{DC}source>", "_:0"),
        ("_:0", f"<{DC}isPartOf>", "<#s>"),
    }
