"""The drop-in for extruct: signature, shapes, errors, inputs, and agreement with extruct on its own samples."""

from __future__ import annotations

import inspect
import json
import logging
from pathlib import Path
from typing import Any

import lxml.etree
import lxml.html
import pytest

from motherlode import extruct

from .support import shared

PAGE = """<!DOCTYPE html><html lang="en" prefix="og: http://ogp.me/ns#"><head><title>Anvils</title>
<meta property="og:title" content="Anvils"><meta property="og:type" content="product">
<meta property="og:image" content="a.png"><meta property="og:image" content="b.png">
<meta name="DC.creator" content="Ada"><link rel="schema.DC" href="http://purl.org/dc/elements/1.1/">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "sku": 7}</script>
</head><body><div itemscope itemtype="http://schema.org/Product"><b itemprop="name">An <i>anvil</i>,
heavy</b><a itemprop="url" href="anvil">x</a></div><p class="h-card"><a class="u-url p-name" href="/ada">Ada</a></p>
</body></html>"""
URL = "https://shop.example/dir/page"


def test_extract_signature_is_that_of_extruct() -> None:
    theirs = pytest.importorskip("extruct")
    ours, other = (inspect.signature(module.extract).parameters for module in (extruct, theirs))
    assert list(ours) == list(other)
    assert {name: it.default for name, it in ours.items()} == {name: it.default for name, it in other.items()}
    assert theirs.SYNTAXES == extruct.SYNTAXES


def test_extract_page_gives_dicts_by_syntax() -> None:
    found = extruct.extract(PAGE, base_url=URL)
    assert list(found) == ["microdata", "json-ld", "opengraph", "microformat", "rdfa", "dublincore"]
    assert found["microdata"] == [
        {
            "type": "http://schema.org/Product",
            "properties": {"name": "An anvil, heavy", "url": "https://shop.example/dir/anvil"},
        }
    ]
    assert found["json-ld"] == [{"@context": "https://schema.org", "@type": "Product", "sku": 7}]
    assert found["opengraph"][0]["properties"][0] == ("og:title", "Anvils")
    card = {"name": ["Ada"], "url": ["https://shop.example/ada"]}
    assert found["microformat"] == [{"type": ["h-card"], "properties": card, "lang": "en"}]
    assert found["rdfa"][0]["http://ogp.me/ns#title"] == [{"@language": "en", "@value": "Anvils"}]
    assert found["dublincore"][0]["namespaces"] == {"DC": "http://purl.org/dc/elements/1.1/"}


def test_extract_uniform_moves_properties_to_the_item() -> None:
    found = extruct.extract(PAGE, base_url=URL, uniform=True)
    assert found["microdata"][0] == {
        "@context": "http://schema.org",
        "@type": "Product",
        "name": "An anvil, heavy",
        "url": "https://shop.example/dir/anvil",
    }
    assert found["opengraph"][0]["og:image"] == "a.png"
    assert found["opengraph"][0]["@type"] == "product"
    assert found["microformat"][0]["@context"] == "http://microformats.org/wiki/"


def test_extract_with_og_array_keeps_all_values() -> None:
    found = extruct.extract(PAGE, base_url=URL, syntaxes=["opengraph"], uniform=True, with_og_array=True)
    assert found["opengraph"][0]["og:image"] == ["a.png", "b.png"]


def test_extract_schema_context_applies_to_types_without_a_vocabulary() -> None:
    page = '<p itemscope itemtype="Thing"><b itemprop="name">A</b></p>'
    found = extruct.extract(page, syntaxes=["microdata"], uniform=True, schema_context="https://schema.org")
    assert found["microdata"] == [{"@context": "https://schema.org", "@type": "Thing", "name": "A"}]


def test_extract_url_argument_warns_and_is_the_base() -> None:
    with pytest.warns(DeprecationWarning, match="base_url"):
        found = extruct.extract(PAGE, url=URL, syntaxes=["microdata"])
    assert found["microdata"][0]["properties"]["url"] == "https://shop.example/dir/anvil"


def test_extract_without_base_keeps_references_as_written() -> None:
    found = extruct.extract(PAGE, syntaxes=["microdata"])
    assert found["microdata"][0]["properties"]["url"] == "anvil"


def test_extract_lxml_tree_gives_the_same_as_the_text() -> None:
    syntaxes = ["microdata", "opengraph", "json-ld", "rdfa", "dublincore"]
    tree = lxml.html.fromstring(PAGE)
    before = lxml.html.tostring(tree)
    assert extruct.extract(tree, base_url=URL, syntaxes=syntaxes) == extruct.extract(
        PAGE, base_url=URL, syntaxes=syntaxes
    )
    assert lxml.html.tostring(tree) == before


def test_extract_subtree_gives_its_own_items_and_the_head_of_the_page() -> None:
    body = lxml.html.fromstring(PAGE.replace("</body>", '<p id="x" itemscope><b itemprop="a">1</b></p></body>'))
    found = extruct.extract(body.get_element_by_id("x"), syntaxes=["microdata", "opengraph", "json-ld"])
    assert found["microdata"] == [{"properties": {"a": "1"}}]
    assert found["json-ld"] == []
    assert found["opengraph"]


