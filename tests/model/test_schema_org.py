import pytest

from motherlode.model.schema_org import find_unknown_class, find_unknown_classes


@pytest.mark.parametrize("name", ["Product", "3DModel", "Text", "Recipe"])
def test_class_of_schema_org_is_known_in_both_spellings(name: str) -> None:
    assert find_unknown_class(f"http://schema.org/{name}") == ""
    assert find_unknown_class(f"https://schema.org/{name}") == ""


def test_name_without_similar_class_is_unknown_without_a_guess() -> None:
    assert find_unknown_class("http://schema.org/Xqzzyv") == "schema.org has no class Xqzzyv"


def test_query_with_declared_prefix_and_several_names_has_a_hint_for_each() -> None:
    query = "PREFIX s: <https://schema.org/> SELECT * { ?a a s:Persn . ?b a s:Persn . ?c a <http://schema.org/Offr> }"
    assert find_unknown_classes(query) == [
        "schema.org has no class Persn (did you mean Person?)",
        "schema.org has no class Offr (did you mean Offer?)",
    ]


def test_properties_and_members_of_enumerations_are_no_classes() -> None:
    assert find_unknown_classes("ASK { ?s schema:nmae ?n ; schema:availability schema:InStock }") == []
