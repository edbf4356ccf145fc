"""All links of a page: what its own structure names and what its facts mention, each address once."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from motherlode.links.feeds import feed_links, sitemap_links, text_links
from motherlode.links.from_quads import EVERYTHING, LinkRules, followed
from motherlode.links.href import LinkOptions, too_many
from motherlode.links.html import html_links, merged
from motherlode.model import ContentKind, Link, LinkSource, TransformResult
from motherlode.www.document import Document

_READERS = {
    ContentKind.RSS: feed_links,
    ContentKind.ATOM: feed_links,
    ContentKind.SITEMAP: sitemap_links,
    ContentKind.TEXT: text_links,
}
"""Kinds beside HTML whose own structure names links. All others have only their facts."""
_HTML = frozenset({ContentKind.HTML, ContentKind.XHTML})
_FOLLOWED_ANYWAY = frozenset({LinkSource.REFRESH, LinkSource.SITEMAP})
"""Links that are followed even if the user wants those of the facts alone."""


def collect_links(
    document: Document,
    facts: TransformResult,
    options: LinkOptions = LinkOptions(),  # noqa: B008 - it is frozen
    following: LinkRules = EVERYTHING,
    told: AbstractSet[str] = frozenset(),
) -> list[Link]:
    """The links of a page that the user wants followed, each address once.

    Navigation names the same addresses on every page of a site. Of those that were `told` before nothing is said again
    but that they are there, which saves a third of the work.
    """
    if document.kind in _HTML:
        found = html_links(document, options, told)
    else:
        reader = _READERS.get(document.kind)
        found = reader(document, options) if reader else []
    if not following.html:
        found = [link for link in found if link.source in _FOLLOWED_ANYWAY]
    mentioned = followed(facts, following, page_url=document.url, options=options) if facts.extractions else []
    if options.outside is not None:
        mentioned = [link for link in mentioned if not options.outside(link.url)]
    limit = options.most_links(document.kind)
    gathered = merged(found, mentioned, page_url=document.url, limit=limit)
    if len(gathered) >= limit and _are_left_out(mentioned, gathered, options):
        problem = too_many(limit)
        if problem not in document.problems:  # the page itself may have had too many
            document.problems.append(problem)
    return gathered


def _are_left_out(mentioned: list[Link], gathered: list[Link], options: LinkOptions) -> bool:
    """Whether the facts name addresses that had no room; who read them stops at the limit, too."""
    known = {link.url for link in gathered}
    return len(mentioned) >= options.page_links or any(link.url not in known for link in mentioned)
