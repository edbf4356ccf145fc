"""RDF/XML documents with and without faults."""

from __future__ import annotations

import pytest

from motherlode.model import Syntax
from motherlode.transform.rdf_documents import rdfxml, rdfxml_input, source

from .test_documents import XML_START, found

END = b"</rdf:RDF>"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _read(inner: bytes, before: bytes = b"") -> tuple[list[tuple[str, ...]], list[tuple[int | None, int | None]]]:
    statements, problems = found(before + XML_START + inner + END, Syntax.RDF_XML)
    return [s[:3] for s in statements], [(p.line, p.column) for p in problems]


def test_rdfxml_bad_node_loses_only_itself() -> None:
    statements, positions = _read(
        b'\n<e:A rdf:about="urn:a"/>\n  <e:A rdf:ID="b c"><e:p>1</e:p></e:A><e:A rdf:about="urn:d"/>'
    )
    assert statements == [(f"<urn:{name}>", f"<{RDF}type>", "<urn:e:A>") for name in "ad"]
    assert positions == [(3, 3)]


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
def test_rdfxml_fault_is_located_and_other_nodes_are_kept(bad: bytes) -> None:
    end = b"" if bad.startswith(b"<rdf:Description rdf:about") else b"\n"  # a missing end is detected at the next node
    follower = b'<rdf:Description rdf:about="urn:next"><e:p>1</e:p></rdf:Description>\n'
    statements, problems = found(XML_START + GOOD + bad + end + follower + GOOD + END, Syntax.RDF_XML)
    subjects = [statement[0] for statement in statements]
    assert all(subjects.count(f"<urn:{number}>") == 4 for number in range(500))
    assert "<urn:next>" in subjects
    assert problems
    assert all(problem.line == 501 for problem in problems)


def test_rdfxml_unqualified_rdf_attributes_are_read_with_a_problem() -> None:
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
    assert all(problem.repaired for problem in problems)


def test_rdfxml_identifier_that_is_no_xml_name_is_kept() -> None:
    statements, _ = _read(b'<e:A rdf:ID="1x"><e:p rdf:nodeID="2"/></e:A><e:A rdf:nodeID="2"/>')
    subject, node = statements[0][0], statements[1][2]
    assert subject == "<http://example.org/doc#1x>"
    assert node.startswith("_:")
    assert statements[2][0] == node


def test_rdfxml_text_in_several_pieces_is_joined() -> None:
    statements, positions = _read(b'<e:A rdf:about="urn:a"><e:p>1 <![CDATA[< 2 & ]]>3<!-- 4 --> 5</e:p></e:A>')
    assert statements[-1][2] == '"1 < 2 & 3 5"'
    assert not positions


def test_rdfxml_document_with_only_faults_is_given_up() -> None:
    statements, problems = found(XML_START + b'<e:A rdf:ID="b c"/>\n' * 5000 + END, Syntax.RDF_XML)
    assert not statements
    assert len(problems) <= 103
    assert any("the rest was left out" in problem.message for problem in problems)


def test_rdfxml_node_without_end_loses_the_rest() -> None:
    inner = GOOD + b"<e:A><e:p><e:B><e:q>\n<e:A foo/>\n<e:A/>"
    statements, problems = found(XML_START + inner, Syntax.RDF_XML)
    assert len({statement[0] for statement in statements}) >= 500
    assert "the rest was left out" in problems[-1].message


def test_rdfxml_error_in_root_node_ends_reading() -> None:
    root = XML_START.replace(b"rdf:RDF", b"rdf:Description")
    statements, problems = found(root + b"<e:p>1</e:p>\n<e:q></e:r><e:p>2</e:p></rdf:Description>", Syntax.RDF_XML)
    assert len(statements) == 1
    assert "the rest was left out" in problems[-1].message


def test_rdfxml_unreadable_start_tag_of_root_ends_reading() -> None:
    root = XML_START.replace(b"<rdf:RDF ", b'<rdf:RDF a:b:=n"c" ')
    assert root != XML_START
    statements, problems = found(root + b'<e:A rdf:about="urn:a"/><e:A rdf:about="urn:b"/>' + END, Syntax.RDF_XML)
    assert not statements
    assert "the rest was left out" in problems[-1].message


