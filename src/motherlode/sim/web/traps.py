"""Pages without end: a calendar that goes on for ever, sessions in addresses, filters that can always be added to."""

from __future__ import annotations

import re

from msgspec import structs

from motherlode.model import Link
from motherlode.sim.web.draw import mix, named
from motherlode.sim.web.layout import Place
from motherlode.sim.web.links import SiteLinks
from motherlode.sim.web.model import Groups, PageModel, Role
from motherlode.sim.web.words import TOPICS

_SESSION = re.compile(r"[?&]sid=([0-9a-f]{12})$")
_MONTH = re.compile(r"/calendar/(\d{4})-(0[1-9]|1[0-2])(?:-(0[1-9]|1\d|2[0-8]))?$")
_LONGEST_FILTER = 1500
"""Characters, after which no further filter can be added: even this trap ends, but nobody gets there."""
_BROAD_FILTERS = 3
"""So many filters can be combined in several ways; after that there is one way on."""
_SIZE = 6000


def without_session(url: str) -> tuple[str, int]:
    """An address without its session, and the session's number (0 if it had none).

    >>> without_session("http://a.example/x?id=3&sid=00000000000a"), without_session("http://a.example/x")
    (('http://a.example/x?id=3', 10), ('http://a.example/x', 0))
    """
    match = _SESSION.search(url)
    return (url[: match.start()], int(match[1], 16)) if match else (url, 0)


def with_session(groups: Groups, *, bits: int) -> Groups:
    """The same links, but that the first link to a related page carries a new session.

    One link is enough for a way without end, and with more the trap would double at every step and be the whole web.
    """
    session = f"{mix(bits, 77) & 0xFFFFFFFFFFFF:012x}"
    return tuple(
        (place, (_marked(group[0], session), *group[1:])) if place is Place.RELATED and group else (place, group)
        for place, group in groups
    )


def _marked(link: Link, session: str) -> Link:
    return structs.replace(link, url=f"{link.url}{'&' if '?' in link.url else '?'}sid={session}")


def in_session(model: PageModel, url: str, session: int) -> PageModel:
    """A page as a visitor with a session sees it: the same page at another address, and a link into a new session."""
    clean = tuple((place, tuple(_cleaned(link) for link in group)) for place, group in model.groups)
    groups = with_session(clean, bits=mix(session, model.bits & 0xFFFFFFFF))
    return structs.replace(model, url=url, groups=groups, trap=True)


def _cleaned(link: Link) -> Link:
    url, session = without_session(link.url)
    return structs.replace(link, url=url) if session else link


def calendar(links: SiteLinks, path: str) -> PageModel | None:
    """A month, or a day, of the calendar."""
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
    """Search results under some filters, with links that add one more."""
    if path != "/filter" and not re.fullmatch(r"/filter\?f=[a-z]+(?:&f=[a-z]+)*", path):
        return None
    url = links.site.root + path
    bits = named(links.site.seed, path)
    joint = "&" if "?" in path else "?"
    ways = 3 if path.count("f=") < _BROAD_FILTERS else 1
    more = [(f"{url}{joint}f={TOPICS[(bits >> (6 * n)) % len(TOPICS)]}", f"only item {n + 1}") for n in range(ways)]
    return _endless(links, url, bits, "Filtered", tuple(dict(more).items()) if len(path) < _LONGEST_FILTER else ())


def _endless(links: SiteLinks, url: str, bits: int, heading: str, targets: tuple[tuple[str, str], ...]) -> PageModel:
    pager = tuple(links.anchor(Place.PAGER, target, text) for target, text in targets)
    groups = ((Place.NAVIGATION, links.navigation), (Place.PAGER, pager), (Place.FOOTER, links.footer))
    return PageModel(
        url=url, role=Role.TRAP, trap=True, size=_SIZE, latency=links.site.latency, groups=groups, heading=heading,
        bits=bits,
    )  # fmt: skip
