"""From a page's statements to what the word index keeps: one document for each subject of each graph of the page.

A subject is found by all that a page says of it, so that "margherita mario" finds the recipe whose name is the one and
whose author is the other; and each literal keeps its predicate and language beside it, so that a search can be held to
them. Numbers, dates and truth values are no words and stay in the quad store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from motherlode.index.page_record import PageRecord
from motherlode.model.terms import RDF, XSD, page_iri

LABELS = ("prefLabel", "label", "name", "title", "headline", "fn", "p-name", "altLabel", "alternateName", "caption")
"""Local names of predicates that name their subject, the best first; vocabularies agree on little else."""

_RANKS = {name: rank for rank, name in enumerate(LABELS)}
_NO_NAME = len(LABELS)
_MAX_LABEL_CHARACTERS = 160

MAX_TEXT_CHARACTERS = 20_000
"""Characters of one literal that can be found; whole books are not what a search is for."""
MAX_LITERALS_PER_SUBJECT = 1_000
"""Literals of one subject on one page; a subject with more is a list, and found by its first."""

_TAIL = re.compile(r"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?(?: (<[^<>]*>|_:\S+))? \.")
"""What follows a text: language, datatype, graph."""
_SEPARATOR = re.compile(r"[/#:]")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_IS_A = f" <{RDF}type> <"
_Tail = tuple[str, str]
"""Language and graph."""
_TEXT_TYPES = frozenset({"string", "normalizedString", "token", "Name", "NMTOKEN"})


class Text(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A literal that can be found."""

    predicate: str
    value: str
    language: str = ""


class SubjectDocument(msgspec.Struct, array_like=True):
    """What one graph of a page says of one subject, in words. IRIs have no brackets; blank nodes keep their `_:`.

    It is kept in the index and in the journal as it stands here.
    """

    subject: str
    graph: str
    page: str
    types: list[str] = []
    texts: list[Text] = []

    @property
    def name(self) -> str:
        """The text that names the subject; "" where none does.

        >>> texts = [Text("http://schema.org/about", "Naples"), Text("http://schema.org/name", "Pizza")]
        >>> SubjectDocument("_:b", "g", "p", texts=texts).name
        'Pizza'
        """
        rank, best = _NO_NAME, ""
        for text in self.texts:
            if _rank(text.predicate) < rank:
                rank, best = _rank(text.predicate), text.value
        return best

    @property
    def label(self) -> str:
        """A line to show for the subject: its name, or the shortest of its texts."""
        line = " ".join((self.name or min((text.value for text in self.texts), key=len, default="")).split())
        return line if len(line) <= _MAX_LABEL_CHARACTERS else line[: _MAX_LABEL_CHARACTERS - 1] + "…"


def local_name(iri: str) -> str:
    """The last part of an IRI.

    >>> local_name("http://schema.org/name"), local_name("http://www.w3.org/2000/01/rdf-schema#label")
    ('name', 'label')
    """
    return _SEPARATOR.split(iri.rstrip("/#"))[-1]


@lru_cache(maxsize=4096)
def _rank(predicate: str) -> int:
    return _RANKS.get(local_name(predicate), _NO_NAME)


def make_documents(record: PageRecord) -> list[SubjectDocument]:
    """What there is to find on a page; the same record always gives the same documents."""
    return documents_from_lines(record.url, record.graph_quads.decode("utf-8", "replace").split("\n"))


def documents_from_lines(url: str, quads: Iterable[str]) -> list[SubjectDocument]:
    """What there is to find in the quads of a page, each as a line of N-Quads."""
    page = _strip_brackets(page_iri(url))
    found: dict[tuple[str, str], SubjectDocument] = {}
    types: dict[str, dict[str, None]] = {}
    tails: dict[str, _Tail | None] = {}
    for line in quads:
        subject, quoted, rest = line.partition(' "')
        if not quoted:
            subject, is_a, rest = line.partition(_IS_A)
            if is_a:
                types.setdefault(subject, {})[rest.partition(">")[0]] = None
            continue
        subject, _, predicate = subject.partition(" ")
        escaped, _, end = rest.rpartition('"')
        tail = tails[end] if end in tails else tails.setdefault(end, _parse_tail(end))
        if tail is None or not predicate.startswith("<"):
            continue
        text = unescape(escaped[:MAX_TEXT_CHARACTERS]).strip()
        if not text:
            continue
        language, graph = tail
        document = found.get((subject, graph))
        if document is None:
            of = _strip_brackets(graph) if graph else page
            document = found[subject, graph] = SubjectDocument(_strip_brackets(subject), of, page)
        if len(document.texts) < MAX_LITERALS_PER_SUBJECT:
            document.texts.append(Text(predicate[1:-1], text, language))
    for (subject, _), document in found.items():
        document.types.extend(types.get(subject, ()))
    return list(found.values())


def _parse_tail(end: str) -> _Tail | None:
    """Language and graph, as what follows a text tells them; None where the text is no words, or the line is broken.

    >>> _parse_tail("@de-CH <http://a.example/> ."), _parse_tail(" ."), _parse_tail("^^<http://www.w3.org/2001/XMLSchema#date> .")
    (('de-ch', '<http://a.example/>'), ('', ''), None)
    """
    found = _TAIL.fullmatch(end)
    if found is None or (found[2] and not _is_text(found[2])):
        return None
    return (found[1] or "").lower(), found[3] or ""


def _is_text(datatype: str) -> bool:
    """Of the types of XML Schema, only those of strings; what other vocabularies define may well be text."""
    return not datatype.startswith(XSD) or datatype[len(XSD) :] in _TEXT_TYPES


def _strip_brackets(term: str) -> str:
    return term[1:-1] if term.startswith("<") else term


def unescape(text: str) -> str:
    r"""The characters that N-Quads spelled with a backslash; a half one at a cut end is dropped.

    >>> unescape(r"caf\u00E9 \"x\"\n")
    'café "x"\n'
    """
    if "\\" not in text:
        return text
    if "\\\\" not in text:  # then each backslash begins an escape, and those that our own lines have are few
        text = text.replace('\\"', '"').replace("\\n", "\n").replace("\\r", "\r")
        if "\\" not in text:
            return text

    def plain(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None:
            return _PLAIN_ESCAPES.get(match[3], match[3])
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"

    return _ESCAPE.sub(plain, text)


def records_by_page(records: Iterable[PageRecord]) -> dict[str, PageRecord]:
    """The records by the IRI of their page; of two for one page the later counts."""
    return {_strip_brackets(page_iri(record.url)): record for record in records}
