"""Render a page model to bytes: HTML, RDF documents, feeds, sitemaps."""

from collections.abc import Iterator
from html import escape

from motherlode.model import Link, LinkSource
from motherlode.sim.synthetic.entities import WRITERS
from motherlode.sim.synthetic.entity_kinds import ACCENTED, PARAGRAPHS
from motherlode.sim.synthetic.host_profiles import Charset
from motherlode.sim.synthetic.page_model import SENTENCE_OF, Layout, LinkPosition, PageModel, Role
from motherlode.sim.synthetic.site import Site
from motherlode.sim.synthetic.site_pages import SiteLinks
from motherlode.sim.synthetic.special_urls import robots_text

_MAIN_POSITIONS = (
    LinkPosition.CRUMBS,
    LinkPosition.INLINE,
    LinkPosition.ITEMS,
    LinkPosition.PAGER,
    LinkPosition.RELATED,
)
_OUTER_POSITIONS = (LinkPosition.SIDEBAR, LinkPosition.OUTSIDE, LinkPosition.FOOTER)
_STYLE = "\n".join(
    f".{name} {{ margin: {size}px 0; padding: {size // 2}px; max-width: {40 + size}em; color: #{size * 11:06x}; }}"
    for size, name in enumerate(("content", "page", "main", "item", "list", "menu", "text", "title", "crumbs"), start=8)
)


def render(model: PageModel, links: SiteLinks) -> bytes:
    """Return the body of a page with status 200."""
    if model.document is not None:
        return WRITERS[model.kind](model.document.triples(), model.url).encode()
    if model.role is Role.ROBOTS:
        return robots_text(links.site).encode()
    if model.role is Role.SITEMAP:
        return _sitemap(model).encode()
    if model.role is Role.FEED:
        return _feed(model, links.site).encode()
    if model.role is Role.ASSET:
        return _STYLE.encode()
    charset = links.site.profile.charset
    text = _html(model, links, charset)
    return text.encode() if charset is Charset.UTF8 else text.encode("cp1252", "replace")


def _html(model: PageModel, links: SiteLinks, charset: Charset) -> str:
    layout, root = links.layout, links.site.root
    groups = dict(model.groups)
    opening = layout.opening
    if "%s" in opening:
        opening %= "utf-8" if charset is Charset.UTF8 else "iso-8859-1"
    parts = [opening, f"<title>{escape(model.heading)} — {escape(links.site.title)}</title>\n"]
    parts.append(f'<link rel="stylesheet" href="/assets/site.css"{layout.void}\n<style>\n{_STYLE}\n</style>\n')
    parts += _group(LinkPosition.HEAD, groups, layout, root)
    parts.append(layout.body)
    parts += _group(LinkPosition.NAVIGATION, groups, layout, root)
    parts += [layout.main, layout.heading % escape(model.heading)]
    parts += [block.write() for block in model.blocks]
    for position in _MAIN_POSITIONS:
        parts += _group(position, groups, layout, root)
    ending = [layout.main_end]
    for position in _OUTER_POSITIONS:
        ending += _group(position, groups, layout, root)
    ending.append(layout.closing)
    if charset is not Charset.UTF8:
        parts.append(layout.paragraph % ACCENTED)
    written = sum(map(len, parts)) + sum(map(len, ending))
    return "".join((*parts, *_filling(model, layout, model.size - written), *ending))


def _filling(model: PageModel, layout: Layout, wanted: int) -> Iterator[str]:
    number = model.bits
    while wanted > 0:
        number += 1
        text = layout.paragraph % PARAGRAPHS[(number * 2654435761 >> 7) % len(PARAGRAPHS)]
        wanted -= len(text)
        yield text


def _group(
    position: LinkPosition, groups: dict[LinkPosition, tuple[Link, ...]], layout: Layout, root: str
) -> list[str]:
    group = groups.get(position)
    if not group:
        return []
    slot = layout.slots[position]
    if slot.has_sentence:
        each = [slot.each % (_element(link, layout, root), SENTENCE_OF.get(link.context, "")) for link in group]
    else:
        each = [slot.each % _element(link, layout, root) for link in group]
    return [slot.before, *each, slot.after]


def _element(link: Link, layout: Layout, root: str) -> str:
    """Return an `a` or `link` element. URLs on the same host are written as relative references."""
    target = link.url.removeprefix(root) if link.url.startswith(root + "/") else link.url
    attributes = f'href="{escape(target)}"'
    if link.rel:
        attributes += f' rel="{link.rel}"'
    if link.type:
        attributes += f' type="{link.type}"'
    if link.source is LinkSource.LINK_ELEMENT:
        return f"<link {attributes}{layout.void}"
    return f"<a {attributes}>{escape(link.anchor, quote=False)}</a>"


def _sitemap(model: PageModel) -> str:
    index = any(link.url.endswith(".xml") for link in model.links)
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{escape(link.url)}</loc></{inner}>\n" for link in model.links)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{outer} xmlns="{namespace}">\n{entries}</{outer}>\n'


def _feed(model: PageModel, site: Site) -> str:
    entries = model.links[1:]
    items = "".join(
        f"<item><title>{escape(link.anchor)}</title><link>{escape(link.url)}</link></item>\n" for link in entries
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>\n'
        f"<title>{escape(site.title)}</title><link>{site.home}</link><description>Latest</description>\n"
        f"{items}</channel></rss>\n"
    )
