"""The tantivy schema, the analysis of text into words, and opening an index."""

import logging
import re
import shutil
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

import msgspec
import tantivy

from motherlode.index.fulltext.documents import SubjectDocument
from motherlode.index.snapshot import is_refused
from motherlode.www.urls import host_of

_logger = logging.getLogger(__name__)
_ANALYZER_NAME = "folded-words"
"""Stored in the schema of the index. Change it together with the analysis, so that old indexes are rebuilt."""
_MAX_WORD_BYTES = 60
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_UNSPACED = re.compile(f"([{UNSPACED}])")
ACCENTS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
"""Combining marks that most people do not type: accents, and the vowel points of Hebrew and Arabic."""
_ACCENTS = re.compile(f"[{ACCENTS}]")
_BEYOND_LATIN = re.compile("[\u0300-\u1dff\u1f00-\u1fff\u2c00-\U0010ffff]")
"""Combining marks, and scripts whose accents tantivy's ASCII folding does not remove. Most texts have none."""

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(SubjectDocument).decode


@cache
def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("page", "host", "type", "predicate", "language"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("label", "text"):
        builder.add_text_field(name, tokenizer_name=_ANALYZER_NAME)
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


@cache
def analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer: case-folded words without Latin accents, not stemmed because pages have many languages."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_MAX_WORD_BYTES))
    # fold before lowercase: folding may produce a capital (ǧ), and lowercase İ has a combining dot that is not folded
    return builder.filter(tantivy.Filter.ascii_fold()).filter(tantivy.Filter.lowercase()).build()


def remove_accents(text: str) -> str:
    """Return text without accents, in any script. Tantivy removes only those of Latin."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    return plain.replace("ς", "σ")  # final sigma is the same letter, with the same capital


def normalize_text(text: str) -> str:
    """Return text without accents, with spaces around each character of a script that puts no spaces between words."""
    if text.isascii() or not _BEYOND_LATIN.search(text):
        return text
    return " ".join(_UNSPACED.split(remove_accents(text)))


def tokenize(text: str) -> list[str]:
    return analyzer().analyze(normalize_text(text))


def open_index(path: Path, *, create: bool = False) -> tantivy.Index:
    """Open the index in a folder, or create it if `create` is set and there is none or one that cannot be used.

    Without `create`: FileNotFoundError if there is none, ValueError if it is damaged or has another schema.
    """
    if not create and not (path.is_dir() and tantivy.Index.exists(str(path))):
        raise FileNotFoundError(path)
    path.mkdir(parents=True, exist_ok=True)
    try:
        index = tantivy.Index(schema(), str(path))
    except ValueError as error:
        if not create or is_refused(error):
            raise
        _logger.warning("the index of words in %s cannot be used (%s): it is built again", path, error)
        shutil.rmtree(path)
        return open_index(path, create=True)
    index.register_tokenizer(_ANALYZER_NAME, analyzer())
    return index


def to_tantivy(document: SubjectDocument, encoded: bytes) -> tantivy.Document:
    """Return a document for tantivy. A search returns `encoded`."""
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
    if name := document.name:
        made.add_text("label", normalize_text(name))
    for text in document.texts:  # one value per literal, so that a phrase cannot match across two literals
        made.add_text("text", normalize_text(text.value))
    made.add_bytes("stored", encoded)
    return made


@lru_cache(maxsize=64)
def _domains(page: str) -> list[str]:
    """Return the host of a page and its parent domains. Cached, because a page has several documents in a row."""
    return domain_suffixes(host_of(page))


def domain_suffixes(host: str) -> list[str]:
    """Return a host and its parent domains, without the top-level domain."""
    parts = host.split(".")
    return [host, *(".".join(parts[start:]) for start in range(1, len(parts) - 1))]


def language_prefixes(language: str) -> list[str]:
    """Return a language tag and its prefixes, the shortest first."""
    parts = language.split("-") if language else []
    return ["-".join(parts[:end]) for end in range(1, len(parts) + 1)]
