"""Tantivy: the fields of a document, how text is cut into words, and how an index is opened.

Nothing but this package knows the engine, and it is loaded when the first index is opened: most commands never do.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from motherlode.index.fulltext.documents import SubjectDocument
from motherlode.www.urls import host_of

if TYPE_CHECKING:
    import tantivy

_ANALYZER_NAME = "folded-words"
"""Stands in the index itself: with another name an index that spells words in another way is made anew."""
_MAX_WORD_BYTES = 60
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")
ACCENTS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
"""Marks on letters that most people do not type: accents, the vowels of Hebrew and Arabic."""
_ACCENTS = re.compile(f"[{ACCENTS}]+")
_BEYOND_LATIN = re.compile("[\u0300-\u1dff\u1f00-\u1fff\u2c00-\U0010ffff]")
"""Marks that stand apart, and letters of scripts whose accents the engine does not know. Most texts have none."""

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(SubjectDocument).decode


@cache
def schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("page", "host", "type", "predicate", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("label", "text"):
        builder.add_text_field(name, tokenizer_name=_ANALYZER_NAME)
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """Letters and digits make words, without case and accents; no stemming, because the web speaks every language."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    # accents go before case: folding may leave a capital (ǧ), and İ in lower case is an i with a dot that no fold takes
    filters = (tantivy.Filter.remove_long(_MAX_WORD_BYTES), tantivy.Filter.ascii_fold(), tantivy.Filter.lowercase())
    for step in filters:
        builder = builder.filter(step)
    return builder.build()


def remove_accents(text: str) -> str:
    """Text without accents, in any script: the engine knows those of Latin only.

    >>> remove_accents("Αθήνα"), remove_accents("чёрный чай"), remove_accents("שָׁלוֹם"), remove_accents("한국어 ガラス ｶﾞﾗｽ")
    ('Αθηνα', 'черныи чаи', 'שלום', '한국어 ガラス ガラス')
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return plain.replace("ς", "σ")  # the same letter at the end of a word; a capital tells no difference


def normalize_text(text: str) -> str:
    """Text without accents in which every character of a script without spaces is a word, found as a phrase.

    >>> normalize_text("rice 米飯"), normalize_text("cafe\\u0301")
    ('rice  米  飯 ', 'cafe')
    """
    if text.isascii() or not _BEYOND_LATIN.search(text):
        return text
    return _UNSPACED.sub(lambda match: f" {'  '.join(match[0])} ", remove_accents(text))


def tokenize(text: str) -> list[str]:
    """The words of a text as the index knows them."""
    return analyzer().analyze(normalize_text(text))


def open_index(path: Path, *, create: bool = False) -> tantivy.Index:
    """The index in a folder, which is made where there is none; one of another version is made anew."""
    import tantivy

    if not create and not (path.is_dir() and tantivy.Index.exists(str(path))):
        raise FileNotFoundError(path)
    path.mkdir(parents=True, exist_ok=True)
    try:
        index = tantivy.Index(schema(), str(path))
    except ValueError:  # the fields have changed since
        if not create:
            raise
        shutil.rmtree(path)
        path.mkdir()
        index = tantivy.Index(schema(), str(path))
    index.register_tokenizer(_ANALYZER_NAME, analyzer())
    return index


def to_tantivy(document: SubjectDocument, encoded: bytes) -> tantivy.Document:
    """A document as the engine takes it; it gives back what is encoded here."""
    import tantivy

    made = tantivy.Document()
    made.add_text("page", document.page)
    for host in _domains(document.page):
        made.add_text("host", host)
    for name in document.types:
        made.add_text("type", name)
    for predicate in {text.predicate for text in document.texts}:
        made.add_text("predicate", predicate)
    for language in {text.language for text in document.texts if text.language}:
        for prefix in language_prefixes(language):
            made.add_text("language", prefix)
    name = document.name
    if name:
        made.add_text("label", normalize_text(name))
    for text in document.texts:  # one value each: a phrase does not reach from one literal into the next
        made.add_text("text", normalize_text(text.value))
    made.add_bytes("stored", encoded)
    return made


@lru_cache(maxsize=64)
def _domains(page: str) -> list[str]:
    """A page has several documents, one after the other."""
    return domain_suffixes(host_of(page), ".")


def domain_suffixes(host: str, separator: str) -> list[str]:
    """A host and the domains above it.

    >>> domain_suffixes("shop.example.org", ".")
    ['shop.example.org', 'example.org']
    """
    parts = host.split(separator)
    return [host, *(separator.join(parts[start:]) for start in range(1, len(parts) - 1))]


def language_prefixes(language: str) -> list[str]:
    """A language tag and those that are less exact.

    >>> language_prefixes("de-ch"), language_prefixes("")
    (['de', 'de-ch'], [])
    """
    parts = language.split("-") if language else []
    return ["-".join(parts[:end]) for end in range(1, len(parts) + 1)]
