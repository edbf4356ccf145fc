"""Fuzz tests of detection, RDF documents and archives. Set FUZZ_EXAMPLES=100000 for a long run."""

from __future__ import annotations

import os

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motherlode.detect import detect
from motherlode.model import ContentKind, Problem, Syntax
from motherlode.transform import transform, unpack_members
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents import read
from motherlode.transform.rdf_documents.parser_terms import find_fault
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
BASE = "http://example.org/x"

_TURTLE = (
    *(b"@prefix e: <urn:e:> .", b"PREFIX f: <urn:f> ", b"@base <http://b/> .", b"<urn:a>", b"<a>", b"e:a", b"_:b"),
    *(b" . ", b" ; ", b" , ", b"[", b"]", b"(", b")", b"{", b"}", b"<<(", b")>>", b"<<", b">>", b"~", b"{|", b"|}"),
    *(b'"x"', b"'y'", b'"""z', b'"""', b'"', b"\\", b"\\u0041", b"\\q", b"@en", b"@en--ltr", b"^^", b"1.5e3", b"a"),
    *(b"<urn:{}>", b"<", b">", b"#", b"\n", b"\r", b" ", b"\0", b"\xff", "é😀".encode(), b"?x", b"=>", b"e:", b"%41"),
)
_XML = (
    *(b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">', b"</rdf:RDF>", b"<e:A>"),
    *(b"</e:A>", b"<e:p>", b"</e:p>", b"<e:p", b' rdf:about="a"', b' rdf:resource="x y"', b"/>", b">"),
    *(b' rdf:parseType="Literal"', b' rdf:parseType="Collection"', b' rdf:ID="i"', b"&x;", b"&amp;", b"&#0;"),
    *(b"]]>", b"<!--", b"-->", b"<?x ?>", b'<!DOCTYPE a [<!ENTITY x "y">]>', b"<!ENTITY", b"\xff", "é".encode(), b"\n"),
    *(b"text", b' xml:lang="en"', b' xml:base="urn:b"', b"<rdf:li>", b"</rdf:li>", b"<", b'"', b"=", b"\0"),
    *(b"<![CDATA[", b' rdf:nodeID="n"'),
)
_TYPES = (*(media_type for row in MEDIA.values() for media_type in row.media_types[:1]), "", "x")


def _mixture(pieces: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    return st.lists(st.one_of(st.sampled_from(pieces), st.binary(max_size=3)), max_size=40).map(b" ".join)


BODIES = st.one_of(_mixture(_TURTLE), _mixture(_XML), st.binary(max_size=200))
SYNTAXES = (Syntax.TURTLE, Syntax.TRIG, Syntax.N_TRIPLES, Syntax.N_QUADS, Syntax.RDF_XML, Syntax.N3)


@pytest.mark.parametrize("syntax", SYNTAXES)
@settings(max_examples=EXAMPLES, deadline=None)
@given(body=BODIES)
def test_read_random_document_gives_valid_rdf_and_located_problems(syntax: Syntax, body: bytes) -> None:
    found = list(read(body, syntax=syntax, base=BASE, names=BlankNames(BASE, syntax)))
    lines = body.count(b"\n") + body.count(b"\r") + 1
    for one in found:
        if isinstance(one, Problem):
            assert one.line is None or 1 <= one.line <= lines
            assert one.column is None or 1 <= one.column <= len(body) + 1
        else:
            assert find_fault(one) == ""
            line = f"{' '.join(term for term in one if term)} .\n"
            assert len(list(ox.parse(line.encode(), ox.RdfFormat.N_QUADS, lenient=True))) == 1
    assert list(read(body, syntax=syntax, base=BASE, names=BlankNames(BASE, syntax))) == found


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    body=BODIES, content_type=st.sampled_from([*(t for row in MEDIA.values() for t in row.media_types[:1]), "", "x"])
)
def test_detect_and_transform_random_body_never_raise(body: bytes, content_type: str) -> None:
    document = Document(url=BASE, body=body, detected=detect(body, url=BASE, content_type=content_type))
    transform(document)
    if MEDIA[document.kind].is_archive:
        list(unpack_members(document))


@settings(max_examples=EXAMPLES, deadline=None)
@given(before=_mixture(_TURTLE), syntax=st.sampled_from([Syntax.N_TRIPLES, Syntax.N_QUADS]))
def test_read_lines_bad_line_does_not_affect_next_line(before: bytes, syntax: Syntax) -> None:
    body = before.replace(b"\r", b"\n") + b"\n<urn:good> <urn:good> <urn:good> .\n"
    found = list(read(body, syntax=syntax, base=BASE, names=BlankNames(BASE, syntax)))
    assert ("<urn:good>", "<urn:good>", "<urn:good>", "") in found


def test_fuzzed_syntaxes_cover_all_document_syntaxes() -> None:
    kinds = {row.syntax for row in MEDIA.values() if row.kind is not ContentKind.JSON_LD} - {None}
    assert kinds == set(SYNTAXES)
