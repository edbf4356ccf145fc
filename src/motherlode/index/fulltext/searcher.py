"""An index in a folder that may only be read: somebody else's crawl, or one on a medium that takes nothing more.

The engine locks an index before it reads, and its lock is a file that it must be able to write. So a reader who may not
write gets a folder of his own with links to the files of the index, which costs nothing, and locks that.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motherlode.index.fulltext.analysis import ACCENTS, UNSPACED, decode, open_index, remove_accents
from motherlode.index.fulltext.documents import SubjectDocument, Text
from motherlode.index.fulltext.query_parser import Search, build_queries, iri_variants, parse_words

if TYPE_CHECKING:
    import tantivy


_LOCK_SUFFIX = ".lock"


class LinkedFolder:
    """A folder of links to the files of another; it goes when the reader ends."""

    def __init__(self, path: Path) -> None:
        self._source = path.resolve()
        self.path = Path(tempfile.mkdtemp(prefix="motherlode-words-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.update_links()

    def update_links(self) -> None:
        """Link to the files that have come since."""
        for file in self._source.iterdir():
            link = self.path / file.name
            if file.suffix != _LOCK_SUFFIX and not link.is_symlink():
                link.symlink_to(file)


def is_writable(path: Path) -> bool:
    """Whether files can be made in a folder, and its locks be taken."""
    return all(os.access(place, os.W_OK) for place in (path, *path.glob(f"*{_LOCK_SUFFIX}")))


# ── Which of a subject's texts answers a search, and the piece of it that shows so.

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
    """A piece of a text, and where in it the words stand."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def fold(text: str) -> str:
    """Text without case and accents, much as the index spells its words.

    >>> fold("Crème"), fold("ÅNGSTRÖM"), fold("Straße")
    ('creme', 'angstrom', 'strasse')
    """
    text = remove_accents(text).lower()
    return text if text.isascii() else text.translate(_LETTERS)


def find_matches(text: str, wanted: Iterable[str]) -> list[tuple[int, int, str]]:
    """Where the wanted words stand in a text, alone or as the beginning of a longer word."""
    exact = frozenset(wanted)
    stems = tuple(word for word in exact if len(word) >= 3)
    found = []
    for match in _WORD.finditer(text):
        word = fold(match[0])
        if word in exact:
            found.append((match.start(), match.end(), word))
        elif stems and word.startswith(stems):
            found.append((match.start(), match.end(), next(stem for stem in stems if word.startswith(stem))))
    return found


def best_text(texts: Sequence[Text], wanted: Sequence[str]) -> Text | None:
    """The text that holds most of the words, the shortest of several; None where none holds any."""
    patterns = [_pattern(word) for word in dict.fromkeys(wanted)]
    ranked = [(_count_words(text.value, patterns), -len(text.value), text) for text in texts]
    count, _, chosen = max(ranked, key=lambda item: item[:2], default=(0, 0, None))
    return chosen if count else None


def similar_words(texts: Iterable[Text], wanted: Sequence[str]) -> list[str]:
    """Words of the texts that differ by one letter from a wanted one, by which the engine finds them.

    >>> similar_words([Text("p", "Tomato soup, Tomaten")], ["tomatoe", "suop"])
    ['tomato', 'soup']
    """
    held = dict.fromkeys(fold(match[0]) for text in texts for match in _WORD.finditer(text.value))
    return [word for word in held if any(_differ_by_one(word, other) for other in wanted)]


def _differ_by_one(word: str, other: str) -> bool:
    """One letter too many, too few or another, or two of them changed about."""
    lengths = range(min(len(word), len(other)))
    same = next((place for place in lengths if word[place] != other[place]), len(lengths))
    left, right = word[same:], other[same:]
    is_turned = left[:2] == right[1::-1] and left[2:] == right[2:]
    return left[1:] == right or left == right[1:] or left[1:] == right[1:] or is_turned


def _count_words(text: str, patterns: Sequence[re.Pattern[str]]) -> int:
    plain = fold(text)
    return sum(1 for pattern in patterns if pattern.search(plain))


@lru_cache(maxsize=256)
def _pattern(word: str) -> re.Pattern[str]:
    """A word, alone or as the beginning of a longer one; inside of another it is none."""
    if _UNSPACED.match(word):
        return re.compile(re.escape(word))
    return re.compile(rf"(?<![^\W_]){re.escape(word)}" + ("" if len(word) >= 3 else r"(?![^\W_])"))


def make_snippet(text: str, wanted: Sequence[str]) -> Snippet:
    """The piece of a text around its first match, cut between words.

    >>> make_snippet("The tomato is red", ["tomato"])
    Snippet(text='The tomato is red', marks=((4, 10),))
    """
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
    marks = tuple((place + shift, stop + shift) for place, stop, _ in found if start <= place and stop <= end)
    return Snippet(before + text[start:end] + after, marks)


def _cut_around_match(text: str, wanted: Sequence[str]) -> tuple[str, bool, bool]:
    """The part of a long text in which its first match lies, and whether something was cut off before and behind it.

    Letters may fold to more or fewer letters, so the place in the folded text is not quite that in the text itself.
    """
    if len(text) <= 2 * _CHARACTERS_AROUND_MATCH:
        return text, False, False
    plain = fold(text)
    places = [match.start() for word in wanted if (match := _pattern(word).search(plain)) is not None]
    first = min(places, default=0)
    start = max(0, first - _CHARACTERS_AROUND_MATCH)
    if not find_matches(text[start : first + _CHARACTERS_AROUND_MATCH], wanted):
        return text, False, False
    return text[start : first + _CHARACTERS_AROUND_MATCH], start > 0, first + _CHARACTERS_AROUND_MATCH < len(text)


