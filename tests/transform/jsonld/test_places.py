from __future__ import annotations

from motherlode.transform.jsonld.places import Places, find_sample


def test_lines_and_columns_are_those_of_the_page() -> None:
    source = "<p>\r\n<script>\r\n{\r\n  x}</script>"
    content = "\n{\n  x}"
    assert Places(source).position(0, content, content.index("x")) == (4, 3)
    assert Places(source).position(0, content, 0) == (2, 9)


def test_equal_blocks_are_told_apart() -> None:
    source = "<script>{}</script>\n<script>{}</script>"
    assert Places(source).position(0, "{}", 0) == (1, 9)
    assert Places(source).position(1, "{}", 0) == (2, 9)


def test_content_that_is_not_in_the_source_has_no_place() -> None:
    assert Places("<script>a</script>").position(0, "b", 0) == (None, None)


def test_a_whole_document_starts_at_one() -> None:
    assert Places("{\n x}", embedded=False).position(0, "{\n x}", 3) == (2, 2)


def test_samples_are_found_as_they_were_spelled() -> None:
    assert find_sample(' {"a": "http:\\/\\/x y"}', "http://x y") == 8
    assert find_sample('{"a": "\\u00e9"}', "é") == 7
    assert find_sample('{"a": "no such"}', "http://example.org/no such") == 7
    assert find_sample("  {}", "not there") == 2
