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

from motherlode.index.words.documents import SubjectDocument
from motherlode.www.urls import host_of

if TYPE_CHECKING:
    import tantivy

_ANALYSER = "words"
_LONGEST_WORD = 60
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_UNSPACED = re.compile(f"[{UNSPACED}]+")


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(SubjectDocument).decode


@cache
def schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("page", "host", "type", "predicate", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("label", "text"):
        builder.add_text_field(name, tokenizer_name=_ANALYSER)
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


@cache
def analyser() -> tantivy.TextAnalyzer:
    """Letters and digits make words, without case and accents; no stemming, because the web speaks every language."""
    import tantivy

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    # accents go before case: folding may leave a capital (ǧ), and İ in lower case is an i with a dot that no fold takes
    filters = (tantivy.Filter.remove_long(_LONGEST_WORD), tantivy.Filter.ascii_fold(), tantivy.Filter.lowercase())
    for step in filters:
        builder = builder.filter(step)
    return builder.build()


def spaced(text: str) -> str:
    """Text in which every character of a script without spaces is a word of its own, found as a phrase.

    >>> spaced("rice 米飯"), spaced("cafe\\u0301") == "café"
    ('rice  米  飯 ', True)
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return _UNSPACED.sub(lambda match: f" {'  '.join(match[0])} ", text)


def tokens(text: str) -> list[str]:
    """The words of a text as the index knows them."""
    return analyser().analyze(spaced(text))


def open_index(path: Path, *, create: bool = False) -> tuple[tantivy.Index, bool]:
    """The index in a folder, and whether it was made just now; one of another version is made anew."""
    import tantivy

    fresh = not (path.is_dir() and tantivy.Index.exists(str(path)))
    if fresh and not create:
        raise FileNotFoundError(path)
    path.mkdir(parents=True, exist_ok=True)
    try:
        index = tantivy.Index(schema(), str(path))
    except ValueError:  # the fields have changed since
        if not create:
            raise
        shutil.rmtree(path)
        path.mkdir()
        index, fresh = tantivy.Index(schema(), str(path)), True
    index.register_tokenizer(_ANALYSER, analyser())
    return index, fresh


def written(document: SubjectDocument, encoded: bytes) -> tantivy.Document:
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
        for prefix in prefixes(language):
            made.add_text("language", prefix)
    name = document.name
    if name:
        made.add_text("label", spaced(name))
    for text in document.texts:  # one value each: a phrase does not reach from one literal into the next
        made.add_text("text", spaced(text.value))
    made.add_bytes("stored", encoded)
    return made


@lru_cache(maxsize=64)
def _domains(page: str) -> list[str]:
    """A page has several documents, one after the other."""
    return suffixes(host_of(page), ".")


def suffixes(host: str, separator: str) -> list[str]:
    """A host and the domains above it.

    >>> suffixes("shop.example.org", ".")
    ['shop.example.org', 'example.org']
    """
    parts = host.split(separator)
    return [host, *(separator.join(parts[start:]) for start in range(1, len(parts) - 1))]


def prefixes(language: str) -> list[str]:
    """A language tag and those that are less exact.

    >>> prefixes("de-ch"), prefixes("")
    (['de', 'de-ch'], [])
    """
    parts = language.split("-") if language else []
    return ["-".join(parts[:end]) for end in range(1, len(parts) + 1)]
