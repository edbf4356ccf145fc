"""Words come out: subjects, ranked, each with its name, its types, the text that answers, and the pages that say so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motherlode.index.words.asking import Search, attempts, parts, spellings
from motherlode.index.words.documents import SubjectDocument, Text
from motherlode.index.words.engine import decode, open_index
from motherlode.index.words.links import LinkedFolder, may_write
from motherlode.index.words.snippets import Snippet, alike, best, snippet

if TYPE_CHECKING:
    import tantivy

_AT_ONCE = 500
"""Documents that a search looks at, whatever its limit: subjects that several pages speak of are told together."""
_MOST_ROUNDS = 20
"""How often it looks further, where those documents had fewer subjects: what every page of a site says fills them."""
MOST_RESULTS = 1_000


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
    alike: int = 0
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


def _key(stored: SubjectDocument, label: str) -> _Key:
    """Blank nodes of several pages are the same find where they have the same name and types."""
    return ("_:", label, *stored.types) if stored.subject.startswith("_:") else (stored.subject,)


class WordSearcher:
    """The reading side of an index; any number of them, in any process, while one writes."""

    def __init__(self, path: Path) -> None:
        """FileNotFoundError where there is no index."""
        self._links = LinkedFolder(path) if path.is_dir() and not may_write(path) else None
        self._index = open_index(path if self._links is None else self._links.path)

    def refresh(self) -> None:
        """See what has been committed since."""
        if self._links is not None:
            self._links.renew()
        self._index.reload()

    def __len__(self) -> int:
        return self._index.searcher().num_docs

    def search(self, asked: Search) -> list[Hit]:
        """The subjects that answer best. All words count where some subject has them all, otherwise any of them."""
        wanted = [token for part in parts(asked.words) if not part.excluded for token in part.tokens]
        searcher = self._index.searcher()
        for query in attempts(asked):
            found = _found(searcher, query, asked, wanted)
            if found:
                return found
        return []

    def subjects(self, words: str, *, limit: int = 10_000) -> list[tuple[str, str, float]]:
        """Subject, graph and score of every document that holds all words: what a SPARQL query is joined with."""
        if limit < 1:  # which the engine would not take
            return []
        searcher = self._index.searcher()
        for query in attempts(Search(words=words))[:1]:
            found = searcher.search(query, limit=limit, count=False).hits
            documents = ((float(score), _stored(searcher, address)) for score, address in found)
            return [(stored.subject, stored.graph, score) for score, stored in documents]
        return []


def _found(searcher: tantivy.Searcher, query: tantivy.Query, asked: Search, wanted: list[str]) -> list[Hit]:
    """The subjects of the best documents, as many as are wanted."""
    found: dict[_Key, Hit] = {}
    for number in range(_MOST_ROUNDS):
        addresses = searcher.search(query, limit=_AT_ONCE, count=False, offset=number * _AT_ONCE).hits
        documents = [(float(score), _stored(searcher, address)) for score, address in addresses]
        has_more = len(documents) == _AT_ONCE
        for key, hit in _told(documents, asked, wanted, known=found).items():
            hit.has_more_pages = has_more or number > 0
            found[key] = hit
        if not has_more or len(found) >= min(asked.limit, MOST_RESULTS):
            break
    return list(found.values())


def _told(
    documents: Sequence[tuple[float, SubjectDocument]], asked: Search, wanted: list[str], known: Collection[_Key]
) -> dict[_Key, Hit]:
    """Subjects that are not known yet, each with all of its pages: how many are asked for changes none of them."""
    room = min(asked.limit, MOST_RESULTS) - len(known)
    found: dict[_Key, Hit] = {}
    pages: dict[_Key, set[str]] = {}
    for score, stored in documents:
        label = stored.label
        key = _key(stored, label)
        if key in found:
            pages[key].add(stored.page)
            found[key].alike += found[key].subject != stored.subject
        elif len(found) < room and key not in known and (hit := _hit(stored, label, score, asked, wanted)) is not None:
            found[key] = hit
            pages[key] = {stored.page}
    for key, hit in found.items():
        hit.pages = len(pages[key])
    return found


def _stored(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> SubjectDocument:
    content: bytes = searcher.doc(address)["stored"][0]
    return decode(content)


def _hit(stored: SubjectDocument, label: str, score: float, asked: Search, wanted: list[str]) -> Hit | None:
    """None where a filter by predicate or language leaves no text that holds one of the words, or one like them."""
    allowed = _allowed(stored.texts, asked)
    text = best(allowed, wanted)
    if text is None:
        wanted = alike(allowed, wanted)
        text = best(allowed, wanted)
    if text is None:
        if len(allowed) < len(stored.texts) or not allowed:
            return None
        text = allowed[0]
    return Hit(
        subject=stored.subject,
        label=label,
        types=tuple(stored.types),
        score=score,
        snippet=snippet(text.value, wanted),
        predicate=text.predicate,
        language=text.language,
        page=stored.page,
        graph=stored.graph,
    )


def _allowed(texts: list[Text], asked: Search) -> list[Text]:
    predicates, language = spellings(asked.predicate), asked.language.lower()
    return [
        text
        for text in texts
        if (not predicates or text.predicate in predicates)
        and (not language or text.language == language or text.language.startswith(f"{language}-"))
    ]
