"""All links of a page: those of its markup and those of its statements, each URL once."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from motherlode.links.context_graph import add_context_graph
from motherlode.links.feeds import feed_links, sitemap_links, text_links
from motherlode.links.from_quads import FOLLOW_ALL, LinkRules, statement_links
from motherlode.links.href import LinkOptions, too_many_links
from motherlode.links.html import html_links, join_mentions
from motherlode.model import ContentKind, Link, LinkSource, TransformResult
from motherlode.www.document import Document

_READERS = {
    ContentKind.RSS: feed_links,
    ContentKind.ATOM: feed_links,
    ContentKind.SITEMAP: sitemap_links,
    ContentKind.TEXT: text_links,
}
"""Kinds other than HTML whose structure contains links. All others have only the links of their statements."""
_HTML = frozenset({ContentKind.HTML, ContentKind.XHTML})
_ALWAYS_FOLLOWED = frozenset({LinkSource.REFRESH, LinkSource.SITEMAP})
"""Links that are followed even if the user wants only those of the statements."""


def collect_links(
    document: Document,
    result: TransformResult,
    options: LinkOptions = LinkOptions(),  # noqa: B008 - it is frozen
    rules: LinkRules = FOLLOW_ALL,
    known: AbstractSet[str] = frozenset(),
) -> list[Link]:
    """Return the links of a page that the user wants to follow, each URL once.

    `known` contains URLs of earlier pages, such as the navigation of a site. Their links are returned without texts and
    context, which saves a third of the work.
    """
    if document.kind in _HTML:
        from_markup = html_links(document, options, known)
    else:
        reader = _READERS.get(document.kind)
        from_markup = reader(document, options) if reader else []
    if not rules.html:
        from_markup = [link for link in from_markup if link.source in _ALWAYS_FOLLOWED]
    from_statements = (
        statement_links(result, rules, page_url=document.url, options=options) if result.extractions else []
    )
    if options.outside is not None:
        from_statements = [link for link in from_statements if not options.outside(link.url)]
    limit = options.max_links(document.kind)
    links = merge_links(from_markup, from_statements, page_url=document.url, limit=limit)
    if len(links) >= limit:
        urls = {link.url for link in links}
        is_cut = len(from_statements) >= options.page_links or any(link.url not in urls for link in from_statements)
        problem = too_many_links(limit)
        if is_cut and problem not in document.problems:  # its markup may have had too many already
            document.problems.append(problem)
    return add_context_graph(links, result) if options.context_graph and result.extractions else links


def merge_links(found: Iterable[Link], from_statements: Iterable[Link], *, page_url: str, limit: int) -> list[Link]:
    """Return the links of markup and statements, each URL once, without the page itself."""
    best = {link.url: link for link in found}
    best.pop(page_url, None)
    for link in from_statements:
        known = best.get(link.url)
        if known is not None:
            best[link.url] = join_mentions(known, link)
        elif len(best) < limit and link.url != page_url:
            best[link.url] = link
    return list(best.values())
