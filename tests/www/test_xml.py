"""XML: heads, trees of untrusted documents, bare ampersands and names."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lxml import etree

from motherlode.www.xml import (
    MAX_ENTITY_BYTES,
    coerce_ncname,
    escape_ampersands,
    is_ncname,
    local_name,
    parse_xml,
    read_head,
)

# read_head

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b" \n",
        b'<?xml version="1.0" encoding="utf-8"?>\n',
        b"<!-- <html> -->",
        b'<?xml-stylesheet href="x.xsl"?>',
        b"<!DOCTYPE rdf:RDF>",
        b'<!DOCTYPE rdf:RDF PUBLIC "-//x>y//" "http://example.org/[x]">',
        b'<!DOCTYPE rdf:RDF [ <!-- ]> \' --> <!ELEMENT a (b)> <!ENTITY c "]>"> <?pi ]> ?> ]>\n<!-- more -->',
    ],
)
def test_read_head_finds_root_after_prolog(before: bytes) -> None:
    head = read_head(before + f'<rdf:RDF xml:lang="en" xmlns:rdf="{RDF}">'.encode())
    assert head is not None
    assert (head.namespace, head.name, head.root_offset) == (RDF, "RDF", len(before))


@pytest.mark.parametrize("text", [b"", b"<", b"plain", b"<!-- open", b"<!DOCTYPE a [", b"< a>", b"</a>", b"<?xml"])
def test_read_head_without_root_is_none(text: bytes) -> None:
    assert read_head(text) is None


def test_read_head_cut_root_keeps_first_namespaces() -> None:
    head = read_head(b'<a:b xmlns:a="urn:a" xmlns:c="urn:')
    assert head is not None
    assert head.namespace == "urn:a"


def test_read_head_accepts_single_quotes_and_default_namespace() -> None:
    head = read_head(b"<html\n  lang = 'en'\n  xmlns\n=\n'http://www.w3.org/1999/xhtml'>")
    assert head is not None
    assert (head.name, head.namespace) == ("html", "http://www.w3.org/1999/xhtml")


def test_read_head_encoding_comes_from_declaration_only() -> None:
    head = read_head(b'<?xml version="1.0" encoding=\'ISO-8859-1\'?><a encoding="x"/>')
    assert head is not None
    assert head.encoding == "ISO-8859-1"


def test_read_head_entities_are_expanded_and_first_declaration_counts() -> None:
    head = read_head(b'<!DOCTYPE a [<!ENTITY x "&y;z&#65;"><!ENTITY y \'1&lt;\'><!ENTITY x "no">]><a xmlns="&x;"/>')
    assert head is not None
    assert head.entities == {"x": "1<zA", "y": "1<"}
    assert head.namespace == "1<zA"


def test_read_head_external_and_parameter_entities_are_ignored() -> None:
    head = read_head(b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % p "v"><!ENTITY y "&x;">]><a/>')
    assert head is not None
    assert head.entities == {}
    assert head.refused_entities == 1


def test_read_head_growing_entities_are_refused() -> None:
    laughs = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 30))
    started = time.process_time()
    head = read_head(b'<!DOCTYPE a [<!ENTITY l0 "ha">' + laughs + b"]><a/>")
    assert time.process_time() - started < 5
    assert head is not None
    assert max(map(len, head.entities.values())) <= MAX_ENTITY_BYTES
    assert head.refused_entities > 20


def test_read_head_recursive_entities_are_refused() -> None:
    head = read_head(b'<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a/>')
    assert head is not None
    assert head.refused_entities == 2


def test_read_head_many_empty_entities_are_fast() -> None:
    nothing = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 100) for i in range(1, 30))
    started = time.process_time()
    head = read_head(b'<!DOCTYPE a [<!ENTITY l0 "">' + nothing + b"]><a/>")
    assert time.process_time() - started < 5
    assert head is not None
    assert set(head.entities.values()) == {""}


@pytest.mark.parametrize(
    "piece", [b"<!--", b"<?", b"<!DOCTYPE a [", b'<!DOCTYPE a "', b"<a ", b"<a b='", b" ", b"<!ENTITY ", b"<"]
)
def test_read_head_takes_linear_time(piece: bytes) -> None:
    started = time.process_time()
    read_head(b"<!DOCTYPE a [" + piece * (200_000 // len(piece)))
    read_head(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 5


# parse_xml


def test_parse_xml_broken_document_is_repaired_and_error_located() -> None:
    tree = parse_xml(b"<a>\n<b>one</b>\n<c>two</a>", charset="utf-8")
    assert tree.root is not None
    assert [local_name(child) for child in tree.root] == ["b", "c"]
    assert tree.error and tree.line == 3


def test_parse_xml_bare_ampersand_is_kept_and_reported() -> None:
    tree = parse_xml(b"<a>\n<loc>http://e.org/?a=1&b=2&amp;c=3</loc>\n<b c='?d=1&e'/></a>", charset="utf-8")
    assert tree.root is not None
    assert tree.root[0].text == "http://e.org/?a=1&b=2&c=3"
    assert tree.root[1].get("c") == "?d=1&e"
    assert tree.error and tree.line == 2


def test_parse_xml_noise_has_no_root() -> None:
    for noise in (b"", b"   ", b"no markup", b"\x00\x01"):
        tree = parse_xml(noise, charset="utf-8")
        assert tree.root is None and tree.error


def test_parse_xml_external_entities_are_not_loaded(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    body = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><a t="v">before&x;after</a>'.encode()
    tree = parse_xml(body, charset="utf-8")
    assert tree.root is not None
    assert tree.root.xpath("//text()") == ["before", "after"]


def test_parse_xml_billion_laughs_stay_small() -> None:
    entities = b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 12))
    for use in (b"<a>&a11;</a>", b'<a b="&a11;"/>'):
        started = time.process_time()
        tree = parse_xml(b'<!DOCTYPE a [<!ENTITY a0 "ha">' + entities + b"]>" + use, charset="utf-8")
        assert tree.root is None or sum(map(len, tree.root.itertext())) < 1000
        assert time.process_time() - started < 10


def test_parse_xml_deep_nesting_is_cut_and_reported() -> None:
    tree = parse_xml(b"<a>" * 100_000, charset="utf-8")
    assert tree.error


def test_parse_xml_charset_unknown_to_one_library_is_read() -> None:
    tree = parse_xml("<a>Привет</a>".encode("koi8-r"), charset="koi8-r")
    assert tree.root is not None and tree.root.text == "Привет"
    for codec in ("utf-16-le", "utf-16-be"):
        tree = parse_xml("<a>é</a>".encode(codec), charset=codec)
        assert tree.root is not None and tree.root.text == "é"


@pytest.mark.parametrize("entity", ["&nbsp;", "&bogus;"])
def test_parse_xml_undeclared_entity_keeps_the_other_ampersands(entity: str) -> None:
    tree = parse_xml(f"<r><a>x{entity}</a><b>?a=1&amp;b=2&c=3</b></r>".encode(), charset="utf-8")
    assert tree.error
    assert [child.text for child in tree.root] == ["x\xa0" if entity == "&nbsp;" else "x", "?a=1&b=2&c=3"]


def test_parse_xml_declared_entity_is_no_error() -> None:
    tree = parse_xml(b'<!DOCTYPE r [<!ENTITY nbsp "y">]><r><a>&nbsp;</a><b>a&b</b></r>', charset="utf-8")
    assert tree.root[1].text == "a&b"
    assert not tree.root[0].text  # declared entities are not expanded


# Repair of bare ampersands


@pytest.mark.parametrize(
    "body",
    [
        b"<a/>",
        b"<a>&lt; &#38; &#x26; &eacute; &own.name;</a>",
        b"<a><!-- & --><?b &?><![CDATA[ & ]]></a>",
        "<a>&ü;</a>".encode(),
        "<a>1 & 2</a>".encode("utf-16"),
    ],
)
def test_escape_ampersands_keeps_well_formed_documents(body: bytes) -> None:
    assert escape_ampersands(body) == body


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (b"<a>&</a>", b"<a>&amp;</a>"),
        (b"<a>&&amp;</a>", b"<a>&amp;&amp;</a>"),
        (b"<a b='&c=1'>&#;&#x;&#xZ;&1;</a>", b"<a b='&amp;c=1'>&amp;#;&amp;#x;&amp;#xZ;&amp;1;</a>"),
        (b"<a>AT&T <![CDATA[&]]> &</a>", b"<a>AT&amp;T <![CDATA[&]]> &amp;</a>"),
        (b"<a>& <!-- no end &", b"<a>&amp; <!-- no end &"),
    ],
)
def test_escape_ampersands_escapes_bare_ones(body: bytes, made: bytes) -> None:
    assert escape_ampersands(body) == made


@pytest.mark.parametrize("piece", [b"<!--", b"<![CDATA[", b"<?", b"&", b"&a", b"&#", b"<!-- & -->"])
def test_escape_ampersands_hostile_text_is_fast(piece: bytes) -> None:
    began = time.process_time()
    escape_ampersands(b"<a>" + piece * 200_000)
    assert time.process_time() - began < 2


# Names without a colon


@pytest.mark.parametrize("name", ["a", "_", "é", "a-b.c", "a1", "Ω·", "名前"])
def test_valid_name_is_accepted_and_not_changed(name: str) -> None:
    assert is_ncname(name)
    assert coerce_ncname(name) == name


@pytest.mark.parametrize("name", ["", "1", "-a", ".", "a b", "a:b", "a<", "×", "a\n"])
def test_invalid_name_is_rejected_and_coerced_to_a_valid_one(name: str) -> None:
    assert not is_ncname(name)
    if name:
        assert etree.QName(coerce_ncname(name)).localname == coerce_ncname(name)
