"""Which links the user wants to follow: predicates, queries, terminology or instances."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.detect import detect
from motherlode.links.collect import collect_links
from motherlode.links.from_quads import LinkRules, TermScope, link_rules_from, statement_links
from motherlode.links.href import LinkOptions
from motherlode.model import Extraction, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE
from motherlode.transform import TransformOptions, transform
from motherlode.www.document import Document

PAGE = "http://ex.org/page"
SEE_ALSO = "<http://www.w3.org/2000/01/rdf-schema#seeAlso>"
HOME = "<http://xmlns.com/foaf/0.1/homepage>"
RSS_LINK = "<http://purl.org/rss/1.0/link>"
FACTS = TransformResult(
    extractions=(
        Extraction(
            syntax=Syntax.TURTLE,
            statements=(
                (f"<{PAGE}#me>", RDF_TYPE, "<http://xmlns.com/foaf/0.1/Person>", ""),
                (f"<{PAGE}#me>", RDF_TYPE, "<http://own.example/Miner>", ""),
                (f"<{PAGE}#me>", SEE_ALSO, "<http://ex.org/more>", ""),
                (f"<{PAGE}#me>", HOME, "<http://home.example/>", ""),
                ("<http://ex.org/item>", RSS_LINK, '"http://news.example/1"', ""),
                ("<http://ex.org/item>", RSS_LINK, '"not an address"', ""),
                ("<http://ex.org/item>", "<http://own.example/digs>", "_:b0", ""),
            ),
        ),
    )
)


def found(facts: TransformResult = FACTS, **table: object) -> set[str]:
    following = link_rules_from(table)
    return {link.url for link in statement_links(facts, following, page_url=PAGE, options=LinkOptions())}


def test_link_rules_default_follows_every_instance() -> None:
    assert found() == {"http://ex.org/more", "http://home.example/", "http://ex.org/item"}


def test_link_rules_predicates_follow_objects_and_urls_in_literals() -> None:
    assert found(predicates=["rdfs:seeAlso", "rss:link"]) == {"http://ex.org/more", "http://news.example/1"}
    assert found(predicates=["http://xmlns.com/foaf/0.1/homepage"]) == {"http://home.example/"}


def test_link_rules_predicate_may_be_an_iri_without_slashes() -> None:
    assert link_rules_from({"predicates": ["urn:example:p", "<tag:a.example,2026:q>"]}).predicates == (
        "urn:example:p",
        "tag:a.example,2026:q",
    )


def test_link_rules_link_keeps_its_predicate() -> None:
    rules = link_rules_from({"predicates": ["foaf:homepage"]})
    (link,) = statement_links(FACTS, rules, page_url=PAGE, options=LinkOptions())
    assert link.predicate == "http://xmlns.com/foaf/0.1/homepage"


def test_link_rules_query_selects_with_page_as_base() -> None:
    assert found(query="SELECT ?u { <#me> foaf:homepage ?u }") == {"http://home.example/"}
    assert found(query="SELECT ?u { ?s a <http://own.example/Miner> ; rdfs:seeAlso ?u }") == {"http://ex.org/more"}
    assert found(query="SELECT ?s ?u { ?s rss:link ?u }") == {"http://ex.org/item", "http://news.example/1"}
    assert found(TransformResult(), query="SELECT ?s { ?s ?p ?o }") == set()


def test_link_rules_query_and_predicates_are_joined() -> None:
    assert found(predicates=["foaf:homepage"], query="SELECT ?u { ?s rdfs:seeAlso ?u }") == {
        "http://home.example/",
        "http://ex.org/more",
    }


def test_link_rules_tbox_follows_classes_and_properties() -> None:
    assert found(scope="tbox") == {
        "http://www.w3.org/1999/02/22-rdf-syntax-ns",
        "http://xmlns.com/foaf/0.1/Person",
        "http://own.example/Miner",
        "http://www.w3.org/2000/01/rdf-schema",
        "http://xmlns.com/foaf/0.1/homepage",
        "http://purl.org/rss/1.0/link",
        "http://own.example/digs",
    }


def test_link_rules_both_is_union() -> None:
    assert found(scope="both") == found(scope="tbox") | found(scope="abox")


def test_link_rules_names_like_files_are_followed() -> None:
    named = (
        (f"<{PAGE}>", SEE_ALSO, "<http://ex.org/id/Cmd.exe>", ""),
        (f"<{PAGE}>", HOME, '"http://ex.org/a.png"', ""),
    )
    facts = TransformResult(extractions=(Extraction(syntax=Syntax.TURTLE, statements=named),))
    assert found(facts, predicates=["rdfs:seeAlso", "foaf:homepage"]) == {"http://ex.org/id/Cmd.exe"}
    assert found(facts, query="SELECT ?o { ?s ?p ?o }") == {"http://ex.org/id/Cmd.exe"}


def test_link_rules_links_are_bounded() -> None:
    many = tuple((f"<{PAGE}>", SEE_ALSO, f"<http://ex.org/{number}>", "") for number in range(100))
    facts = TransformResult(extractions=(Extraction(syntax=Syntax.TURTLE, statements=many),))
    for table in ({"predicates": ["rdfs:seeAlso"]}, {"query": "SELECT ?o { ?s ?p ?o }"}):
        got = statement_links(facts, link_rules_from(table), page_url=PAGE, options=LinkOptions(page_links=10))
        assert len(got) == 10


HTML = b"""<html><head><meta http-equiv=refresh content="0; url=/next"></head><body vocab="http://schema.org/">
<a href="/anchor">a</a><p typeof="Thing"><a property="sameAs" href="http://other.example/x">x</a></p></body></html>"""


def _html_links(**table: object) -> set[str]:
    document = Document(url=PAGE, body=HTML, detected=detect(HTML, url=PAGE, content_type="text/html"))
    facts = transform(document, TransformOptions())
    return {link.url for link in collect_links(document, facts, LinkOptions(), link_rules_from(table))}


def test_link_rules_anchors_are_followed_by_default() -> None:
    every = {"http://ex.org/anchor", "http://other.example/x", "http://ex.org/next"}
    assert _html_links() == every
    assert _html_links(html=False) == {"http://other.example/x", "http://ex.org/next"}
    assert _html_links(predicates=["schema:sameAs"]) == {"http://other.example/x", "http://ex.org/next"}
    assert _html_links(predicates=["schema:sameAs"], html=True) == every


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"query": "SELECT ?u { "}, "not valid SPARQL"),
        ({"query": "ASK { ?s ?p ?o }"}, "must be a SELECT"),
        ({"query": "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }"}, "must be a SELECT"),
        ({"query": "SELECT ?u { SERVICE <http://a.example/> { ?s ?p ?u } }"}, "SERVICE"),
        ({"query": 3}, "must be a string"),
        ({"predicates": ["nosuch:thing"]}, "prefix of 'nosuch:thing' is unknown"),
        ({"predicates": ["seeAlso"]}, "is not an IRI"),
        ({"predicates": "rdfs:seeAlso"}, "list of strings"),
        ({"scope": "cbox"}, "abox"),
        ({"html": "no"}, "true or false"),
        ({"predicate": []}, "unknown key 'predicate'"),
    ],
)
def test_link_rules_invalid_table_raises_value_error(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        link_rules_from(table)


def test_link_rules_survive_serialization() -> None:
    following = link_rules_from({"predicates": ["owl:sameAs"], "scope": "both", "query": "SELECT ?s { ?s ?p ?o }"})
    assert following.scope is TermScope.BOTH
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(following), type=LinkRules) == following
