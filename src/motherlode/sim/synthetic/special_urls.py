"""URLs outside a site's regular pages: infinite sets of pages, robots.txt, sitemaps, feeds, redirects."""

import re
from collections.abc import Iterator

from msgspec import structs

from motherlode.model import ContentKind, Link, LinkSource
from motherlode.sim.synthetic.entity_kinds import TOPICS
from motherlode.sim.synthetic.page_model import LinkPosition, PageModel, Role
from motherlode.sim.synthetic.random_draws import mix, named
from motherlode.sim.synthetic.site import Site, SitePart
from motherlode.sim.synthetic.site_pages import SiteLinks, with_session

_SESSION = re.compile(r"[?&]sid=([0-9a-f]{12})$")
_MONTH = re.compile(r"/calendar/(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|1\d|2[0-8]))?$")
_LONGEST_FILTER = 1500
"""URL length in characters from which no filter is added: the trap is finite, but far larger than any crawl."""
_BROAD_FILTERS = 3
"""A page with fewer filters than this links to three URLs with one more filter; any other page to one."""
_SIZE = 6000


def without_session(url: str) -> tuple[str, int]:
    """Return a URL without its session, and the session's number (0 if it has none)."""
    match = _SESSION.search(url)
    return (url[: match.start()], int(match[1], 16)) if match else (url, 0)


def in_session(model: PageModel, url: str, session: int) -> PageModel:
    """Return the page of a visitor with a session: the same page at another URL, and a link into a new session."""
    clean = tuple((position, tuple(_cleaned(link) for link in group)) for position, group in model.groups)
    groups = with_session(clean, bits=mix(session, model.bits & 0xFFFFFFFF))
    return structs.replace(model, url=url, groups=groups, trap=True)


def _cleaned(link: Link) -> Link:
    url, session = without_session(link.url)
    return structs.replace(link, url=url) if session else link


def calendar(links: SiteLinks, path: str) -> PageModel | None:
    """Return the page of a month or a day in an infinite calendar, with links to the months or days around it."""
    match = _MONTH.match(path)
    if match is None:
        return None
    root = links.site.root
    year, month, day = int(match[1]), int(match[2]), match[3]
    here = f"{root}/calendar/{year:04}-{month:02}"
    bits = named(links.site.seed, path)
    if day:
        return _endless(links, f"{here}-{day}", bits, f"Events on {year:04}-{month:02}-{day}", ((here, "this month"),))
    months = [divmod(12 * year + month - 1 + step, 12) for step in (-1, 1)]
    turns = [
        (f"{root}/calendar/{y:04}-{m + 1:02}", name) for (y, m), name in zip(months, ("before", "next"), strict=True)
    ]
    days = [(f"{here}-{1 + (bits >> (5 * n)) % 28:02}", f"event {n + 1}") for n in range(4)]
    targets = tuple(dict((*turns, *days)).items())
    return _endless(links, here, bits, f"Calendar {year:04}-{month:02}", targets)


def filters(links: SiteLinks, path: str) -> PageModel | None:
    """Return the page with search results for the filters in a URL, with links that add one more filter."""
    if path != "/filter" and not re.fullmatch(r"/filter\?f=[a-z]+(?:&f=[a-z]+)*", path):
        return None
    url = links.site.root + path
    bits = named(links.site.seed, path)
    joint = "&" if "?" in path else "?"
    ways = 3 if path.count("f=") < _BROAD_FILTERS else 1
    more = [(f"{url}{joint}f={TOPICS[(bits >> (6 * n)) % len(TOPICS)]}", f"only item {n + 1}") for n in range(ways)]
    return _endless(links, url, bits, "Filtered", tuple(dict(more).items()) if len(path) < _LONGEST_FILTER else ())


def _endless(links: SiteLinks, url: str, bits: int, heading: str, targets: tuple[tuple[str, str], ...]) -> PageModel:
    pager = tuple(links.anchor(LinkPosition.PAGER, target, text) for target, text in targets)
    groups = (
        (LinkPosition.NAVIGATION, links.navigation),
        (LinkPosition.PAGER, pager),
        (LinkPosition.FOOTER, links.footer),
    )
    return PageModel(
        url=url, role=Role.TRAP, trap=True, size=_SIZE, latency=links.site.latency, groups=groups, heading=heading,
        bits=bits,
    )  # fmt: skip


