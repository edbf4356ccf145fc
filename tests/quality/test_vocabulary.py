"""Facts of schema.org: classes, properties, and the nearest known names."""

from motherlode.quality.vocabulary import schema_org, type_iris


def test_subclasses_and_ancestors_of_a_class() -> None:
    assert {"Product", "Car", "Vehicle"} <= schema_org().subclasses("Product")
    assert schema_org().ancestors("Car") == {"Car", "Vehicle", "Product", "Thing"}


def test_nearest_names_of_mistakes() -> None:
    facts = schema_org()
    assert [facts.nearest_class("Prodct"), facts.nearest_class("recipe"), facts.nearest_class("Zzqx")] == [
        *("Product", "Recipe", ""),
    ]
    assert facts.nearest_property("pricecurrency") == "priceCurrency"


def test_type_iris_have_both_namespaces_and_other_types_only_themselves() -> None:
    assert {"http://schema.org/Car", "https://schema.org/Car"} <= set(type_iris("https://schema.org/Product"))
    assert type_iris("http://a.example/T") == ["http://a.example/T"]


def test_every_parent_and_range_is_known() -> None:
    facts = schema_org()
    known = facts.classes.keys() | {"Text", "URL"}
    assert {parent for parents in facts.classes.values() for parent in parents} <= known
    assert {name for found in facts.properties.values() for name in found.ranges} <= known
