"""The context graph of each link: its direct properties and siblings in the statements of the page.

The definitions are those of LDCOC (Huang and Gandon 2020). The direct properties of a URI are the predicates of all
statements in which it is subject or object (definition 7). Its siblings are the other URIs that share with it a pair of
subject and predicate, or of predicate and object (definition 6). A link carries the hashes of its pairs, because a list
of siblings in each link would grow with the square of the links of a page. Siblings are found among the links of the
page, so URIs that are never followed, such as classes, have no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import xxhash

from motherlode.model import Link, Statement, Syntax, TransformResult
from motherlode.www.urls import canonical

MAX_PROPERTIES = 16
"""Maximum number of direct properties that a link carries. The first ones on the page are kept."""
MAX_GROUPS = 16
"""Maximum number of sibling groups that a link carries. The first ones on the page are kept."""


@dataclass(slots=True)
class _Context:
    properties: dict[str, None] = field(default_factory=dict)
    groups: dict[int, None] = field(default_factory=dict)


def add_context_graph(links: Sequence[Link], result: TransformResult) -> list[Link]:
    """Return the links with their direct properties and sibling groups."""
    contexts: dict[str, _Context | None] = {link.url: None for link in links}
    first_members: dict[int, str] = {}
    shared: set[int] = set()
    """Groups with at least two URLs."""
    for url, property_, group in _memberships(result, contexts):
        context = contexts[url]
        if context is None:
            context = contexts[url] = _Context()
        if len(context.properties) < MAX_PROPERTIES:
            context.properties[property_] = None
        context.groups[group] = None
        if first_members.setdefault(group, url) != url:
            shared.add(group)
    return [_with_context(link, contexts[link.url], shared) for link in links]


def _memberships(result: TransformResult, links: dict[str, _Context | None]) -> Iterator[tuple[str, str, int]]:
    """Yield the URL of a link, a property of it, and the sibling group of this statement, for each mention."""
    urls: dict[str, str | None] = {}

    def link_of(term: str) -> str | None:
        """Return the URL of the link to which a term leads; None if the term is not a link of the page."""
        if not term.startswith("<http"):
            return None
        if term not in urls:
            url = canonical(term[1:-1])
            urls[term] = url if url in links else None
        return urls[term]

    for subject, predicate, value, _graph in _statements(result):
        if (url := link_of(subject)) is not None:
            yield url, predicate[1:-1], _group("o", predicate, value)
        if (url := link_of(value)) is not None:
            yield url, predicate[1:-1], _group("s", subject, predicate)


def _statements(result: TransformResult) -> Iterator[Statement]:
    for extraction in result.extractions:
        if extraction.syntax is not Syntax.PAGE:  # these repeat the links of the HTML
            yield from extraction.statements


def _group(*pair: str) -> int:
    return xxhash.xxh32_intdigest("\n".join(pair).encode("utf-8", "replace"))


def _with_context(link: Link, context: _Context | None, shared: set[int]) -> Link:
    if context is None:
        return link
    groups = [group for group in context.groups if group in shared]
    return msgspec.structs.replace(
        link, properties=tuple(context.properties), sibling_groups=tuple(groups[:MAX_GROUPS])
    )
