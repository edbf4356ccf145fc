from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.documents import rdfxml

from .test_documents import XML_START, found

END = b"</rdf:RDF>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _read(inner: bytes, before: bytes = b"") -> tuple[list[tuple[str, ...]], list[tuple[int | None, int | None]]]:
    statements, problems = found(before + XML_START + inner + END, Syntax.RDF_XML)
    return [s[:3] for s in statements], [(p.line, p.column) for p in problems]


def test_everything_before_the_first_broken_tag_is_kept_and_nothing_made_up() -> None:
    statements, places = _read(
        b'\n<e:A rdf:about="urn:a"/>\n  <e:A rdf:ID="b c"><e:p>1</e:p></e:A><e:A rdf:about="urn:d"/>'
    )
    assert statements == [("<urn:a>", f"<{RDF}type>", "<urn:e:A>")]
    assert places == [(3, 3)]


def test_broken_xml_is_located() -> None:
    statements, places = _read(b'\n<e:A rdf:about="urn:a"/>\n<e:A rdf:about="urn:b"></e:B>')
    assert len(statements) == 2
    assert places[0][0] == 3


def test_an_invalid_iri_costs_its_statements_only() -> None:
    statements, places = _read(
        b'\n<e:A rdf:about="urn:a"><e:p rdf:resource="x y"/><e:p>1</e:p></e:A>'
        b'\n<e:A><e:q><e:B e:r="2"><e:p rdf:resource="{z}"/></e:B></e:q></e:A>'
    )
    nodes = {term for statement in statements for term in statement if term.startswith("_:")}
    assert len(nodes) == 2
    assert [s[2] for s in statements if s[2] not in nodes] == ["<urn:e:A>", '"1"', "<urn:e:A>", "<urn:e:B>", '"2"']
    assert places == [(2, 24), (3, 24)]


def test_entities_of_the_document_type_are_expanded() -> None:
    entities = b"<!ENTITY e 'urn:e:'>\n<!ENTITY t \"&e;x &amp; &#60;\">"
    before = b"<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE rdf:RDF [\n" + entities + b"]>\n"
    statements, places = _read(b'<e:A rdf:about="&e;a"><e:p>&t;&lt;</e:p></e:A>', before)
    assert statements == [("<urn:e:a>", f"<{RDF}type>", "<urn:e:A>"), ("<urn:e:a>", "<urn:e:p>", '"urn:e:x & <<"')]
    assert not places


def test_entities_of_html_that_were_not_declared_are_known_all_the_same() -> None:
    statements, places = _read(b'\n<e:A rdf:about="urn:a"><e:p>caf&eacute;&nbsp;&amp;</e:p><e:q>x</e:q></e:A>')
    assert [s[2] for s in statements] == ["<urn:e:A>", '"café\xa0&"', '"x"']
    assert places == [(2, 29)]


def test_entities_may_hold_any_character() -> None:
    before = b"<!DOCTYPE rdf:RDF [<!ENTITY t 'a>b]>c[&#34;d%e;'>]>"
    statements, places = _read(b'<e:A rdf:about="urn:a"><e:p>&t;</e:p><e:q e:r="&t;"/></e:A>', before)
    assert [s[2] for s in statements if s[2].startswith('"')] == ['"a>b]>c[\\"d%e;"'] * 2
    assert not places


def test_external_entities_are_not_followed() -> None:
    before = b'<!DOCTYPE rdf:RDF SYSTEM "file:///etc/hosts" [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'
    statements, places = _read(b'<e:A rdf:about="urn:a"/>\n<e:A rdf:about="urn:b"><e:p>&x;</e:p></e:A>', before)
    assert [s[0] for s in statements] == ["<urn:a>", "<urn:b>"]
    assert places == [(3, 29)]


def test_entities_cannot_make_a_document_much_longer() -> None:
    before = b'<!DOCTYPE rdf:RDF [<!ENTITY x "' + b"x" * 4000 + b'">]>'
    inner = b'<e:A rdf:about="urn:a"/>' + b'<e:A rdf:about="urn:b"><e:p>' + b"&x;" * 100_000 + b"</e:p></e:A>"
    statements, problems = found(before + XML_START + inner + END, Syntax.RDF_XML)
    assert {s[0] for s in statements} == {"<urn:a>", "<urn:b>"}
    assert any("entities" in problem.message for problem in problems)


@pytest.mark.parametrize("padding", range(8180, 8200))
def test_entities_are_declared_before_the_root_or_not_at_all(padding: int) -> None:
    inner = b"<!--" + b"x" * padding + b'--><!DOCTYPE a [<!ENTITY x "boo">]><e:A rdf:about="urn:a"><e:p>&x;</e:p></e:A>'
    statements, problems = found(XML_START + b'<e:A rdf:about="urn:good"/>' + inner + END, Syntax.RDF_XML)
    assert [statement[0] for statement in statements] == ["<urn:good>"]
    assert any("declared where none may be" in problem.message for problem in problems)


def test_an_element_with_too_many_attributes_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml, "_MOST_ATTRIBUTES", 1000)
    attributes = b" ".join(b'e:p%d="1"' % number for number in range(5000))
    statements, problems = found(
        XML_START + b'<e:A rdf:about="urn:a"/><e:A ' + attributes + b"/>" + END, Syntax.RDF_XML
    )
    assert len(statements) == 1
    assert any("attributes" in problem.message for problem in problems)


def test_xml_literals_are_canonical() -> None:
    statements, places = _read(
        b'<rdf:Description rdf:about="urn:a"><e:p rdf:parseType="Literal"><b c="1"/> &amp;</e:p></rdf:Description>'
    )
    assert statements == [("<urn:a>", "<urn:e:p>", f'"<b c=\\"1\\"></b> &amp;"^^<{RDF}XMLLiteral>')]
    assert not places


def test_a_document_that_is_no_xml_at_all_is_a_problem() -> None:
    for body in (b"hello", b"<", b"<rdf:RDF", b"", b"<?xml version='1.0'?>", b"{}"):
        statements, problems = found(body, Syntax.RDF_XML)
        assert not statements
        assert problems
