"""The links of one site: groups that all of its pages share, built once, and links of single pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from motherlode.model import Link, LinkSource
from motherlode.sim.synthetic.host_profiles import Design, Shape, Trap
from motherlode.sim.synthetic.page_layout import CONTEXTS, VARIANTS, Layout, LinkPosition, layout
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.random_draws import below, mix
from motherlode.sim.synthetic.site import Site, SitePart

_ANCHOR = LinkSource.ANCHOR
_SIDEBAR_LENGTHS = (4, 8, 12, 20)
_PLAIN = (Shape.PAGES, Shape.COMPANION, Shape.NEGOTIATED)
"""Shapes whose items are linked by their own URLs. A tuple: comparing three enums is faster than hashing one."""
_VAGUE = ("read more", "more", "details")
_OUTSIDE_EVERYWHERE = 5
"""Maximum number of cross-host links that every page of a host has."""


class SiteLinks:
    """Builds the links of a site. Groups that occur on every page are shared by all page models."""

    def __init__(self, site: Site, world: World) -> None:
        self.site = site
        self.world = world
        self.design: Design = site.habit.designs[mix(site.seed, 1) % len(site.habit.designs)]
        self.layout: Layout = layout(self.design, mix(site.seed, 2) % VARIANTS)
        self.paths = {place: slot.path for place, slot in self.layout.slots.items()}

    def anchor(self, place: LinkPosition, url: str, text: str, *, rel: str = "", type: str = "") -> Link:
        return Link(url=url, source=_ANCHOR, anchor=text, rel=rel, type=type, tag_path=self.paths[place])

    def told(self, place: LinkPosition, url: str, text: str, bits: int) -> Link:
        """Return a link followed by a sentence."""
        context = CONTEXTS[(bits >> 41) % len(CONTEXTS)]
        return Link(url=url, source=_ANCHOR, anchor=text, context=context, tag_path=self.paths[place])

    def head(self, url: str, *, rel: str, type: str) -> Link:
        return Link(url=url, source=LinkSource.LINK_ELEMENT, rel=rel, type=type, tag_path=self.paths[LinkPosition.HEAD])

    def items(self, path: str, part: SitePart, items: Iterable[int]) -> tuple[Link, ...]:
        """Return links to items with their titles as anchors."""
        found = [
            Link(url=url, source=_ANCHOR, anchor=title, tag_path=path) for url, title, _ in self._entries(part, items)
        ]
        return tuple(found)

    def listed(self, part: SitePart, items: Iterable[int]) -> tuple[Link, ...]:
        """Return the links of a list: each with its title (or a vague anchor) and a sentence."""
        path = self.paths[LinkPosition.ITEMS]
        found = [
            Link(
                url=url,
                source=_ANCHOR,
                anchor=title if (bits >> 18) % 10 else _VAGUE[bits % len(_VAGUE)],
                context=CONTEXTS[(bits >> 41) % len(CONTEXTS)],
                tag_path=path,
            )
            for url, title, bits in self._entries(part, items)
        ]
        return tuple(found)

    def _entries(self, part: SitePart, items: Iterable[int]) -> list[tuple[str, str, int]]:
        """Return URL, title and random bits of items. It has a fast path: this is the hottest loop of a simulation."""
        if self.site.habit.moved_permille or part.shape not in _PLAIN:
            return list(self._winding_entries(part, items))
        seed, first, pattern, both = part.seed, part.first, part.pattern, part.titles.both
        found = []
        for item in items:
            bits = mix(seed, item)
            title, slug = both(bits)
            found.append((pattern % (slug, item + first), title, bits))
        return found

    def _winding_entries(self, part: SitePart, items: Iterable[int]) -> Iterator[tuple[str, str, int]]:
        """Return the same for sites whose items are linked by other URLs than their own."""
        moved = self.site.habit.moved_permille
        for item in items:
            bits = mix(part.seed, item)
            title = part.titles.title(bits)
            if moved and below(bits >> 22, moved):  # the link goes through a redirect
                yield f"{self.site.root}/go/{part.number}/{item}", title, bits
            else:
                yield part.entry_url(item, bits), title, bits

    @cached_property
    def navigation(self) -> tuple[Link, ...]:
        site = self.site
        home = f"{site.root}/index.html" if self.design is Design.TABLES else site.home
        targets = [(home, "Home"), *((part.list_url(1), part.name.title()) for part in site.parts)]
        if site.introduced:
            targets.append((site.introduction_url(1), "Links"))
        if site.habit.trap is Trap.CALENDAR:
            targets.append((f"{site.root}/calendar/2026-11", "Calendar"))
        if site.habit.trap is Trap.FILTERS:
            targets.append((f"{site.root}/filter", "Filter"))
        return self._group(LinkPosition.NAVIGATION, targets)

    @cached_property
    def sidebar(self) -> tuple[Link, ...]:
        """Return links to the site's popular items."""
        length = _SIDEBAR_LENGTHS[mix(self.site.seed, 5) % len(_SIDEBAR_LENGTHS)]
        found: dict[str, Link] = {}
        for number in range(length if self.site.parts else 0):
            part = self.site.parts[number % len(self.site.parts)]
            item = mix(part.seed, -1 - number) % part.items
            found.update((link.url, link) for link in self.items(self.paths[LinkPosition.SIDEBAR], part, (item,)))
        return tuple(found.values())

    @cached_property
    def outside(self) -> tuple[Link, ...]:
        """Return links to partner sites, which every page has."""
        seed = mix(self.site.seed, 6)
        targets = dict(self.world.elsewhere(self.site, mix(seed, n)) for n in range(seed % (_OUTSIDE_EVERYWHERE + 1)))
        return self._group(LinkPosition.OUTSIDE, targets.items())

    @cached_property
    def footer(self) -> tuple[Link, ...]:
        site = self.site
        targets = [(url, url.rpartition("/")[2].title()) for url in site.fixed]
        if site.habit.moved_permille:
            targets.append((f"{site.root}/go/loop/1", "Old site"))
        if site.habit.robots:
            targets += [(f"{site.root}/search?q={word}", f"Search {word}") for word in ("maps", "salt")]
            targets += [(f"{site.root}/private/{number}", "Internal") for number in range(3)]
        return self._group(LinkPosition.FOOTER, targets)

    def _group(self, place: LinkPosition, targets: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
        return tuple(self.anchor(place, url, text) for url, text in targets)
