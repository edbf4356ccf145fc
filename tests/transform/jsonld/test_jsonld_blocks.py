from __future__ import annotations

import time

from motherlode.transform.jsonld.jsonld_blocks import ScriptLocations, find_sample

TAG = '<script type="application/ld+json">'


def test_lines_and_columns_are_those_of_the_page() -> None:
    source = f"<p>\r\n{TAG}\r\n{{\r\n  x}}</script>"
    content = "\n{\n  x}"
    assert ScriptLocations(source).position([content], content.index("x")) == (4, 3)
    assert ScriptLocations(source).position([content], 0) == (2, len(TAG) + 1)


def test_blocks_that_are_or_begin_alike_are_told_apart() -> None:
    long = '{"@context": "https://schema.org", "@type": "Product", "name": "%s"}'
    blocks = ["{}", "{}", long % "one", long % "two", "", "{}"]
    source = "\n".join(f"<script src=x></script>{TAG}{block}</script>" for block in blocks)
    places = ScriptLocations(source)
    column = len("<script src=x></script>" + TAG) + 1
    assert [places.position(blocks[:number], 0) for number in (2, 3, 4, 5, 6)] == [
        (number, column) for number in (2, 3, 4, 5, 6)
    ]
    assert places.position(blocks[:1], 1) == (1, column + 1), "asked for in any order"


def test_scripts_in_comments_and_comments_in_scripts_are_passed_over() -> None:
    source = f"<!-- {TAG}{{}}</script> -->\n<script>x = '<!--'</script>\n{TAG}{{}}</script>"
    assert ScriptLocations(source).position(["{}"], 0) == (3, len(TAG) + 1)


def test_what_the_parser_changed_is_found_again() -> None:
    entities = TAG.replace("+", "&#43;")
    assert ScriptLocations(f"<p>\n{entities}a\0b</script>").position(["a\ufffdb"], 0) == (2, len(entities) + 1)
    head = "x" * 60
    assert ScriptLocations(f"{TAG}{head} and more").position([head + " mended"], 0) == (1, len(TAG) + 1)


def test_content_that_is_not_in_the_source_has_no_place_and_costs_no_other_its_own() -> None:
    places = ScriptLocations(f"{TAG}a</script>")
    assert places.position(["b"], 0) == (None, None)
    assert places.position(["b", "a"], 0) == (1, len(TAG) + 1)


def test_a_whole_document_starts_at_one() -> None:
    assert ScriptLocations("{\n x}", embedded=False).position(["{\n x}"], 3) == (2, 2)


def test_many_blocks_take_no_long() -> None:
    blocks = ['{"a": 1,}'] * 20_000
    places = ScriptLocations("\n".join(f"{TAG}{block}</script>" for block in blocks))
    began = time.process_time()
    assert [places.position(blocks[:number], 0)[0] for number in (1, 20_000)] == [1, 20_000]
    assert time.process_time() - began < 2


def test_samples_are_found_as_they_were_spelled() -> None:
    assert find_sample(' {"a": "http:\\/\\/x y"}', "http://x y") == 8
    assert find_sample('{"a": "\\u00e9"}', "é") == 7
    assert find_sample('{"a": "no such"}', "http://example.org/no such") == 7
    assert find_sample("  {}", "not there") == 2


def test_a_reference_that_starts_at_the_root_is_found() -> None:
    assert find_sample('{"@id": "/a b"}', "http://example.org/a b") == 9


def test_script_of_xhtml_is_found_though_its_references_are_read() -> None:
    page = '<p>\n<script type="application/ld+json">{"a": "x &amp; y"}</script>'
    assert ScriptLocations(page).position(['{"a": "x & y"}'], 0) == (2, 36)
