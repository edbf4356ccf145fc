"""From an address on a site to the model of what is there."""

from __future__ import annotations

from typing import NamedTuple

from motherlode.sim.web.data import data_model
from motherlode.sim.web.habits import Shape, Trap
from motherlode.sim.web.model import PageModel
from motherlode.sim.web.negotiate import choose
from motherlode.sim.web.pages import SitePages
from motherlode.sim.web.site import Part
from motherlode.sim.web.special import missing, moved, special
from motherlode.sim.web.traps import calendar, filters, in_session, without_session
from motherlode.www.media import MEDIA

_ENTITY_PATHS = frozenset({"id", "page", "data"})


class Asked(NamedTuple):
    """A request, as far as it changes the answer. A named tuple, for one is made for each of a million models."""

    url: str
    path: str
    """With the query."""
    accept: str
    attempt: int
    """How often the same was asked before."""


def find(pages: SitePages, asked: Asked) -> PageModel:
    """What the site has at the address; where there is nothing, a 404."""
    if pages.site.habit.trap is Trap.SESSION:
        url, session = without_session(asked.url)
        if session:
            clean = asked._replace(url=url, path=url[len(pages.site.root) :])
            model = _find(pages, clean)
            return in_session(model, asked.url, session) if model.status == 200 else model
    return _find(pages, asked)


def _find(pages: SitePages, asked: Asked) -> PageModel:
    name, _, rest = asked.path[1:].partition("/")
    for part in pages.site.parts:
        if part.name == name or (part.shape is Shape.ENTITY and name in _ENTITY_PATHS):
            found = _listed(pages, part, name, rest, asked) or _item(pages, part, name, asked)
            if found is not None:
                return found
    return _apart(pages, asked) or _trap(pages, asked.path) or missing(asked.url, pages.site.latency)


def _listed(pages: SitePages, part: Part, name: str, rest: str, asked: Asked) -> PageModel | None:
    page = part.find_list(rest) if name == part.name else None
    if page is None:
        return None
    if asked.path == f"/{part.name}":  # the slash at the end is missing
        return moved(asked.url, status=301, location=part.list_url(1), latency=pages.site.latency)
    return pages.list(part, page)


def _item(pages: SitePages, part: Part, name: str, asked: Asked) -> PageModel | None:
    url = asked.url
    if name == "id" and (item := part.find_entity(url)) is not None:
        offered = ("text/html", MEDIA[part.format(item)].media_types[0])
        target = part.data_url(item) if choose(offered, asked.accept) == 1 else part.item_url(item, 0)
        return moved(url, status=303, location=target, latency=pages.site.latency)
    if part.has_data_files and (item := part.find_data(url)) is not None:
        return data_model(pages.site, pages.world, part, item, url=url, kind=part.format(item))
    item = part.find_item(url)
    if item is None:
        return None
    if part.shape is Shape.FILES:
        return data_model(pages.site, pages.world, part, item, url=url, kind=part.format(item))
    if part.shape is Shape.NEGOTIATED:
        formats = part.section.formats
        chosen = choose(("text/html", *(MEDIA[kind].media_types[0] for kind in formats)), asked.accept)
        if chosen:
            return data_model(pages.site, pages.world, part, item, url=url, kind=formats[chosen - 1])
    return pages.item(part, item, url=url, attempt=asked.attempt)


def _apart(pages: SitePages, asked: Asked) -> PageModel | None:
    """What is there outside of the sections."""
    site = pages.site
    if asked.path == "/":
        return pages.home()
    if asked.url in site.fixed:
        return pages.fixed(site.fixed.index(asked.url))
    if asked.path.startswith("/links"):
        number = asked.path.removeprefix("/links?page=")
        page = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else 1
        if page <= site.introduction_pages and site.introduction_url(page) == asked.url:
            return pages.introductions(page)
    return special(pages.links, asked.path)


def _trap(pages: SitePages, path: str) -> PageModel | None:
    trap = pages.site.habit.trap
    if trap is Trap.CALENDAR:
        return calendar(pages.links, path)
    return filters(pages.links, path) if trap is Trap.FILTERS else None
