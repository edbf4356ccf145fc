"""What the user may say about links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from motherlode.model import ContentKind, Problem
from motherlode.www.urls import MAX_URL_LENGTH

MAX_TEXT = 120
"""Characters of any text that goes with a link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """Options of the extract phase."""

    follow_vocabulary: bool = False
    """Follow classes and other terms of vocabularies, too. They are few, and every page names them again."""
    predicates: frozenset[str] | None = None
    """Only IRIs that statements with one of these predicates mention; None means any predicate."""
    kept_extensions: frozenset[str] = frozenset()
    """Follow links with these extensions, although no page can be there: a service or transformer wants them."""
    outside: Callable[[str], bool] | None = None
    """Tells of an address that nobody will follow it; what HTML and facts say of it need not be read then."""
    page_links: int = 5_000
    """Most links that one page may give."""
    sitemap_links: int = 50_000
    """Most links that one sitemap may give: what the protocol allows it to hold."""

    def most_links(self, kind: ContentKind) -> int:
        return self.sitemap_links if kind is ContentKind.SITEMAP else self.page_links


TOO_LONG = Problem(syntax=None, message=f"addresses of more than {MAX_URL_LENGTH:,} characters are not followed")
"""What is told where a page has such."""


def too_many(most: int) -> Problem:
    """What is told where a page has more links than it may give."""
    return Problem(syntax=None, message=f"a page gives {most:,} links at most: what came after them was left out")
