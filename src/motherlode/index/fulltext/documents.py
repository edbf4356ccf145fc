"""Documents of the word index: one per subject and graph, with its literals, except numbers, dates and booleans."""

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from motherlode.index.page_record import PageRecord
from motherlode.model.terms import RDF, XSD, page_iri

LABELS = ("prefLabel", "label", "name", "title", "headline", "fn", "p-name", "altLabel", "alternateName", "caption")
"""Local names of predicates whose value is a name of the subject, in any vocabulary. The best comes first."""

_RANKS = {name: rank for rank, name in enumerate(LABELS)}
_NO_NAME = len(LABELS)
_MAX_LABEL_CHARACTERS = 160

MAX_TEXT_CHARACTERS = 20_000
MAX_LITERALS_PER_SUBJECT = 1_000
"""Literals that are indexed for a subject in a graph. Only the first ones of a longer list are."""

_TAIL = re.compile(r"(?:@([A-Za-z0-9-]+)|\^\^<([^<>]*)>)?(?: (<[^<>]*>|_:\S+))? \.")
"""The end of a line, after the closing quote of a literal: language or datatype, and graph."""
_SEPARATOR = re.compile(r"[/#:]")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_IS_A = f" <{RDF}type> <"
_Tail = tuple[str, str]
_TEXT_TYPES = frozenset({"string", "normalizedString", "token", "Name", "NMTOKEN"})


class Text(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An indexed literal."""

    predicate: str
    value: str
    language: str = ""


class SubjectDocument(msgspec.Struct, array_like=True):
    """Types and literals of one subject in one graph, saved as MessagePack. IRIs have no angle brackets."""

    subject: str
    graph: str
    page: str
    types: list[str] = []
    texts: list[Text] = []

    @property
    def name(self) -> str:
        """The literal that names the subject; "" if the subject has no name."""
        rank, best = _NO_NAME, ""
        for text in self.texts:
            if _rank(text.predicate) < rank:
                rank, best = _rank(text.predicate), text.value
        return best

    @property
    def label(self) -> str:
        """A line to show for the subject: its name, or its shortest literal."""
        line = " ".join((self.name or min((text.value for text in self.texts), key=len, default="")).split())
        return line if len(line) <= _MAX_LABEL_CHARACTERS else line[: _MAX_LABEL_CHARACTERS - 1] + "…"


def local_name(iri: str) -> str:
    """Return the last part of an IRI."""
    return _SEPARATOR.split(iri.rstrip("/#"))[-1]


@lru_cache(maxsize=4096)
def _rank(predicate: str) -> int:
    return _RANKS.get(local_name(predicate), _NO_NAME)


def make_documents(record: PageRecord) -> list[SubjectDocument]:
    """Return the documents of a page. They depend on the record alone."""
    return documents_from_lines(record.url, record.graph_quads.decode("utf-8", "replace").split("\n"))


def documents_from_lines(url: str, quads: Iterable[str]) -> list[SubjectDocument]:
    """Return the documents of a page from its quads, one N-Quads line each."""
    page = page_iri(url)[1:-1]
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
    """Return language and graph from the end of a line. None if the datatype is not text, or the line is broken."""
    found = _TAIL.fullmatch(end)
    if found is None:
        return None
    datatype = found[2] or ""
    if datatype.startswith(XSD) and datatype[len(XSD) :] not in _TEXT_TYPES:  # types of other vocabularies may be text
        return None
    return (found[1] or "").lower(), found[3] or ""


def _strip_brackets(term: str) -> str:
    return term[1:-1] if term.startswith("<") else term


def unescape(text: str) -> str:
    """Replace the escapes of N-Quads by their characters. An incomplete escape at the end is dropped."""
    if "\\" not in text:
        return text
    if "\\\\" not in text:  # each backslash begins an escape, and our serializer uses only these three
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
