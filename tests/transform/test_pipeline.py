from __future__ import annotations

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax
from motherlode.transform.pipeline import EXTRACTORS
from motherlode.www.media_types import MEDIA


def test_every_kind_has_its_row() -> None:
    assert set(EXTRACTORS) == set(ContentKind)


def test_every_syntax_is_read_somewhere_but_for_those_of_users() -> None:
    read = {extractor.syntax for row in EXTRACTORS.values() for extractor in row}
    assert read == set(Syntax) - {Syntax.OTHER}


def test_no_kind_reads_a_syntax_twice() -> None:
    for row in EXTRACTORS.values():
        assert len({extractor.syntax for extractor in row}) == len(row)


def test_documents_of_rdf_are_read_as_what_they_are() -> None:
    for kind, row in MEDIA.items():
        if row.syntax is not None:
            assert [extractor.syntax for extractor in EXTRACTORS[kind]] == [row.syntax]
    assert {row.syntax for row in MEDIA.values()} >= DOCUMENT_SYNTAXES


def test_bytes_rule_out_every_syntax_of_html_but_plain_facts_and_stylesheets() -> None:
    unmarked = {extractor.syntax for extractor in EXTRACTORS[ContentKind.HTML] if not extractor.marks}
    assert unmarked == {Syntax.PAGE, Syntax.GRDDL}
