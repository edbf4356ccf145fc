"""Direct properties and sibling groups of links, compared with definitions 6 and 7 of Huang and Gandon (2020)."""

from __future__ import annotations

from random import Random

from motherlode.links.context_graph import MAX_GROUPS, MAX_PROPERTIES, add_context_graph
from motherlode.model import Extraction, Link, LinkSource, Statement, Syntax, TransformResult

EX = "http://a.example/"


def facts_of(statements: list[Statement], syntax: Syntax = Syntax.RDFA) -> TransformResult:
    return TransformResult(extractions=(Extraction(syntax=syntax, statements=tuple(statements)),))


def links_of(*names: str) -> list[Link]:
    return [Link(url=EX + name, source=LinkSource.TRIPLE) for name in names]


def iri(name: str) -> str:
    return f"<{EX}{name}>"


def sibling_set(target: str, statements: list[Statement]) -> set[str]:
    """Return Sib of the paper's definition 6."""
    before = {(subject, property_) for subject, property_, value, _ in statements if value == target}
    after = {(property_, value) for subject, property_, value, _ in statements if subject == target}
    found = {value for subject, property_, value, _ in statements if (subject, property_) in before}
    found |= {subject for subject, property_, value, _ in statements if (property_, value) in after}
    return {term for term in found if term.startswith("<") and term != target}


def test_context_graph_of_random_statements_equals_the_definitions() -> None:
    random = Random(11)
    names = [f"n{number}" for number in range(9)]
    for _ in range(60):
        statements: list[Statement] = [
            (
                iri(random.choice(names)),
                iri(random.choice(("p", "q", "r"))),
                random.choice((iri(random.choice(names)), '"text"')),
                "",
            )
            for _ in range(random.randint(1, 12))
        ]
        links = add_context_graph(links_of(*names), facts_of(statements))
        for link in links:
            term = f"<{link.url}>"
            siblings = {
                other.url for other in links if other != link and {*other.sibling_groups} & {*link.sibling_groups}
            }
            assert {f"<{url}>" for url in siblings} == sibling_set(term, statements)
            properties = {predicate[1:-1] for subject, predicate, value, _ in statements if term in (subject, value)}
            assert set(link.properties) == properties


def test_same_predicate_with_other_subject_makes_no_siblings() -> None:
    statements: list[Statement] = [(iri("s"), iri("p"), iri("a"), ""), (iri("t"), iri("p"), iri("b"), "")]
    one, two = add_context_graph(links_of("a", "b"), facts_of(statements))
    assert one.properties == two.properties == (EX + "p",)
    assert one.sibling_groups == two.sibling_groups == ()


def test_fragments_of_one_url_join_their_properties() -> None:
    statements: list[Statement] = [(iri("a#x"), iri("p"), '"1"', ""), (iri("a#y"), iri("q"), '"2"', "")]
    (link,) = add_context_graph(links_of("a"), facts_of(statements))
    assert link.properties == (EX + "p", EX + "q")


def test_properties_and_groups_are_bounded() -> None:
    statements: list[Statement] = [
        (iri(name), iri(f"p{number}"), '"same"', "") for number in range(100) for name in ("a", "b")
    ]
    one, two = add_context_graph(links_of("a", "b"), facts_of(statements))
    assert (len(one.properties), len(one.sibling_groups)) == (MAX_PROPERTIES, MAX_GROUPS)
    assert {*one.sibling_groups} & {*two.sibling_groups}


def test_statements_about_the_page_and_links_without_statements_change_nothing() -> None:
    statements: list[Statement] = [(iri("s"), iri("p"), iri("a"), "")]
    links = links_of("a", "b")
    assert add_context_graph(links, facts_of(statements, Syntax.PAGE)) == links
    assert add_context_graph(links, facts_of(statements))[1] == links[1]
