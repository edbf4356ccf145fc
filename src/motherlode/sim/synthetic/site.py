"""One host: how its pages are divided among sections, and the mapping between page numbers and URLs.

A host of n pages has a home page, some fixed pages, pages that list other hosts, and sections of lists and items. URLs
contain the item's number. A URL exists if building it again from that number gives the same URL.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from motherlode.model import ContentKind
from motherlode.sim.synthetic.entity_kinds import KINDS, EntityKind, Titles
from motherlode.sim.synthetic.host_profiles import HostProfile, ItemShape, Section
from motherlode.sim.synthetic.random_draws import mix, named
from motherlode.www.media_types import MEDIA

_FIXED_PAGES = ("about", "contact", "imprint", "privacy", "help", "team", "press", "terms")
_PATTERNS = (
    "/%s-%d",
    "/%s-%d.html",
    "/%.0s%d",  # a slug field of width zero
    "/view?id=%.0s%d",
    "/%s-%d/",
)
_LAST_NUMBER = re.compile(r"(\d{1,9})(?:\.[a-z]+|/)?$")
_LIST_NUMBER = re.compile(r"(?:page/|\?page=)(\d{1,7})$")
_DATA_FILE = re.compile(r"(\d{1,9})/(?:data|foaf)\.[a-z]+$")
_LIST_LENGTHS = (8, 10, 12, 15, 20, 24)
HOSTS_PER_LIST = 20
_PAGES_PER_ITEM = {ItemShape.COMPANION: 2, ItemShape.ENTITY: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePart:
    """A section of one host."""

    number: int
    section: Section
    shape: ItemShape
    kind: EntityKind
    titles: Titles
    name: str
    """First path segment of the URLs of the section."""
    seed: int
    root: str
    items: int
    length: int
    """Number of items per list."""
    pattern: str
    """Format string of an item's URL: host and path, with fields for slug and number."""
    list_pattern: str
    first: int
    """The number in the URL of the section's first item."""

    @property
    def lists(self) -> int:
        return -(-self.items // self.length)

    def bits(self, item: int) -> int:
        return mix(self.seed, item)

    def list_url(self, page: int) -> str:
        """Return the URL of a list. Lists are counted from 1."""
        return f"{self.root}/{self.name}/" if page == 1 else self.list_pattern % page

    def item_url(self, item: int, bits: int) -> str:
        """Return the URL of an item's HTML page, or of its only document."""
        shape = self.shape
        if shape is ItemShape.FILES:
            return f"{self.root}/{self.name}/{self.titles.slug(bits)}-{item + self.first}.{self.extension(item)}"
        if shape is ItemShape.ENTITY:
            return f"{self.root}/page/{item + self.first}"
        return self.pattern % (self.titles.slug(bits), item + self.first)

    def entry_url(self, item: int, bits: int) -> str:
        """Return the URL by which the item is linked."""
        if self.shape is ItemShape.ENTITY:
            return f"{self.root}/id/{item + self.first}"
        return self.item_url(item, bits)

    def data_url(self, item: int) -> str:
        """Return the URL of the RDF document about an item."""
        number = item + self.first
        if self.shape is ItemShape.ENTITY:
            return f"{self.root}/data/{number}.{self.extension(item)}"
        stem = "foaf" if self.section.formats == (ContentKind.RDF_XML,) else "data"
        return f"{self.root}/{self.name}/{number}/{stem}.{self.extension(item)}"

    def format(self, item: int) -> ContentKind:
        return self.section.formats[item % len(self.section.formats)]

    def extension(self, item: int) -> str:
        return MEDIA[self.format(item)].extensions[0]

    def find_list(self, rest: str) -> int | None:
        """Return the number of the list page whose URL ends with `rest` after `/name/`; None if no list page does."""
        if not rest:
            return 1
        if not rest.startswith(("page/", "?page=")):
            return None
        match = _LIST_NUMBER.match(rest)
        page = int(match[1]) if match else 0
        return page if 1 < page <= self.lists and self.list_url(page) == f"{self.root}/{self.name}/{rest}" else None

    def find_item(self, url: str) -> int | None:
        """Return the item whose HTML page (or only document) has this URL."""
        match = _LAST_NUMBER.search(url, max(0, len(url) - 20))
        item = int(match[1]) - self.first if match else -1
        return item if 0 <= item < self.items and self.item_url(item, mix(self.seed, item)) == url else None

    def find_entity(self, url: str) -> int | None:
        """Return the item that this URL identifies."""
        return self._find(_LAST_NUMBER, url, lambda item: self.entry_url(item, 0))

    def find_data(self, url: str) -> int | None:
        """Return the item whose RDF document has this URL."""
        return self._find(_LAST_NUMBER if self.shape is ItemShape.ENTITY else _DATA_FILE, url, self.data_url)

    def _find(self, pattern: re.Pattern[str], url: str, url_of: Callable[[int], str]) -> int | None:
        match = pattern.search(url)
        item = int(match[1]) - self.first if match else -1
        return item if 0 <= item < self.items and url_of(item) == url else None

    @property
    def has_data_files(self) -> bool:
        return self.shape in (ItemShape.COMPANION, ItemShape.ENTITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One host. Everything about it follows from its number."""

    host: int
    name: str
    title: str
    profile: HostProfile
    seed: int
    size: int
    root: str
    fixed: tuple[str, ...]
    """URLs of its fixed pages: about, contact …"""
    listed_hosts: Sequence[int]
    hosts_per_list: int
    """Number of hosts per page that lists hosts."""
    parts: tuple[SitePart, ...]
    latency: float
    """Usual response time in seconds, in virtual time."""

    @property
    def home(self) -> str:
        return f"{self.root}/"

    @property
    def encoding(self) -> str:
        return self.profile.encodings[mix(self.seed, 3) % len(self.profile.encodings)]

    @property
    def host_list_pages(self) -> int:
        return -(-len(self.listed_hosts) // self.hosts_per_list)

    def host_list_url(self, page: int) -> str:
        return f"{self.root}/links" if page == 1 else f"{self.root}/links?page={page}"

    def urls(self) -> Iterator[str]:
        """Yield every document of the host that counts as a page, `size` in total."""
        yield self.home
        yield from self.fixed
        yield from (self.host_list_url(page) for page in range(1, self.host_list_pages + 1))
        for part in self.parts:
            yield from (part.list_url(page) for page in range(1, part.lists + 1))
            yield from (part.item_url(item, part.bits(item)) for item in range(part.items))
            if part.has_data_files:
                yield from map(part.data_url, range(part.items))


def build_site(
    *, host: int, name: str, title: str, profile: HostProfile, seed: int, size: int, listed_hosts: Sequence[int]
) -> Site:
    """Divide `size` pages among the sections of the profile. The remainder becomes fixed pages."""
    root = f"http://{name}"
    hosts_per_list = max(HOSTS_PER_LIST, -(-len(listed_hosts) // max(1, size // 3)))
    left = size - 1 - -(-len(listed_hosts) // hosts_per_list)
    fixed = 2 if left >= 10 else 0
    parts = tuple(_parts(root, profile, seed, left - fixed))
    used = sum(part.lists + part.items * _PAGES_PER_ITEM.get(part.section.shape, 1) for part in parts)
    names = (*_FIXED_PAGES[: left - used], *(f"info-{number}" for number in range(len(_FIXED_PAGES), left - used)))
    return Site(
        host=host,
        name=name,
        title=title,
        profile=profile,
        seed=seed,
        size=size,
        root=root,
        fixed=tuple(f"{root}/{page}" for page in names),
        listed_hosts=listed_hosts,
        hosts_per_list=hosts_per_list,
        parts=parts,
        latency=0.02 + (mix(seed, 4) % 1000) ** 2 / 4e6,
    )


def _parts(root: str, profile: HostProfile, seed: int, pages: int) -> Iterator[SitePart]:
    """Return as many sections as the number of pages allows. Each needs three: two items and their list."""
    wanted = profile.sections if pages >= 3 else ()
    while len(wanted) > 1 and pages * min(section.share for section in wanted) < 3 * _total(wanted):
        wanted = wanted[:-1]
    for number, section in enumerate(wanted):
        bits = named(seed, f"section {number}")
        length = _LIST_LENGTHS[bits % len(_LIST_LENGTHS)]
        per_item = _PAGES_PER_ITEM.get(section.shape, 1)
        items = int(pages * section.share / _total(wanted)) * length // (per_item * length + 1)
        yield _part(root, section, number=number, bits=bits, items=max(1, items), length=length)


def _total(sections: Sequence[Section]) -> float:
    return sum(section.share for section in sections)


def _part(root: str, section: Section, *, number: int, bits: int, items: int, length: int) -> SitePart:
    kind = section.kinds[(bits >> 8) % len(section.kinds)]
    facts = KINDS[kind]
    name = facts.paths[(bits >> 16) % len(facts.paths)]
    negotiated = section.shape is ItemShape.NEGOTIATED
    pattern = _PATTERNS[0 if negotiated else (bits >> 24) % len(_PATTERNS)]
    return SitePart(
        number=number,
        section=section,
        shape=section.shape,
        kind=kind,
        titles=facts.titles,
        name=name,
        seed=bits,
        root=root,
        items=items,
        length=length,
        pattern=f"{root}/{name}{pattern}",
        list_pattern=f"{root}/{name}/page/%d" if (bits >> 32) % 2 else f"{root}/{name}/?page=%d",
        first=100 + (bits >> 40) % 900,
    )