def test_rdfxml_malformed_xml_is_located() -> None:
    statements, positions = _read(b'\n<e:A rdf:about="urn:a"/>\n<e:A rdf:about="urn:b"></e:B>')
    assert len(statements) == 2
    assert positions[0][0] == 3


def test_rdfxml_invalid_iri_is_repaired_or_loses_only_its_statements() -> None:
    statements, positions = _read(
        b'\n<e:A rdf:about="urn:a"><e:p rdf:resource="x y"/><e:p>1</e:p></e:A>'
        b'\n<e:A><e:q><e:B e:r="2"><e:p rdf:resource="http://[z"/></e:B></e:q></e:A>'
    )
    nodes = {term for statement in statements for term in statement if term.startswith("_:")}
    assert len(nodes) == 2
    assert [s[2] for s in statements if s[2] not in nodes] == [
        *("<urn:e:A>", "<http://example.org/x%20y>", '"1"'),
        *("<urn:e:A>", "<urn:e:B>", '"2"'),
    ]
    assert positions == [(2, 24), (3, 24)]


def test_rdfxml_datatype_and_namespace_are_repaired() -> None:
    statements, problems = found(
        XML_START + b'<e:A xmlns:f="urn:f g:"><f:p rdf:datatype="urn:{d}">1</f:p></e:A>' + END, Syntax.RDF_XML
    )
    assert statements[1][1:3] == ("<urn:f%20g:p>", '"1"^^<urn:%7Bd%7D>')
    assert {(problem.message, problem.repaired) for problem in problems} == {
        ("not a valid IRI, read as <urn:f%20g:p>", True),
        ("not a valid IRI, read as <urn:%7Bd%7D>", True),
    }


def test_rdfxml_repeated_repaired_iri_is_reported_once() -> None:
    statements, problems = found(XML_START + b'<e:A rdf:about="urn:{a}"/>\n' * 5000 + END, Syntax.RDF_XML)
    assert len(statements) == 5000
    assert [problem.repaired for problem in problems] == [True]


def test_rdfxml_declared_entities_are_expanded() -> None:
    entities = b"<!ENTITY e 'urn:e:'>\n<!ENTITY t \"&e;x &amp; &#60;\">"
    before = b"<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE rdf:RDF [\n" + entities + b"]>\n"
    statements, positions = _read(b'<e:A rdf:about="&e;a"><e:p>&t;&lt;</e:p></e:A>', before)
    assert statements == [("<urn:e:a>", f"<{RDF}type>", "<urn:e:A>"), ("<urn:e:a>", "<urn:e:p>", '"urn:e:x & <<"')]
    assert not positions


def test_rdfxml_undeclared_html_entities_are_expanded() -> None:
    statements, positions = _read(b'\n<e:A rdf:about="urn:a"><e:p>caf&eacute;&nbsp;&amp;</e:p><e:q>x</e:q></e:A>')
    assert [s[2] for s in statements] == ["<urn:e:A>", '"café\xa0&"', '"x"']
    assert positions == [(2, 29)]


@pytest.mark.parametrize(
    "bad",
    [
        b"<e:p>1 &unknown; 2</e:p>",
        b'<e:p rdf:resource="&unknown;b"/>',
        b'<e:p rdf:datatype="&unknown;int">1</e:p>',
        b'<e:p rdf:parseType="Literal"><b>&unknown;</b></e:p>',
        b'<x:p xmlns:x="&unknown;">1</x:p>',
    ],
)
def test_rdfxml_undeclared_entity_loses_only_its_statement(bad: bytes) -> None:
    node = b'<e:A rdf:about="urn:a">\n<e:o>1</e:o>' + bad + b'<e:q>2</e:q></e:A><e:A rdf:about="urn:b"/>'
    statements, problems = found(XML_START + node + END, Syntax.RDF_XML)
    assert [s[:3] for s in statements] == [
        ("<urn:a>", f"<{RDF}type>", "<urn:e:A>"),
        ("<urn:a>", "<urn:e:o>", '"1"'),
        ("<urn:a>", "<urn:e:q>", '"2"'),
        ("<urn:b>", f"<{RDF}type>", "<urn:e:A>"),
    ]
    assert [(problem.line, "&unknown;" in problem.message) for problem in problems] == [(2, True)]


