"""Words come out: subjects, ranked, each with its name, its types, the text that answers, and the pages that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motherlode.index.words.asking import Search, attempts, parts, spellings
from motherlode.index.words.documents import SubjectDocument, Text
from motherlode.index.words.engine import Stored, decode, open_index, texts_of
from motherlode.index.words.snippets import Snippet, best, snippet

if TYPE_CHECKING:
    import tantivy

_WINDOW = 50
_MOST_LOOKED_AT = 500
"""Documents that one search looks at; subjects that say the same on a thousand pages are told together."""
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
    alike: int = 0
    """Nameless subjects (blank nodes) of other pages that say the same."""

    def met_again(self, stored: Stored) -> None:
        self.pages += self.page != stored.page
        self.alike += self.subject != stored.subject

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
        }


def _key(stored: Stored, label: str) -> tuple[str, ...]:
    """Blank nodes of several pages are the same find where they have the same name and types."""
    return ("_:", label, *stored.types) if stored.subject.startswith("_:") else (stored.subject,)


class WordSearcher:
    """The reading side of an index; any number of them, in any process, while one writes."""

    def __init__(self, path: Path) -> None:
        """FileNotFoundError where there is no index."""
        self._index, _ = open_index(path)

    def refresh(self) -> None:
        """See what has been committed since."""
        self._index.reload()

    def __len__(self) -> int:
        return self._index.searcher().num_docs

    def search(self, asked: Search) -> list[Hit]:
        """The subjects that answer best. All words count where some subject has them all, otherwise any of them."""
        wanted = [token for part in parts(asked.words) if not part.excluded for token in part.tokens]
        searcher = self._index.searcher()
        limit = max(0, min(asked.limit, MOST_RESULTS))
        for query in attempts(asked):
            found: dict[tuple[str, ...], Hit] = {}
            for score, stored in _documents(searcher, query):
                label = SubjectDocument(stored.subject, stored.graph, stored.page, texts_of(stored)).label
                key = _key(stored, label)
                if key in found:
                    found[key].met_again(stored)
                elif len(found) == limit:
                    break
                elif (hit := _hit(stored, label, score, asked, wanted)) is not None:
                    found[key] = hit
            if found:
                return list(found.values())
        return []

    def subjects(self, words: str, *, limit: int = 10_000) -> list[tuple[str, str, float]]:
        """Subject, graph and score of every document that holds all words: what a SPARQL query is joined with."""
        searcher = self._index.searcher()
        for query in attempts(Search(words=words))[:1]:
            found = searcher.search(query, limit=limit, count=False).hits
            documents = ((float(score), _stored(searcher, address)) for score, address in found)
            return [(stored.subject, stored.graph, score) for score, stored in documents]
        return []


def _documents(searcher: tantivy.Searcher, query: tantivy.Query) -> Iterator[tuple[float, Stored]]:
    """Documents from the best on, a window at a time."""
    for offset in range(0, _MOST_LOOKED_AT, _WINDOW):
        found = searcher.search(query, limit=_WINDOW, offset=offset, count=False).hits
        for score, address in found:
            yield float(score), _stored(searcher, address)
        if len(found) < _WINDOW:
            return


def _stored(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Stored:
    content: bytes = searcher.doc(address)["stored"][0]
    return decode(content)


def _hit(stored: Stored, label: str, score: float, asked: Search, wanted: list[str]) -> Hit | None:
    """None where a filter by predicate or language leaves no text that holds one of the words."""
    texts = texts_of(stored)
    allowed = _allowed(texts, asked)
    text = best(allowed, wanted)
    if text is None:
        if len(allowed) < len(texts) or not allowed:
            return None
        text = allowed[0]  # found by a word like one of those asked for
    return Hit(
        subject=stored.subject,
        label=label,
        types=stored.types,
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
