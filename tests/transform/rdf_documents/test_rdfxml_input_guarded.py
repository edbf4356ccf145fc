from __future__ import annotations

import io

from motherlode.model import Syntax
from motherlode.transform.rdf_documents.rdfxml_input import LimitedFeed
from motherlode.transform.rdf_documents.source import Source
from motherlode.www.xml import read_head


def _feed(text: bytes) -> tuple[Source, LimitedFeed]:
    source = Source(io.BytesIO(text), syntax=Syntax.RDF_XML)
    return source, LimitedFeed(source, read_head(text))


def test_the_document_type_is_our_own() -> None:
    _, feed = _feed(b'<!DOCTYPE a SYSTEM "x" [<!ENTITY b "c">]><a>&b;</a>')
    assert feed.read(1000) + feed.read(1000) == b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'


def test_a_declaration_in_the_middle_ends_the_document() -> None:
    source, feed = _feed(b"<a><!ENTITY b 'c'></a>")
    assert feed.read(1000) == b"<a>"
    assert feed.read(1000) == b""
    assert feed.is_stopped
    assert len(source.problems) == 1
