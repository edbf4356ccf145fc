"""The reading side of the word index: search, ranking by subject, and snippets.

Tantivy needs a writable lock file even to read an index. If the index is read-only (another user's crawl, a read-only
file system), it is opened through a temporary folder of symbolic links to its files (`LinkedFolder`).
"""

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import tantivy

from motherlode.index.fulltext.analysis import ACCENTS, UNSPACED, decode, open_index, remove_accents, tokenize
from motherlode.index.fulltext.documents import SubjectDocument, Text
from motherlode.index.fulltext.query_parser import (
    Search,
    build_name_query,
    build_queries,
    build_quick_query,
    iri_variants,
    parse_words,
)

_LOCK_SUFFIX = ".lock"


class LinkedFolder:
    """A temporary folder of links to the files of another folder. It is removed with this object."""

    def __init__(self, path: Path) -> None:
        self._source = path.resolve()
        self.path = Path(tempfile.mkdtemp(prefix="motherlode-words-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.update_links()

    def update_links(self) -> None:
        for file in self._source.iterdir():
            link = self.path / file.name
            if file.suffix != _LOCK_SUFFIX and not link.is_symlink():
                link.symlink_to(file)


def is_writable(path: Path) -> bool:
    """Return whether files can be created in a folder and its lock files can be written."""
    return all(os.access(file, os.W_OK) for file in (path, *path.glob(f"*{_LOCK_SUFFIX}")))


# Snippets: the literal of a subject that matches best, and the part of it to show.

_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{ACCENTS}])*")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "þ": "th", "ð": "d", "ς": "σ"}
)
_SNIPPET_CHARACTERS = 200
_CHARACTERS_BEFORE_MATCH = 60
_CHARACTERS_AROUND_MATCH = 600


