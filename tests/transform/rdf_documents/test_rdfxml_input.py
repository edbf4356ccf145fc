from __future__ import annotations

import io

import pytest

from motherlode.model import Syntax
from motherlode.transform.rdf_documents import rdfxml_input as cutting
from motherlode.transform.rdf_documents.rdfxml_input import DocumentSplitter
from motherlode.transform.rdf_documents.source import Source

ROOT = b"<r>"
NODE = b"<a><b>1</b></a>\n"


def _cut(text: bytes, *, size: int = 20, depth: int = 0) -> int | None:
    """Where a document is cut that a parser takes by so many bytes."""
    cutter = DocumentSplitter(Source(io.BytesIO(text), syntax=Syntax.RDF_XML), 0, depth=depth)
    for position in range(0, len(text), size):
        end = cutter.find_end(position, size)
        if end is not None:
            return end
    return None


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_a_document_is_cut_behind_a_node(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    text = ROOT + NODE * 200
    end = _cut(text, size=size)
    assert end is not None
    assert text[:end].endswith(b"</a>")
    assert 100 <= end <= 100 + len(NODE) + 2 * size


@pytest.mark.parametrize(
    "between", [b"", b"<!-- <x> -->", b"<?x <y>?>", b"<![CDATA[</a>]]>", b"<c d='>/>'/>", b"<c>/></c>", b"<c> > </c>"]
)
def test_what_looks_like_a_tag_and_is_none_is_not_counted(between: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    node = b"<a><b>" + between + b"</b></a>"
    text = ROOT + node * 200
    end = _cut(text)
    assert end is not None
    assert (end - len(ROOT)) % len(node) == 0


def test_there_is_nowhere_to_cut_inside_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    assert _cut(ROOT + b"<a>" + NODE * 100) is None
    assert _cut(ROOT + b"<a>" + NODE * 100 + b"</a>") is not None


def test_short_documents_are_not_cut() -> None:
    assert _cut(ROOT + NODE * 1000) is None


def test_a_comment_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PART_BYTES", 100)
    monkeypatch.setattr(cutting, "_COUNT_BYTES", 1000)
    assert _cut(ROOT + b"<!--" + NODE * 1000) is None
