"""What a page says, in one number: so that it is seen where all pages of a site say the same."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple

import xxhash

from motherlode.crawler.parsing.messages import (
    NO_SUBREQUEST_RESULTS,
    PageBody,
    ParsedPage,
    ParseOptions,
    ServiceAnswer,
    SubrequestResults,
)
from motherlode.detect import detect
from motherlode.index import serialize_page, syntax_keys
from motherlode.links import (
    LinkOptions,
    context_links,
    header_directives,
    header_links,
    robots_directives,
)
from motherlode.links import collect_links as extract_links
from motherlode.model import (
    NO_DIRECTIVES,
    ContentKind,
    CrawlerDirectives,
    Detected,
    Extraction,
    Link,
    Problem,
    Syntax,
    TransformResult,
)
from motherlode.policies import Target, ntriples, statement_hashes, target_from
from motherlode.policies.targets import COUNTED
from motherlode.transform import TransformOptions, member_url, merge, transform, unpack_members
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.plugin_registry import transformable_types
from motherlode.transform.plugins import find_service_call, read_service_response, service_failure
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, essence, fits
from motherlode.www.urls import Scope

_MOST = 1000
"""Statements that are looked at; a page of more says something."""


def content_fingerprint(facts: TransformResult, url: str) -> int:
    """A hash of what a page states, whatever its own address is; 0 where it states nothing but plain facts of a page.

    Statements about the site itself, which software puts on every page, often name the page as well.
    """
    own = (f"<{url}", f'"{url}')
    statements = (one for found in facts.extractions if found.syntax in COUNTED for one in found.statements)
    said = {f"{p} {_alike(o, own)}" for _, p, o, _ in islice(statements, _MOST)}
    return xxhash.xxh3_64_intdigest("\n".join(sorted(said)).encode("utf-8", "replace")) if said else 0


def _alike(term: str, own: tuple[str, str]) -> str:
    if term.startswith("_:"):
        return "_:"
    return "<>" if term.startswith(own) else term


# ── Detect, transform and extract wired together: from a body to its facts and links.

MOST_LINKS = 50_000
"""Links of one archive: as many as one sitemap may have. Each member has limits of its own."""
_SEVERAL_CONTEXTS = TransformResult(
    problems=(Problem(syntax=Syntax.JSON_LD, message="several Link headers name a JSON-LD context: none was used"),)
)


class ParseResult(NamedTuple):
    """What a body is, says and leads to."""

    document: Document
    facts: TransformResult
    links: list[Link]


Gather = Callable[[Document, TransformResult], list[Link]]
"""The links of a document and its facts."""


def parse_document(
    body: bytes,
    *,
    url: str,
    content_type: str,
    options: TransformOptions,
    supplies: SubrequestResults = NO_SUBREQUEST_RESULTS,
    contexts: Sequence[str] = (),
    gather: Gather | None = None,
    named: str = "",
) -> ParseResult:
    """The document that a body is, all facts in it, and its links if they are gathered.

    Facts and links of the members of an archive count as the archive's own. `contexts` are the JSON-LD contexts that
    the headers of the answer name. `named` is where the body was found, if that is not at its own URL: its extension
    goes before that of the URL.
    """
    if supplies.contexts:
        options = replace(options, contexts={**options.contexts, **supplies.contexts})
    detected = detect(body, url=named or url, content_type=content_type)
    known: list[TransformResult] = []
    if contexts and _takes_context(detected, content_type):
        if len(contexts) == 1:
            detected = Detected(kind=ContentKind.JSON_LD, evidence=detected.evidence, charset=detected.charset)
            options = replace(options, context=contexts[0])
        else:
            known.append(_SEVERAL_CONTEXTS)
    document = Document(url=url, body=body, detected=detected)
    gathered: list[list[Link]] = []
    count = unread = 0
    for part, facts in _parts(document, content_type, options, supplies.service):
        known.append(facts)
        if gather is None:
            continue
        if count > MOST_LINKS:
            unread += part is not document
            continue
        gathered.append(gather(part, facts))
        count += len(gathered[-1])
        if late := part.problems[len(facts.problems) :]:  # what only showed when the links were read
            known.append(TransformResult(problems=tuple(late)))
    links = gathered[0] if gathered else []
    if MEDIA[document.kind].is_archive:
        links = _once_each(gathered, url)
        known += _too_many_links(len(links) - MOST_LINKS, unread)
        del links[MOST_LINKS:]
    return ParseResult(document, known[0] if len(known) == 1 else merge(known), links)


def _takes_context(detected: Detected, content_type: str) -> bool:
    """Whether a Link header may make JSON-LD of a body: of JSON by any name but JSON-LD's own."""
    name = essence(content_type)
    is_plain = name == "application/json" or (name.endswith("+json") and name != "application/ld+json")
    return is_plain and detected.kind in (ContentKind.JSON, ContentKind.JSON_LD)


def _once_each(gathered: Iterable[Iterable[Link]], page_url: str) -> list[Link]:
    """The links of an archive's members together, without the archive itself."""
    found: dict[str, Link] = {}
    for links in gathered:
        for link in links:
            found.setdefault(link.url, link)
    found.pop(page_url, None)
    return list(found.values())