# ── Words come out: subjects, ranked, each with its name, its types, the text that answers, and the pages that say so.

_DOCUMENTS_PER_ROUND = 500
"""Documents that a search looks at, whatever its limit: subjects that several pages speak of are told together."""
_MAX_ROUNDS = 20
"""How often it looks further, where those documents had fewer subjects: what every page of a site says fills them."""
MAX_RESULTS = 1_000


@dataclass(slots=True, kw_only=True)
class Hit:
    """A subject that answers a search."""

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
    """Pages that say it, among those looked at."""
    has_more_pages: bool = False
    """There may be others: not all documents that answer were looked at."""
    similar_subjects: int = 0
    """Nameless subjects (blank nodes) of other pages that say the same."""

    @property
    def other_pages(self) -> str:
        """How many pages say it beside the one that is shown, as text; "" for none."""
        if self.pages == 1:
            return ""
        return f" and {'at least ' if self.has_more_pages else ''}{self.pages - 1:,} more"

    def summary(self) -> dict[str, Any]:
        """The object that `search --json` prints."""
        return {
            "subject": self.subject,
            "label": self.label,
            "types": list(self.types),
            "score": round(self.score, 4),
            "snippet": self.snippet.text,
            "predicate": self.predicate,
            "language": self.language,
            "page": self.page,
            "graph": self.graph,
            "pages": self.pages,
            "has_more_pages": self.has_more_pages,
        }


_Key = tuple[str, ...]


def _subject_key(stored: SubjectDocument, label: str) -> _Key:
    """Blank nodes of several pages are the same find where they have the same name and types."""
    return ("_:", label, *stored.types) if stored.subject.startswith("_:") else (stored.subject,)


class WordSearcher:
    """The reading side of an index; any number of them, in any process, while one writes."""

    def __init__(self, path: Path) -> None:
        """FileNotFoundError where there is no index."""
        self._links = LinkedFolder(path) if path.is_dir() and not is_writable(path) else None
        self._index = open_index(path if self._links is None else self._links.path)

    def refresh(self) -> None:
        """See what has been committed since."""
        if self._links is not None:
            self._links.update_links()
        self._index.reload()

    def __len__(self) -> int:
        return self._index.searcher().num_docs

    def search(self, asked: Search) -> list[Hit]:
        """The subjects that answer best. All words count where some subject has them all, otherwise any of them."""
        wanted = [token for part in parse_words(asked.words) if not part.excluded for token in part.tokens]
        searcher = self._index.searcher()
        for query in build_queries(asked):
            found = _find_subjects(searcher, query, asked, wanted)
            if found:
                return found
        return []

    def subjects(self, words: str, *, limit: int = 10_000) -> list[tuple[str, str, float]]:
        """Subject, graph and score of every document that holds all words: what a SPARQL query is joined with."""
        if limit < 1:  # which the engine would not take
            return []
        searcher = self._index.searcher()
        for query in build_queries(Search(words=words))[:1]:
            found = searcher.search(query, limit=limit, count=False).hits
            documents = ((float(score), _read_document(searcher, address)) for score, address in found)
            return [(stored.subject, stored.graph, score) for score, stored in documents]
        return []


def _find_subjects(searcher: tantivy.Searcher, query: tantivy.Query, asked: Search, wanted: list[str]) -> list[Hit]:
    """The subjects of the best documents, as many as are wanted."""
    found: dict[_Key, Hit] = {}
    for number in range(_MAX_ROUNDS):
        addresses = searcher.search(
            query, limit=_DOCUMENTS_PER_ROUND, count=False, offset=number * _DOCUMENTS_PER_ROUND
        ).hits
        documents = [(float(score), _read_document(searcher, address)) for score, address in addresses]
        has_more = len(documents) == _DOCUMENTS_PER_ROUND
        for key, hit in _group_by_subject(documents, asked, wanted, known=found).items():
            hit.has_more_pages = has_more or number > 0
            found[key] = hit
        if not has_more or len(found) >= min(asked.limit, MAX_RESULTS):
            break
    return list(found.values())


def _group_by_subject(
    documents: Sequence[tuple[float, SubjectDocument]], asked: Search, wanted: list[str], known: Collection[_Key]
) -> dict[_Key, Hit]:
    """Subjects that are not known yet, each with all of its pages: how many are asked for changes none of them."""
    room = min(asked.limit, MAX_RESULTS) - len(known)
    found: dict[_Key, Hit] = {}
    pages: dict[_Key, set[str]] = {}
    for score, stored in documents:
        label = stored.label
        key = _subject_key(stored, label)
        if key in found:
            pages[key].add(stored.page)
            found[key].similar_subjects += found[key].subject != stored.subject
        elif (
            len(found) < room
            and key not in known
            and (hit := _make_hit(stored, label, score, asked, wanted)) is not None
        ):
            found[key] = hit
            pages[key] = {stored.page}
    for key, hit in found.items():
        hit.pages = len(pages[key])
    return found


def _read_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> SubjectDocument:
    content: bytes = searcher.doc(address)["stored"][0]
    return decode(content)


def _make_hit(stored: SubjectDocument, label: str, score: float, asked: Search, wanted: list[str]) -> Hit | None:
    """None where a filter by predicate or language leaves no text that holds one of the words, or one like them."""
    allowed = _filter_texts(stored.texts, asked)
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


def _filter_texts(texts: list[Text], asked: Search) -> list[Text]:
    predicates, language = iri_variants(asked.predicate), asked.language.lower()
    return [
        text
        for text in texts
        if (not predicates or text.predicate in predicates)
        and (not language or text.language == language or text.language.startswith(f"{language}-"))
    ]
