"""The visible text of HTML pages."""

from __future__ import annotations

import pytest

from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.www.document import Document
from motherlode.www.visible_text import visible_text


def document(text: str, kind: ContentKind = ContentKind.HTML) -> Document:
    detected = Detected(kind=kind, evidence=DetectionEvidence.CONTENT)
    return Document(url="http://a.example/", body=text.encode(), detected=detected)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<title>t</title><h1>A  b</h1><p>one <b>two</b> three<p>four", "A b\none two three\nfour"),
        ("<p>seen<script>x</script><style>y</style><!-- z --><noscript>n</noscript>", "seen"),
        ("<ul><li>1<li>2</ul>tail", "1\n2 tail"),
        ("", ""),
    ],
)
def test_visible_text_has_one_line_per_block_and_no_scripts(markup: str, expected: str) -> None:
    assert visible_text(document(markup), max_characters=1000) == expected


def test_visible_text_is_cut_at_the_limit() -> None:
    assert visible_text(document("<p>" + "word " * 1000), max_characters=12) == "word word wo"
    assert visible_text(document("plain text", ContentKind.TEXT), max_characters=5) == "plain"


def test_visible_text_of_data_is_empty() -> None:
    assert visible_text(document("<a> <b> <c> .", ContentKind.TURTLE), max_characters=10) == ""
