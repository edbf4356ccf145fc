"""Targets: what makes a page relevant."""

from __future__ import annotations

import re

import pytest

from motherlode.model import ContentKind, Statement, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE
from motherlode.policies import target_from
from motherlode.policies.targets import COUNTED

from .fakes import facts

HTML = ContentKind.HTML


def typed(iri: str) -> list[Statement]:
    return [("<http://ex.org/#it>", RDF_TYPE, f"<{iri}>", "")]


@pytest.mark.parametrize(
    ("name", "syntax"),
    [
        ("jsonld", "JSON_LD"),
        ("microdata", "MICRODATA"),
        ("rdfa", "RDFA"),
        ("microformats", "MICROFORMATS"),
        ("rdf", "TURTLE"),
        ("rdf", "RDF_XML"),
        ("any", "GRDDL"),
        ("any", "N3"),
    ],
)
def test_target_counts_its_own_syntax_only(name: str, syntax: str) -> None:
    kind = ContentKind.TURTLE if name == "rdf" else HTML
    assert target_from(name)(facts(**{syntax: 1}), kind)
    assert not target_from(name)(facts(), kind)
    assert not target_from(name)(facts(PAGE=9), HTML)
    if name != "any":
        others = {each.name: 3 for each in Syntax if each.name != syntax}
        if name == "rdf":
            others = dict.fromkeys(("JSON_LD", "MICRODATA", "RDFA", "PAGE", "FEED"), 3)
        assert not target_from(name)(facts(**others), HTML)


@pytest.mark.parametrize("name", ["any", "jsonld", "microdata", "rdfa", "microformats"])
@pytest.mark.parametrize("spec", ["{}>=3", "{} >= 3", " {}>= 3 "])
def test_minimum_number_of_statements_is_required(name: str, spec: str) -> None:
    target = target_from(spec.format(name))
    syntax = {"any": "MICRODATA", "jsonld": "JSON_LD"}.get(name, name.upper())
    assert not target(facts(**{syntax: 2}), HTML)
    assert target(facts(**{syntax: 3}), HTML)


def test_target_any_adds_statements_of_all_syntaxes() -> None:
    assert target_from("any>=4")(facts(MICRODATA=2, JSON_LD=2), HTML)
    assert not target_from("any>=5")(facts(MICRODATA=2, JSON_LD=2, PAGE=7), HTML)


def test_duplicate_statement_counts_once() -> None:
    row = ("<http://ex.org/>", "<http://ex.org/p>", '"x"', "")
    assert not target_from("jsonld>=2")(facts(JSON_LD=[row, row]), HTML)


def test_json_ld_counts_for_rdf_only_as_whole_document() -> None:
    assert target_from("rdf")(facts(JSON_LD=1), ContentKind.JSON_LD)
    assert not target_from("rdf")(facts(JSON_LD=1), HTML)
    assert not target_from("rdf")(facts(TURTLE=1), HTML), "a script of Turtle makes no RDF document of a page"
    assert target_from("rdf")(facts(TURTLE=1), ContentKind.ZIP)
    assert target_from("rdf>=3")(facts(JSON_LD=3), ContentKind.JSON_LD)


def test_target_any_excludes_page_metadata_and_feeds_only() -> None:
    assert set(Syntax) - COUNTED == {Syntax.PAGE, Syntax.FEED}


@pytest.mark.parametrize(
    "spec",
    [
        "type:http://schema.org/Recipe",
        "type:https://schema.org/Recipe",
        "type:schema:Recipe",
        "type:<http://schema.org/Recipe>",
        "type: schema:Recipe",
    ],
)
def test_schema_org_type_matches_both_spellings(spec: str) -> None:
    target = target_from(spec)
    assert target(facts(MICRODATA=typed("http://schema.org/Recipe")), HTML)
    assert target(facts(JSON_LD=typed("https://schema.org/Recipe")), HTML)
    assert not target(facts(JSON_LD=typed("http://schema.org/RecipeBook")), HTML)
    assert not target(facts(), HTML)


def test_type_of_another_vocabulary_matches_its_own_spelling_only() -> None:
    target = target_from("type:foaf:Person")
    assert target(facts(TURTLE=typed("http://xmlns.com/foaf/0.1/Person")), ContentKind.TURTLE)
    assert not target(facts(TURTLE=typed("https://xmlns.com/foaf/0.1/Person")), ContentKind.TURTLE)


