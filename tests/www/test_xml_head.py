from __future__ import annotations

import time

import pytest

from motherlode.www.xml import MAX_ENTITY_BYTES, read_head

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
