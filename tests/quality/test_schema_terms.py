"""Typical mistakes in terms of schema.org and the hints about them."""

import time

import pytest

from motherlode.model.terms import RDF_TYPE, literal
from motherlode.quality.page_graph import PageGraph
from motherlode.quality.schema_terms import check_terms, superclasses

S = "http://schema.org/"
UNKNOWN_CLASSES = {
    "Prodct": "Product",
    "product": "Product",
    "Recpie": "Recipe",
    "Organisation": "Organization",
    "LocalBuisness": "LocalBusiness",
    "BlogPost": "BlogPosting",
    "Shop": "Store",
    "Address": "PostalAddress",
    "FAQ": "FAQPage",
    "Webpage": "WebPage",
    "SofwareApplication": "SoftwareApplication",
    "Product/": "Product",
    "Job": "JobPosting",
}
UNKNOWN_PROPERTIES = {
    ("Offer", "pric"): "price",
    ("Offer", "priceCurency"): "priceCurrency",
    ("Offer", "avaliability"): "availability",
    ("Place", "adress"): "address",
    ("Person", "phone"): "telephone",
    ("Person", "lastName"): "familyName",
    ("Person", "sameas"): "sameAs",
    ("PostalAddress", "zipcode"): "postalCode",
    ("PostalAddress", "city"): "addressLocality",
    ("PostalAddress", "streetAdress"): "streetAddress",
    ("Article", "datepublished"): "datePublished",
    ("Article", "auther"): "author",
    ("Article", "publiser"): "publisher",
    ("Article", "tags"): "keywords",
    ("Product", "discription"): "description",
    ("Product", "Name"): "name",
    ("Product", "offer"): "offers",
    ("Product", "aggregaterating"): "aggregateRating",
    ("Product", "images"): "image",
    ("Product", "ean"): "gtin13",
    ("Recipe", "cooktime"): "cookTime",
    ("Recipe", "recipeIngredients"): "recipeIngredient",
    ("Event", "start_date"): "startDate",
    ("Event", "venue"): "location",
    ("GeoCoordinates", "lng"): "longitude",
    ("Dataset", "licence"): "license",
    ("JobPosting", "salary"): "baseSalary",
}
VALUES = [
    ("Offer", "availability", f"<{S}InStok>", "violation", "did you mean InStock?"),
    ("Offer", "availability", '"InStock"', "warning", "https://schema.org/InStock"),
    ("Offer", "availability", '"http://schema.org/OutOfStok"', "violation", "did you mean OutOfStock?"),
    ("Offer", "itemCondition", f"<{S}InStock>", "warning", "expected: OfferItemCondition"),
    ("Offer", "priceValidUntil", '"next week"', "warning", "expected: Date"),
    ("Recipe", "cookTime", '"30 minutes"', "warning", "expected: Duration"),
    ("Event", "startDate", '"31.12.2026"', "warning", "expected: Date or DateTime"),
    ("Product", "isAccessoryOrSparePartFor", '"Camera"', "info", "is a text"),
    ("Recipe", "ingredients", '"Salt"', "warning", "superseded by recipeIngredient"),
    ("Article", "isAccessibleForFree", '"maybe"', "warning", "expected: Boolean"),
    ("Person", "price", '"12"', "warning", "is not a property of Person"),
]
NAMESPACES = ("http://www.schema.org/Product", "http://schema.org#Product", "http://schemas.org/Product")
_COUNT = len(UNKNOWN_CLASSES) + len(UNKNOWN_PROPERTIES) + len(VALUES) + len(NAMESPACES)


def check(*triples: tuple[str, str, str]) -> list[tuple[str, str]]:
    results, _ = check_terms(PageGraph(triples, superclasses))
    return [(result.severity, f"{result.path}: {result.message}") for result in results]


def test_list_of_mistakes_has_fifty_entries() -> None:
    assert _COUNT >= 50


@pytest.mark.parametrize(("wrong", "right"), UNKNOWN_CLASSES.items())
def test_unknown_class_gets_the_right_hint(wrong: str, right: str) -> None:
    [(severity, message)] = check(("_:a", RDF_TYPE, f"<{S}{wrong}>"))
    assert severity == "violation"
    assert message.endswith(f"(did you mean {right}?)")


@pytest.mark.parametrize(("wrong", "right"), UNKNOWN_PROPERTIES.items())
def test_unknown_property_gets_the_right_hint(wrong: tuple[str, str], right: str) -> None:
    type_, name = wrong
    [(severity, message)] = check(("_:a", RDF_TYPE, f"<{S}{type_}>"), ("_:a", f"<{S}{name}>", '"x"'))
    assert severity == "violation"
    assert message == f"schema:{name}: is not a property of schema.org (did you mean {right}?)"


@pytest.mark.parametrize(("type_", "name", "value", "severity", "hint"), VALUES)
def test_wrong_value_or_property_gets_the_right_hint(
    type_: str, name: str, value: str, severity: str, hint: str
) -> None:
    [(found, message)] = check(("_:a", RDF_TYPE, f"<https://schema.org/{type_}>"), ("_:a", f"<{S}{name}>", value))
    assert (found, hint in message) == (severity, True), message


@pytest.mark.parametrize("iri", NAMESPACES)
def test_wrong_namespace_gets_the_right_hint(iri: str) -> None:
    [(severity, message)] = check(("_:a", RDF_TYPE, f"<{iri}>"))
    assert (severity, "use https://schema.org/Product" in message) == ("violation", True)


def test_unknown_property_without_a_similar_name_gets_no_hint() -> None:
    [(_, message)] = check(("_:a", RDF_TYPE, f"<{S}Article>"), ("_:a", f"<{S}xyzzy>", '"x"'))
    assert message == "schema:xyzzy: is not a property of schema.org"


def test_valid_page_has_no_results() -> None:
    offer = [
        ("_:o", RDF_TYPE, f"<{S}Offer>"),
        ("_:o", f"<{S}price>", literal("12.50")),
        ("_:o", f"<{S}availability>", f"<{S}InStock>"),
        ("_:o", f"<{S}url>", "<https://shop.example/1>"),
    ]
    product = [
        ("_:p", RDF_TYPE, f"<{S}Product>"),
        ("_:p", f"<{S}name>", literal("Lamp", language="en")),
        ("_:p", f"<{S}offers>", "_:o"),
        ("_:p", f"<{S}image>", "<https://shop.example/1.jpg>"),
    ]
    assert check(*offer, *product) == []


def test_thing_of_another_class_than_expected_is_reported() -> None:
    [(severity, message)] = check(
        ("_:p", RDF_TYPE, f"<{S}Product>"), ("_:p", f"<{S}offers>", "_:b"), ("_:b", RDF_TYPE, f"<{S}Brand>")
    )
    assert (severity, message) == ("warning", "schema:offers: has the type Brand; expected: Demand or Offer")


def test_check_terms_with_long_names_and_texts_needs_little_time() -> None:
    long = "a." * 200_000
    page = [
        ("_:a", RDF_TYPE, f"<{S}Person>"),
        ("_:a", f"<{S}{'x' * 300_000}>", '"x"'),
        ("_:a", f"<{S}url>", f'"{long} b"'),
        ("_:a", f"<{S}birthDate>", f'"{"1" * 300_000}"'),
    ]
    start = time.process_time()
    assert len(check(*page)) == 3
    assert time.process_time() - start < 2
