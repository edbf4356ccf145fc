"""The labels of charsets."""

from __future__ import annotations

import codecs

import pytest

from motherlode.detect.charset import CODECS, ENCODINGS, codec_of

COUNTS = {
    1: "gb18030 iso-8859-16 x-user-defined",
    2: "iso-2022-jp koi8-u utf-16be x-mac-cyrillic",
    3: "euc-jp iso-8859-13 iso-8859-14 iso-8859-8-i windows-1250 windows-1251 windows-1253 windows-1255 windows-1256"
    " windows-1257 windows-1258",
    4: "ibm866 macintosh",
    5: "big5 koi8-r",
    6: "iso-8859-15 replacement utf-8 windows-874",
    7: "iso-8859-10 utf-16le",
    8: "iso-8859-5 shift_jis",
    9: "gbk iso-8859-2 iso-8859-3 iso-8859-4",
    10: "euc-kr",
    11: "iso-8859-8",
    12: "iso-8859-7 windows-1254",
    14: "iso-8859-6",
    17: "windows-1252",
}
"""The standard's encodings by the number of their labels (WHATWG Encoding, section 4.2)."""


def test_every_label_of_the_standard_is_known() -> None:
    labels = {name: (name, *others.split()) for name, (_, others) in ENCODINGS.items()}
    expected = {name: count for count, names in COUNTS.items() for name in names.split()}
    assert {name: len(set(found)) for name, found in labels.items()} == expected
    assert len({label for found in labels.values() for label in found}) == 228, "and none stands for two"
    for name, found in labels.items():
        assert {codec_of(label) for label in found} == {ENCODINGS[name][0]}


def test_every_label_leads_to_a_codec_of_text() -> None:
    for codec in set(CODECS.values()):
        assert codecs.lookup(codec)._is_text_encoding
        assert isinstance(b"a\xe4\x00".decode(codec, "replace"), str)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        *(("greek", "Καλημέρα"), ("cyrillic", "Привет"), ("arabic", "مرحبا"), ("hebrew", "שלום"), ("logical", "שלום")),
        *(("csisolatin2", "Zażółć"), ("latin3", "Ĉu"), ("latin4", "Ķīna"), ("latin6", "Ŋ"), ("iso-8859-6-i", "مرحبا")),
        *(("ks_c_5601-1987", "한국어"), ("x-x-big5", "中文"), ("ms932", "日本語①"), ("tis-620", "ไทย"), ("l9", "€")),
    ],
)
def test_labels_mean_what_their_authors_write(label: str, text: str) -> None:
    codec = codec_of(label)
    assert codec is not None
    assert text.encode(codec).decode(codec) == text


@pytest.mark.parametrize("label", ["utf-7", "rot13", "hex", "idna", "unicode_escape", "zip", "", "nonsense", "utf_8\0"])
def test_labels_that_the_web_does_not_have(label: str) -> None:
    assert codec_of(label) is None
