"""What is at addresses that are no pages of a site: robots.txt, sitemaps, feeds, redirects, private pages, nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from motherlode.model import ContentKind, Link, LinkSource
from motherlode.sim.web.draw import named
from motherlode.sim.web.layout import Place
from motherlode.sim.web.links import SiteLinks
from motherlode.sim.web.model import PageModel, Role
from motherlode.sim.web.site import Part, Site

CRAWL_DELAY = 0.2
"""Seconds that hosts with robots rules ask for."""
SITEMAP_LENGTH = 500
FEED_LENGTH = 15
_REDIRECTS = (301, 302, 303, 307, 308)
_GO = re.compile(r"/go/(\d)/(\d{1,8})(?:/([23]))?$")
_LOOP = re.compile(r"/go/loop/([12])$")
_PRIVATE = re.compile(r"/private/\d{1,3}$|/search\?q=[a-z]+$")
_SITEMAP = re.compile(r"/sitemap-(\d{1,6})\.xml$")


def missing(url: str, latency: float = 0.05) -> PageModel:
    return PageModel(url=url, role=Role.MISSING, status=404, media_type="text/html", latency=latency, size=300)


def nowhere(url: str) -> PageModel:
    """A page on a host that does not exist."""
    return PageModel(url=url, role=Role.NOWHERE, status=0, kind=ContentKind.EMPTY, media_type="")


def moved(url: str, *, status: int, location: str, latency: float) -> PageModel:
    return PageModel(
        url=url, role=Role.REDIRECT, status=status, kind=ContentKind.EMPTY, media_type="text/html", location=location,
        latency=latency,
    )  # fmt: skip


def special(links: SiteLinks, path: str) -> PageModel | None:
    """The model of what is at a path outside of the sections, or None."""
    site = links.site
    url = site.root + path
    if path == "/robots.txt":
        return _robots(site, url)
    if path == "/index.html":
        return moved(url, status=301, location=site.home, latency=site.latency)
    if path.startswith("/go/") and site.habit.moved_permille:
        return _redirect(site, path, url)
    if site.habit.robots and _PRIVATE.match(path):
        return _private(links, path, url)
    if path == "/feed.xml" and site.habit.feed and site.parts:
        return _feed(site, url)
    if path.startswith("/sitemap") and site.habit.sitemap:
        return _sitemap(site, path, url)
    if path == "/assets/site.css":
        return PageModel(url=url, role=Role.ASSET, kind=ContentKind.TEXT, media_type="text/css", size=900)
    return None


def robots_text(site: Site) -> str:
    """A host's robots.txt; empty where it has none.

    The rules name other robots first, so that a reader who takes the first group for its own gets it wrong.
    """
    lines = []
    if site.habit.robots:
        lines += ["User-agent: badbot", "Disallow: /", "", "User-agent: *", "Disallow: /private/"]
        lines += ["Disallow: /search", f"Crawl-delay: {CRAWL_DELAY}", ""]
    if site.habit.sitemap:
        lines += ["User-agent: *", "Disallow:", ""] if not site.habit.robots else []
        lines += [f"Sitemap: {site.root}/sitemap.xml"]
    return "\n".join(lines)


def _robots(site: Site, url: str) -> PageModel:
    text = robots_text(site)
    if not text:
        return missing(url, site.latency)
    return PageModel(
        url=url, role=Role.ROBOTS, kind=ContentKind.ROBOTS, media_type="text/plain", size=len(text),
        latency=site.latency,
    )  # fmt: skip


def _redirect(site: Site, path: str, url: str) -> PageModel | None:
    """Old addresses of items. Every seventh takes three steps to its item, and one goes round in a circle."""
    loop = _LOOP.match(path)
    if loop:
        other = f"{site.root}/go/loop/{3 - int(loop[1])}"
        return moved(url, status=302, location=other, latency=site.latency)
    match = _GO.match(path)
    if match is None or int(match[1]) >= len(site.parts):
        return None
    part, item = site.parts[int(match[1])], int(match[2])
    if item >= part.items:
        return None
    location = part.entry_url(item, part.bits(item))
    step = int(match[3] or 1)
    if item % 7 == 0 and step < 3:
        location = f"{site.root}/go/{part.number}/{item}/{step + 1}"
    status = _REDIRECTS[(item + step) % len(_REDIRECTS)]
    return moved(url, status=status, location=location, latency=site.latency)


def _private(links: SiteLinks, path: str, url: str) -> PageModel:
    groups = ((Place.NAVIGATION, links.navigation),)
    return PageModel(
        url=url, role=Role.PRIVATE, disallowed=True, size=3000, latency=links.site.latency, groups=groups,
        heading="Internal", bits=named(links.site.seed, path),
    )  # fmt: skip


def feed_items(site: Site) -> Iterator[tuple[str, str]]:
    """Address and title of the items in the site's feed."""
    part = site.parts[0]
    for item in range(min(FEED_LENGTH, part.items)):
        bits = part.bits(item)
        yield part.entry_url(item, bits), part.titles.title(bits)


def _feed(site: Site, url: str) -> PageModel:
    entries = [(site.home, site.title), *feed_items(site)]
    links = tuple(Link(url=target, source=LinkSource.FEED, anchor=title) for target, title in entries)
    return PageModel(
        url=url, role=Role.FEED, kind=ContentKind.RSS, media_type="application/rss+xml", size=300 + 200 * len(links),
        latency=site.latency, groups=((Place.ITEMS, links),),
    )  # fmt: skip


def _all_items(site: Site, first: int, last: int) -> Iterator[str]:
    """Addresses of the site's items number `first` to `last`, counted through all sections."""
    offset = 0
    for part in site.parts:
        yield from _some_items(part, max(0, first - offset), min(part.items, last - offset))
        offset += part.items


def _some_items(part: Part, first: int, last: int) -> Iterator[str]:
    return (part.entry_url(item, part.bits(item)) for item in range(first, last))


def _sitemap(site: Site, path: str, url: str) -> PageModel | None:
    """One sitemap, or an index of several where the site is large."""
    total = sum(part.items for part in site.parts)
    pages = -(-total // SITEMAP_LENGTH)
    match = _SITEMAP.match(path)
    if path == "/sitemap.xml":
        if pages > 1:
            targets = [f"{site.root}/sitemap-{page}.xml" for page in range(1, pages + 1)]
        else:
            targets = list(_all_items(site, 0, total))
    elif match and pages > 1 and 1 <= int(match[1]) <= pages:
        first = (int(match[1]) - 1) * SITEMAP_LENGTH
        targets = list(_all_items(site, first, min(total, first + SITEMAP_LENGTH)))
    else:
        return None
    links = tuple(Link(url=target, source=LinkSource.SITEMAP) for target in targets)
    return PageModel(
        url=url, role=Role.SITEMAP, kind=ContentKind.SITEMAP, media_type="application/xml", size=200 + 90 * len(links),
        latency=site.latency, groups=((Place.ITEMS, links),),
    )  # fmt: skip