# ── special resources

CRAWL_DELAY = 0.2
"""Crawl-delay in seconds of hosts with robots rules."""
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
    """Return the model of a page on a host that does not exist."""
    return PageModel(url=url, role=Role.NOWHERE, status=0, kind=ContentKind.EMPTY, media_type="")


def moved(url: str, *, status: int, location: str, latency: float) -> PageModel:
    return PageModel(
        url=url, role=Role.REDIRECT, status=status, kind=ContentKind.EMPTY, media_type="text/html", location=location,
        latency=latency,
    )  # fmt: skip


def special(links: SiteLinks, path: str) -> PageModel | None:
    """Return the model of a path outside the sections, or None."""
    site = links.site
    url = site.root + path
    if path == "/robots.txt":
        return _robots(site, url)
    if path == "/index.html":
        return moved(url, status=301, location=site.home, latency=site.latency)
    if path.startswith("/go/") and site.profile.moved_permille:
        return _redirect(site, path, url)
    if site.profile.robots and _PRIVATE.match(path):
        return _private(links, path, url)
    if path == "/feed.xml" and site.profile.feed and site.parts:
        return _feed(site, url)
    if path.startswith("/sitemap") and site.profile.sitemap:
        return _sitemap(site, path, url)
    if path == "/assets/site.css":
        return PageModel(url=url, role=Role.ASSET, kind=ContentKind.TEXT, media_type="text/css", size=900)
    return None


def robots_text(site: Site) -> str:
    """Return a host's robots.txt, or an empty string if it has none.

    The rules of other robots come first, so that a parser that takes the first group fails.
    """
    lines = []
    if site.profile.robots:
        lines += ["User-agent: badbot", "Disallow: /", "", "User-agent: *", "Disallow: /private/"]
        lines += ["Disallow: /search", f"Crawl-delay: {CRAWL_DELAY}", ""]
    if site.profile.sitemap:
        lines += ["User-agent: *", "Disallow:", ""] if not site.profile.robots else []
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
    """Return the redirect from an old URL of an item. Every seventh takes three hops, and one is a loop."""
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
    groups = ((LinkPosition.NAVIGATION, links.navigation),)
    return PageModel(
        url=url, role=Role.PRIVATE, disallowed=True, size=3000, latency=links.site.latency, groups=groups,
        heading="Internal", bits=named(links.site.seed, path),
    )  # fmt: skip


def feed_items(site: Site) -> Iterator[tuple[str, str]]:
    """Return URL and title of the items in the site's feed."""
    part = site.parts[0]
    for item in range(min(FEED_LENGTH, part.items)):
        bits = part.bits(item)
        yield part.entry_url(item, bits), part.titles.title(bits)


def _feed(site: Site, url: str) -> PageModel:
    entries = [(site.home, site.title), *feed_items(site)]
    links = tuple(Link(url=target, source=LinkSource.FEED, anchor=title) for target, title in entries)
    return PageModel(
        url=url, role=Role.FEED, kind=ContentKind.RSS, media_type="application/rss+xml", size=300 + 200 * len(links),
        latency=site.latency, groups=((LinkPosition.ITEMS, links),),
    )  # fmt: skip


def _all_items(site: Site, first: int, last: int) -> Iterator[str]:
    """Return the URLs of the items with numbers `first` to `last`, counted over all sections."""
    offset = 0
    for part in site.parts:
        yield from _some_items(part, max(0, first - offset), min(part.items, last - offset))
        offset += part.items


def _some_items(part: SitePart, first: int, last: int) -> Iterator[str]:
    return (part.entry_url(item, part.bits(item)) for item in range(first, last))


def _sitemap(site: Site, path: str, url: str) -> PageModel | None:
    """Return one sitemap, or an index of several if the site is large."""
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
        latency=site.latency, groups=((LinkPosition.ITEMS, links),),
    )  # fmt: skip
