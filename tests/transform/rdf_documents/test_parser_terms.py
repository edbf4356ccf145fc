"""Conversion of parser quads to statements."""

from __future__ import annotations

import io
from itertools import pairwise

import pyoxigraph as ox
import pytest

from motherlode.model import Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents import parser_terms
from motherlode.transform.rdf_documents.parser_terms import (
    BATCH_STATEMENTS,
    BlankNodeRenamer,
    IriRepair,
    convert_quad,
    find_fault,
    read_batch,
    skip_known_statements,
)
from motherlode.transform.rdf_documents.source import Source


def _names(body: bytes = b"") -> BlankNodeRenamer:
    source = Source(io.BytesIO(body), syntax=Syntax.TURTLE)
    source.get(0, 10_000)
    return BlankNodeRenamer(BlankNames("http://example.org/", Syntax.TURTLE), source)


def test_renamer_same_label_gives_same_node() -> None:
    names = _names()
    assert names.rename("_:a") == names.rename("_:a") != names.rename("_:b")


def test_renamer_labels_beyond_limit_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_terms, "_MAX_LABELS", 2)
    names = _names()
    given = [names.rename(f"_:x{number}") for number in range(100)]
    assert len(set(given)) == 100
    assert [names.rename(f"_:x{number}") for number in range(100)] == given
    assert [_names().rename(f"_:x{number}") for number in (50, 60)] != given[50:52]
    assert len(names._labels) == 2


def test_renamer_anonymous_nodes_beyond_limit_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_terms, "_MAX_LABELS", 2)
    first, second = _names(), _names()
    labels = [f"_:a{number:031x}" for number in range(100)]
    others = [f"_:b{number:031x}" for number in range(100)]
    given = [first.rename(label) for label in labels]
    assert given == [second.rename(label) for label in others], "the order decides, not the random label"
    assert len(set(given)) == 100
    assert all(first.rename(label) == name for label, name in zip(labels[-2:], given[-2:], strict=True))
    assert len(first._recent_anonymous) + len(first._older_anonymous) <= 4


def test_renamer_generated_looking_labels_of_document_are_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_terms, "_MAX_LABELS", 2)
    names = _names(b"_:" + b"a" * 32)
    labels = [f"_:a{number:031x}" for number in range(100)]
    given = [names.rename(label) for label in labels]
    assert [names.rename(label) for label in labels] == given


def test_read_batch_keeps_statements_before_an_error() -> None:
    body = b"<urn:a> <urn:p> <urn:b> .\n" * (BATCH_STATEMENTS + 3) + b"oops .\n"
    parser = ox.parse(body, ox.RdfFormat.TURTLE)
    found: list[Statement] = []
    assert read_batch(parser, _names(), found)
    assert len(found) == BATCH_STATEMENTS
    with pytest.raises(SyntaxError):
        read_batch(parser, _names(), found)
    assert len(found) == BATCH_STATEMENTS + 3


def test_read_batch_returns_false_at_end() -> None:
    assert not read_batch(ox.parse(b"", ox.RdfFormat.TURTLE), _names(), [])


@pytest.mark.parametrize(
    "statement",
    [
        ("<urn:a b>", "<urn:p>", "<urn:o>", ""),
        ("<a>", "<urn:p>", "<urn:o>", ""),
        ("<urn:a>", "<urn:{p}>", "<urn:o>", ""),
        ("<urn:a>", "<urn:p>", "<urn:�>", ""),
        ("<urn:a>", "<urn:p>", '"x"@toolonglanguage', ""),
        ("<urn:a>", "<urn:p>", '"x"^^<dt>', ""),
        ("<urn:a>", "<urn:p>", "<urn:o>", "<g>"),
    ],
)
def test_find_fault_invalid_statement_has_a_fault(statement: Statement) -> None:
    assert find_fault(statement)


@pytest.mark.parametrize(
    "obj", ['"x"', '"@"@en-gb', '"^^"^^<urn:x>', "_:b", '"x"@ar--rtl', "<<( <urn:a> <urn:b> _:c )>>"]
)
def test_find_fault_valid_statement_has_none(obj: str) -> None:
    assert not find_fault(("_:a", "<urn:p>", obj, ""))


def test_convert_quad_terms_with_spaces_are_kept_whole() -> None:
    (quad,) = ox.parse(b"<urn:a b> <urn:p> <urn:c d> .", ox.RdfFormat.TURTLE, lenient=True)
    repairs: list[IriRepair] = []
    assert convert_quad(quad, _names(), repairs) == ("<urn:a%20b>", "<urn:p>", "<urn:c%20d>", "")
    assert [(repair.original, repair.iri.value) for repair in repairs] == [
        ("urn:a b", "urn:a%20b"),
        ("urn:c d", "urn:c%20d"),
    ]


def test_convert_quad_iris_inside_other_terms_are_repaired() -> None:
    body = b'<urn:a> <urn:p> <<( <urn:{b}> <urn:q> "1"^^<urn:{d}> )>> .'
    (quad,) = ox.parse(body, ox.RdfFormat.N_TRIPLES, lenient=True)
    repairs: list[IriRepair] = []
    assert convert_quad(quad, _names(), repairs)[2] == '<<( <urn:%7Bb%7D> <urn:q> "1"^^<urn:%7Bd%7D> )>>'
    assert len(repairs) == 2


def test_skip_known_statements_second_parser_uses_names_of_first() -> None:
    body = b"[] <urn:p> [ <urn:q> 1, 2, 3 ] ; <urn:r> [] ."
    names = _names()
    found: list[Statement] = []
    read_batch(ox.parse(body, ox.RdfFormat.TURTLE), names, found)
    again = ox.parse(body, ox.RdfFormat.TURTLE)
    skip_known_statements(again, found[:4], 4, names)
    rest: list[Statement] = []
    read_batch(again, names, rest)
    assert rest[0][0] == found[3][0], "the subject was known"
    assert all(a != b for a, b in pairwise(found))


def test_find_fault_string_with_lost_language_has_a_fault() -> None:
    lost = '"x"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>'
    assert find_fault(("<urn:a>", "<urn:b>", lost, ""))
    assert not find_fault(("<urn:a>", "<urn:b>", '"x"@en', ""))


def test_find_fault_invalid_host_has_a_fault() -> None:
    assert find_fault(("<http://[bad>", "<urn:b>", "<urn:c>", ""))
    assert not find_fault(("<http://e.org>", "<http://[::1]/b>", '"1"^^<http://a@e.org:80/c>', "<urn:g>"))


def test_read_batch_ends_after_long_objects() -> None:
    lines = b"".join(b'<urn:a> <urn:b> "%b%d" .\n' % (b"x" * 400_000, number) for number in range(5))
    parser = ox.parse(lines, ox.RdfFormat.N_TRIPLES)
    sizes = []
    batch: list[Statement] = []
    while read_batch(parser, _names(), batch):
        sizes.append(len(batch))
        batch = []
    assert sizes == [3, 2]


def test_find_fault_gives_expected_results_for_short_texts() -> None:
    assert (find_fault(("<urn:a b>", "<urn:c>", '"d"@en', ""))) == "not a valid IRI: <urn:a b>"
