from __future__ import annotations

import pytest

from motherlode.transform.documents.xmltags import OpenElements, end_tag, last_boundary, start_tag, token_end
from motherlode.www.media import RDF_NAMESPACE


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
def test_where_tags_end(text: bytes, end: int | None) -> None:
    assert token_end(text, is_all=False) == end


def test_the_last_boundary_is_not_inside_of_anything() -> None:
    text = b"<r> <a><b>1</b></a> <!-- <x> --> <c d='</c>'/><e><![CDATA[</e>]]>"
    assert text[: last_boundary(text, depth=0)].endswith(b"<c d='</c>'/>")


def test_elements_are_closed_with_all_inside_of_them() -> None:
    elements = OpenElements({"r": RDF_NAMESPACE})
    for markup in (b'<r:RDF xmlns:r="&r;">', b"<a xmlns='urn:a'>", b"<b>", b"<c>"):
        tag = start_tag(markup)
        assert tag is not None
        elements.open(tag)
    assert elements.is_rdf(b"r:RDF", b"RDF", is_element=True)
    assert elements.namespace(b"") == "urn:a"
    elements.close(b"unknown")
    assert len(elements) == 3
    elements.close(end_tag(b"</a>") or b"")
    assert len(elements) == 1
    assert elements.namespace(b"") == ""


def test_a_tag_with_other_attributes() -> None:
    tag = start_tag(b"<a b='\"' />")
    assert tag is not None
    assert tag.with_attributes([*tag.attributes, (b"c", b"d")]).markup == b'<a b="&quot;" c="d" />'
