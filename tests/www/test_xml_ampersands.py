"""Repair of bare ampersands."""

from __future__ import annotations

import time

import pytest

from motherlode.www.xml import escape_ampersands


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
