"""RDF documents: Turtle, TriG, N-Triples, N-Quads, RDF/XML and N3, read as a stream in bounded memory.

A document passes as a stream of bytes through a `Source`, which makes UTF-8 of it and keeps a window of what it handed
out, to a strict parser. Where the parser stops, the reader of the syntax records the place and goes on as far as that
can be done without making up facts: behind the bad line, behind the bad statement, or with the rest of the statement.

What is guaranteed: every statement given is RDF that N-Quads can hold; what was lost is a problem with its line and
column; the same document gives the same statements, blank nodes included.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import pyoxigraph as ox

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.rdf_documents.ntriples import read_lines
from motherlode.transform.rdf_documents.parser_terms import Batches, BlankNodeRenamer, valid_base
from motherlode.transform.rdf_documents.rdfxml import read_rdfxml
from motherlode.transform.rdf_documents.source import Source
from motherlode.transform.rdf_documents.turtle import TurtleReader, read_n3
from motherlode.transform.timeouts import Deadline, ExtractorTimeout, suspend_timeout
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, by_extension, by_media_type

MAX_PROBLEMS = 100
"""Problems of one document that are kept; the others are counted."""

_FORMATS = {
    Syntax.TURTLE: ox.RdfFormat.TURTLE,
    Syntax.TRIG: ox.RdfFormat.TRIG,
    Syntax.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Syntax.N_QUADS: ox.RdfFormat.N_QUADS,
}
_SYNTAXES_WITH_ROOT = frozenset({Syntax.RDF_XML, Syntax.JSON_LD})
"""Syntaxes whose documents have one root; in the others, an empty text is an empty graph."""

_SUBSETS = {
    ContentKind.TURTLE: {ContentKind.N_TRIPLES},
    ContentKind.TRIG: {ContentKind.TURTLE, ContentKind.N_TRIPLES},
    ContentKind.N_QUADS: {ContentKind.N_TRIPLES},
    ContentKind.N3: {ContentKind.TURTLE, ContentKind.N_TRIPLES},
}
"""Each kind, and the kinds whose documents are all documents of it."""


def read(
    source: BinaryIO | bytes, *, syntax: Syntax, base: str, names: BlankNames, charset: str = "utf-8"
) -> Iterator[Statement | Problem]:
    """The statements and problems of a document, in the order of the document, one by one.

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
    yield from dict.fromkeys(window.problems)  # a document that was read twice may have told its problems twice
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
    raise ValueError(f"{syntax} is no syntax of RDF documents")


def find_missing_rdf(document: Document, content_type: str) -> Problem | None:
    """A problem where the type or the name of a body promises RDF, and there is nothing that could be read as such."""
    if document.kind not in (ContentKind.EMPTY, ContentKind.BINARY):
        return None
    promised = by_media_type(content_type) or by_extension(document.url)
    syntax = MEDIA[promised].syntax if promised else None
    if syntax is None or (document.kind is ContentKind.EMPTY and syntax not in _SYNTAXES_WITH_ROOT):
        return None
    return Problem(syntax=syntax, message=f"no {syntax.value}: the content is {document.kind.value}", line=1, column=1)


def find_label_mismatch(kind: ContentKind, content_type: str, url: str) -> Problem | None:
    """Return a problem if the type or the name of RDF promises another syntax than it is read as.

    N-Triples is Turtle as well, so that Turtle may be N-Triples, but not the reverse.

    >>> find_label_mismatch(ContentKind.TURTLE, "application/n-triples", "http://example.org/").message
    'labelled as ntriples, read as turtle'
    >>> find_label_mismatch(ContentKind.N_TRIPLES, "text/turtle", "http://example.org/")
    """
    promised = by_media_type(content_type) or by_extension(url)
    if promised is None or promised is kind or kind in _SUBSETS.get(promised, ()):
        return None
    syntax, said = MEDIA[kind].syntax, MEDIA[promised].syntax
    if syntax not in DOCUMENT_SYNTAXES or said not in DOCUMENT_SYNTAXES:
        return None
    return Problem(syntax=syntax, message=f"labelled as {said.value}, read as {syntax.value}", repaired=True)


def extract(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """A whole document at once, up to the limits; what was read before a limit is kept."""
    syntax = MEDIA[document.kind].syntax
    if syntax is None:
        raise ValueError(f"{document.kind} is no kind of RDF document")
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