def test_rdfxml_document_longer_than_window_is_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "PART_BYTES", 20_000)
    monkeypatch.setattr(source, "WINDOW_BYTES", 1 << 16)
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(rdfxml, "_PROLOG_BYTES", 1 << 12)
    nodes = [b'<e:A rdf:about="urn:%d"><e:p rdf:nodeID="n%d"/><e:q/></e:A>\n' % (n, n % 7) for n in range(6000)]
    expected, _ = found(XML_START + b"".join(nodes) + END, Syntax.RDF_XML)
    assert len(expected) == 18_000
    nodes[2000] = nodes[2000].replace(b"<e:q/>", b"<e:q>&unknown;</e:q>")
    nodes[4000] = nodes[4000].replace(b"<e:q/>", b"<e:q></e:r>")
    statements, problems = found(XML_START + b"".join(nodes) + END, Syntax.RDF_XML)
    lost = {("<urn:2000>", "<urn:e:q>"), ("<urn:4000>", "<urn:e:q>")}
    assert [s[:2] for s in statements] == [s[:2] for s in expected if s[:2] not in lost]
    assert len({s[2] for s in statements if s[1] == "<urn:e:p>"}) == 7, "names of nodes hold throughout"
    assert [problem.line for problem in problems] == [2001, 4001]


@pytest.mark.parametrize("root", [b' xml:lang="de"', b' xml:lang=""', b""])
def test_rdfxml_empty_language_cancels_outer_language(root: bytes) -> None:
    start = XML_START.replace(b"<rdf:RDF", b"<rdf:RDF" + root)
    node = b'<rdf:Description rdf:about="urn:a"><e:p xml:lang="">1</e:p><e:p xml:lang="fr">2</e:p><e:p>3</e:p>'
    literal = b'<e:p rdf:parseType="Literal" xml:lang=""><b xml:lang="">4</b></e:p></rdf:Description>'
    nodes = b'<e:A rdf:about="urn:a" xml:lang=""><e:p>5</e:p></e:A>' + GOOD
    statements, problems = found(start + node + literal + nodes + END, Syntax.RDF_XML)
    around = "@de" if b"de" in root else ""
    values = [s[2] for s in statements if s[:2] == ("<urn:a>", "<urn:e:p>")]
    assert values[:3] == ['"1"', '"2"@fr', f'"3"{around}']
    assert values[3].startswith('"<b xml:lang=')
    assert values[4] == '"5"'
    assert statements[-1][2] == f'"499"{around}'
    assert not problems


@pytest.mark.parametrize("reference", [b"&#xD800;", b"&#0;", b"&#x110000;", b"&#99999999999;"])
def test_rdfxml_invalid_character_reference_loses_only_its_statement(reference: bytes) -> None:
    statements, positions = _read(b'\n<e:A rdf:about="urn:a"><e:p>%s</e:p><e:q>&#233;&#xe9;</e:q></e:A>' % reference)
    assert [s[2] for s in statements] == ["<urn:e:A>", '"éé"']
    assert positions == [(2, 29)]


def test_rdfxml_relative_base_is_resolved_against_outer_base() -> None:
    statements, problems = found(
        XML_START.replace(b"<rdf:RDF", b'<rdf:RDF xml:base="sub/"')
        + b'<e:A rdf:about="a" xml:base="../x?y=1&amp;z=2"><e:p rdf:resource="#b"/></e:A><e:A rdf:about="c"/>'
        + b'<e:A rdf:about="d" xml:base="http://other.example/f/"><e:p xml:base=".." rdf:resource="g"/></e:A>'
        + GOOD
        + END,
        Syntax.RDF_XML,
    )
    assert [s[:3] for s in statements if s[0].startswith("<http")] == [
        ("<http://example.org/a>", f"<{RDF}type>", "<urn:e:A>"),
        ("<http://example.org/a>", "<urn:e:p>", "<http://example.org/x?y=1&z=2#b>"),
        ("<http://example.org/sub/c>", f"<{RDF}type>", "<urn:e:A>"),
        ("<http://other.example/f/d>", f"<{RDF}type>", "<urn:e:A>"),
        ("<http://other.example/f/d>", "<urn:e:p>", "<http://other.example/g>"),
    ]
    assert not problems


