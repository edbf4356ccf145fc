"""Detect, transform, extract, judge: all that is done to one page away from network and disk. Pure; runs in workers."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import msgspec

from motherlode.crawl.understanding import NO_SUPPLIES, Supplies, understand
from motherlode.extract import (
    ExtractOptions,
    Following,
    context_links,
    header_directives,
    header_links,
    robots_directives,
)
from motherlode.extract import links as extract_links
from motherlode.index import page_lines, syntax_keys
from motherlode.model import Facts, Link, Problem, Syntax
from motherlode.policy import Target, ntriples, statement_hashes, target_from
from motherlode.transform.options import Service, Stylesheet, TransformOptions, fits
from motherlode.transform.plugins import installed
from motherlode.www.document import Document
from motherlode.www.media import MEDIA


class Instructions(msgspec.Struct, frozen=True, kw_only=True):
    """What every reading of a crawl has in common; sent to each worker once."""

    target: str
    seconds: float = 5.0
    """Time limit of one syntax on one page."""
    stylesheets: tuple[Stylesheet, ...] = ()
    transformations: dict[str, bytes] = {}
    services: tuple[Service, ...] = ()
    transformers: frozenset[str] | None = None
    following: Following = Following()
    """Which links the user wants followed."""
    keep_ntriples: bool = False
    """Give the statements as N-Triples, too: for recordings."""
    keep_hashes: bool = False
    """Give the hashes of the statements: for a reward that counts new ones."""
    is_brief: bool = False
    """Say nothing of a link that was given before but its address: the frontier knows it, whatever else is said."""


class Body(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A page on its way to a reader."""

    url: str
    content_type: str
    body: bytes
    headers: dict[str, str] = {}
    """Those of `READ_HEADERS` that the answer had."""
    supplies: Supplies = NO_SUPPLIES


READ_HEADERS = ("link", "content-location", "x-robots-tag")
"""Headers that a reading takes into account, beside the content type."""


class Reading(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """All that a page was found to be and to say."""

    kind: str
    relevant: bool
    counts: dict[str, int]
    """Distinct statements by syntax."""
    quads: int
    lines: bytes
    graphs: tuple[str, ...]
    links: list[Link]
    problems: tuple[Problem, ...]
    content_hash: str
    not_followed: int = 0
    """Links that the page asks not to follow."""
    wanted: tuple[str, ...] = ()
    """JSON-LD contexts that were not there."""
    says: tuple[str, ...] = ()
    """Which syntax says what, where several speak."""
    ntriples: bytes = b""
    """The statements without the page's plain facts, where they were asked for."""
    hashes: bytes = b""
    """Of the same statements, where they were asked for."""


NO_INDEX, NO_FOLLOW = "noindex", "nofollow"
_MOST_TOLD = 100_000
"""Addresses that a reader remembers to have given: some ten megabytes."""
MAX_PROBLEMS = 50
"""Kept for one page; a hostile page could have millions."""


class Reader:
    """Reads pages for one target."""

    def __init__(self, instructions: Instructions) -> None:
        self._target: Target = target_from(instructions.target)
        self._options = TransformOptions(
            seconds=instructions.seconds,
            stylesheets=instructions.stylesheets,
            transformations=instructions.transformations,
            services=instructions.services,
            transformers=instructions.transformers,
        )
        self._extract_options = ExtractOptions(kept_extensions=_extensions(instructions.services))
        self._following = instructions.following
        self._keep_ntriples = instructions.keep_ntriples
        self._keep_hashes = instructions.keep_hashes
        self._told: set[str] | None = set() if instructions.is_brief else None

    def read(self, page: Body) -> Reading:
        is_again = page.supplies != NO_SUPPLIES  # nobody was told what came of the first reading
        told: AbstractSet[str] = frozenset() if is_again or self._told is None else self._told
        document, facts, links = understand(
            page.body,
            url=page.url,
            content_type=page.content_type,
            options=self._options,
            supplies=page.supplies,
            contexts=context_links(page.headers, page_url=page.url) if page.headers else (),
            gather=partial(self._gather, told=told),
        )
        if page.headers:
            links += header_links(page.headers, page_url=page.url)
        asked = self._asked(document, page)
        if NO_INDEX in asked:
            facts = _left_out(facts)
        if self._told is not None and NO_FOLLOW not in asked:
            _remember(self._told, links)
        lines, quads, graphs = page_lines(page.url, facts)
        return Reading(
            kind=document.kind.value,
            relevant=self._target(facts, document.kind),
            counts={syntax.value: count for syntax, count in facts.counts.items()},
            quads=quads,
            lines=lines,
            graphs=graphs,
            says=syntax_keys(facts),
            links=[] if NO_FOLLOW in asked else links,
            problems=_kept(facts),
            content_hash="sha256:" + hashlib.sha256(page.body).hexdigest(),
            not_followed=len(links) if NO_FOLLOW in asked else 0,
            wanted=tuple(sorted({url for extraction in facts.extractions for url in extraction.wanted})),
            ntriples=ntriples(facts) if self._keep_ntriples else b"",
            hashes=statement_hashes(facts) if self._keep_hashes else b"",
        )

    def _gather(self, document: Document, facts: Facts, *, told: AbstractSet[str]) -> list[Link]:
        return extract_links(document, facts, self._extract_options, self._following, told)

    @staticmethod
    def _asked(document: Document, page: Body) -> frozenset[str]:
        """What the page asks of crawlers, in its head and in its header."""
        asked = header_directives(page.headers.get("x-robots-tag", ""))
        return asked | robots_directives(document) if MEDIA[document.kind].is_html else asked


def _remember(told: set[str], links: Sequence[Link]) -> None:
    if len(told) > _MOST_TOLD:
        told.clear()  # what is on every page is soon back
    told.update(link.url for link in links if not link.nofollow)


def _extensions(services: Sequence[Service]) -> frozenset[str]:
    """Extensions of the files that a service wants, and the installed transformers as well."""
    patterns = [service.media_type for service in services] + [point.name for point in installed()]
    known = mimetypes.types_map.items()
    return frozenset(end[1:] for end, kind in known if any(fits(pattern, kind) for pattern in patterns))


def _left_out(facts: Facts) -> Facts:
    """Facts that a page asks not to be kept, which leaves the note that there were some."""
    count = sum(facts.counts.values())
    note = Problem(syntax=None, message=f"noindex: the page asks not to be kept; {count} statements were left out")
    return Facts(problems=(note,)) if count else Facts()


def _kept(facts: Facts) -> tuple[Problem, ...]:
    problems = facts.all_problems()
    if len(problems) <= MAX_PROBLEMS:
        return problems
    left_out = Problem(syntax=None, message=f"{len(problems) - MAX_PROBLEMS} further problems are not listed")
    return (*problems[:MAX_PROBLEMS], left_out)


def syntaxes(reading: Reading) -> tuple[str, ...]:
    """The syntaxes that gave statements, page facts aside."""
    return tuple(sorted(name for name in reading.counts if name != Syntax.PAGE.value))
