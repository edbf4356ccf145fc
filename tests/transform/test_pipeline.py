"""The table of extractors, and how transform runs them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from motherlode.model import (
    DOCUMENT_SYNTAXES,
    ContentKind,
    Detected,
    DetectionEvidence,
    Extraction,
    Problem,
    Syntax,
    TransformResult,
)
from motherlode.transform import TransformOptions, merge, pipeline, transform
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.pipeline import EXTRACTORS, Extractor
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA


def test_extractors_table_covers_every_content_kind() -> None:
    assert set(EXTRACTORS) == set(ContentKind)


def test_extractors_table_covers_every_syntax_except_other() -> None:
    read = {extractor.syntax for row in EXTRACTORS.values() for extractor in row}
    assert read == set(Syntax) - {Syntax.OTHER}


def test_extractors_table_has_each_syntax_once_per_kind() -> None:
    for row in EXTRACTORS.values():
        assert len({extractor.syntax for extractor in row}) == len(row)


def test_extractors_table_rdf_documents_are_read_in_their_own_syntax() -> None:
    for kind, row in MEDIA.items():
        if row.syntax is not None:
            assert [extractor.syntax for extractor in EXTRACTORS[kind]] == [row.syntax]
    assert {row.syntax for row in MEDIA.values()} >= DOCUMENT_SYNTAXES


def test_extractors_of_html_have_marks_except_metadata_and_stylesheets() -> None:
    unmarked = {extractor.syntax for extractor in EXTRACTORS[ContentKind.HTML] if not extractor.marks}
    assert unmarked == {Syntax.PAGE, Syntax.GRDDL}


# transform: dispatch, gates, isolation and limits


PAGE = (
    b"<!doctype html><html><title>A page</title>"
    b'<script type="application/ld+json">{"@id": "urn:j", "urn:p": "x"}</script>'
    b'<p itemscope itemid="urn:m"><b itemprop="urn:p">x</b></p><p vocab="urn:v:" resource="urn:r" property="p">x</p>'
    b'<p class="h-card">Ann</p></html>'
)

ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>x</title></feed>'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" resource="urn:a" property="urn:p" content="x"/>'


class Panic(BaseException):
    """Stands for a panic in a Rust library, which is not an Exception."""


def _document(body: bytes, kind: ContentKind = ContentKind.HTML, charset: str = "utf-8") -> Document:
    return Document(
        url="http://example.org/x",
        body=body,
        detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset=charset),
    )


def _one(syntax: Syntax, extract: Callable[..., Extraction], *, gate: bool = True) -> Extractor:
    return Extractor(syntax=syntax, extract=extract, gate=lambda *_: gate)


def _good(_document: Document, names: BlankNames, _options: TransformOptions) -> Extraction:
    return Extraction(syntax=Syntax.RDFA, statements=((names.fresh(), "<urn:p>", '"x"', ""),))


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TransformResult]:
    """Transform a page with the extractors of the test."""

    def run(*extractors: Extractor, options: TransformOptions | None = None) -> TransformResult:
        monkeypatch.setitem(pipeline.EXTRACTORS, ContentKind.HTML, extractors)
        return transform(_document(b"x"), options or TransformOptions())

    return run


def test_transform_page_reads_all_syntaxes() -> None:
    result = transform(_document(PAGE))
    assert set(result.counts) == {
        Syntax.JSON_LD,
        Syntax.MICRODATA,
        Syntax.RDFA,
        Syntax.MICROFORMATS,
        Syntax.PAGE,
    }
    assert not result.all_problems()


def test_transform_marks_are_found_in_upper_case_and_utf16() -> None:
    expected = {syntax: count for syntax, count in transform(_document(PAGE)).counts.items() if count}
    assert transform(_document(PAGE.decode().encode("utf-16"), charset="utf-16")).counts == expected
    shouted = PAGE.replace(b"itemscope", b"ITEMSCOPE").replace(b"vocab", b"VOCAB").replace(b"property", b"PROPERTY")
    assert transform(_document(shouted)).counts == expected


def test_transform_syntaxes_option_selects_extractors() -> None:
    result = transform(_document(PAGE), TransformOptions(syntaxes=frozenset({Syntax.RDFA})))
    assert set(result.counts) == {Syntax.RDFA}


@pytest.mark.parametrize(
    ("kind", "body", "syntax"),
    [
        (ContentKind.TURTLE, b"<a> <b> <c> .", Syntax.TURTLE),
        (ContentKind.N_QUADS, b"<urn:a> <urn:b> <urn:c> <urn:g> .", Syntax.N_QUADS),
        (ContentKind.JSON_LD, b'{"@id": "urn:a", "urn:b": 1}', Syntax.JSON_LD),
        (
            ContentKind.ATOM,
            b'<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>x</title></feed>',
            Syntax.FEED,
        ),
        (
            ContentKind.SVG,
            b'<svg xmlns="http://www.w3.org/2000/svg" resource="urn:a" property="urn:p" content="x"/>',
            Syntax.RDFA,
        ),
    ],
)
def test_transform_reads_documents_of_other_kinds(kind: ContentKind, body: bytes, syntax: Syntax) -> None:
    assert set(transform(_document(body, kind)).counts) == {syntax}


@pytest.mark.parametrize("kind", [kind for kind in ContentKind if not EXTRACTORS[kind]])
def test_transform_kinds_without_extractors_give_nothing(kind: ContentKind) -> None:
    assert transform(_document(PAGE, kind)) == TransformResult()


def test_transform_same_document_gives_same_result() -> None:
    assert transform(_document(PAGE)) == transform(_document(PAGE))


@pytest.mark.parametrize("error", [ValueError("oops"), RecursionError(), MemoryError(), Panic()])
def test_transform_exception_in_extractor_does_not_affect_others(
    use: Callable[..., TransformResult], error: BaseException
) -> None:
    def bad(*_: object) -> Extraction:
        raise error

    result = use(_one(Syntax.MICRODATA, bad), _one(Syntax.RDFA, _good))
    assert result.counts == {Syntax.RDFA: 1}
    (problem,) = result.all_problems()
    assert problem.syntax is Syntax.MICRODATA
    assert type(error).__name__ in problem.message


def test_transform_exception_in_gate_is_isolated(use: Callable[..., TransformResult]) -> None:
    def bad(*_: object) -> bool:
        raise ValueError("gate")

    result = use(Extractor(syntax=Syntax.PAGE, gate=bad, extract=_good), _one(Syntax.RDFA, _good))
    assert result.counts == {Syntax.RDFA: 1}
    assert result.all_problems()[0].syntax is Syntax.PAGE


def test_transform_keyboard_interrupt_is_not_caught(use: Callable[..., TransformResult]) -> None:
    def interrupt(*_: object) -> Extraction:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use(_one(Syntax.RDFA, interrupt))


def test_transform_endless_extractor_is_stopped_and_others_run(use: Callable[..., TransformResult]) -> None:
    def endless(*_: object) -> Extraction:
        while True:
            pass

    started = time.process_time()
    options = TransformOptions(seconds=0.1)
    result = use(_one(Syntax.MICRODATA, endless), _one(Syntax.RDFA, _good), options=options)
    assert time.process_time() - started < 2
    assert result.counts == {Syntax.RDFA: 1}
    assert "0.1 seconds" in result.all_problems()[0].message


def test_transform_statements_are_limited(use: Callable[..., TransformResult]) -> None:
    def many(*_: object) -> Extraction:
        statements = tuple((f"<urn:{number}>", "<urn:p>", "<urn:o>", "") for number in range(100))
        return Extraction(syntax=Syntax.RDFA, statements=statements, wanted=("urn:x",))

    result = use(_one(Syntax.RDFA, many), options=TransformOptions(statements=10))
    assert result.counts == {Syntax.RDFA: 10}
    assert result.extractions[0].wanted == ("urn:x",)
    assert "more than 10 statements" in result.all_problems()[0].message


def test_transform_closed_gate_skips_extractor(use: Callable[..., TransformResult]) -> None:
    assert use(_one(Syntax.RDFA, _good, gate=False)) == TransformResult()


def test_merge_joins_results_of_several_documents() -> None:
    problem = Problem(syntax=None, message="x")
    one = transform(_document(b"<a> <b> <c> .", ContentKind.TURTLE))
    merged = merge([one, TransformResult(problems=(problem,)), one])
    assert len(merged.extractions) == 2
    assert merged.problems == (problem,)


@pytest.mark.parametrize(
    ("body", "kind", "syntax"),
    [
        (
            b'<html xmlns="http://www.w3.org/1999/xhtml" version="XHTML+RDFa 1.1"><head>'
            b'<link rel="next" href="n"/></head></html>',
            ContentKind.XHTML,
            Syntax.RDFA,
        ),
        (
            b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN" "http://www.w3.org/MarkUp/DTD/xhtml-rdfa-1.dtd">'
            b'<html xmlns="http://www.w3.org/1999/xhtml"><head><link rev="prev" href="n"/></head></html>',
            ContentKind.XHTML,
            Syntax.RDFA,
        ),
        (b'<a rel="dc&colon;source" href="n">x</a>', ContentKind.HTML, Syntax.RDFA),
        (
            b'<script type="application&sol;ld+json">{"@id": "urn:j", "urn:p": "x"}</script>',
            ContentKind.HTML,
            Syntax.JSON_LD,
        ),
        (b'<script type="text&sol;turtle"><urn:a> <urn:b> <urn:c> .</script>', ContentKind.HTML, Syntax.TURTLE),
    ],
)
def test_transform_page_with_a_rare_mark_only_is_read(body: bytes, kind: ContentKind, syntax: Syntax) -> None:
    assert transform(_document(body, kind)).counts.get(syntax) == 1
