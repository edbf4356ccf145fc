"""The synthetic web: the page model or the HTTP response for any URL, with content negotiation (RFC 9110, 12.5.1)."""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from motherlode.sim.synthetic import special_urls
from motherlode.sim.synthetic.host_profiles import HOST_PROFILES, HostProfile, ItemShape, Trap
from motherlode.sim.synthetic.page_model import PageModel, ServedResponse
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.renderer import render
from motherlode.sim.synthetic.site import Site, SitePart
from motherlode.sim.synthetic.site_pages import SitePages
from motherlode.www.media_types import ACCEPT, MEDIA, parse_accept, rank_media_type


@lru_cache(maxsize=4096)
def choose(offered: tuple[str, ...], accept: str) -> int | None:
    """Return the index of the offered media type that the client prefers (the first among equals), or None for 406."""
    ranges = parse_accept(accept or "*/*")
    qualities = [rank_media_type(ranges, media_type)[0] for media_type in offered]
    best = max(qualities)
    return qualities.index(best) if best > 0 else None


# ── from a URL to a page model

_ENTITY_PATHS = frozenset({"id", "page", "data"})


class SiteRequest(NamedTuple):
    """The parts of a request that change the response. A named tuple, because a simulation makes a million of them."""

    url: str
    path: str
    """Path with the query."""
    accept: str
    attempt: int
    """Number of earlier requests for the same URL."""


def find(pages: SitePages, request: SiteRequest) -> PageModel:
    """Return the page model at the URL. It is a 404 if nothing is there."""
    if pages.site.profile.trap is Trap.SESSION:
        url, session = special_urls.without_session(request.url)
        if session:
            clean = request._replace(url=url, path=url[len(pages.site.root) :])
            model = _find(pages, clean)
            return special_urls.in_session(model, request.url, session) if model.status == 200 else model
    return _find(pages, request)


def _find(pages: SitePages, request: SiteRequest) -> PageModel:
    name, _, rest = request.path[1:].partition("/")
    for part in pages.site.parts:
        if part.name == name or (part.shape is ItemShape.ENTITY and name in _ENTITY_PATHS):
            found = _listed(pages, part, name, rest, request) or _item(pages, part, name, request)
            if found is not None:
                return found
    return (
        _find_outside_sections(pages, request)
        or _trap(pages, request.path)
        or special_urls.missing(request.url, pages.site.latency)
    )


def _listed(pages: SitePages, part: SitePart, name: str, rest: str, request: SiteRequest) -> PageModel | None:
    page = part.find_list(rest) if name == part.name else None
    if page is None:
        return None
    if request.path == f"/{part.name}":  # the trailing slash is missing
        return special_urls.moved(request.url, status=301, location=part.list_url(1), latency=pages.site.latency)
    return pages.list(part, page)


def _item(pages: SitePages, part: SitePart, name: str, request: SiteRequest) -> PageModel | None:
    url = request.url
    if name == "id" and (item := part.find_entity(url)) is not None:
        offered = ("text/html", MEDIA[part.format(item)].media_types[0])
        target = part.data_url(item) if choose(offered, request.accept) == 1 else part.item_url(item, 0)
        return special_urls.moved(url, status=303, location=target, latency=pages.site.latency)
    if part.has_data_files and (item := part.find_data(url)) is not None:
        return pages.data(part, item, url=url, kind=part.format(item))
    item = part.find_item(url)
    if item is None:
        return None
    if part.shape is ItemShape.FILES:
        return pages.data(part, item, url=url, kind=part.format(item))
    if part.shape is ItemShape.NEGOTIATED:
        formats = part.section.formats
        chosen = choose(("text/html", *(MEDIA[kind].media_types[0] for kind in formats)), request.accept)
        if chosen:
            return pages.data(part, item, url=url, kind=formats[chosen - 1])
    return pages.item(part, item, url=url, attempt=request.attempt)


def _find_outside_sections(pages: SitePages, request: SiteRequest) -> PageModel | None:
    site = pages.site
    if request.path == "/":
        return pages.home()
    if request.url in site.fixed:
        return pages.fixed(site.fixed.index(request.url))
    if request.path.startswith("/links"):
        number = request.path.removeprefix("/links?page=")
        page = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 1
        if page <= site.host_list_pages and site.host_list_url(page) == request.url:
            return pages.host_list(page)
    return special_urls.special(pages.links, request.path)