@pytest.mark.parametrize("parse_type", [b"daml:collection", b"", b"literal"])
def test_rdfxml_unknown_parse_type_is_a_literal(parse_type: bytes) -> None:
    inner = b'<e:A rdf:about="urn:a"><e:p rdf:parseType="%s"><e:B/> &amp;</e:p><e:q>1</e:q></e:A>' % parse_type
    statements, problems = found(XML_START + GOOD + inner + GOOD + END, Syntax.RDF_XML)
    assert [s[1:3] for s in statements if s[0] == "<urn:a>"] == [
        (f"<{RDF}type>", "<urn:e:A>"),
        ("<urn:e:p>", f'"<e:B xmlns:e=\\"urn:e:\\"></e:B> &amp;"^^<{RDF}XMLLiteral>'),
        ("<urn:e:q>", '"1"'),
    ]
    assert len(statements) == 2003
    assert not problems


def test_rdfxml_literal_with_own_namespaces_is_kept() -> None:
    inner = b"<div xmlns=\"urn:x\" xmlns:y='urn:y' class='1'>a &lt; b<y:i/></div> c &amp; d"
    statements, positions = _read(b'<e:A rdf:about="urn:a"><e:p rdf:parseType="Literal">' + inner + b"</e:p></e:A>")
    value = r"<div xmlns=\"urn:x\" class=\"1\">a &lt; b<y:i xmlns:y=\"urn:y\"></y:i></div> c &amp; d"
    assert statements[-1][2] == f'"{value}"^^<{RDF}XMLLiteral>'
    assert not positions


def test_rdfxml_node_in_place_of_property_does_not_turn_properties_into_nodes() -> None:
    inner = b"<rdf:Description><e:p>1</e:p></rdf:Description><e:q>2</e:q>"
    node = b'<rdf:Description rdf:about="urn:a"><e:o>0</e:o>' + inner + b"</rdf:Description>"
    statements, problems = found(XML_START + GOOD + node + GOOD + END, Syntax.RDF_XML)
    assert len(statements) == 2001
    assert {s[0][:5] for s in statements} == {"<urn:"}, "nothing was made up"
    assert len(problems) == 1


@pytest.mark.parametrize(
    "node",
    [
        b'Description rdf:about="urn:a"><e:p>1</e:p><e:q>2</e:q></rdf:Description>',
        b'<rdf:Desc</e:A>ription rdf:about="urn:a"><e:p>1</e:p><e:q>2</e:q></rdf:Description>',
        b'<rdf:Description rdf:about="urn:a"><e:p>1</e:p></e:x></e:y><e:q>2</e:q></rdf:Description>',
        b'<rdf:Description rdf:about="urn:a"><e:p rdf:parseType="Resource">z</e:s></e:p><e:q>2</e:q></rdf:Description>',
    ],
)
def test_rdfxml_extra_end_tag_does_not_turn_properties_into_nodes(node: bytes) -> None:
    statements, problems = found(XML_START + GOOD + node + GOOD + END, Syntax.RDF_XML)
    assert sum(s[0] != "<urn:a>" for s in statements) == 2000
    assert not [s for s in statements if s[2] in ("<urn:e:p>", "<urn:e:q>")]
    assert problems


def test_rdfxml_missing_space_between_attributes_is_repaired() -> None:
    inner = b'<e:A foo="1"/><e:A rdf:about="urn:a"e:p="1"/><e:A rdf:about="urn:b"/>'
    statements, positions = _read(inner)
    assert [s[2] for s in statements] == ["<urn:e:A>", "<urn:e:A>", '"1"', "<urn:e:A>"]
    assert len(positions) == 2


@pytest.mark.parametrize(
    "end",
    [
        b"",
        b"<e:A rdf:about='urn:x'>",
        b"<e:A rdf:about='urn:x'><e:p>1",
        b"<e:A><e:p>&unknown;</e:p></e:A>",
        b"<!-- </rdf:RDF -->"[:9],
    ],
)
@pytest.mark.parametrize("before", [b"", GOOD * 40], ids=["short", "long"])
def test_rdfxml_truncated_document_is_a_problem(before: bytes, end: bytes) -> None:
    _, problems = found(XML_START + before + end, Syntax.RDF_XML)
    assert any("ends before" in problem.message or "not closed" in problem.message for problem in problems)


