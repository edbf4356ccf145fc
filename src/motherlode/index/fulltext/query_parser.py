"""From what a person types to a query of the engine. Nothing that can be typed is an error.

Words are found without case and accents, and as the beginning of longer words with less weight; "several words" in
quotes must stand together and as they are; -word must be absent. There is no other syntax, so no query can be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from motherlode.index.fulltext.analysis import language_prefixes, schema, tokenize
from motherlode.model.terms import PREFIXES
from motherlode.www.urls import canonical, host_of

if TYPE_CHECKING:
    from tantivy import Query

_PORT = re.compile(r":\d+\Z")
_PLAIN_HOST = re.compile(r"[a-z0-9._\-\[\]:]+")
_BARE_SCHEMES = frozenset({"urn", "tag", "info", "did", "mailto", "tel", "doi", "data"})
"""Schemes of IRIs in which no // follows, so that they look like a name with a prefix."""
_PART = re.compile(r'(-?)"([^"]*)"?|(-?)(\S+)')
_MAX_PARTS = 32
_MAX_CHARACTERS = 1_000
_MAX_TOKENS_PER_PART = 40
_LABEL_WEIGHT = 3.0
_PREFIX_WEIGHT = 0.2
_MIN_PREFIX_CHARACTERS = 3
_MIN_FUZZY_CHARACTERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is asked for."""

    words: str
    limit: int = 10
    type: str = ""
    """An IRI, or a name with a common prefix; so is the predicate."""
    predicate: str = ""
    host: str = ""
    """A host, or a domain with all that is below it; without a port, on any port."""
    language: str = ""
    """A language tag: de finds de-CH as well."""

    @property
    def problem(self) -> str:
        """Why a filter can never fit; "" where nothing is wrong. Words are never wrong."""
        return _iri_problem("type", self.type) or _iri_problem("predicate", self.predicate)


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A word or a phrase, as the index spells it."""

    tokens: tuple[str, ...]
    excluded: bool = False
    exact: bool = False
    """In quotes: a word stands for itself, and not for longer ones."""


def parse_words(words: str) -> list[QueryPart]:
    """The words and phrases of a search.

    >>> [part.tokens for part in parse_words('Crème "San Marzano" -basil')]
    [('creme',), ('san', 'marzano'), ('basil',)]
    >>> [part.tokens for part in parse_words('AND ( [* TO "x')]
    [('and',), ('to',), ('x',)]
    """
    found = []
    for match in _PART.finditer(words[:_MAX_CHARACTERS]):
        excluded = bool(match[1] or match[3])
        made = tuple(tokenize(match[2] if match[2] is not None else match[4])[:_MAX_TOKENS_PER_PART])
        if made:
            found.append(QueryPart(made, excluded, exact=match[2] is not None))
    if all(part.excluded for part in found):  # nothing is left to look for, so the sign meant something else
        found = [QueryPart(part.tokens) for part in found]
    return found[:_MAX_PARTS]


def build_queries(asked: Search) -> list[Query]:
    """Queries to be tried one after the other until one finds something: all words, any of them, words like them."""
    import tantivy

    found = parse_words(asked.words)
    wanted = [part for part in found if not part.excluded]
    if not wanted:
        return []
    must, must_not, should = tantivy.Occur.Must, tantivy.Occur.MustNot, tantivy.Occur.Should
    fixed = [(must, tantivy.Query.const_score_query(condition, 0.0)) for condition in _filter_queries(asked)]
    fixed += [(must_not, _exact_query(part)) for part in found if part.excluded]
    everything = [(must, _part_query(part)) for part in wanted]
    anything = tantivy.Query.boolean_query([(should, _part_query(part)) for part in wanted])
    alike = tantivy.Query.boolean_query([(should, _fuzzy_query(part)) for part in wanted])
    return [
        tantivy.Query.boolean_query([*everything, *fixed]),
        tantivy.Query.boolean_query([(must, anything), *fixed]),
        tantivy.Query.boolean_query([(must, alike), *fixed]),
    ]


