"""Documents of every RDF syntax, from bytes to statements and problems."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from typing import BinaryIO, cast

import pyoxigraph as ox
import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.rdf_documents import MAX_PROBLEMS, extract, find_missing_rdf, read
from motherlode.transform.timeouts import ExtractorTimeout
from motherlode.www.document import Document

BASE = "http://example.org/doc"
XML_START = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'

DOCUMENTS = {
    Syntax.TURTLE: b'@prefix e: <urn:e:> .\n<a> e:p _:x, [ e:q "tab\\t \\u0001 \\"q\\" \\\\ \\n" ], (1 "x"@EN-us) .\n',
    Syntax.TRIG: b"PREFIX e: <urn:e:>\n<a> e:p _:x . e:g { _:x e:p [] } _:h { _:x e:p _:h }\n",
    Syntax.N_TRIPLES: b'<urn:a> <urn:p> _:x .\n# c\n_:x <urn:p> "tab\\t"^^<urn:t> .\n',
    Syntax.N_QUADS: b"<urn:a> <urn:p> _:x <urn:g> .\n_:x <urn:p> <urn:a> _:g .\n<urn:a> <urn:p> <urn:o> .",
    Syntax.RDF_XML: XML_START + b'<e:A rdf:about="a"><e:p><e:B e:q="&#9;"/></e:p></e:A></rdf:RDF>',
    Syntax.N3: b"@prefix e: <urn:e:> . <a> e:p [ e:q 1 ] . { ?x a e:A } => { ?x a e:B } .",
}


def found(body: bytes, syntax: Syntax, charset: str = "utf-8") -> tuple[list[Statement], list[Problem]]:
    items = list(read(body, syntax=syntax, base=BASE, names=BlankNames(BASE, syntax), charset=charset))
    problems = [item for item in items if isinstance(item, Problem)]
    return [item for item in items if not isinstance(item, Problem)], problems


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_read_gives_same_statements_as_parser(syntax: Syntax) -> None:
    statements, problems = found(DOCUMENTS[syntax], syntax)
    assert statements
    assert not problems or syntax is Syntax.N3
    lines = "".join(f"{s} {p} {o} {g} .\n" for s, p, o, g in statements)
    assert len(list(ox.parse(lines.encode(), ox.RdfFormat.N_QUADS))) == len(statements)


def test_read_serializes_terms_like_the_model() -> None:
    statements, _ = found(DOCUMENTS[Syntax.TURTLE], Syntax.TURTLE)
    objects = {statement[2] for statement in statements}
    assert '"tab\t \x01 \\"q\\" \\\\ \\n"' in objects
    assert '"x"@en-us' in objects
    assert '"1"^^<http://www.w3.org/2001/XMLSchema#integer>' in objects


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_read_blank_nodes_are_stable_and_unique_to_page(syntax: Syntax) -> None:
    statements, _ = found(DOCUMENTS[syntax], syntax)
    assert found(DOCUMENTS[syntax], syntax)[0] == statements
    other = list(read(DOCUMENTS[syntax], syntax=syntax, base=BASE, names=BlankNames("http://other.example/", syntax)))
    assert not _blank_nodes(statements) & _blank_nodes(s for s in other if not isinstance(s, Problem))
    assert _blank_nodes(statements)


def _blank_nodes(statements: Iterator[Statement] | list[Statement]) -> set[str]:
    return {term for statement in statements for term in statement if term.startswith("_:")}


def test_read_named_graphs_are_kept_and_share_labels() -> None:
    statements, _ = found(DOCUMENTS[Syntax.TRIG], Syntax.TRIG)
    graphs = [graph for *_, graph in statements]
    assert graphs[:2] == ["", "<urn:e:g>"]
    assert graphs[2] == statements[2][2], "a blank graph name is the same node as the object"
    assert statements[0][2] == statements[1][0] == statements[2][0]


def test_read_rdf_1_2_terms_are_serialized_as_nquads() -> None:
    body = (
        b'@prefix e: <urn:e:> . e:a e:p <<( e:a e:p _:x )>>, <<( _:x e:p "t\\t"@en--rtl )>>, "x"@ar--rtl . _:x e:p 1 .'
    )
    statements, problems = found(body, Syntax.TURTLE)
    assert not problems
    node = statements[3][0]
    assert statements[0][2] == f"<<( <urn:e:a> <urn:e:p> {node} )>>"
    assert statements[1][2] == f'<<( {node} <urn:e:p> "t\t"@en--rtl )>>'
    assert statements[2][2] == '"x"@ar--rtl'


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_read_byte_order_mark_and_charset_do_not_change_statements(syntax: Syntax) -> None:
    plain = found(DOCUMENTS[syntax], syntax)
    text = DOCUMENTS[syntax].decode()
    assert found(text.encode("utf-8-sig"), syntax) == plain
    assert found(text.encode("utf-8-sig"), syntax, "utf-8-sig") == plain
    for charset in ("utf-16", "cp1252"):
        statements, problems = found(text.encode(charset), syntax, charset)
        assert statements == plain[0]
        assert any("UTF-8" in problem.message for problem in problems) is (syntax is not Syntax.RDF_XML)


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_read_stream_gives_same_as_bytes(syntax: Syntax) -> None:
    items = list(read(io.BytesIO(DOCUMENTS[syntax]), syntax=syntax, base=BASE, names=BlankNames(BASE, syntax)))
    assert [item for item in items if not isinstance(item, Problem)] == found(DOCUMENTS[syntax], syntax)[0]


@pytest.mark.parametrize("syntax", [Syntax.TURTLE, Syntax.TRIG, Syntax.N_TRIPLES, Syntax.N_QUADS, Syntax.N3])
def test_read_invalid_iri_is_repaired_or_loses_only_its_triple(syntax: Syntax) -> None:
    bad = b"<urn:a> <urn:p> <urn:{y}> .\n<urn:a> <urn:p> <http://[bad> .\n"
    statements, problems = found(b"<urn:a> <urn:p> <urn:x> .\n" + bad + b"<urn:a> <urn:p> <urn:z> .\n", syntax)
    assert [statement[2] for statement in statements] == ["<urn:x>", "<urn:%7By%7D>", "<urn:z>"]
    assert (problems[0].message, problems[0].repaired) == ("not a valid IRI, read as <urn:%7By%7D>", True)
    assert (problems[0].line, problems[0].column) == (2, 17)
    assert [problem.repaired for problem in problems[1:]] == [False]
    assert syntax is Syntax.N3 or (problems[1].line, problems[1].column) == (3, 17)


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_read_invalid_utf8_is_replaced_and_reported(syntax: Syntax) -> None:
    body = b'<urn:a> <urn:p> "x" .\n<urn:a> <urn:p> "\xe9\xff" .\n<urn:a> <urn:p> "z" .\n'
    position = (2, 18)
    if syntax is Syntax.RDF_XML:
        body = XML_START + b'\n<e:A e:p="x" e:q="\xe9\xff" e:r="z"/></rdf:RDF>'
        position = (2, 19)
    statements, problems = found(body, syntax)
    assert '"��"' in {statement[2] for statement in statements}
    assert '"z"' in {statement[2] for statement in statements}
    assert [((p.line, p.column), p.repaired) for p in problems] == [(position, True)]


def test_read_problems_are_limited_and_counted() -> None:
    body = b"<urn:a> <urn:p> <urn:x> .\n<urn:a> <urn:p> x .\n" * 300
    for syntax in (Syntax.TURTLE, Syntax.N_TRIPLES):
        statements, problems = found(body, syntax)
        assert len(statements) == 300
        assert len(problems) == MAX_PROBLEMS + 1
        assert problems[-1].message == "200 more problems"


def test_read_unsupported_syntax_raises_value_error() -> None:
    with pytest.raises(ValueError, match="not a syntax"):
        found(b"", Syntax.RDFA)


def _document(body: bytes, kind: ContentKind = ContentKind.TURTLE) -> Document:
    return Document(url=BASE, body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))


def test_extract_keeps_statements_read_before_a_limit() -> None:
    body = b"".join(b"<urn:a> <urn:p> %d .\n" % number for number in range(200_000))
    names = BlankNames(BASE, Syntax.TURTLE)
    few = extract(_document(body), names, TransformOptions(statements=5_000))
    assert 5_000 < len(few.statements) < 10_000
    short = extract(_document(body), names, TransformOptions(seconds=0.02))
    assert 0 < len(short.statements) < 200_000
    assert "seconds" in short.problems[0].message


SLOW = {
    Syntax.TURTLE: (b"<urn:a> <urn:p> <urn:o> .\n", b'<urn:a> <urn:p> "'),
    Syntax.N3: (b"<urn:a> <urn:p> <urn:o> .\n", b'<urn:a> <urn:p> "'),
    Syntax.RDF_XML: (XML_START + b'<e:A rdf:about="urn:a"/>', b"<e:A><e:p>"),
}


@pytest.mark.parametrize("syntax", SLOW)
def test_read_timeout_keeps_statements_read_before(syntax: Syntax) -> None:
    """The stream raises the timeout while the parser, which has a complete statement, asks for more input."""
    start, endless = SLOW[syntax]

    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.pieces = [start, endless, *[b"x"] * 20]

        def read(self, size: int = -1) -> bytes:
            if not self.pieces:
                raise ExtractorTimeout
            return self.pieces.pop(0).ljust(size)

    kept = []
    with pytest.raises(ExtractorTimeout):
        for one in read(cast(BinaryIO, Endless()), syntax=syntax, base=BASE, names=BlankNames(BASE, syntax)):
            kept.append(one)
    assert "<urn:a>" in [one[0] for one in kept if not isinstance(one, Problem)]


PEAK = """
import io, re, sys
from motherlode.model import Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdf_documents import parser_terms, read, source

