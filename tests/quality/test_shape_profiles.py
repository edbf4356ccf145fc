"""Tests of the bundled profiles and of the validator of several sources."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from motherlode.model.terms import RDF_TYPE
from motherlode.quality.page_graph import Triple
from motherlode.quality.shape_profiles import PROFILES, load_validator
from motherlode.quality.validation import ShapeError
from motherlode.quality.validation_report import build_report
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


def list_paths(profile: str, page: list[Triple], severity: str) -> set[str]:
    results = load_validator(profile).validate(page).results
    return {result.path for result in results if result.severity == severity}


def test_google_profile_requires_the_address_of_an_event() -> None:
    event = node("_:e", S + "Event", name='"x"', startDate='"2026-01-02"', location="_:l")
    assert list_paths("google", event + node("_:l", S + "Place", name='"Hall"'), "violation") == {
        "schema:address|schema:url"
    }
    assert list_paths("google", event + node("_:l", S + "Place", address='"Main street 1"'), "violation") == set()


def test_google_profile_accepts_the_total_time_of_a_recipe_alone() -> None:
    recipe = node("_:r", S + "Recipe", totalTime='"PT1H"')
    assert not {path for path in list_paths("google", recipe, "warning") if "Time" in path}
    assert "schema:nutrition/schema:calories" in list_paths("google", recipe, "warning")


def test_science_profile_requires_an_iri_and_an_identifier_of_a_data_set() -> None:
    page = node("_:d", S + "Dataset", name='"x"', description='"y"')
    assert list_paths("science-on-schema", page, "violation") == {
        *("", "schema:url", "schema:identifier", "schema:license"),
    }


def test_bioschemas_profile_recommends_the_format_of_a_parameter() -> None:
    page = node("_:p", "https://bioschemas.org/FormalParameter")
    assert list_paths("bioschemas", page, "violation") == {"schema:name"}
    assert "schema:encodingFormat" in list_paths("bioschemas", page, "warning")


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


def test_google_profile_gives_the_results_of_pyshacl() -> None:
    pyshacl = pytest.importorskip("pyshacl")
    rdflib = pytest.importorskip("rdflib")

    def read(triples: Iterable[Triple]) -> Any:
        return rdflib.Graph().parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in triples), format="nt")

    page = [
        *node("_:p", S + "Product", offers="_:o", review="_:r", image="<http://a.example/i>"),
        *node("_:o", S + "Offer", price='"12,50"', priceCurrency='"Euro"', priceValidUntil='"soon"'),
        *node("_:r", S + "Review", author="_:a", reviewRating='"5"'),
        *node("_:e", S + "Event", name='"x"', startDate='"1.2.2026"', location="_:l"),
        *node("_:b", S + "BreadcrumbList", itemListElement="_:i"),
        *node("_:i", S + "ListItem", item="_:t"),
        *node("_:t", S + "WebPage", name='"Home"'),
        *node("_:v", S + "VideoObject", duration='"5 min"'),
        *node("_:j", S + "JobPosting", applicantLocationRequirements="_:c"),
    ]
    validator = load_validator("google")
    ours = read(build_report(validator.validate(page).results, validator.shapes_graph))
    shapes = read(validator.shapes_graph.triples())
    _, theirs, _ = pyshacl.validate(read(page), shacl_graph=shapes, inference="none", advanced=False)
    assert _count_results(ours) == _count_results(theirs)
    assert _count_results(ours).total() > 30


def _count_results(report: Any) -> Counter[tuple[str, ...]]:
    """Count results by path, severity, component and value. Blank nodes have other names in each graph."""
    names = ("resultPath", "resultSeverity", "sourceConstraintComponent", "value")
    found: Counter[tuple[str, ...]] = Counter()
    for result in report.objects(None, _sh(report, "result")):
        terms = (report.value(result, _sh(report, name)) for name in names)
        found[tuple("" if type(term).__name__ == "BNode" else str(term) for term in terms)] += 1
    return found


def _sh(report: Any, name: str) -> Any:
    return next(term for term in report.predicates() if str(term) == f"http://www.w3.org/ns/shacl#{name}")