def _exact_query(part: QueryPart, field: str = "text") -> Query:
    import tantivy

    if len(part.tokens) == 1:
        return tantivy.Query.term_query(schema(), field, part.tokens[0], index_option="freq")
    return tantivy.Query.phrase_query(schema(), field, list(part.tokens))


def _part_query(part: QueryPart) -> Query:
    import tantivy

    label = tantivy.Query.boost_query(_exact_query(part, "label"), _LABEL_WEIGHT)
    options = [(tantivy.Occur.Should, label), (tantivy.Occur.Should, _exact_query(part))]
    if not part.exact and len(part.tokens) == 1 and len(part.tokens[0]) >= _MIN_PREFIX_CHARACTERS:
        longer = tantivy.Query.regex_query(schema(), "text", f"{re.escape(part.tokens[0])}.+")
        options.append((tantivy.Occur.Should, tantivy.Query.const_score_query(longer, _PREFIX_WEIGHT)))
    return tantivy.Query.boolean_query(options)


def _fuzzy_query(part: QueryPart) -> Query:
    """Words that differ by one letter."""
    import tantivy

    similar = [
        (tantivy.Occur.Should, tantivy.Query.fuzzy_term_query(schema(), "text", token))
        for token in part.tokens
        if len(token) >= _MIN_FUZZY_CHARACTERS
    ]
    return tantivy.Query.boolean_query(similar) if similar else tantivy.Query.empty_query()


def _filter_queries(asked: Search) -> list[Query]:
    import tantivy

    made = []
    for field, values in (
        ("type", iri_variants(asked.type)),
        ("predicate", iri_variants(asked.predicate)),
        ("language", language_prefixes(asked.language.lower())[-1:]),
    ):
        if values:
            made.append(tantivy.Query.term_set_query(schema(), field, values))
    if asked.host:
        made.append(_host_query(asked.host.strip().lower()))
    return made


def _host_query(host: str) -> Query:
    import tantivy

    if not host.isascii() and (page := canonical(f"http://{host}/")) is not None:
        host = host_of(page)  # as the network spells it
    if _PORT.search(host) or not _PLAIN_HOST.fullmatch(host):
        return tantivy.Query.term_query(schema(), "host", host, index_option="basic")
    return tantivy.Query.regex_query(schema(), "host", f"{re.escape(host)}(:[0-9]+)?")


def _iri_problem(field: str, name: str) -> str:
    """Why a name means no IRI; "" where it does.

    >>> [_iri_problem("type", name) for name in ("schema:Recipe", "http://schema.org/Recipe", "urn:a", "<x:y>", "")]
    ['', '', '', '', '']
    >>> _iri_problem("type", "Recipe")
    "type: 'Recipe' is no IRI; as in schema:Recipe or http://schema.org/Recipe"
    """
    name = name.strip()
    prefix, colon, local = name.partition(":")
    if not name or (colon and name.startswith("<")):
        return ""
    if not colon:
        return f"{field}: {name!r} is no IRI; as in schema:Recipe or http://schema.org/Recipe"
    if prefix in PREFIXES or prefix.lower() in _BARE_SCHEMES or local.startswith("//"):
        return ""
    known = ", ".join(sorted(PREFIXES))
    return f"{field}: the prefix of {name!r} is not known; write <IRI>, or use one of {known}"


def iri_variants(name: str) -> Sequence[str]:
    """The IRIs that a name may mean: a common prefix is written out, and http and https are the same.

    >>> iri_variants("schema:Recipe")
    ['http://schema.org/Recipe', 'https://schema.org/Recipe']
    >>> iri_variants("<urn:a>"), iri_variants("")
    (['urn:a'], [])
    """
    if not name:
        return []
    name = name.strip().removeprefix("<").removesuffix(">")
    prefix, colon, local = name.partition(":")
    if colon and prefix in PREFIXES and not local.startswith("//"):
        name = PREFIXES[prefix] + local
    for scheme, other in (("http://", "https://"), ("https://", "http://")):
        if name.startswith(scheme):
            return [name, other + name[len(scheme) :]]
    return [name]