@pytest.mark.parametrize("end", [b"</rdf:RDF>", b"</rdf:RDF >\n<!-- the end -->\n<?pi?>\n"])
def test_rdfxml_complete_document_is_not_truncated(end: bytes) -> None:
    assert not found(XML_START + GOOD + end, Syntax.RDF_XML)[1]
    assert not found(XML_START[: XML_START.rindex(b">")] + b"/>", Syntax.RDF_XML)[1]


def test_rdfxml_entity_with_any_character_is_escaped() -> None:
    before = b"<!DOCTYPE rdf:RDF [<!ENTITY t 'a>b]>c[&#34;d%e;'>]>"
    statements, positions = _read(b'<e:A rdf:about="urn:a"><e:p>&t;</e:p><e:q e:r="&t;"/></e:A>', before)
    assert [s[2] for s in statements if s[2].startswith('"')] == ['"a>b]>c[\\"d%e;"'] * 2
    assert not positions


def test_rdfxml_external_entities_are_not_loaded() -> None:
    before = b'<!DOCTYPE rdf:RDF SYSTEM "file:///etc/hosts" [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'
    statements, positions = _read(b'<e:A rdf:about="urn:a"/>\n<e:A rdf:about="urn:b"><e:p>&x;</e:p></e:A>', before)
    assert [s[0] for s in statements] == ["<urn:a>", "<urn:b>"]
    assert positions == [(3, 29)]


def test_rdfxml_entity_expansion_is_limited() -> None:
    before = b'<!DOCTYPE rdf:RDF [<!ENTITY x "' + b"x" * 4000 + b'">]>'
    inner = b'<e:A rdf:about="urn:a"/>' + b'<e:A rdf:about="urn:b"><e:p>' + b"&x;" * 100_000 + b"</e:p></e:A>"
    statements, problems = found(before + XML_START + inner + END, Syntax.RDF_XML)
    assert {s[0] for s in statements} == {"<urn:a>", "<urn:b>"}
    assert any("entities" in problem.message for problem in problems)


@pytest.mark.parametrize("padding", range(8180, 8200))
def test_rdfxml_entity_declared_after_root_ends_reading(padding: int) -> None:
    inner = b"<!--" + b"x" * padding + b'--><!DOCTYPE a [<!ENTITY x "boo">]><e:A rdf:about="urn:a"><e:p>&x;</e:p></e:A>'
    statements, problems = found(XML_START + b'<e:A rdf:about="urn:good"/>' + inner + END, Syntax.RDF_XML)
    assert [statement[0] for statement in statements] == ["<urn:good>"]
    assert any("declared outside the document type" in problem.message for problem in problems)


def test_rdfxml_too_many_attributes_end_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfxml_input, "_MAX_ATTRIBUTES", 1000)
    attributes = b" ".join(b'e:p%d="1"' % number for number in range(5000))
    statements, problems = found(
        XML_START + b'<e:A rdf:about="urn:a"/><e:A ' + attributes + b"/>" + END, Syntax.RDF_XML
    )
    assert len(statements) == 1
    assert any("attributes" in problem.message for problem in problems)


def test_rdfxml_xml_literals_are_canonical() -> None:
    statements, positions = _read(
        b'<rdf:Description rdf:about="urn:a"><e:p rdf:parseType="Literal"><b c="1"/> &amp;</e:p></rdf:Description>'
    )
    assert statements == [("<urn:a>", "<urn:e:p>", f'"<b c=\\"1\\"></b> &amp;"^^<{RDF}XMLLiteral>')]
    assert not positions


def test_rdfxml_entities_in_xml_literals_are_expanded() -> None:
    before = b'<!DOCTYPE rdf:RDF [<!ENTITY f "urn:f:"><!ENTITY t "1 &amp; 2">]>'
    inner = b'<e:A xmlns:f="&f;" rdf:about="urn:a"><e:p rdf:parseType="Literal"><f:b c="&t;">&t;</f:b></e:p></e:A>'
    statements, positions = _read(inner, before)
    value = r"<f:b xmlns:f=\"urn:f:\" c=\"1 &amp; 2\">1 &amp; 2</f:b>"
    assert statements[-1][2] == f'"{value}"^^<{RDF}XMLLiteral>'
    assert not positions


def test_rdfxml_non_xml_document_is_a_problem() -> None:
    for body in (b"hello", b"<", b"<rdf:RDF", b"", b"<?xml version='1.0'?>", b"{}"):
        statements, problems = found(body, Syntax.RDF_XML)
        assert not statements
        assert problems