def _too_many_links(links: int, members: int) -> Iterator[TransformResult]:
    """The problem that an archive has more links than it may give."""
    if links > 0 or members:
        rest = [f"{links:,} more of them" if links > 0 else "", f"all those of {members:,} members" if members else ""]
        left_out = " and ".join(filter(None, rest))
        message = f"an archive gives {MOST_LINKS:,} links at most: {left_out} were left out"
        yield TransformResult(problems=(Problem(syntax=None, message=message),))


def _parts(
    document: Document, content_type: str, options: TransformOptions, answer: ServiceAnswer | None
) -> Iterator[tuple[Document, TransformResult]]:
    """A document with its facts, or those in an archive; and what a service says counts as the facts of the whole."""
    asked = _by_service(document, content_type, options, answer)
    said = TransformResult(extractions=(asked,)) if asked.statements or asked.problems else None
    if MEDIA[document.kind].is_archive:
        yield from _members(document, options)
        if said is not None:
            yield document, said
    else:
        facts = transform(document, options, content_type=content_type)
        yield document, facts if said is None else merge([facts, said])


def _members(document: Document, options: TransformOptions) -> Iterator[tuple[Document, TransformResult]]:
    """Each document in an archive with its facts; archives in archives have been opened as far as is safe."""
    for member in unpack_members(document):
        if isinstance(member, Problem):
            yield document, TransformResult(problems=(member,))
            continue
        name, content = member
        detected = detect(content, url=name, content_type="")
        if not MEDIA[detected.kind].is_archive:
            inner = Document(url=member_url(document.url, name), body=content, detected=detected)
            yield inner, transform(inner, options)


def _by_service(
    document: Document, content_type: str, options: TransformOptions, answer: ServiceAnswer | None
) -> Extraction:
    """What a service said of a page; nothing where it has not been asked."""
    call = find_service_call(document, options, content_type=content_type) if answer is not None else None
    if call is None or answer is None:
        return Extraction(syntax=Syntax.OTHER)
    if call.refused or answer.failure:
        return service_failure(call, call.refused or answer.failure)
    names = BlankNames(f"{document.url} by {call.url}", Syntax.OTHER)
    return read_service_response(call, answer.content_type, answer.body, names)


# ── Detect, transform, extract, judge: all that is done to one page away from network and disk. Pure; runs in workers.

_MOST_TOLD = 100_000
"""Addresses that a reader remembers to have given: some ten megabytes."""
MAX_PROBLEMS = 50
"""Kept for one page; a hostile page could have millions."""


class PageParser:
    """Reads pages for one target."""

    def __init__(self, instructions: ParseOptions) -> None:
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
        self._extract_options = LinkOptions(
            kept_extensions=_extensions(transformable_types(self._options)), outside=self._outside
        )
        self._following = instructions.following
        self._keep_ntriples = instructions.keep_ntriples
        self._keep_hashes = instructions.keep_hashes
        self._told: set[str] | None = set() if instructions.is_brief else None

    def read(self, page: PageBody) -> ParsedPage:
        is_again = page.supplies != NO_SUBREQUEST_RESULTS  # nobody was told what came of the first reading
        told: AbstractSet[str] = frozenset() if is_again or self._told is None else self._told
        if self._outside is not None:
            self._outside.on_page.clear()
        document, facts, links = parse_document(
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
        said = robots_directives(document) if MEDIA[document.kind].is_html else NO_DIRECTIVES
        asked = said | header_directives(page.headers.get("x-robots-tag", ""))
        facts = facts if asked.may_be_kept(page.at) else _left_out(facts, asked)
        if self._told is not None and not asked.nofollow:
            _remember(self._told, links)
        serialized = serialize_page(page.url, facts)
        return ParsedPage(
            kind=document.kind.value,
            relevant=self._target(facts, document.kind),
            counts={syntax.value: count for syntax, count in facts.counts.items()},
            quads=serialized.quads,
            graph_quads=serialized.graph_quads,
            union_quads=serialized.union_quads,
            graphs=serialized.graphs,
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
            gist=content_fingerprint(facts, page.url),
        )

    def _gather(self, document: Document, facts: TransformResult, *, told: AbstractSet[str]) -> list[Link]:
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


def _left_out(facts: TransformResult, asked: CrawlerDirectives) -> TransformResult:
    """Facts that a page asks not to be kept, which leaves the note that there were some."""
    count = sum(facts.counts.values())
    why = "noindex: the page asks not to be kept"
    if not asked.noindex and asked.ends_at is not None:
        last = datetime.fromtimestamp(0, UTC) + timedelta(seconds=asked.ends_at)
        why = f"unavailable_after: the page asks not to be kept after {last:%Y-%m-%d %H:%M}"
    note = Problem(syntax=None, message=f"{why}; {count} statements were left out")
    return TransformResult(problems=(note,)) if count else TransformResult()


def _kept(facts: TransformResult) -> tuple[Problem, ...]:
    problems = facts.all_problems()
    if len(problems) <= MAX_PROBLEMS:
        return problems
    left_out = Problem(syntax=None, message=f"{len(problems) - MAX_PROBLEMS} further problems are not listed")
    return (*problems[:MAX_PROBLEMS], left_out)
