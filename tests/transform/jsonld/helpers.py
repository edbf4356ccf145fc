"""Shared helpers of the JSON-LD tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Statement, Syntax
from motherlode.transform import jsonld
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.transform.jsonld.processor_options import Mode, ProcessorOptions
from motherlode.transform.jsonld.to_rdf import ProcessedDocument, to_rdf
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document

BASE = "http://example.org/dir/page"
SCHEMA = "<http://schema.org/{}>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def names() -> BlankNames:
    return BlankNames(BASE, Syntax.JSON_LD)


def process(document: Any, **options: Any) -> ProcessedDocument:
    """Process a decoded document, strictly by default."""
    return to_rdf(document, names(), ProcessorOptions(**{"base": BASE, **options}))


def statements(document: Any, **options: Any) -> tuple[Statement, ...]:
    return process(document, **options).statements


def objects(document: Any, **options: Any) -> list[str]:
    """Return the objects of the statements in document order."""
    return [statement[2] for statement in statements(document, **options)]


def check_strict_error(context: Any, code: str) -> None:
    """Assert that the strict processor rejects a context with an error code."""
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context, "http://p/": "x"})
    assert caught.value.code == code


def check_tolerant_loss(context: Any) -> None:
    """Assert that the tolerant processor ignores an invalid context, notes it and reads the rest."""
    good = {"good": "http://good/"}
    contexts = [*context, good] if isinstance(context, list) else [context, good]
    found = process({"@context": contexts, "good": "x"}, strict=False)
    assert [statement[1:3] for statement in found.statements] == [("<http://good/>", '"x"')]
    assert found.notes


def check_1_0_error(context: Any, code: str) -> None:
    """Assert that the processing mode json-ld-1.0 rejects a context with an error code."""
    with pytest.raises(JsonLdError) as caught:
        process({"@context": context}, mode=Mode.V1_0)
    assert caught.value.code == code


def page(html: str | bytes, *, url: str = BASE, kind: ContentKind = ContentKind.HTML) -> Document:
    body = html if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")
    return Document(url=url, body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))


def extract(
    html: str | bytes, *, contexts: dict[str, bytes] | None = None, max_statements: int = 500_000
) -> Extraction:
    return jsonld.extract(page(html), names(), TransformOptions(contexts=contexts or {}, statements=max_statements))


def extract_block(block: str, **options: Any) -> Extraction:
    """Extract a page with one block, which starts on line 2, column 1."""
    return extract(f'<script type="application/ld+json">\n{block}</script>', **options)


def read(document: Any, *, contexts: dict[str, bytes] | None = None) -> Extraction:
    """Extract a JSON-LD document."""
    text = document if isinstance(document, str | bytes) else json.dumps(document)
    return jsonld.read_document(
        page(text, kind=ContentKind.JSON_LD), names(), TransformOptions(contexts=contexts or {})
    )
