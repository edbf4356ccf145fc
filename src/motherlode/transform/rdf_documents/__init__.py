"""Parse RDF documents in Turtle, TriG, N-Triples, N-Quads, RDF/XML and N3 as a stream in bounded memory.

A `Source` decodes the byte stream to UTF-8, keeps a window of the bytes already read, and feeds a strict parser. If the
parser stops, the reader of the syntax records the position of the error. It then continues where this is possible
without inventing statements: after the bad line, after the bad statement, or with the rest of the statement.

Guarantees: every statement can be written as N-Quads; every loss is recorded as a problem with line and column; the
same document gives the same statements, including blank nodes.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

import pyoxigraph as ox

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.rdf_documents.parser_terms import Batches, BlankNodeRenamer, valid_base
from motherlode.transform.rdf_documents.rdfxml import read_rdfxml
from motherlode.transform.rdf_documents.source import Source
from motherlode.transform.rdf_documents.turtle import TurtleReader, read_lines, read_n3
from motherlode.transform.timeouts import Deadline, ExtractorTimeout, suspend_timeout
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, by_extension, by_media_type

MAX_PROBLEMS = 100
"""Problems kept per document. Further ones are only counted."""

_FORMATS = {
    Syntax.TURTLE: ox.RdfFormat.TURTLE,
    Syntax.TRIG: ox.RdfFormat.TRIG,
    Syntax.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Syntax.N_QUADS: ox.RdfFormat.N_QUADS,
}
_SYNTAXES_WITH_ROOT = frozenset({Syntax.RDF_XML, Syntax.JSON_LD})
"""Syntaxes whose documents need a root. In the others, an empty text is an empty graph."""

_SUBSETS = {
    ContentKind.TURTLE: {ContentKind.N_TRIPLES},
    ContentKind.TRIG: {ContentKind.TURTLE, ContentKind.N_TRIPLES},
    ContentKind.N_QUADS: {ContentKind.N_TRIPLES},
    ContentKind.N3: {ContentKind.TURTLE, ContentKind.N_TRIPLES},
}
"""Content kinds, each with the kinds whose documents are all valid documents of it."""


def read(
    source: BinaryIO | bytes, *, syntax: Syntax, base: str, names: BlankNames, charset: str = "utf-8"
) -> Iterator[Statement | Problem]:
    """Yield the statements and problems of a document in document order.

    >>> names = BlankNames("http://example.org/", Syntax.TURTLE)
    >>> for found in read(b"<a> <b> 1 . <a> <b> ?? .", syntax=Syntax.TURTLE, base="http://example.org/", names=names):
    ...     print(found[2] if isinstance(found, tuple) else (found.line, found.column))
    "1"^^<http://www.w3.org/2001/XMLSchema#integer>
    (1, 21)
    """
    for found in _read_batches(source, syntax, base, names, charset):
        if isinstance(found, Problem):
            yield found
        else:
            yield from found


def _read_batches(source: BinaryIO | bytes, syntax: Syntax, base: str, names: BlankNames, charset: str) -> Batches:
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    window = Source(stream, syntax=syntax, charset=charset)
    if syntax is not Syntax.RDF_XML and not charset.lower().startswith("utf-8"):
        yield Problem(syntax=syntax, message=f"read as {charset}; it should be in UTF-8", repaired=True)
    problems = 0
    for found in _select_reader(window, syntax, valid_base(base), BlankNodeRenamer(names, window)):
        if isinstance(found, Problem):
            problems += 1
            if problems > MAX_PROBLEMS:
                continue
        yield found
    yield from dict.fromkeys(window.problems)  # parts that were read twice may have reported a problem twice
    if problems > MAX_PROBLEMS:
        yield Problem(syntax=syntax, message=f"{problems - MAX_PROBLEMS} more problems")


def _select_reader(source: Source, syntax: Syntax, base: str | None, names: BlankNodeRenamer) -> Batches:
    if syntax in (Syntax.N_TRIPLES, Syntax.N_QUADS):
        return read_lines(source, syntax, _FORMATS[syntax], names)
    if syntax in (Syntax.TURTLE, Syntax.TRIG):
        return TurtleReader(source, syntax, _FORMATS[syntax], names).read(base)
    if syntax is Syntax.RDF_XML:
        return read_rdfxml(source, base, names)
    if syntax is Syntax.N3:
        return read_n3(source, base, names)
    raise ValueError(f"{syntax} is not a syntax of RDF documents")


def find_missing_rdf(document: Document, content_type: str) -> Problem | None:
    """Return a problem if the media type or file name announces RDF but the content is empty or binary."""
    if document.kind not in (ContentKind.EMPTY, ContentKind.BINARY):
        return None
    declared = by_media_type(content_type) or by_extension(document.url)
    syntax = MEDIA[declared].syntax if declared else None
    if syntax is None or (document.kind is ContentKind.EMPTY and syntax not in _SYNTAXES_WITH_ROOT):
        return None
    return Problem(syntax=syntax, message=f"no {syntax.value}: the content is {document.kind.value}", line=1, column=1)


def find_label_mismatch(kind: ContentKind, content_type: str, url: str) -> Problem | None:
    """Return a problem if the media type or file name announces another RDF syntax than the one detected.

    N-Triples labelled as Turtle is no problem, because every N-Triples document is a Turtle document.

    >>> find_label_mismatch(ContentKind.TURTLE, "application/n-triples", "http://example.org/").message
    'labelled as ntriples, read as turtle'
    >>> find_label_mismatch(ContentKind.N_TRIPLES, "text/turtle", "http://example.org/")
    """
    declared = by_media_type(content_type) or by_extension(url)
    if declared is None or declared is kind or kind in _SUBSETS.get(declared, ()):
        return None
    syntax, declared_syntax = MEDIA[kind].syntax, MEDIA[declared].syntax
    if syntax not in DOCUMENT_SYNTAXES or declared_syntax not in DOCUMENT_SYNTAXES:
        return None
    return Problem(syntax=syntax, message=f"labelled as {declared_syntax.value}, read as {syntax.value}", repaired=True)


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """Extract a whole document. If a limit is reached, the statements read so far are kept."""
    syntax = MEDIA[document.kind].syntax
    if syntax is None:
        raise ValueError(f"{document.kind} is not a kind of RDF document")
    statements: list[Statement] = []
    problems: list[Problem] = []
    deadline = Deadline(options.seconds)
    try:
        for found in _read_batches(document.body, syntax, document.iri, names, document.charset):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            statements += found
            deadline.check()
            if len(statements) > options.statements:
                break
    except ExtractorTimeout:
        suspend_timeout()
        message = f"took longer than {options.seconds:g} seconds; the rest was left out"
        problems.append(Problem(syntax=syntax, message=message))
    return Extraction(syntax=syntax, statements=tuple(statements), problems=tuple(problems))
