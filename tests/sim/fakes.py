"""Small webs for tests of the simulator: made of a table, or recorded from a random graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from motherlode.model import FailureKind, Link, LinkSource, Syntax
from motherlode.sim.web_protocol import SimPage
from tests.support import write_warc

HTML = {"Content-Type": "text/html; charset=utf-8"}
FIND = '<script type="application/ld+json">{"@id": "#it", "https://schema.org/name": "a find"}</script>'


class TableWeb:
    """A web given as URL → (relevant, targets); a target that is no key is missing."""

    def __init__(
        self, table: Mapping[str, tuple[bool, Sequence[str]]], redirects: Mapping[str, str] | None = None
    ) -> None:
        self._pages = {
            url: SimPage(
                url=url,
                relevant=relevant,
                counts={Syntax.JSON_LD: 1} if relevant else {},
                links=[Link(url=target, source=LinkSource.ANCHOR) for target in dict.fromkeys(targets)],
                size=1000,
            )
            for url, (relevant, targets) in table.items()
        }
        for url, location in (redirects or {}).items():
            self._pages[url] = SimPage(url=url, failure=FailureKind.REDIRECT, location=location)

    @property
    def page_count(self) -> int:
        return sum(page.failure is None for page in self._pages.values())

    def page(self, url: str) -> SimPage:
        return self._pages.get(url) or SimPage(url=url, failure=FailureKind.NOT_FOUND)

    def spelling(self, url: str) -> str:
        return url

    def home_pages(self) -> list[str]:
        return [url for url in self._pages if url.endswith("/")]

    def everything(self) -> Iterator[SimPage]:
        return iter(self._pages.values())

    def labels(self) -> Iterator[tuple[str, bool]]:
        return ((page.url, page.relevant) for page in self._pages.values() if page.failure is None)


def everyone_linked(hosts: int, pages: int) -> TableWeb:
    """Hosts with equal numbers of pages. Home pages link to all pages of their host and to the next host."""
    table: dict[str, tuple[bool, Sequence[str]]] = {}
    for host in range(hosts):
        own = [f"https://h{host}.example/{number}" for number in range(1, pages)]
        table[f"https://h{host}.example/"] = (False, [*own, f"https://h{(host + 1) % hosts}.example/"])
        table |= dict.fromkeys(own, (host % 2 == 0, ()))
    return TableWeb(table)


def recorded_graph(path: Path, *, hosts: int = 12, pages: int = 15, seed: int = 0) -> tuple[Path, list[str]]:
    """A WARC of HTML pages at random with links, finds, redirects and dead ends, no robots.txt; and some seeds."""
    random = Random(seed)
    urls = [f"https://h{host}.example/{number or ''}" for host in range(hosts) for number in range(pages)]
    rich = set(random.sample(range(hosts), max(1, hosts // 3)))

    def responses() -> Iterator[tuple[str, int, dict[str, str], bytes]]:
        for url in urls:
            host = int(url.split(".")[0].rpartition("h")[2])
            if random.random() < 0.1:
                yield url, 301, {"Location": random.choice(urls)}, b""
                continue
            near = [other for other in urls if f"//h{host}." in other]
            targets = [*random.sample(near, min(4, pages)), *random.sample(urls, 3)]
            if random.random() < 0.3:
                targets.append(f"http://h{random.randrange(hosts)}.example/gone-{random.randrange(9)}")
            anchors = "".join(f'<p><a href="{target.replace("https:", "http:")}">x</a>' for target in targets)
            find = FIND if random.random() < (0.8 if host in rich else 0.1) else ""
            yield url, 200, HTML, f"<!DOCTYPE html><title>{url}</title>{anchors}{find}".encode()

    return write_warc(path, responses()), [urls[0], urls[pages], urls[-pages]]