source.WINDOW_BYTES = 1 << 20
parser_terms._MAX_LABELS = 2_000
class Dump(io.RawIOBase):
    def __init__(self, pieces):
        self.pieces = pieces
        self.rest = b""
    def read(self, size=-1):
        while len(self.rest) < size:
            piece = next(self.pieces, b"")
            if not piece:
                break
            self.rest += piece
        given, self.rest = self.rest[:size], self.rest[size:]
        return given

syntax = Syntax(sys.argv[1])
line = {
    Syntax.TURTLE: b"<urn:a%09d> <urn:p> [ <urn:q> _:b%09d ] .\\n",
    Syntax.N_TRIPLES: b"_:a%09d <urn:p> <urn:b%09d> .\\n",
    Syntax.RDF_XML: b'<e:A rdf:about="urn:%09d"><e:p><e:B e:q="%09d"/></e:p></e:A>\\n',
}[syntax]
block = 1000
def pieces(count):
    if syntax is Syntax.RDF_XML:
        yield b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
    for start in range(0, count, block):
        yield b"".join(line % (number, number) for number in range(start, start + block))
    if syntax is Syntax.RDF_XML:
        yield b"</rdf:RDF>"
dump = Dump(pieces(int(sys.argv[2])))
seen = sum(1 for _ in read(dump, syntax=syntax, base="urn:x", names=BlankNames("urn:x", syntax)))
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())  # getrusage may return the value of the parent
print(seen, int(peak[1]) // 1024)
"""


@pytest.mark.parametrize(
    ("syntax", "per_line"), [(Syntax.TURTLE, 2), (Syntax.N_TRIPLES, 1), (Syntax.RDF_XML, 4)], ids=lambda v: str(v)
)
def test_read_memory_does_not_grow_with_document(syntax: Syntax, per_line: int) -> None:
    """A document six times as long needs no more memory, although every line has its own blank nodes."""
    peaks = []
    for lines in (50_000, 300_000):
        command = [sys.executable, "-c", PEAK, syntax.value, str(lines)]
        seen, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(seen) == lines * per_line
        peaks.append(int(peak))
    assert peaks[1] < peaks[0] + 10


@pytest.mark.parametrize(
    ("kind", "url", "content_type", "syntax"),
    [
        (ContentKind.EMPTY, "http://example.org/a.rdf", "", Syntax.RDF_XML),
        (ContentKind.EMPTY, "http://example.org/a.ttl", "", None),
        (ContentKind.BINARY, "http://example.org/a.ttl", "", Syntax.TURTLE),
        (ContentKind.BINARY, "http://example.org/a", "application/rdf+xml", Syntax.RDF_XML),
        (ContentKind.BINARY, "http://example.org/a.png", "", None),
        (ContentKind.EMPTY, "http://example.org/a", "text/html", None),
        (ContentKind.TURTLE, "http://example.org/a.ttl", "", None),
    ],
)
def test_find_missing_rdf_empty_or_binary_content_is_a_problem(
    kind: ContentKind, url: str, content_type: str, syntax: Syntax | None
) -> None:
    detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset="utf-8")
    problem = find_missing_rdf(Document(url=url, body=b"", detected=detected), content_type)
    assert (problem and (problem.syntax, problem.line)) == (syntax and (syntax, 1))
