from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.documents import guarded

from .test_documents import XML_START, found

END = b"</rdf:RDF>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _read(inner: bytes, before: bytes = b"") -> tuple[list[tuple[str, ...]], list[tuple[int | None, int | None]]]:
    statements, problems = found(before + XML_START + inner + END, Syntax.RDF_XML)
    return [s[:3] for s in statements], [(p.line, p.column) for p in problems]


def test_a_bad_node_costs_itself_and_nothing_is_made_up() -> None:
    statements, places = _read(
        b'\n<e:A rdf:about="urn:a"/>\n  <e:A rdf:ID="b c"><e:p>1</e:p></e:A><e:A rdf:about="urn:d"/>'
    )
    assert statements == [(f"<urn:{name}>", f"<{RDF}type>", "<urn:e:A>") for name in "ad"]
    assert places == [(3, 3)]


GOOD = b"".join(b'<e:A rdf:about="urn:%d"><e:p>%d</e:p></e:A>\n' % (number, number) for number in range(500))


@pytest.mark.parametrize(
    "bad",
    [
        b'<e:A rdf:about="http://q/?a=1&b=2"/>',
        b"<e:A><e:p>Q & A</e:p></e:A>",
        b"<e:A><e:p>1 < 2</e:p></e:A>",
        b'<e:A rdf:ID="1bad"/>',
        b'<e:A rdf:nodeID="0x"/>',
        b"<e:A><g:p>1</g:p></e:A>",
        b"<g:A/>",
        b'<A rdf:about="urn:x"/>',
        b'<rdf:Description about="urn:x"><e:p resource="urn:y"/></rdf:Description>',
        b'<e:A foo="1"/>',
        b"<e:A> text <e:p>1</e:p></e:A>",
        b"text",
        b"<e:A></e:B>",
        b"<e:A><e:p>1</e:A>",
        b'<rdf:Description rdf:about="urn:x"><e:p>1</e:p>',
        b'<e:A rdf:about="urn:x><e:p>1</e:p></e:A>',
        b"<e:A><e:p>&unknown;</e:p></e:A>",
        b'<e:A e:p="1" e:p="2"/>',
        b'<e:A rdf:about="urn:x"><e:p rdf:datatype="a b">1</e:p></e:A>',
        b'<e:A rdf:about="urn:x"><e:p xml:lang="en_GB">1</e:p></e:A>',
    ],
)
def test_one_fault_among_good_nodes_is_located_and_costs_no_other_node(bad: bytes) -> None:
    end = b"" if bad.startswith(b"<rdf:Description rdf:about") else b"\n"  # a node without end is met at the next one
    follower = b'<rdf:Description rdf:about="urn:next"><e:p>1</e:p></rdf:Description>\n'
    statements, problems = found(XML_START + GOOD + bad + end + follower + GOOD + END, Syntax.RDF_XML)
    subjects = [statement[0] for statement in statements]
    assert all(subjects.count(f"<urn:{number}>") == 4 for number in range(500))
    assert "<urn:next>" in subjects
    assert problems
    assert all(problem.line == 501 for problem in problems)


def test_unqualified_attributes_of_rdf_are_read_with_a_warning() -> None:
    inner = (
        b'<rdf:Description about="urn:a" type="urn:T"><e:p resource="urn:b"/>'
        b'<e:q parseType="Literal"><x about="1"/></e:q></rdf:Description>'
    )
    statements, problems = found(XML_START + inner + END, Syntax.RDF_XML)
    literal = f'"<x about=\\"1\\"></x>"^^<{RDF}XMLLiteral>'
    assert {s[1:3] for s in statements} == {
        (f"<{RDF}type>", "<urn:T>"),
        ("<urn:e:p>", "<urn:b>"),
        ("<urn:e:q>", literal),
    }
    assert len(problems) == 4
    assert all(problem.mended for problem in problems)


def test_identifiers_that_are_no_xml_names_keep_their_meaning() -> None:
    statements, _ = _read(b'<e:A rdf:ID="1x"><e:p rdf:nodeID="2"/></e:A><e:A rdf:nodeID="2"/>')
    subject, node = statements[0][0], statements[1][2]
    assert subject == "<http://example.org/doc#1x>"
    assert node.startswith("_:")
    assert statements[2][0] == node


def test_text_may_come_in_pieces() -> None:
    statements, places = _read(b'<e:A rdf:about="urn:a"><e:p>1 <![CDATA[< 2 & ]]>3<!-- 4 --> 5</e:p></e:A>')
    assert statements[-1][2] == '"1 < 2 & 3 5"'
    assert not places


def test_faults_everywhere_are_all_counted_and_the_end_is_told() -> None:
    statements, problems = found(XML_START + b'<e:A rdf:ID="b c"/>\n' * 5000 + END, Syntax.RDF_XML)
    assert not statements
    assert len(problems) <= 103
    assert any("the rest was left out" in problem.message for problem in problems)


def test_after_a_node_whose_end_cannot_be_told_the_rest_is_said_to_be_lost() -> None:
    inner = GOOD + b"<e:A><e:p><e:B><e:q>\n<e:A foo/>\n<e:A/>"
    statements, problems = found(XML_START + inner, Syntax.RDF_XML)
    assert len({statement[0] for statement in statements}) >= 500
    assert "the rest was left out" in problems[-1].message


def test_a_root_that_is_a_node_cannot_be_gone_on_with() -> None:
    root = XML_START.replace(b"rdf:RDF", b"rdf:Description")
    statements, problems = found(root + b"<e:p>1</e:p>\n<e:q>&x;</e:q><e:p>2</e:p></rdf:Description>", Syntax.RDF_XML)
    assert len(statements) == 1
    assert "the rest was left out" in problems[-1].message


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
    monkeypatch.setattr(guarded, "_MOST_ATTRIBUTES", 1000)
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


def test_entities_in_xml_literals_are_expanded() -> None:
    before = b'<!DOCTYPE rdf:RDF [<!ENTITY f "urn:f:"><!ENTITY t "1 &amp; 2">]>'
    inner = b'<e:A xmlns:f="&f;" rdf:about="urn:a"><e:p rdf:parseType="Literal"><f:b c="&t;">&t;</f:b></e:p></e:A>'
    statements, places = _read(inner, before)
    value = r"<f:b xmlns:f=\"urn:f:\" c=\"1 &amp; 2\">1 &amp; 2</f:b>"
    assert statements[-1][2] == f'"{value}"^^<{RDF}XMLLiteral>'
    assert not places


def test_a_document_that_is_no_xml_at_all_is_a_problem() -> None:
    for body in (b"hello", b"<", b"<rdf:RDF", b"", b"<?xml version='1.0'?>", b"{}"):
        statements, problems = found(body, Syntax.RDF_XML)
        assert not statements
        assert problems