@dataclass(frozen=True, slots=True)
class Snippet:
    """Part of a text, with the positions of the matching words."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def fold(text: str) -> str:
    """Return text without case and accents, nearly as the analyzer of the index does."""
    text = remove_accents(text).lower()
    return text if text.isascii() else text.translate(_LETTERS)


def find_matches(text: str, wanted: Iterable[str]) -> list[tuple[int, int]]:
    """Return start and end of each match in a text. Words also match as prefixes of longer words."""
    exact = frozenset(wanted)
    stems = tuple(word for word in exact if len(word) >= 3)
    words = ((match.span(), fold(match[0])) for match in _WORD.finditer(text))
    return [span for span, word in words if word in exact or word.startswith(stems)]


def best_text(texts: Sequence[Text], wanted: Sequence[str]) -> Text | None:
    """Return the text with most of the words, the shortest of several. None if no text has any."""
    patterns = [_pattern(word) for word in dict.fromkeys(wanted)]
    ranked = []
    for text in texts:
        plain = fold(text.value)
        ranked.append((sum(1 for pattern in patterns if pattern.search(plain)), -len(text.value), text))
    count, _, chosen = max(ranked, key=lambda item: item[:2], default=(0, 0, None))
    return chosen if count else None


def similar_words(texts: Iterable[Text], wanted: Sequence[str]) -> list[str]:
    """Return the words of texts that differ by one letter from a wanted word, as in a fuzzy query."""
    held = dict.fromkeys(fold(match[0]) for text in texts for match in _WORD.finditer(text.value))
    return [word for word in held if any(_differ_by_one(word, other) for other in wanted)]


def _differ_by_one(word: str, other: str) -> bool:
    """Return whether two words differ by one inserted, removed or replaced letter, or by two swapped letters."""
    shorter = min(len(word), len(other))
    same = next((at for at in range(shorter) if word[at] != other[at]), shorter)
    left, right = word[same:], other[same:]
    is_swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:] or is_swapped


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    if _UNSPACED.match(word):
        return re.compile(re.escape(word))
    return re.compile(rf"(?<![^\W_]){re.escape(word)}" + ("" if len(word) >= 3 else r"(?![^\W_])"))


def make_snippet(text: str, wanted: Sequence[str]) -> Snippet:
    """Return the part of a text around its first match, cut between words."""
    text, cut_before, cut_after = _cut_around_match(" ".join(text.split()), wanted)
    found = find_matches(text, wanted)
    start = max(0, found[0][0] - _CHARACTERS_BEFORE_MATCH) if found and len(text) > _SNIPPET_CHARACTERS else 0
    if start:
        start = text.find(" ", start, found[0][0]) + 1 or start
    end = min(len(text), start + _SNIPPET_CHARACTERS)
    if end < len(text):
        end = max(text.rfind(" ", start, end), found[0][1] if found else start + _SNIPPET_CHARACTERS // 2)
    before, after = "… " if start or cut_before else "", " …" if end < len(text) or cut_after else ""
    shift = len(before) - start
    marks = tuple((begin + shift, stop + shift) for begin, stop in found if start <= begin and stop <= end)
    return Snippet(before + text[start:end] + after, marks)


def _cut_around_match(text: str, wanted: Sequence[str]) -> tuple[str, bool, bool]:
    """Return the part of a long text around about its first match, and whether text was cut before and after it."""
    if len(text) <= 2 * _CHARACTERS_AROUND_MATCH:
        return text, False, False
    plain = fold(text)
    offsets = [match.start() for word in wanted if (match := _pattern(word).search(plain)) is not None]
    first = min(offsets, default=0)
    start = max(0, first - _CHARACTERS_AROUND_MATCH)
    if not find_matches(text[start : first + _CHARACTERS_AROUND_MATCH], wanted):
        return text, False, False
    return text[start : first + _CHARACTERS_AROUND_MATCH], start > 0, first + _CHARACTERS_AROUND_MATCH < len(text)


# Search: ranked subjects, each with its label, types, snippet and pages.

_DOCUMENTS_PER_ROUND = 200
"""Documents that a search requests at once, for any limit, because several documents may have the same subject."""
_FIRST_DOCUMENTS = 50
"""Documents that are read first if a round is full. The others are read if these have too few subjects. Reading a
document takes 10 µs, because it is in a compressed block with others."""
_MAX_ROUNDS = 50
"""Maximum number of rounds in which a search reads documents. A subject on every page of a site can fill several."""
MAX_RESULTS = 1_000


@dataclass(slots=True, kw_only=True)
class Hit:
    """A subject that matches a search."""

    subject: str
    label: str
    types: tuple[str, ...]
    score: float
    snippet: Snippet
    predicate: str
    language: str
    page: str
    graph: str
    pages: int = 1
    """Number of pages with this subject, among the documents that were read."""
    has_more_pages: bool = False
    """True if there may be more pages, because not all matching documents were read."""

    @property
    def other_pages(self) -> str:
        """The number of further pages, as text; "" if it is zero."""
        if self.pages == 1:
            return ""
        return f" and {'at least ' if self.has_more_pages else ''}{self.pages - 1:,} more"

    def summary(self) -> dict[str, Any]:
        """Return the object that `search --json` prints."""
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**shown, "types": list(self.types), "score": round(self.score, 4), "snippet": self.snippet.text}


_Key = tuple[str, ...]
"""The key by which documents are grouped: blank nodes with the same label and types are one subject."""


class WordSearcher:
    """Searches a word index. Any number of processes can search while another one writes."""

    def __init__(self, path: Path) -> None:
        """Open the word index in a folder. FileNotFoundError if there is none."""
        self._links = LinkedFolder(path) if path.is_dir() and not is_writable(path) else None
        self._index = open_index(path if self._links is None else self._links.path)

    def refresh(self) -> None:
        if self._links is not None:
            self._links.update_links()
        self._index.reload()

    def __len__(self) -> int:
        return self._index.searcher().num_docs

    def search(self, search: Search) -> list[Hit]:
        """Return the best subjects with all words, else with any of them, else with similar words.

        Subjects with all words in their names are the result if there are many. Longer words that begin with a word of
        the search are tried if too few subjects have the words themselves.
        """
        wanted = [token for part in parse_words(search.words) if not part.excluded for token in part.tokens]
        searcher = self._index.searcher()
        for quick, is_match in _quick_queries(search, wanted):
            if found := _find_quickly(searcher, quick, search, wanted, is_match):
                return found
        tries = (_find_subjects(searcher, query, search, wanted) for query in build_queries(search))
        return next(filter(None, tries), [])

    def subjects(self, words: str, *, limit: int = 10_000) -> list[tuple[str, str, float]]:
        """Return subject, graph and score of every document with all words, for a join in a SPARQL query."""
        query = next(build_queries(Search(words=words)), None)
        if limit < 1 or query is None:  # tantivy rejects a limit of zero
            return []
        searcher = self._index.searcher()
        found = searcher.search(query, limit=limit, count=False).hits
        documents = ((float(score), _read_document(searcher, address)) for score, address in found)
        return [(stored.subject, stored.graph, score) for score, stored in documents]


_Addresses = Sequence[tuple[Any, tantivy.DocAddress]]
_IsMatch = Callable[[SubjectDocument], bool]


def _matches_always(stored: SubjectDocument) -> bool:
    return True


def _quick_queries(search: Search, wanted: list[str]) -> Iterator[tuple[tantivy.Query, _IsMatch]]:
    """Yield queries for frequent words, each with a test of the documents that it finds (docs/decisions.md)."""
    if (names := build_name_query(search)) is not None:
        yield names, _matches_always
    if (anything := build_quick_query(search)) is not None:
        words = frozenset(wanted)
        yield anything, partial(_has_words, words=words) if len(words) > 1 else _matches_always


def _find_subjects(searcher: tantivy.Searcher, query: tantivy.Query, search: Search, wanted: list[str]) -> list[Hit]:
    """Return the subjects of the best documents, up to the limit of the search."""
    found: dict[_Key, Hit] = {}
    for number in range(_MAX_ROUNDS):
        start = number * _DOCUMENTS_PER_ROUND
        addresses = searcher.search(query, limit=_DOCUMENTS_PER_ROUND, count=False, offset=start).hits
        if _read_round(found, searcher, addresses, search, wanted, is_first=number == 0):
            break
    return list(found.values())


def _find_quickly(
    searcher: tantivy.Searcher, query: tantivy.Query, search: Search, wanted: list[str], is_match: _IsMatch
) -> list[Hit]:
    """Return the subjects of the best documents that pass a test. Empty if one full round has too few of them."""
    addresses = searcher.search(query, limit=_DOCUMENTS_PER_ROUND, count=False).hits
    if len(addresses) < _DOCUMENTS_PER_ROUND or search.limit > _DOCUMENTS_PER_ROUND:
        return []
    found: dict[_Key, Hit] = {}
    _read_round(found, searcher, addresses, search, wanted, is_match=is_match)
    return list(found.values()) if len(found) >= search.limit else []


def _read_round(
    found: dict[_Key, Hit],
    searcher: tantivy.Searcher,
    addresses: _Addresses,
    search: Search,
    wanted: list[str],
    *,
    is_first: bool = True,
    is_match: _IsMatch = _matches_always,
) -> bool:
    """Add the subjects of one round of documents. Return whether no further round is needed."""
    has_more = len(addresses) == _DOCUMENTS_PER_ROUND
    first = _FIRST_DOCUMENTS if has_more and is_first else len(addresses)
    for part in (addresses[:first], addresses[first:]):
        documents = ((float(score), _read_document(searcher, address)) for score, address in part)
        _add_subjects(found, documents, search, wanted, has_more=has_more or not is_first, is_match=is_match)
        if len(found) >= min(search.limit, MAX_RESULTS):
            return True
    return not has_more


def _has_words(stored: SubjectDocument, *, words: frozenset[str]) -> bool:
    """Return whether the texts of a document have all words."""
    return not words.difference(*(tokenize(text.value) for text in stored.texts))


def _add_subjects(
    found: dict[_Key, Hit],
    documents: Iterable[tuple[float, SubjectDocument]],
    search: Search,
    wanted: list[str],
    *,
    has_more: bool,
    is_match: _IsMatch,
) -> None:
    """Add the subjects of documents to those that were found, up to the limit of the search."""
    limit = min(search.limit, MAX_RESULTS)
    pages: dict[_Key, set[str]] = {}  # of the subjects that are added
    for score, stored in documents:
        label = stored.label
        key = ("_:", label, *stored.types) if stored.subject.startswith("_:") else (stored.subject,)
        if key in pages:
            if is_match(stored):
                pages[key].add(stored.page)
        elif len(found) < limit and key not in found and is_match(stored):
            hit = _make_hit(stored, label, score, search, wanted)
            if hit is not None:
                found[key], pages[key] = hit, {stored.page}
    for key, own in pages.items():
        found[key].pages, found[key].has_more_pages = len(own), has_more


def _read_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> SubjectDocument:
    content: bytes = searcher.doc(address)["stored"][0]
    return decode(content)


def _make_hit(stored: SubjectDocument, label: str, score: float, search: Search, wanted: list[str]) -> Hit | None:
    """Return a hit. None if no literal that passes the filters has one of the words or a similar word."""
    allowed = _filter_texts(stored.texts, search)
    text = best_text(allowed, wanted)
    if text is None:
        wanted = similar_words(allowed, wanted)
        text = best_text(allowed, wanted)
    if text is None:
        if len(allowed) < len(stored.texts) or not allowed:
            return None
        text = allowed[0]
    return Hit(
        subject=stored.subject,
        label=label,
        types=tuple(stored.types),
        score=score,
        snippet=make_snippet(text.value, wanted),
        predicate=text.predicate,
        language=text.language,
        page=stored.page,
        graph=stored.graph,
    )


def _filter_texts(texts: list[Text], search: Search) -> list[Text]:
    predicates, language = iri_variants(search.predicate), search.language.lower()
    return [
        text
        for text in texts
        if (not predicates or text.predicate in predicates)
        and (not language or text.language == language or text.language.startswith(f"{language}-"))
    ]
