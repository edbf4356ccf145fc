"""Detect, transform, extract, judge: all that is done to one page away from network and disk. Pure; runs in workers."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from functools import partial

from motherlode.crawl.gist import gist
from motherlode.crawl.readings import NO_SUPPLIES, Body, Instructions, Reading
from motherlode.crawl.understanding import understand
from motherlode.extract import (
    ExtractOptions,
    context_links,
    header_directives,
    header_links,
    robots_directives,
)
from motherlode.extract import links as extract_links
from motherlode.index import page_lines, syntax_keys
from motherlode.model import NOTHING_ASKED, Asked, Facts, Link, Problem
from motherlode.policy import Target, ntriples, statement_hashes, target_from
from motherlode.transform.installed import wanted_types
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document
from motherlode.www.media import MEDIA, fits
from motherlode.www.scope import Scope

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
            strict_jsonld=instructions.strict_jsonld,
        )
        self._outside = None if instructions.scope.is_everything else Outside(instructions.scope.scope())
        self._extract_options = ExtractOptions(
            kept_extensions=_extensions(wanted_types(self._options)), outside=self._outside
        )
        self._following = instructions.following
        self._keep_ntriples = instructions.keep_ntriples
        self._keep_hashes = instructions.keep_hashes
        self._told: set[str] | None = set() if instructions.is_brief else None

    def read(self, page: Body) -> Reading:
        is_again = page.supplies != NO_SUPPLIES  # nobody was told what came of the first reading
        told: AbstractSet[str] = frozenset() if is_again or self._told is None else self._told
        if self._outside is not None:
            self._outside.on_page.clear()
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
        said = robots_directives(document) if MEDIA[document.kind].is_html else NOTHING_ASKED
        asked = said | header_directives(page.headers.get("x-robots-tag", ""))
        facts = facts if asked.may_be_kept(page.at) else _left_out(facts, asked)
        if self._told is not None and not asked.nofollow:
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
            links=[] if asked.nofollow else links,
            problems=_kept(facts),
            content_hash="sha256:" + hashlib.sha256(page.body).hexdigest(),
            not_followed=len(links) if asked.nofollow else 0,
            out_of_scope=len(self._outside.on_page) if self._outside is not None else 0,
            wanted=tuple(sorted({url for extraction in facts.extractions for url in extraction.wanted})),
            ntriples=ntriples(facts) if self._keep_ntriples else b"",
            hashes=statement_hashes(facts) if self._keep_hashes else b"",
            ends_at=said.ends_at if page.at else None,
            gist=gist(facts, page.url),
        )

    def _gather(self, document: Document, facts: Facts, *, told: AbstractSet[str]) -> list[Link]:
        return extract_links(document, facts, self._extract_options, self._following, told)


class Outside:
    """Addresses that lead out of scope."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: set[str] = set()
        """Every page of a site may link to the same."""
        self.on_page: set[str] = set()
        """Those that were asked about; the reader clears it for every page."""

    def __call__(self, url: str) -> bool:
        if url not in self._known:
            if not self._scope(url):
                return False
            if len(self._known) >= _MOST_TOLD:
                self._known.clear()
            self._known.add(url)
        self.on_page.add(url)
        return True


def _remember(told: set[str], links: Sequence[Link]) -> None:
    if len(told) > _MOST_TOLD:
        told.clear()  # what is on every page is soon back
    told.update(link.url for link in links if not link.nofollow)


def _extensions(patterns: Sequence[str]) -> frozenset[str]:
    """Extensions of the files whose type is meant by one of the patterns."""
    known = mimetypes.types_map.items()
    return frozenset(end[1:] for end, kind in known if any(fits(pattern, kind) for pattern in patterns))


def _left_out(facts: Facts, asked: Asked) -> Facts:
    """Facts that a page asks not to be kept, which leaves the note that there were some."""
    count = sum(facts.counts.values())
    why = "noindex: the page asks not to be kept"
    if not asked.noindex and asked.ends_at is not None:
        last = datetime.fromtimestamp(0, UTC) + timedelta(seconds=asked.ends_at)
        why = f"unavailable_after: the page asks not to be kept after {last:%Y-%m-%d %H:%M}"
    note = Problem(syntax=None, message=f"{why}; {count} statements were left out")
    return Facts(problems=(note,)) if count else Facts()


def _kept(facts: Facts) -> tuple[Problem, ...]:
    problems = facts.all_problems()
    if len(problems) <= MAX_PROBLEMS:
        return problems
    left_out = Problem(syntax=None, message=f"{len(problems) - MAX_PROBLEMS} further problems are not listed")
    return (*problems[:MAX_PROBLEMS], left_out)
