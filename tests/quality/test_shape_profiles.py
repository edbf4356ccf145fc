"""Tests of the bundled profiles and of the validator of several sources."""

from pathlib import Path

import pytest

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.shape_profiles import PROFILES, load_validator
from motherlode.quality.validation import ShapeError
from motherlode.quality.vocabulary import schema_org

S = "http://schema.org/"


def node(subject: str, type_: str, **values: str) -> list[tuple[str, str, str]]:
    return [(subject, RDF_TYPE, f"<{type_}>"), *((subject, f"<{S}{key}>", value) for key, value in values.items())]


@pytest.mark.parametrize("profile", PROFILES)
def test_profile_is_compiled(profile: str) -> None:
    assert load_validator(profile).shapes > 5


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"schema.org"}))
def test_profile_uses_only_known_terms_of_schema_org(profile: str) -> None:
    known = schema_org()
    triples = load_validator(profile).shapes_graph.triples()
    used = {term[len(S) + 1 : -1] for triple in triples for term in triple if term.startswith(f"<{S}")}
    unknown = {name for name in used if name not in known.classes and name not in known.properties}
    assert unknown - {"input", "output", "documentation"} == set()


def test_google_profile_requires_name_and_offer_of_a_product() -> None:
    results = load_validator("google").validate(node("_:p", S + "Product")).results
    violations = {result.path for result in results if result.severity == "violation"}
    assert "schema:name" in violations
    assert any("schema:offers" in path for path in violations)


def test_google_profile_accepts_a_complete_product() -> None:
    page = node("_:p", S + "Product", name='"Lamp"', offers="_:o") + node("_:o", S + "Offer", price='"12.50"')
    found = load_validator("google").validate(page)
    assert found.is_valid
    assert {result.severity for result in found.results} == {"warning"}


def test_google_profile_applies_to_subclasses() -> None:
    results = load_validator("google").validate(node("_:p", S + "MusicEvent", name='"x"')).results
    assert {r.path for r in results if r.severity == "violation"} == {"schema:startDate", "schema:location"}


def test_dcat_profile_reports_a_data_set_without_title() -> None:
    results = load_validator("dcat-ap").validate(node("_:d", "http://www.w3.org/ns/dcat#Dataset")).results
    assert {r.path for r in results if r.severity == "violation"} == {"dcterms:title", "dcterms:description"}


def test_page_without_things_of_the_profile_is_not_valid() -> None:
    found = load_validator("google").validate(node("_:p", "http://example.org/Thing"))
    assert (found.results, found.nodes, found.is_valid) == ([], 0, False)


def test_validator_of_profile_and_file_uses_both(tmp_path: Path) -> None:
    shapes = tmp_path / "own.ttl"
    shapes.write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . <urn:s> sh:targetClass <https://schema.org/Person> ;"
        " sh:property [ sh:path <https://schema.org/email> ; sh:minCount 1 ] ."
    )
    results = load_validator(str(shapes), "schema.org").validate(node("_:p", S + "Person", nam='"x"')).results
    assert [result.path for result in results] == ["schema:email", "schema:nam"]


def test_load_validator_of_missing_file_names_the_profiles() -> None:
    with pytest.raises(ShapeError, match=r"nor a profile \(schema.org, bioschemas"):
        load_validator("gogle")