def test_extract_tree_with_microformats_raises_value_error() -> None:
    with pytest.raises(ValueError, match="requires a string"):
        extruct.extract(lxml.html.fromstring(PAGE))


@pytest.mark.parametrize("as_tree", [False, True])
def test_extract_html_node_is_the_lxml_element(as_tree: bool) -> None:  # noqa: FBT001
    page = '<div itemscope id="a"><p itemprop="b" itemscope id="c"><i itemprop="d">1</i></p></div>'
    tree: Any = lxml.html.fromstring(page) if as_tree else page
    item = extruct.extract(tree, syntaxes=["microdata"], return_html_node=True)["microdata"][0]
    assert item["htmlNode"].get("id") == "a"
    assert item["properties"]["b"]["htmlNode"].get("id") == "c"
    assert not as_tree or item["htmlNode"] is tree


@pytest.mark.parametrize("options", [{"syntaxes": ["rdf"]}, {"syntaxes": ("rdfa",)}, {"errors": "raise"}])
def test_extract_wrong_argument_raises_value_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        extruct.extract(PAGE, **options)


BROKEN = """<script type="application/ld+json">{"@type": "A" "name": "x"}</script>
<script type="application/ld+json">{"@type": "B"}</script>
<script type="application/ld+json">no JSON at all</script><p itemscope><b itemprop="a">1</b></p>"""


def test_extract_strict_raises_on_broken_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        extruct.extract(BROKEN)


def test_extract_ignore_keeps_the_other_blocks_and_syntaxes() -> None:
    found = extruct.extract(BROKEN, errors="ignore")
    assert found["json-ld"] == [{"@type": "A", "name": "x"}, {"@type": "B"}]
    assert found["microdata"] == [{"properties": {"a": "1"}}]


def test_extract_log_reports_each_broken_block(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "motherlode.extruct"):
        found = extruct.extract(BROKEN, errors="log")
    assert len(caplog.records) == 2
    assert {"@type": "B"} in found["json-ld"]


@pytest.mark.parametrize("content", ['/* c */ {"a": 1}', '{"a": 1,}', '{"a": 1} // end', '{"a": "x\ty"}', "[]"])
def test_extract_strict_accepts_comments_commas_and_control_characters(content: str) -> None:
    extruct.extract(f'<script type="application/ld+json">{content}</script>', syntaxes=["json-ld"])


@pytest.mark.parametrize("page", ["", b"", " \n"])
def test_extract_empty_page_raises_only_if_strict(page: str | bytes) -> None:
    with pytest.raises(lxml.etree.ParserError):
        extruct.extract(page)
    assert extruct.extract(page, errors="ignore") == {}
    assert extruct.extract(page, errors="log") == {}


def test_extract_encoding_decodes_bytes() -> None:
    page = '<p itemscope><b itemprop="a">é</b></p>'
    for encoding in ("latin-1", "utf-16"):
        found = extruct.extract(page.encode(encoding), encoding=encoding, syntaxes=["microdata"])
        assert found["microdata"] == [{"properties": {"a": "é"}}]


def test_extract_wrong_default_encoding_uses_the_declared_one() -> None:
    page = '<meta charset="latin-1"><p itemscope><b itemprop="a">é</b></p>'.encode("latin-1")
    assert extruct.extract(page, syntaxes=["microdata"])["microdata"] == [{"properties": {"a": "é"}}]


def test_extract_strict_raises_an_error_of_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[Any]:
        raise RuntimeError("broken reader")

    monkeypatch.setattr("motherlode.api.items.read_opengraph", fail)
    with pytest.raises(RuntimeError):
        extruct.extract(PAGE)
    found = extruct.extract(PAGE, errors="ignore", uniform=True)
    assert "opengraph" not in found
    assert found["microdata"]


# extruct's own samples

_SAMPLES = ("schema.org", "songkick", "w3c", "w3crdfa", "websites", "wikipedia", "misc")


_MICRODATA = ("product", "Event.001", "LocalBusiness.002", "SearchAction.001")


@pytest.mark.parametrize("name", _MICRODATA)
def test_extract_sample_gives_the_expected_microdata(name: str) -> None:
    folder = shared("conformance", "extruct-samples", "schema.org")
    page = (folder / f"{name}.html").read_bytes()
    expected = json.loads((folder / f"{name}.json").read_bytes())
    assert extruct.extract(page, syntaxes=["microdata"]) == {"microdata": expected}


@pytest.mark.parametrize("folder", _SAMPLES)
def test_extract_uniform_sample_agrees_with_extruct(folder: str) -> None:
    theirs = pytest.importorskip("extruct")
    syntaxes = ["microdata", "opengraph", "json-ld", "dublincore"]
    options: dict[str, Any] = {"base_url": URL, "syntaxes": syntaxes, "uniform": True}
    for path in sorted(Path(shared("conformance", "extruct-samples", folder)).glob("*.html")):
        body = path.read_bytes()
        if b"itemref" in body:  # differs by HTML, section 5.2.5; see tools/extruct_classes.py
            continue
        assert extruct.extract(body, **options) == theirs.extract(body, **options), path.name
