"""The synthetic web itself: any address in, its model or its answer out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import overload

from motherlode.sim.web.dispatch import Asked, find
from motherlode.sim.web.habits import HABITS, Habit, Shape
from motherlode.sim.web.model import Answer, PageModel
from motherlode.sim.web.pages import SitePages
from motherlode.sim.web.render import render
from motherlode.sim.web.site import Site
from motherlode.sim.web.special import nowhere, robots_text
from motherlode.sim.web.world import World
from motherlode.www.media import ACCEPT

_REMEMBERED = 16384
"""Sites whose shared links are kept in memory."""


class HostNames(Sequence[str]):
    """The names of all hosts, made when they are asked for."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __len__(self) -> int:
        return self._world.population.count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        name = self._world.population.name
        if isinstance(index, slice):
            return [name(host) for host in range(*index.indices(len(self)))]
        return name(range(len(self))[index])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._world.find(name) is not None


class SyntheticWeb:
    """A web of `pages` pages that is the same for the same seed, and of which only what is visited is ever made.

    >>> web = SyntheticWeb(pages=1000, seed=7)
    >>> page = web.facts(web.seeds()[0])
    >>> page.status, page.role.value, len(page.links) > 5
    (200, 'home', True)
    >>> web.facts("http://nobody.example/").status
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
        return HostNames(self._world)

    def host_number(self, host: str) -> int | None:
        """The place of a host among `hosts()`, or None."""
        return self._world.find(host)

    def home(self, host: str) -> str:
        return f"http://{host}/"

    def seeds(self) -> list[str]:
        """Home pages of a few hosts from which all others can be reached: hubs and others with little data."""
        count = min(len(HABITS), self._world.population.count)
        return [self._world.home(host) for host in range(count) if HABITS[host].seed]

    def habit(self, host: str) -> Habit:
        """Raises ValueError for a host that does not exist."""
        return self._site(host).habit

    def urls(self, host: str) -> Iterator[str]:
        """The addresses of a host's pages: as many as count towards the size of the web."""
        return self._site(host).urls()

    def _site(self, name: str) -> Site:
        number = self._world.find(name)
        if number is None:
            raise ValueError(f"no host {name} in this web")
        return self._world.site(number)

    def robots(self, host: str) -> str | None:
        """The text of a host's robots.txt, or None where it has none."""
        return robots_text(self._site(host)) or None

    def facts(self, url: str, accept: str = ACCEPT, *, attempt: int = 0) -> PageModel:
        """What is at an address; `attempt` counts how often it was asked for before, because some answers fail once."""
        pages, path = self._place(url)
        if pages is None:
            return nowhere(url)
        return find(pages, Asked(url, path, accept, attempt))

    def _place(self, url: str) -> tuple[SitePages | None, str]:
        if not url.startswith("http://"):
            return None, ""
        end = url.find("/", 7)
        host = self._world.find(url[7:end] if end != -1 else url[7:])
        return (None if host is None else self._site_pages(host)), (url[end:] if end != -1 else "/")

    def answer(self, url: str, accept: str = ACCEPT, *, attempt: int = 0) -> Answer:
        """The HTTP answer at an address on a host that exists."""
        pages, path = self._place(url)
        if pages is None:
            raise ValueError(f"no host for {url} in this web")
        model = find(pages, Asked(url, path, accept, attempt))
        headers = {"Content-Type": model.media_type, "Server": "synthetic"}
        if model.location:
            headers["Location"] = model.location
        if model.retry_after is not None:
            headers["Retry-After"] = f"{model.retry_after:g}"
        if model.status == 303 or any(part.shape is Shape.NEGOTIATED for part in pages.site.parts):
            headers["Vary"] = "Accept"
        body = render(model, pages.links) if model.status == 200 else _apology(model.status)
        return Answer(status=model.status, headers=headers, body=body, encoding=pages.site.encoding, stall=model.stall)


def _apology(status: int) -> bytes:
    return f"<!DOCTYPE html><title>{status}</title><p>Sorry: {status}.</p>\n".encode()
