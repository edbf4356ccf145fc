"""The context of a target URI on the page where it was found (Huang, Gandon 2020, definitions 3 to 7).

The target URI is u_t, the page that contains it is the referring URI u_r, and the page's graph is the context graph of
u_t. In that graph u_t has direct properties and siblings: other URIs with the same subject and property, or with the
same property and object. `direct_properties` and `sibling_set` implement these definitions for statements.

A policy gets links, not statements, and most links come from HTML, for which the paper defines no context graph. So
`ContextGraph` treats the links of a page as a graph: the page is the subject, and the property of a link is its
predicate if it comes from a statement, and otherwise its rel or its tag path. Then the same definitions apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from motherlode.model import Link, LinkSource, Statement

_UNNAMED = frozenset({"", "nofollow", "noopener", "noreferrer", "noopener noreferrer", "external"})
"""Values of rel that say how to follow a link but nothing about its target."""


def direct_properties(target: str, statements: Iterable[Statement]) -> set[str]:
    """Return PS_t: the properties that connect u_t in its context graph (definition 7), as terms.

    >>> graph = [("<s>", "<p>", "<t>", ""), ("<t>", "<q>", '"x"', ""), ("<s>", "<r>", "<u>", "")]
    >>> sorted(direct_properties("<t>", graph))
    ['<p>', '<q>']
    """
    return {property_ for subject, property_, value, _ in statements if target in (subject, value)}


def sibling_set(target: str, statements: Iterable[Statement]) -> set[str]:
    """Return Sib: the other URIs that share subject and property, or property and object, with u_t (definition 6).

    >>> graph = [("<s>", "<p>", "<t>", ""), ("<s>", "<p>", "<u>", ""), ("<s>", "<q>", "<v>", "")]
    >>> sibling_set("<t>", graph)
    {'<u>'}
    """
    rows = list(statements)
    before = {(subject, property_) for subject, property_, value, _ in rows if value == target}
    after = {(property_, value) for subject, property_, value, _ in rows if subject == target}
    found = {value for subject, property_, value, _ in rows if (subject, property_) in before}
    found |= {subject for subject, property_, value, _ in rows if (property_, value) in after}
    return {term for term in found if term.startswith("<") and term != target}


def property_of(link: Link) -> str:
    """Return the property that connects a page with a link on it: an IRI, or a substitute for links of HTML.

    >>> property_of(Link(url="http://a.example/", source=LinkSource.ANCHOR, tag_path="html body ul li a"))
    'html:path=html body ul li a'
    """
    if link.predicate:
        return link.predicate
    if link.rel not in _UNNAMED:
        return f"html:rel={link.rel}"
    return f"html:path={link.tag_path}" if link.tag_path else f"html:{link.source.value}"


class ContextGraph:
    """The links of a page as a graph. It returns at most `most` siblings of a link."""

    def __init__(self, links: Sequence[Link], *, most: int, before_others: Callable[[str], bool]) -> None:
        """`before_others` says whether a URI is preferred as a sibling; equal ones stay in page order."""
        self._most = most
        self._groups: dict[str, list[Link]] = {}
        for link in links:
            if link.source is not LinkSource.REDIRECT:
                self._groups.setdefault(property_of(link), []).append(link)
        for property_, group in self._groups.items():
            # one more than needed, because a link is not its own sibling
            self._groups[property_] = sorted(group, key=lambda link: not before_others(link.url))[: most + 1]

    def siblings(self, link: Link) -> list[Link]:
        """Return the links of the page with the same property, at most `most`."""
        group = self._groups.get(property_of(link), [])
        return [sibling for sibling in group if sibling.url != link.url][: self._most]