def _trap(pages: SitePages, path: str) -> PageModel | None:
    trap = pages.site.profile.trap
    if trap is Trap.CALENDAR:
        return special_urls.calendar(pages.links, path)
    return special_urls.filters(pages.links, path) if trap is Trap.FILTERS else None


# ── the web

_REMEMBERED = 16384
"""Number of sites whose shared links are kept in memory."""


class SyntheticWeb:
    """A web of `pages` pages that is the same for the same seed. Only visited pages are computed.

    >>> web = SyntheticWeb(pages=1000, seed=7)
    >>> page = web.page_model(web.seeds()[0])
    >>> page.status, page.role.value, len(page.links) > 5
    (200, 'home', True)
    >>> web.page_model("http://nobody.example/").status
    0
    """

    def __init__(self, pages: int, seed: int, hosts: int | None = None) -> None:
        self.pages = pages
        self.seed = seed
        self._world = World(pages=pages, seed=seed, hosts=hosts)
        self._site_pages = lru_cache(maxsize=_REMEMBERED)(self._make_site_pages)

    def _make_site_pages(self, host: int) -> SitePages:
        return SitePages(self._world.site(host), self._world)

    def hosts(self) -> Sequence[str]:
        """Return the names of all hosts."""
        return self._hosts

    @cached_property
    def _hosts(self) -> list[str]:
        return list(self._world.names())

    def host_number(self, host: str) -> int | None:
        """Return the index of a host in `hosts()`, or None."""
        return self._world.find(host)

    def home(self, host: str) -> str:
        return f"http://{host}/"

    def seeds(self) -> list[str]:
        """Return home pages from which all hosts can be reached: those of hubs and of hosts with little data."""
        count = min(len(HOST_PROFILES), self._world.count)
        return [self._world.home(host) for host in range(count) if HOST_PROFILES[host].seed]

    def profile(self, host: str) -> HostProfile:
        """Return the profile of a host. Raises ValueError if the host does not exist."""
        return self._site(host).profile

    def urls(self, host: str) -> Iterator[str]:
        """Yield the URLs of a host's pages, all that count towards the size of the web."""
        return self._site(host).urls()

    def _site(self, name: str) -> Site:
        number = self._world.find(name)
        if number is None:
            raise ValueError(f"no host {name} in this web")
        return self._world.site(number)

    def robots(self, host: str) -> str | None:
        """Return the text of a host's robots.txt, or None if it has none."""
        return special_urls.robots_text(self._site(host)) or None

    def page_model(self, url: str, accept: str = ACCEPT, *, attempt: int = 0) -> PageModel:
        """Return the page model of a URL. `attempt` counts earlier requests, because some responses fail once."""
        pages, path = self._locate(url)
        if pages is None:
            return special_urls.nowhere(url)
        return find(pages, SiteRequest(url, path, accept, attempt))

    def _locate(self, url: str) -> tuple[SitePages | None, str]:
        if not url.startswith("http://"):
            return None, ""
        end = url.find("/", 7)
        host = self._world.find(url[7:end] if end != -1 else url[7:])
        return (None if host is None else self._site_pages(host)), (url[end:] if end != -1 else "/")

    def answer(self, url: str, accept: str = ACCEPT, *, attempt: int = 0) -> ServedResponse:
        """Return the HTTP response for a URL on an existing host."""
        pages, path = self._locate(url)
        if pages is None:
            raise ValueError(f"no host for {url} in this web")
        model = find(pages, SiteRequest(url, path, accept, attempt))
        headers = {"Content-Type": model.media_type, "Server": "synthetic"}
        if model.location:
            headers["Location"] = model.location
        if model.retry_after is not None:
            headers["Retry-After"] = f"{model.retry_after:g}"
        if model.status == 303 or any(part.shape is ItemShape.NEGOTIATED for part in pages.site.parts):
            headers["Vary"] = "Accept"
        body = render(model, pages.links) if model.status == 200 else _apology(model.status)
        return ServedResponse(
            status=model.status, headers=headers, body=body, encoding=pages.site.encoding, stall=model.stall
        )


def _apology(status: int) -> bytes:
    return f"<!DOCTYPE html><title>{status}</title><p>Sorry: {status}.</p>\n".encode()
