"""Content fingerprints of pages with equal and with different statements."""

from __future__ import annotations

from motherlode.crawler.parsing.page_parser import content_fingerprint
from motherlode.model import Extraction, Syntax, TransformResult

NAME = "<http://schema.org/name>"


def facts(*objects: str, syntax: Syntax = Syntax.JSON_LD) -> TransformResult:
    statements = tuple((f"_:b{number}", NAME, one, "") for number, one in enumerate(objects))
    return TransformResult(extractions=(Extraction(syntax=syntax, statements=statements),))


def test_content_fingerprint_ignores_the_url_of_the_page() -> None:
    one = facts('"Us"', "<http://e.org/1#us>", '"http://e.org/1"', "_:b1")
    other = facts("_:b9", "<http://e.org/2#us>", '"http://e.org/2"', '"Us"')
    assert content_fingerprint(one, "http://e.org/1") == content_fingerprint(other, "http://e.org/2") != 0


def test_content_fingerprint_differs_for_other_statements() -> None:
    assert content_fingerprint(facts('"A"'), "http://e.org/1") != content_fingerprint(facts('"B"'), "http://e.org/1")


def test_content_fingerprint_of_page_metadata_is_zero() -> None:
    assert (
        content_fingerprint(facts('"A"', syntax=Syntax.PAGE), "http://e.org/1")
        == content_fingerprint(TransformResult(), "http://e.org/1")
        == 0
    )
