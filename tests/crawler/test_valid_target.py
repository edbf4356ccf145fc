"""The target `valid:PROFILE`, alone and in a crawl with parser processes."""

import json
from pathlib import Path

import pytest

import motherlode as ml
import motherlode.crawler  # adds the target
from motherlode.model import ContentKind, Extraction, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE
from motherlode.policies import target_from
from tests.docs.shop import serve_pages

S = "http://schema.org/"
PRODUCT = ("_:p", RDF_TYPE, f"<{S}Product>", "")
NAME = ("_:p", f"<{S}name>", '"A \\"lamp\\" . x"', "")
RATING = ("_:p", f"<{S}review>", "_:r", "")


def judge(spec: str, *statements: tuple[str, str, str, str]) -> bool:
    result = TransformResult(extractions=(Extraction(syntax=Syntax.JSON_LD, statements=statements),))
    return target_from(spec)(result, ContentKind.HTML)


def test_valid_target_accepts_a_page_without_violations() -> None:
    assert judge("valid:google", PRODUCT, NAME, RATING)


def test_valid_target_refuses_violations_and_pages_without_data_of_the_profile() -> None:
    assert not judge("valid:google", PRODUCT, RATING)
    assert not judge("valid:google", ("_:p", "<urn:p>", '"x"', ""))
    assert not judge("valid:google")


def test_valid_target_with_several_profiles_applies_all() -> None:
    wrong = ("_:p", f"<{S}nmae>", '"x"', "")
    assert judge("valid:google", PRODUCT, NAME, RATING, wrong)
    assert not judge("valid:google,schema.org", PRODUCT, NAME, RATING, wrong)


@pytest.mark.parametrize("spec", ["valid:gogle", "valid:", "valid:google,missing.ttl"])
def test_valid_target_with_unknown_profile_is_an_error_that_names_the_profiles(spec: str) -> None:
    with pytest.raises(ValueError, match="science-on-schema"):
        target_from(spec)


def test_crawl_with_valid_target_finds_the_valid_pages(tmp_path: Path) -> None:
    def page(**values: object) -> str:
        data = {
            "@context": "https://schema.org",
            "@type": "Product",
            "offers": {"@type": "Offer", "price": "1"},
            **values,
        }
        return f'<script type="application/ld+json">{json.dumps(data)}</script>'

    pages = {
        "/": '<a href="/good">good</a><a href="/bad">bad</a>',
        "/good": page(name="Lamp"),
        "/bad": page(color="red"),
    }
    with serve_pages(pages) as address:
        crawl = ml.crawl([f"{address}/"], output=tmp_path, target="valid:google", allow=["127.0.0.0/8"], delay=0.0)
        with crawl:
            relevant = {visit.url.rpartition("/")[2] for visit in crawl if visit.relevant}
    assert relevant == {"good"}