@pytest.mark.parametrize("iri", ["urn:ex:Thing", "tag:ex.org,2026:Thing", "ftp://ex.org/Thing"])
def test_type_may_be_a_full_iri(iri: str) -> None:
    assert target_from(f"type:{iri}")(facts(TURTLE=typed(iri)), ContentKind.TURTLE)


def test_type_must_be_object_of_rdf_type() -> None:
    target = target_from("type:schema:Recipe")
    mention = ("<http://ex.org/>", "<http://ex.org/about>", "<http://schema.org/Recipe>", "")
    quoted = ("<http://ex.org/>", "<http://ex.org/p>", f'"see {RDF_TYPE} <http://schema.org/Recipe> ."', "")
    assert not target(facts(RDFA=[mention, quoted]), HTML)


def test_type_in_named_graph_matches() -> None:
    named = [(*row[:3], "<http://ex.org/graph>") for row in typed("http://schema.org/Recipe")]
    assert target_from("type:schema:Recipe")(facts(TRIG=named), ContentKind.TRIG)


@pytest.mark.parametrize(
    "spec", ["type:schema:Recipe", "ASK { ?s ?p ?o }", "ASK { ?s a schema:Recipe }", "any", "any>=1"]
)
def test_page_metadata_never_counts(spec: str) -> None:
    assert not target_from(spec)(facts(PAGE=typed("http://schema.org/Recipe")), HTML)


@pytest.mark.parametrize(
    "spec",
    [
        "ASK { ?it a schema:Recipe ; schema:name ?name . FILTER(LANG(?name) = 'fr') }",
        "ask where { ?it a <http://schema.org/Recipe> }",
        "PREFIX s: <http://schema.org/>\nASK { ?it s:name 'Tarte'@fr }",
        "# a comment\nBASE <http://schema.org/> PREFIX s: <http://schema.org/> ASK { ?it a <Recipe> }",
        "  ASK { ?it a ?type . FILTER(STRSTARTS(STR(?type), STR(schema:))) }",
    ],
)
def test_ask_query_is_evaluated_on_the_page(spec: str) -> None:
    name = ("<http://ex.org/#it>", "<http://schema.org/name>", '"Tarte"@fr', "")
    target = target_from(spec)
    assert target(facts(JSON_LD=[*typed("http://schema.org/Recipe"), name]), HTML)
    assert not target(facts(JSON_LD=2), HTML)
    assert not target(TransformResult(), HTML)


def test_ask_query_sees_statements_of_all_syntaxes() -> None:
    name = ("<http://ex.org/#it>", "<http://schema.org/name>", '"x"', "")
    target = target_from("ASK { ?it a schema:Recipe ; schema:name ?name }")
    assert target(facts(MICRODATA=typed("http://schema.org/Recipe"), RDFA=[name]), HTML)


def test_prefix_of_user_overrides_ours() -> None:
    target = target_from("PREFIX schema: <http://other.example/> ASK { ?it a schema:Recipe }")
    assert target(facts(JSON_LD=typed("http://other.example/Recipe")), HTML)
    assert not target(facts(JSON_LD=typed("http://schema.org/Recipe")), HTML)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("microdta", "unknown target 'microdta' (did you mean microdata?); known: any, rdf, jsonld"),
        ("json-ld>=2", "did you mean jsonld?"),
        ("any>=", "did you mean any?"),
        ("any>=-1", "unknown target"),
        ("microdata>=0", "use at least 1"),
        ("", "unknown target ''"),
        ("SELECT * { ?s ?p ?o }", "or a SPARQL ASK { … }"),
        ("type:Recipe", "give an IRI, as in type:http://schema.org/Recipe or type:schema:Recipe"),
        ("type:", "give an IRI"),
        ("type:foo:Bar", "the prefix 'foo' is not known (did you mean foaf?); known: schema, rdf, "),
        ("type:shcema:Recipe", "did you mean schema?"),
        ("type:http://schema.org/a b", "give an IRI"),
        ("ASK { ?s ", "not a SPARQL ASK that can be answered: error at 1:"),
        ("ASK { ?s nope:x ?o }", "not a SPARQL ASK that can be answered"),
        ("ASK { ?s ?p ?o FILTER(<http://ex.org/f>(?o)) }", "http://ex.org/f"),
    ],
)
def test_invalid_target_raises_error_of_one_line(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        target_from(spec)
    assert "\n" not in str(error.value)
