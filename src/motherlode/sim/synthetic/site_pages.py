"""The page models of a site (home, fixed pages, lists of hosts, lists, items, RDF documents) and the links on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import structs

from motherlode.model import ContentKind, Link, LinkSource, Syntax
from motherlode.model.terms import RDF_TYPE
from motherlode.sim.synthetic.entities import DCTERMS, FOAF, OWL, RDFS, TYPES, Block, Edge, Flaw, RdfDocument
from motherlode.sim.synthetic.entity_kinds import EntityKind, person
from motherlode.sim.synthetic.host_profiles import Charset, Design, ItemShape, Trap, Voice
from motherlode.sim.synthetic.page_model import (
    CONTEXTS,
    VARIANTS,
    Groups,
    Layout,
    LinkPosition,
    PageModel,
    Role,
    layout,
)
from motherlode.sim.synthetic.population import World
from motherlode.sim.synthetic.random_draws import below, lognormal_table, mix
from motherlode.sim.synthetic.site import Site, SitePart
from motherlode.www.media_types import MEDIA

_ANCHOR = LinkSource.ANCHOR
_SIDEBAR_LENGTHS = (4, 8, 12, 20)
_PLAIN = (ItemShape.PAGES, ItemShape.COMPANION, ItemShape.NEGOTIATED)
"""Shapes whose items are linked by their own URLs. A tuple: comparing three enums is faster than hashing one."""
_VAGUE = ("read more", "more", "details")
_OUTSIDE_EVERYWHERE = 5
"""Maximum number of cross-host links that every page of a host has."""


class SiteLinks:
    """Builds the links of a site. Groups that occur on every page are shared by all page models."""

    def __init__(self, site: Site, world: World) -> None:
        self.site = site
        self.world = world
        self.design: Design = site.profile.designs[mix(site.seed, 1) % len(site.profile.designs)]
        self.layout: Layout = layout(self.design, mix(site.seed, 2) % VARIANTS)
        self.paths = {position: slot.path for position, slot in self.layout.slots.items()}

    def anchor(self, position: LinkPosition, url: str, text: str, *, rel: str = "", type: str = "") -> Link:
        return Link(url=url, source=_ANCHOR, anchor=text, rel=rel, type=type, tag_path=self.paths[position])

    def with_sentence(self, position: LinkPosition, url: str, text: str, bits: int) -> Link:
        """Return a link followed by a sentence."""
        context = CONTEXTS[(bits >> 41) % len(CONTEXTS)]
        return Link(url=url, source=_ANCHOR, anchor=text, context=context, tag_path=self.paths[position])

    def head(self, url: str, *, rel: str, type: str) -> Link:
        return Link(url=url, source=LinkSource.LINK_ELEMENT, rel=rel, type=type, tag_path=self.paths[LinkPosition.HEAD])

    def items(self, path: str, part: SitePart, items: Iterable[int]) -> tuple[Link, ...]:
        """Return links to items with their titles as anchors."""
        return tuple(
            [Link(url=url, source=_ANCHOR, anchor=title, tag_path=path) for url, title, _ in self._entries(part, items)]
        )

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
        if self.site.profile.moved_permille or part.shape not in _PLAIN:
            return list(self._indirect_entries(part, items))
        seed, first, pattern, both = part.seed, part.first, part.pattern, part.titles.both
        found = []
        for item in items:
            bits = mix(seed, item)
            title, slug = both(bits)
            found.append((pattern % (slug, item + first), title, bits))
        return found

    def _indirect_entries(self, part: SitePart, items: Iterable[int]) -> Iterator[tuple[str, str, int]]:
        """Return URL, title and random bits of items that are linked by an identifier or through a redirect."""
        moved = self.site.profile.moved_permille
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
        if site.listed_hosts:
            targets.append((site.host_list_url(1), "Links"))
        if site.profile.trap is Trap.CALENDAR:
            targets.append((f"{site.root}/calendar/2026-11", "Calendar"))
        if site.profile.trap is Trap.FILTERS:
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
        targets = dict(
            self.world.cross_host_link(self.site, mix(seed, n)) for n in range(seed % (_OUTSIDE_EVERYWHERE + 1))
        )
        return self._group(LinkPosition.OUTSIDE, targets.items())

    @cached_property
    def footer(self) -> tuple[Link, ...]:
        site = self.site
        targets = [(url, url.rpartition("/")[2].title()) for url in site.fixed]
        if site.profile.moved_permille:
            targets.append((f"{site.root}/go/loop/1", "Old site"))
        if site.profile.robots:
            targets += [(f"{site.root}/search?q={word}", f"Search {word}") for word in ("maps", "salt")]
            targets += [(f"{site.root}/private/{number}", "Internal") for number in range(3)]
        return self._group(LinkPosition.FOOTER, targets)

    def _group(self, position: LinkPosition, targets: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
        return tuple(self.anchor(position, url, text) for url, text in targets)


def with_session(groups: Groups, *, bits: int) -> Groups:
    """Return the same links, one of them with a new session id. With several, the trap would grow exponentially."""
    session = f"{mix(bits, 77) & 0xFFFFFFFFFFFF:012x}"
    return tuple(
        (position, (_marked(group[0], session), *group[1:]))
        if position is LinkPosition.RELATED and group
        else (position, group)
        for position, group in groups
    )


def _marked(link: Link, session: str) -> Link:
    return structs.replace(link, url=f"{link.url}{'&' if '?' in link.url else '?'}sid={session}")


# Pages

SIZES = lognormal_table(median=16_000, sigma=0.85, low=2_500, high=60_000)
"""Sizes of HTML pages in bytes, equally likely."""
STRAY_PERMILLE = 12
"""Pages per thousand that carry data although their template has none."""
_RELATED = 3
_LATEST = 6
_OUTSIDE_PERMILLE = 350
"""Items per thousand with a link to another host in their text."""
_GONE_HOST_PERMILLE = 4
"""Items per thousand with a link to a dead host."""
_NOTHING: Mapping[Syntax, int] = {}
_STALL = 0.3
_LIES = {
    ContentKind.TURTLE: ("text/plain", "text/plain; charset=utf-8"),
    ContentKind.N_TRIPLES: ("text/plain", "application/octet-stream"),
    ContentKind.RDF_XML: ("text/xml", "application/octet-stream"),
}
_BYTES_PER_STATEMENT = 90


class SitePages:
    """Builds the page models of one site."""

    def __init__(self, site: Site, world: World) -> None:
        self.site = site
        self.world = world
        self.links = SiteLinks(site, world)
        self._media_type = _media_type(site.profile.charset, self.links.design)
        self._related_path = self.links.paths[LinkPosition.RELATED]
        self._kind = ContentKind.XHTML if self.links.design is Design.XHTML else ContentKind.HTML

    def home(self) -> PageModel:
        site, links = self.site, self.links
        bits = mix(site.seed, 10)
        latest = [link for part in site.parts for link in links.listed(part, range(min(_LATEST, part.items)))]
        friends = dict(self.world.cross_host_link(site, mix(bits, n)) for n in range(2 + bits % 5))
        outside = tuple(links.anchor(LinkPosition.OUTSIDE, url, text) for url, text in friends.items())
        head: tuple[Link, ...] = ()
        if site.profile.feed:
            head = (links.head(f"{site.root}/feed.xml", rel="alternate", type="application/rss+xml"),)
        groups = self._framed((LinkPosition.ITEMS, tuple(latest)), head=head, outside=outside)
        blocks = self._everywhere(bits)
        if site.profile.featured and site.parts:
            part = site.parts[0]
            blocks = self._blocks(part, part.bits(0))
        return self._page(site.home, Role.HOME, site.title, groups, bits, blocks=blocks)

    def fixed(self, number: int) -> PageModel:
        url = self.site.fixed[number]
        bits = mix(self.site.seed, 100 + number)
        groups = self._framed((LinkPosition.CRUMBS, self.links.navigation[:1]))
        return self._page(url, Role.FIXED, url.rpartition("/")[2].title(), groups, bits, blocks=self._everywhere(bits))

    def host_list(self, page: int) -> PageModel:
        """Return a page that lists other hosts."""
        site, links, world = self.site, self.links, self.world
        first = (page - 1) * site.hosts_per_list
        hosts = site.listed_hosts[first : first + site.hosts_per_list]
        bits = mix(site.seed, 10_000 + page)
        items = tuple(
            links.with_sentence(LinkPosition.ITEMS, world.home(host), world.title(host), mix(bits, host))
            for host in hosts
        )
        pager = self._pager((page - 1, page + 1), site.host_list_pages, site.host_list_url)
        groups = self._framed((LinkPosition.ITEMS, items), (LinkPosition.PAGER, pager))
        url = site.host_list_url(page)
        return self._page(url, Role.HOST_LIST, "Links", groups, bits, blocks=self._everywhere(bits))

    def list(self, part: SitePart, page: int) -> PageModel:
        first = (page - 1) * part.length
        items = self.links.listed(part, range(first, min(first + part.length, part.items)))
        pager = self._pager(sorted({page - 1, page + 1, 2 * page, part.lists} - {page}), part.lists, part.list_url)
        groups = self._framed((LinkPosition.ITEMS, items), (LinkPosition.PAGER, pager))
        bits = mix(part.seed, -1000 - page)
        url = part.list_url(page)
        return self._page(url, Role.LIST, part.name.title(), groups, bits, blocks=self._everywhere(bits))

    def item(self, part: SitePart, item: int, *, url: str, attempt: int) -> PageModel:
        """Return the HTML page of the item at this URL."""
        bits = part.bits(item)
        failed = self._failed(url, bits, attempt)
        if failed is not None:
            return failed
        crumbs = self.links.anchor(LinkPosition.CRUMBS, part.list_url(1 + item // part.length), part.name.title())
        groups = self._framed(
            (LinkPosition.CRUMBS, (crumbs,)),
            (LinkPosition.INLINE, self._inline(part, item, bits)),
            (LinkPosition.RELATED, self._related(part, item, bits)),
            head=self._alternates(part, item),
        )
        blocks = self._blocks(part, bits)
        return self._page(url, Role.ITEM, part.titles.title(bits), groups, bits, blocks=blocks)

    def _framed(
        self,
        *inner: tuple[LinkPosition, tuple[Link, ...]],
        head: tuple[Link, ...] = (),
        outside: tuple[Link, ...] = (),
    ) -> Groups:
        """Return all links of a page: the given ones, and those that every page of the site has."""
        links = self.links
        return (
            (LinkPosition.HEAD, head),
            (LinkPosition.NAVIGATION, links.navigation),
            *inner,
            (LinkPosition.SIDEBAR, links.sidebar),
            (LinkPosition.OUTSIDE, links.outside + outside),
            (LinkPosition.FOOTER, links.footer),
        )

    def _pager(self, pages: Iterable[int], last: int, url: Callable[[int], str]) -> tuple[Link, ...]:
        """Return links to those of the given list pages that exist; `last` is the number of the last list page."""
        anchor = self.links.anchor
        return tuple(anchor(LinkPosition.PAGER, url(page), f"page {page}") for page in pages if 1 <= page <= last)

    def _page(
        self, url: str, role: Role, heading: str, groups: Groups, bits: int, *, blocks: tuple[Block, ...]
    ) -> PageModel:
        profile = self.site.profile
        if profile.trap is Trap.SESSION:
            groups = with_session(groups, bits=bits)
        stall = _STALL if profile.slow_permille and below(bits >> 49, profile.slow_permille) else 0.0
        counts = {block.syntax: count for block in blocks if (count := block.count())} if blocks else _NOTHING
        return PageModel(
            url=url,
            role=role,
            kind=self._kind,
            media_type="text/plain" if profile.lies and bits % 3 else self._media_type,
            counts=counts,
            types=TYPES[blocks[0].kind] if counts else (),
            size=SIZES[(bits >> 29) % 256],
            latency=self.site.latency + stall,
            stall=stall,
            groups=groups,
            heading=heading,
            blocks=blocks,
            bits=bits,
        )

    def _failed(self, url: str, bits: int, attempt: int) -> PageModel | None:
        """Return 503 for some items of an unreliable host: for most of them once, for every fourth always."""
        flaky = self.site.profile.flaky_permille
        if not (flaky and below(bits >> 45, flaky)) or (attempt and (bits >> 55) % 4):
            return None
        return PageModel(
            url=url, role=Role.ITEM, status=503, kind=ContentKind.TEXT, media_type="text/plain", retry_after=1.0,
            latency=self.site.latency,
        )  # fmt: skip

    def _everywhere(self, bits: int) -> tuple[Block, ...]:
        syntax = self.site.profile.sections[0].syntax
        if not self.site.profile.every_page or syntax is None:
            return ()
        return (Block(syntax=syntax, kind=EntityKind.ARTICLE, bits=bits),)

    def _blocks(self, part: SitePart, bits: int) -> tuple[Block, ...]:
        section = part.section
        if section.syntax is None:
            stray = part.shape is ItemShape.PAGES and below(bits >> 35, STRAY_PERMILLE)
            return (Block(syntax=Syntax.JSON_LD, kind=part.kind, bits=bits),) if stray else ()
        if not below(bits >> 35, section.carries):
            return ()
        flaw = Flaw.NONE
        if section.syntax is Syntax.JSON_LD and below(bits >> 44, self.site.profile.flawed_permille):
            flaw = Flaw.TEMPLATE if (bits >> 57) % 3 == 0 else Flaw.TRAILING_COMMA
        return (Block(syntax=section.syntax, kind=part.kind, bits=bits, flaw=flaw),)

    def _alternates(self, part: SitePart, item: int) -> tuple[Link, ...]:
        if not part.has_data_files:
            return ()
        rel = "meta" if part.section.formats == (ContentKind.RDF_XML,) else "alternate"
        return (self.links.head(part.data_url(item), rel=rel, type=MEDIA[part.format(item)].media_types[0]),)

    def _inline(self, part: SitePart, item: int, bits: int) -> tuple[Link, ...]:
        """Return the links in the text of an item: to other hosts, to missing pages, to its own data."""
        links = self.links
        found = []
        if below(bits >> 37, _OUTSIDE_PERMILLE):
            url, text = self.world.cross_host_link(self.site, mix(bits, 7))
            found.append(links.with_sentence(LinkPosition.INLINE, url, text, bits))
        if below(bits >> 39, self.site.profile.dead_permille):
            gone = part.pattern % ("old-page", part.first + part.items + 7 + item % 5)
            found.append(links.with_sentence(LinkPosition.INLINE, gone, "as reported before", bits >> 3))
        if below(bits >> 40, _GONE_HOST_PERMILLE):
            found.append(
                links.with_sentence(
                    LinkPosition.INLINE, f"http://gone-{bits % 500}.example/", "a site that is no more", bits
                )
            )
        if part.shape is ItemShape.COMPANION and part.section.syntax is not None:
            kind = part.format(item)
            link = links.with_sentence(LinkPosition.INLINE, part.data_url(item), f"Download as {kind.value}", bits >> 5)
            found.append(structs.replace(link, type=MEDIA[kind].media_types[0]))
        return tuple(found)

    def _related(self, part: SitePart, item: int, bits: int) -> tuple[Link, ...]:
        """Return links to the previous and next item and to some others of the same section."""
        span = part.items
        if span < 2:
            return ()
        numbers = {(item + 1) % span: None, (item - 1) % span: None}
        for attempt in range(_RELATED):
            numbers[(bits >> (10 * attempt)) % span] = None
        numbers.pop(item, None)
        return self.links.items(self._related_path, part, numbers)

    def data(self, part: SitePart, item: int, *, url: str, kind: ContentKind) -> PageModel:
        """Return the RDF document about an item, at its own URL or at the item's."""
        bits = part.bits(item)
        document = self._document(part, item, bits)
        media_type = MEDIA[kind].media_types[0]
        if self.site.profile.lies:
            media_type = _LIES[kind][bits % 2]
        count = document.count()
        syntax = MEDIA[kind].syntax
        return PageModel(
            url=url,
            role=Role.DATA,
            kind=kind,
            media_type=media_type,
            counts={syntax: count} if syntax else {},
            types=(FOAF + "Person",) if document.voice is Voice.FRIEND else TYPES[part.kind],
            size=400 + _BYTES_PER_STATEMENT * count,
            latency=self.site.latency,
            groups=((LinkPosition.INLINE, _mentioned(document)),),
            document=document,
            bits=bits,
        )

    def _document(self, part: SitePart, item: int, bits: int) -> RdfDocument:
        page = part.item_url(item, bits)
        if part.section.voice is Voice.FRIEND:
            subject = f"{part.data_url(item)}#me"
            edges = (Edge(predicate=FOAF + "homepage", target=page), *self._friends(part, item, bits))
        elif part.shape is ItemShape.ENTITY:
            subject = part.entry_url(item, bits)
            edges = (Edge(predicate=FOAF + "isPrimaryTopicOf", target=page), *self._relations(part, item, bits))
        else:
            subject = f"{page}#this"
            edges = self._relations(part, item, bits)
        return RdfDocument(voice=part.section.voice, subject=subject, kind=part.kind, bits=bits, edges=edges)

    def _friends(self, part: SitePart, item: int, bits: int) -> tuple[Edge, ...]:
        """Return friends on the same host and often one on another host, each with the URL of their document."""
        known = {part.data_url(number): part.bits(number) for number in _related_items(part, item, bits, most=4)}
        if bits % 2:
            other = self.world.kin(self.site, mix(bits, 21))
            far = other.parts[0] if other.parts else part
            number = (bits >> 13) % far.items
            known[far.data_url(number)] = far.bits(number)
        known.pop(part.data_url(item), None)
        return tuple(
            Edge(predicate=RDFS + "seeAlso", target=url, label=person(theirs)) for url, theirs in known.items()
        )

    def _relations(self, part: SitePart, item: int, bits: int) -> tuple[Edge, ...]:
        edges = [
            Edge(predicate=DCTERMS + "relation", target=part.entry_url(number, part.bits(number)))
            for number in _related_items(part, item, bits, most=3)
        ]
        if bits % 2:
            other = self.world.kin(self.site, mix(bits, 22))
            if other.parts and other is not self.site:
                far = other.parts[0]
                number = (bits >> 13) % far.items
                edges.append(Edge(predicate=OWL + "sameAs", target=far.entry_url(number, far.bits(number))))
        return tuple(edges)


def _related_items(part: SitePart, item: int, bits: int, *, most: int) -> list[int]:
    """Return related items of the same section: the next one, so that all are reachable, and some at random."""
    numbers = [(item + 1) % part.items, *((bits >> (9 * attempt)) % part.items for attempt in range(1 + bits % most))]
    return [number for number in dict.fromkeys(numbers) if number != item]


def _mentioned(document: RdfDocument) -> tuple[Link, ...]:
    """Return the links that the statements contain: objects with their predicate, and the subject."""
    subject = document.subject.partition("#")[0]
    found = {subject: Link(url=subject, source=LinkSource.TRIPLE, predicate=RDF_TYPE[1:-1])}
    for edge in document.edges:
        if edge.target not in found:
            found[edge.target] = Link(url=edge.target, source=LinkSource.TRIPLE, predicate=edge.predicate)
    return tuple(found.values())


def _media_type(charset: Charset, design: Design) -> str:
    name = "application/xhtml+xml" if design is Design.XHTML else "text/html"
    said = {Charset.LATIN1: "; charset=iso-8859-1", Charset.LATIN1_UNSAID: ""}.get(charset, "; charset=utf-8")
    return name + said
