"""Scanning of tags, and open elements."""

from __future__ import annotations

import pytest

from motherlode.transform.rdf_documents.xml_scanner import (
    OpenElements,
    StartTag,
    convert_cdata,
    count_depth,
    ends_before_root,
    find_last_boundary,
    find_next_node,
    find_token_end,
    has_unclosed_section,
    is_tag,
    parse_end_tag,
    parse_start_tag,
)
from motherlode.www.media_types import RDF_NAMESPACE


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"<a b='1>2'> x", 11),
        (b"<a b='1<2' c=\"3\"/> x", 18),
        (b"<![CDATA[ ]> ]]> x", 16),
        (b"<?a > ?> x y z", 8),
        (b"<a <b> x y z", 3),
        (b"text with no tag", None),
        (b"<!-- no end > ", None),
        (b"<a b='no end >     ", None),
    ],
)
def test_find_token_end_returns_end_of_first_tag(text: bytes, end: int | None) -> None:
    assert find_token_end(text, is_all=False) == end


def test_find_last_boundary_is_between_children_of_root() -> None:
    text = b"<r> <a><b>1</b></a> <!-- <x> --> <c d='</c>'/><e><![CDATA[</e>]]>"
    assert text[: find_last_boundary(text, depth=0)].endswith(b"<c d='</c>'/>")


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (b"<a><b/><c>1</c>", 2),
        (b"<a b='/>'><c>", 3),
        (b"<a> > /> <c>", 3),
        (b"<a><![CDATA[</a>]]></a>", 1),
        (b"<a><!-- <b> --><?c <d>?>", 2),
        (b"</a></b>", -1),
    ],
)
def test_count_depth_returns_depth_after_text(text: bytes, depth: int) -> None:
    assert count_depth(text, depth=1) == (depth, len(text))
    assert count_depth(text + b" <x", depth=1) == (depth, len(text)), "a tag that is not whole does not count"


def test_ends_before_root_detects_end_of_child() -> None:
    names = [b"r", b"a"]
    assert ends_before_root(b"<b>1</b> <!-- </r> --> <c/></a>", names)
    assert not ends_before_root(b"<b>1</b><a></a></r>", names)
    assert not ends_before_root(b"<b>1</a></r>", names)
    assert not ends_before_root(b"<b>1</b><c>", names)


def test_find_next_node_returns_start_of_next_child() -> None:
    assert find_next_node(b" <!-- x --><e:A><e:p/></e:A></r>", b"r") == 0
    text = b"<e:p>1</e:p></e:B></e:A> <e:C><e:p/></e:C><e:D/></r>"
    assert text[find_next_node(text, b"r") :].startswith(b" <e:C>")
    text = b"<e:p>1</e:p><r:Description/></e:A>"
    assert find_next_node(text, b"r") == 0, "a tag that must be a node shows that the text is between nodes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"<a><!-- <?b --><![CDATA[<!--]]></a>", False),
        (b"<a><!-- ?>", True),
        (b"<a><![CDATA[ ]] >", True),
        (b"<a><?b > </a>", True),
    ],
)
def test_has_unclosed_section_detects_missing_end(text: bytes, *, expected: bool) -> None:
    assert has_unclosed_section(text) is expected


def test_open_elements_base_is_inherited() -> None:
    elements = OpenElements({"h": "http://h.example/"}, "http://a.example/b/c")
    bases = []
    for markup in (b"<a>", b"<b xml:base='../d/?e=1&amp;f'>", b"<c xml:base='&h;'>", b"<d xml:base='g'>"):
        tag = parse_start_tag(markup)
        assert tag is not None
        elements.open(tag)
        bases.append(elements.base)
    expected = ("http://a.example/b/c", "http://a.example/d/?e=1&f", "http://h.example/", "http://h.example/g")
    assert tuple(bases) == expected
    elements.close(b"c")
    assert elements.base == expected[1]


def test_open_elements_close_includes_descendants() -> None:
    elements = OpenElements({"r": RDF_NAMESPACE})
    for markup in (b'<r:RDF xmlns:r="&r;">', b"<a xmlns='urn:a'>", b"<b>", b"<c>"):
        tag = parse_start_tag(markup)
        assert tag is not None
        elements.open(tag)
    assert elements.is_rdf(b"r:RDF", b"RDF", is_element=True)
    assert elements.namespace(b"") == "urn:a"
    elements.close(b"unknown")
    assert len(elements) == 3
    elements.close(parse_end_tag(b"</a>") or b"")
    assert len(elements) == 1
    assert elements.namespace(b"") == ""


def test_start_tag_with_attributes_rebuilds_markup() -> None:
    tag = parse_start_tag(b"<a b='\"' />")
    assert tag is not None
    assert tag.with_attributes((*tag.attributes, (b"c", b"d"))).markup == b'<a b="&quot;" c="d" />'


def test_find_last_boundary_gives_expected_results_for_short_texts() -> None:
    assert (find_last_boundary(b"<r><a/><b><c/></b> <d>", depth=0), find_last_boundary(b"<a/><b", depth=1)) == (18, 4)


def test_count_depth_gives_expected_results_for_short_texts() -> None:
    assert (count_depth(b"<a><b c='d'/><e>f</e><g", depth=1), count_depth(b"<a><!-- <b> --><c", depth=1)) == (
        (2, 21),
        (2, 15),
    )


def test_ends_before_root_gives_expected_results_for_short_texts() -> None:
    assert (
        ends_before_root(b"<b><c/></b></a></r>", [b"r", b"a"]),
        ends_before_root(b"<b><c/></b></r>", [b"r", b"a"]),
    ) == (True, False)


def test_find_next_node_gives_expected_results_for_short_texts() -> None:
    assert (
        find_next_node(b"<p>1</p></a> <p>2</p></b> <c rdf:about='d'>", b"r"),
        find_next_node(b"<p>1</p></r>", b"r"),
    ) == (25, 0)


def test_find_token_end_gives_expected_results_for_short_texts() -> None:
    assert (find_token_end(b'one <a b=">"> two', is_all=False), find_token_end(b"<!-- > --> x", is_all=False)) == (
        13,
        10,
    )
    assert (find_token_end(b"<a", is_all=False), find_token_end(b"<a", is_all=True)) == (None, 2)
    assert (find_token_end(b"<a b='c <d e='f'>", is_all=False)) == 8


def test_is_tag_gives_expected_results_for_short_texts() -> None:
    assert (is_tag(b'<a b=">">'), is_tag(b"<a b='c "), is_tag(b"<a b='c>")) == (True, False, False)


def test_has_unclosed_section_gives_expected_results_for_short_texts() -> None:
    assert (has_unclosed_section(b"<a><?b ?><!-- <?c --></a>"), has_unclosed_section(b"<a><?b </a>")) == (False, True)


def test_convert_cdata_gives_expected_results_for_short_texts() -> None:
    assert (convert_cdata(b"<![CDATA[1 < 2 & 3]]>")) == b"1 &lt; 2 &amp; 3"


def test_parse_start_tag_gives_expected_results_for_short_texts() -> None:
    assert (parse_start_tag(b"<a b='c' />")) == StartTag(
        markup=b"<a b='c' />", name=b"a", attributes=((b"b", b"c"),), rest=b" />"
    )
