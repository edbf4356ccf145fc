"""Values of properties."""

from __future__ import annotations

import pytest

from tests.transform.rdfa.pages import triples

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p property=dc:title content=c>x", '"c"'),
        ("<p property=dc:title content='' lang=en>x", '""@en'),
        ("<p property=dc:title datatype=xsd:integer lang=en>7</p>", f'"7"^^<{XSD}integer>'),
        ("<p property=dc:title datatype='' href=y>x</p>", '"x"'),
        ("<p property=dc:title datatype=nonsense href=y lang=en>x</p>", '"x"@en'),
        ("<p property=dc:title datatype=xsd:string>x</p>", '"x"'),
        ("<a property=dc:title href='http://h/' resource='http://r/'>x</a>", "<http://r/>"),
        ("<a property=dc:title href='http://h/' resource='[]'>x</a>", "<http://h/>"),
        ("<a property=dc:title href='' content=c>x</a>", '"c"'),
        ("<time property=dc:date>2026-01-02</time>", f'"2026-01-02"^^<{XSD}date>'),
        ("<time property=dc:date datetime=PT5M>x</time>", f'"PT5M"^^<{XSD}duration>'),
        ("<time property=dc:date lang=en>soon</time>", '"soon"@en'),
        ("<time property=dc:date datetime=2026 datatype=xsd:string>x</time>", '"2026"'),
        ("<p property=dc:date datetime=2026>x</p>", f'"2026"^^<{XSD}gYear>'),
        ("<p property=dc:title>a<script>b</script><!-- c --></p>", '"ab"'),
    ],
)
def test_by_attributes(markup: str, expected: str) -> None:
    ((_, _, found),) = triples(markup)
    assert found == expected


def test_a_datatype_of_text_in_a_language_is_told_by_the_language_alone() -> None:
    """`"x"^^rdf:langString` is no RDF: nothing could read it again."""
    markup = "<p lang='{}' property=dc:title datatype=rdf:langString content=x>y</p>"
    assert [triples(markup.format(tag))[0][2] for tag in ("de", "")] == ['"x"@de', '"x"']
