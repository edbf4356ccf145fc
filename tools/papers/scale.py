"""Sizes of the two webs and budgets of their crawls."""

from __future__ import annotations

from dataclasses import dataclass, replace

RECORDED = "recorded"
"""The recorded web of ../shared/corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """One web, and how it is crawled."""

    name: str
    """Column header."""
    web: str
    """`recorded`, or `synthetic:PAGES`."""
    requests: int
    """Budget of one crawl."""
    repeat: int
    """Repetitions of policies with randomness; the mean is reported."""
    start: str
    """`homes`: every host's home page; `hubs`: six hub pages of a synthetic web; `seeds`: seeds of ../shared/corpus."""
    examples: int
    """Pages for the comparison of classifiers."""
    uris: int
    """Maximum number of hard URIs for the comparison of feature sets."""
    uri_draws: int
    """Random splits of these URIs; the mean is reported."""
    sites: int
    """Sites for the measurement of link analysis."""

    @property
    def is_recorded(self) -> bool:
        return self.web == RECORDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Everything that determines the length of a run."""

    webs: tuple[Web, ...]
    uri_requests: int
    """Budget of one crawl with LDCOC's features on the synthetic web; it is smaller because KNN is slow."""
    hosts: tuple[int, ...]
    """Numbers of hosts for the measurement of pick times."""
    phase_pages: int
    """Pages for the measurement of the five phases."""
    methods_repeat: int
    """Repetitions of every online method on the recorded web."""


_RECORDED_WEB = Web(
    name="recorded",
    web=RECORDED,
    requests=1830,  # of Anthelion's 5.5 million pages a million were crawled: the same share of the 10,074 pages here
    repeat=3,
    start="homes",
    examples=5000,
    uris=20_000,
    uri_draws=3,
    sites=8,
)
_SYNTHETIC_WEB = replace(
    _RECORDED_WEB,
    name="synthetic",
    web="synthetic:1000000",
    requests=30_000,
    repeat=1,
    start="hubs",
    uris=103_000,
    uri_draws=1,
)


def _shorten(web: Web) -> Web:
    """Return a web with the sizes of a short run."""
    return replace(web, repeat=1, examples=600, uris=600, uri_draws=1, sites=2)


FULL = Scale(
    webs=(_RECORDED_WEB, _SYNTHETIC_WEB),
    uri_requests=15_000,
    hosts=(1_000, 10_000, 100_000, 455_848),
    phase_pages=1500,
    methods_repeat=3,
)
SMALL = Scale(
    webs=(
        replace(_shorten(_RECORDED_WEB), requests=600),
        replace(_shorten(_SYNTHETIC_WEB), web="synthetic:20000", requests=1000),
    ),
    uri_requests=600,
    hosts=(100, 1_000),
    phase_pages=60,
    methods_repeat=1,
)
