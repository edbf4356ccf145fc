"""How large everything is: the two webs, and what a crawl of each may cost."""

from __future__ import annotations

from dataclasses import dataclass

RECORDED = "recorded"
"""The recorded web of ../shared/corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """One web, and how it is crawled."""

    name: str
    """As a column's head."""
    web: str
    """`recorded`, or `synthetic:PAGES`."""
    requests: int
    """Of one crawl."""
    repeat: int
    """Crawls of a policy that draws; the mean counts."""
    start: str
    """`homes`: every host's home page. `hubs`: six hubs of a synthetic web. `seeds`: the seeds of ../shared/corpus."""
    examples: int
    """Pages that classifiers are compared on."""
    sites: int
    """Domains that link analysis is measured on."""

    @property
    def is_recorded(self) -> bool:
        return self.web == RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """All that makes a run longer or shorter."""

    webs: tuple[Web, ...]
    uri_requests: int
    """Of one crawl with LDCOC's features on the synthetic web: neighbours are slow."""
    hosts: tuple[int, ...]
    """Numbers of hosts at which the time of a pick is taken."""
    phase_pages: int
    """Pages that go through the five phases."""
    methods_repeat: int
    """Repetitions of every online method on the recorded web."""


FULL = Scale(
    webs=(
        # a million of 5.5 million pages were crawled in Anthelion's paper: the same share of the 10,074 pages here
        Web(name="recorded", web=RECORDED, requests=1830, repeat=5, start="homes", examples=8000, sites=8),
        Web(
            name="synthetic",
            web="synthetic:1000000",
            requests=60_000,
            repeat=2,
            start="hubs",
            examples=8000,
            sites=8,
        ),
    ),
    uri_requests=30_000,
    hosts=(1_000, 10_000, 100_000, 455_848, 1_000_000),
    phase_pages=1500,
    methods_repeat=5,
)
SMALL = Scale(
    webs=(
        Web(name="recorded", web=RECORDED, requests=600, repeat=1, start="homes", examples=600, sites=2),
        Web(name="synthetic", web="synthetic:20000", requests=1000, repeat=1, start="hubs", examples=600, sites=2),
    ),
    uri_requests=600,
    hosts=(100, 1_000),
    phase_pages=60,
    methods_repeat=1,
)
