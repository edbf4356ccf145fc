"""What stands around a target URI on the page where it was found (Huang, Gandon 2020, definitions 3 to 7).

The target URI is u_t, the page that names it the referring URI u_r, and the page's graph the context graph of u_t. In
that graph u_t has direct properties, and siblings: the other URIs with the same subject and property, or with the same
property and object. `direct_properties` and `sibling_set` are these definitions over statements.

A policy sees links, not statements, and most of them come from HTML, for which the paper has no context graph. So
`ContextGraph` reads a page's links as a graph: the page is the subject, and a link's property is its predicate where a
statement gave it, and otherwise its rel or the path of elements down to it. Then the same definitions hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from motherlode.model import Link, LinkSource, Statement

_UNNAMED = frozenset({"", "nofollow", "noopener", "noreferrer", "noopener noreferrer", "external"})
"""Values of rel that say how to follow a link and not what it leads to."""


def direct_properties(target: str, statements: Iterable[Statement]) -> set[str]:
    """PS_t: the properties that connect u_t in its context graph (definition 7), as terms.

    >>> graph = [("<s>", "<p>", "<t>", ""), ("<t>", "<q>", '"x"', ""), ("<s>", "<r>", "<u>", "")]
    >>> sorted(direct_properties("<t>", graph))
    ['<p>', '<q>']
    """
    return {property_ for subject, property_, value, _ in statements if target in (subject, value)}


def sibling_set(target: str, statements: Iterable[Statement]) -> set[str]:
    """Sib: the other URIs that share a subject and property, or a property and object, with u_t (definition 6).

    >>> graph = [("<s>", "<p>", "<t>", ""), ("<s>", "<p>", "<u>", ""), ("<s>", "<q>", "<v>", "")]
    >>> sibling_set("<t>", graph)
    {'<u>'}
    """
    facts = list(statements)
    before = {(subject, property_) for subject, property_, value, _ in facts if value == target}
    after = {(property_, value) for subject, property_, value, _ in facts if subject == target}
    found = {value for subject, property_, value, _ in facts if (subject, property_) in before}
    found |= {subject for subject, property_, value, _ in facts if (property_, value) in after}
    return {term for term in found if term.startswith("<") and term != target}


def property_of(link: Link) -> str:
    """The property that connects a page with a link on it: an IRI, or what HTML has in its place.

    >>> property_of(Link(url="http://a.example/", source=LinkSource.ANCHOR, tag_path="html body ul li a"))
    'html:path=html body ul li a'
    """
    if link.predicate:
        return link.predicate
    if link.rel not in _UNNAMED:
        return f"html:rel={link.rel}"
    return f"html:path={link.tag_path}" if link.tag_path else f"html:{link.source.value}"


class ContextGraph:
    """The links of a page as a graph: who is whose sibling. However many a link has, it is told of the `most` first."""

    def __init__(self, links: Sequence[Link], *, most: int, before_others: Callable[[str], bool]) -> None:
        """`before_others` tells the URIs that are worth more as siblings; otherwise they stand in page order."""
        self._most = most
        self._groups: dict[str, list[Link]] = {}
        for link in links:
            if link.source is not LinkSource.REDIRECT:
                self._groups.setdefault(property_of(link), []).append(link)
        for property_, group in self._groups.items():
            # one more than needed, because no link is its own sibling
            self._groups[property_] = sorted(group, key=lambda link: not before_others(link.url))[: most + 1]

    def siblings(self, link: Link) -> list[Link]:
        """The links that the page names by the same property, at most so many."""
        group = self._groups.get(property_of(link), [])
        return [sibling for sibling in group if sibling.url != link.url][: self._most]
