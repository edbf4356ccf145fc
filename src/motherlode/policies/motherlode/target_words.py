"""Words of the target: labels of the classes and properties that it names, in several languages.

`type:schema:Recipe` names the class Recipe. A link whose path, anchor or title contains `recipe`, `receta` or `レシピ`
is more likely to lead to such a thing than other links. Classes and properties are named in English by their IRIs
(`JobPosting`); `target_words.json` has further words for some of them, by their labels in lower case. Words that are
shorter than four letters are not used, unless they are written without spaces between words, as in Japanese.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from motherlode.model import Link
from motherlode.model.sparql import declared_prefixes, full_iri, tokens
from motherlode.model.terms import PREFIXES, RDF, expand_prefix
from motherlode.policies.targets import Target

_MIN_LETTERS = 4
"""Shorter words of alphabets are found by chance in too many paths."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Characters of scripts in which two characters may be a whole word, and words often have no spaces between them."""


@cache
def _translations() -> dict[str, list[str]]:
    text = Path(__file__).with_name("target_words.json").read_text(encoding="utf-8")
    translations: dict[str, list[str]] = json.loads(text)
    return translations


def label_of(iri: str) -> str:
    """Return the label of a class or property, in lower case, from the last part of its IRI.

    >>> label_of("http://schema.org/JobPosting"), label_of("http://xmlns.com/foaf/0.1/Person")
    ('job posting', 'person')
    """
    return " ".join(_WORDS.findall(re.split(r"[/#]", iri)[-1])).lower()


def named_iris(target: Target) -> Iterator[str]:
    """Yield the IRIs of the classes and properties that a target names."""
    if target.spec.startswith("type:"):
        yield expand_prefix(target.spec.removeprefix("type:").strip("<> ")) or ""
    elif target.needs_statements:
        found = tokens(target.spec)
        prefixes = PREFIXES | declared_prefixes(found)
        yield from (iri for token in found if (iri := full_iri(token, prefixes)) and not iri.startswith(RDF))


def words_of(target: Target) -> tuple[str, ...]:
    """Return the words of a target in lower case, each once.

    >>> from motherlode.policies.targets import target_from
    >>> words_of(target_from("type:schema:PodcastSeries")), words_of(target_from("rdf"))
    (('podcast series', 'podcast', 'подкаст'), ())
    """
    found: dict[str, None] = {}
    for iri in named_iris(target):
        label = label_of(iri)
        found.update(dict.fromkeys((label, *_translations().get(label, ()))))
    return tuple(word for word in found if len(word) >= _MIN_LETTERS or _UNSPACED.search(word))


class WordMatcher:
    """Finds words at the beginnings of words: `recipe` also in `/recipes/`, and `job posting` in `job-posting`.

    >>> from motherlode.model import LinkSource
    >>> matcher = WordMatcher(["recipe", "レシピ"])
    >>> [matcher.matches(Link(url=url, source=LinkSource.ANCHOR)) for url in ("http://a.org/recipes", "http://a.org/")]
    [True, False]
    """

    def __init__(self, words: Iterable[str]) -> None:
        words = list(words)
        self._beginnings = tuple({word.partition(" ")[0] for word in words})
        """First words, which are looked for first because most links have none of them."""
        spaced = "|".join(_pattern(word) for word in words if not _UNSPACED.search(word))
        unspaced = [re.escape(word) for word in words if _UNSPACED.search(word)]
        parts = [rf"(?<![^\W_])(?:{spaced})"] if spaced else []
        self._search = re.compile("|".join((*parts, *unspaced))).search if words else None

    def matches(self, link: Link) -> bool:
        """Return whether the path, the anchor or the title of a link contains a word."""
        path = link.url[link.url.find("/", link.url.find("://") + 3) :]
        text = f"{path}\n{link.anchor}\n{link.title}".lower()
        has_beginning = any(word in text for word in self._beginnings)
        return has_beginning and self._search is not None and self._search(text) is not None


def _pattern(word: str) -> str:
    """Return the pattern of a word. Between the parts of a word of several parts there may be any one character."""
    return r"[\W_]?".join(map(re.escape, word.split()))
