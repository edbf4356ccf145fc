"""Turn the words and filters of a search into tantivy queries.

Words match without case and accents. They also match as prefixes of longer words, with less weight. Words in "quotes"
are a phrase that must match exactly. A -word must be absent. There is no other syntax, so no input is an error.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tantivy import Occur, Query

from motherlode.index.fulltext.analysis import schema, tokenize
from motherlode.model.terms import PREFIXES, expand_prefix
from motherlode.www.urls import canonical, host_of

_PORT = re.compile(r":\d+\Z")
_PLAIN_HOST = re.compile(r"[a-z0-9._\-\[\]:]+")
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
    """The words and filters of a search."""

    words: str
    limit: int = 10
    type: str = ""
    """Class of the things to find: an IRI, or a name with a common prefix. `predicate` has the same form."""
    predicate: str = ""
    host: str = ""
    """A host or a domain with its subdomains. Without a port it matches any port."""
    language: str = ""
    """A language tag: `de` also matches `de-CH`."""

    @property
    def problem(self) -> str:
        """The reason why a filter cannot match anything; "" if both filters are valid."""
        return _iri_problem("type", self.type) or _iri_problem("predicate", self.predicate)


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A word or a phrase of a search, as tokens of the index."""

    tokens: tuple[str, ...]
    excluded: bool = False
    exact: bool = False
    """True if the word was in quotes: it does not match as the prefix of a longer word."""


def parse_words(words: str) -> list[QueryPart]:
    """Return the words and phrases of a search."""
    found = []
    for match in _PART.finditer(words[:_MAX_CHARACTERS]):
        excluded = bool(match[1] or match[3])
        made = tuple(tokenize(match[2] if match[2] is not None else match[4])[:_MAX_TOKENS_PER_PART])
        if made:
            found.append(QueryPart(made, excluded, exact=match[2] is not None))
    if all(part.excluded for part in found):  # without any required word, the minus signs are ignored
        found = [QueryPart(part.tokens) for part in found]
    return found[:_MAX_PARTS]


def build_queries(search: Search) -> Iterator[Query]:
    """Yield queries to try in turn until one has results: all words, any of the words, similar words."""
    wanted = [part for part in parse_words(search.words) if not part.excluded]
    if not wanted:
        return
    must, should, fixed = Occur.Must, Occur.Should, _conditions(search)
    parts = [_part_query(part) for part in wanted]
    yield Query.boolean_query([*((must, part) for part in parts), *fixed])
    anything = Query.boolean_query([(should, part) for part in parts])
    yield Query.boolean_query([(must, anything), *fixed])
    alike = Query.boolean_query([(should, _fuzzy_query(part)) for part in wanted])
    yield Query.boolean_query([(must, alike), *fixed])


def build_name_query(search: Search) -> Query | None:
    """Return the query for all words in the name of a subject; None without words. Only the name counts for the score.

    Names have few words, so the engine reads a small part of what it reads for the words in all texts.
    """
    parts = [part for part in parse_words(search.words) if not part.excluded]
    if not parts:
        return None
    return Query.boolean_query([*((Occur.Must, _name_query(part)) for part in parts), *_conditions(search)])


def build_quick_query(search: Search) -> Query | None:
    """Return the query for any of the words themselves; None for phrases, excluded words and filters.

    The engine does not score every match of such a query, because it knows the best score of each block of documents.
    """
    parts = parse_words(search.words)
    has_only_words = all(len(part.tokens) == 1 and not part.excluded for part in parts)
    if not parts or not has_only_words or _filter_queries(search):
        return None
    return Query.boolean_query([option for part in parts for option in _exact_options(part)])


def _conditions(search: Search) -> list[tuple[Occur, Query]]:
    """Return what a document must have besides the words: the filters, and none of the excluded words."""
    excluded = [part for part in parse_words(search.words) if part.excluded]
    return [
        *((Occur.Must, Query.const_score_query(condition, 0.0)) for condition in _filter_queries(search)),
        *((Occur.MustNot, _exact_query(part)) for part in excluded),
    ]


def _exact_query(part: QueryPart, field: str = "text") -> Query:
    if len(part.tokens) == 1:
        return Query.term_query(schema(), field, part.tokens[0], index_option="freq")
    return Query.phrase_query(schema(), field, list(part.tokens))


def _name_query(part: QueryPart) -> Query:
    return Query.boost_query(_exact_query(part, "label"), _LABEL_WEIGHT)


def _exact_options(part: QueryPart) -> list[tuple[Occur, Query]]:
    return [(Occur.Should, _name_query(part)), (Occur.Should, _exact_query(part))]


def _part_query(part: QueryPart) -> Query:
    options = _exact_options(part)
    if not part.exact and len(part.tokens) == 1 and len(part.tokens[0]) >= _MIN_PREFIX_CHARACTERS:
        options.append((Occur.Should, _prefix_query(part.tokens[0])))
    return Query.boolean_query(options)


@lru_cache(maxsize=1024)
def _prefix_query(token: str) -> Query:
    """Return the query for longer words that begin with a token. Compiling its automaton takes 1 ms."""
    return Query.const_score_query(Query.regex_query(schema(), "text", f"{re.escape(token)}.+"), _PREFIX_WEIGHT)


def _fuzzy_query(part: QueryPart) -> Query:
    long_tokens = [token for token in part.tokens if len(token) >= _MIN_FUZZY_CHARACTERS]
    similar = [(Occur.Should, Query.fuzzy_term_query(schema(), "text", token)) for token in long_tokens]
    return Query.boolean_query(similar) if similar else Query.empty_query()


def _filter_queries(search: Search) -> list[Query]:
    wanted = {
        "type": iri_variants(search.type),
        "predicate": iri_variants(search.predicate),
        "language": [search.language.lower()] if search.language else [],
    }
    made = [Query.term_set_query(schema(), field, values) for field, values in wanted.items() if values]
    if search.host:
        made.append(_host_query(search.host.strip().lower()))
    return made


def _host_query(host: str) -> Query:
    if not host.isascii() and (page := canonical(f"http://{host}/")) is not None:
        host = host_of(page)  # in Punycode
    if _PORT.search(host) or not _PLAIN_HOST.fullmatch(host):
        return Query.term_query(schema(), "host", host, index_option="basic")
    return Query.regex_query(schema(), "host", f"{re.escape(host)}(:[0-9]+)?")


def _iri_problem(field: str, name: str) -> str:
    """Return why a name is not an IRI; "" if it is one."""
    name = name.strip()
    has_colon = ":" in name
    if not name or (has_colon and name.startswith("<")):
        return ""
    if not has_colon:
        return f"{field}: {name!r} is not an IRI; write for example schema:Recipe or http://schema.org/Recipe"
    if expand_prefix(name) is not None:
        return ""
    known = ", ".join(sorted(PREFIXES))
    return f"{field}: the prefix of {name!r} is not known; write <IRI>, or use one of {known}"


def iri_variants(name: str) -> Sequence[str]:
    """Return the IRIs that a name may mean: with its prefix expanded, and with both http and https."""
    if not name:
        return []
    name = name.strip().removeprefix("<").removesuffix(">")
    name = expand_prefix(name) or name
    for scheme, other in (("http://", "https://"), ("https://", "http://")):
        if name.startswith(scheme):
            return [name, other + name[len(scheme) :]]
    return [name]
