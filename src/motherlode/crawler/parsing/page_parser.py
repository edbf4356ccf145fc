"""Parsing of one page: detect its content kind, extract its statements and links, and test it against the target.

`PageParser` runs in the parser processes. `parse_document` is the part that `motherlode extract` uses as well. The code
of this module opens no socket and no file. `content_fingerprint` finds pages that have the same statements.
"""

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

import msgspec
import xxhash

from motherlode.crawler.parsing.messages import (
    NO_SUBREQUEST_RESULTS,
    PageBody,
    ParsedPage,
    ParseOptions,
    ServiceResponse,
    SubrequestResults,
)
from motherlode.detect import detect
from motherlode.index.page_record import serialize_page, syntax_keys
from motherlode.links.collect import collect_links as extract_links
from motherlode.links.headers import context_links, header_links
from motherlode.links.href import LinkOptions
from motherlode.links.robots_meta import header_directives, robots_directives, usage_in_head, usage_in_robots_tag
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
from motherlode.model.usage import NO_PREFERENCES, UsagePreferences, combine_preferences
from motherlode.policies import Target, ntriples, page_hashes, target_from
from motherlode.policies.targets import COUNTED
from motherlode.transform import TransformOptions, member_url, merge, transform, unpack_members
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import transformable_types
from motherlode.transform.plugins import find_service_call, is_further_step, read_service_response, service_failure
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, essence, fits
from motherlode.www.script_applications import is_script_application
from motherlode.www.urls import Scope
from motherlode.www.usage_values import header_preferences
from motherlode.www.visible_text import visible_text

_MAX_HASHED_STATEMENTS = 1000
"""Maximum number of statements that enter a content fingerprint."""


def content_fingerprint(result: TransformResult, url: str) -> int:
    """Return a hash of the page's statements, or 0 if it has only page metadata.

    The page's own URL does not enter the hash, because the statements about a site that its software repeats on every
    page often contain the URL of the page.
    """
    own = (f"<{url}", f'"{url}')
    statements = (one for found in result.extractions if found.syntax in COUNTED for one in found.statements)
    lines = {f"{p} {_normalize_object(o, own)}" for _, p, o, _ in islice(statements, _MAX_HASHED_STATEMENTS)}
    return xxhash.xxh3_64_intdigest("\n".join(sorted(lines)).encode("utf-8", "replace")) if lines else 0


def _normalize_object(term: str, own: tuple[str, str]) -> str:
    """Return the object of a statement without blank node labels and without the page's own URL."""
    if term.startswith("_:"):
        return "_:"
    return "<>" if term.startswith(own) else term


MAX_ARCHIVE_LINKS = 50_000
"""Maximum number of links of one archive, the same as of one sitemap. Each member has its own limits in addition."""
_SEVERAL_CONTEXTS = TransformResult(
    problems=(Problem(syntax=Syntax.JSON_LD, message="several Link headers name a JSON-LD context: none was used"),)
)


class ParseResult(NamedTuple):
    """A document with its statements and links."""

    document: Document
    result: TransformResult
    links: list[Link]


CollectLinks = Callable[[Document, TransformResult], list[Link]]
"""Function from a document and its statements to the links of the document."""


def parse_document(
    body: bytes,
    *,
    url: str,
    content_type: str,
    options: TransformOptions,
    supplies: SubrequestResults = NO_SUBREQUEST_RESULTS,
    contexts: Sequence[str] = (),
    collect_links: CollectLinks | None = None,
    named: str = "",
) -> ParseResult:
    """Parse a body into its document, its statements, and its links if `collect_links` is given.

    The statements and links of the members of an archive count as those of the archive. `contexts` are the URLs of the
    JSON-LD contexts in the response headers. `named` is the location of the body if it differs from `url`; its file
    extension is used for detection instead of that of the URL.
    """
    if supplies.contexts:
        options = replace(options, contexts={**options.contexts, **supplies.contexts})
    detected = detect(body, url=named or url, content_type=content_type)
    known: list[TransformResult] = []
    if contexts and _accepts_context(detected, content_type):
        if len(contexts) == 1:
            detected = Detected(kind=ContentKind.JSON_LD, evidence=detected.evidence, charset=detected.charset)
            options = replace(options, context=contexts[0])
        else:
            known.append(_SEVERAL_CONTEXTS)
    document = Document(url=url, body=body, detected=detected)
    service = supplies.service
    if service is not None and (further := _find_further_document(document, content_type, options, service)):
        document, content_type, service = further, service.content_type, None
    gathered: list[list[Link]] = []
    count = unread = 0
    for part, result in _transform_parts(document, content_type, options, service):
        known.append(result)
        if collect_links is None:
            continue
        if count > MAX_ARCHIVE_LINKS:
            unread += part is not document
            continue
        gathered.append(collect_links(part, result))
        count += len(gathered[-1])
        if late := part.problems[len(result.problems) :]:  # problems that link extraction added
            known.append(TransformResult(problems=tuple(late)))
    links = gathered[0] if gathered else []
    if MEDIA[document.kind].is_archive:
        links = _merge_links(gathered, url)
        known += _report_omitted_links(len(links) - MAX_ARCHIVE_LINKS, unread)
        del links[MAX_ARCHIVE_LINKS:]
    return ParseResult(document, known[0] if len(known) == 1 else merge(known), links)


def _find_further_document(
    document: Document, content_type: str, options: TransformOptions, response: ServiceResponse
) -> Document | None:
    """Return the HTML or XML that a service has made of a document and that replaces it, or None."""
    call = find_service_call(document, options, content_type=content_type)
    if call is None or call.refused or response.failure or len(response.body) > call.most_received:
        return None
    detected = detect(response.body, url="", content_type=response.content_type)
    if not is_further_step(detected, response.content_type):
        return None
    return Document(url=document.url, body=response.body, detected=detected)


def _accepts_context(detected: Detected, content_type: str) -> bool:
    """Return whether a Link header may name the context of a body: of JSON that is not labelled as JSON-LD."""
    name = essence(content_type)
    is_plain = name == "application/json" or (name.endswith("+json") and name != "application/ld+json")
    return is_plain and detected.kind in (ContentKind.JSON, ContentKind.JSON_LD)


def _merge_links(gathered: Iterable[Iterable[Link]], page_url: str) -> list[Link]:
    found: dict[str, Link] = {}
    for links in gathered:
        for link in links:
            found.setdefault(link.url, link)
    found.pop(page_url, None)
    return list(found.values())


def _report_omitted_links(links: int, members: int) -> Iterator[TransformResult]:
    if links > 0 or members:
        rest = [f"{links:,} more of them" if links > 0 else "", f"all those of {members:,} members" if members else ""]
        left_out = " and ".join(filter(None, rest))
        message = f"an archive gives {MAX_ARCHIVE_LINKS:,} links at most: {left_out} were left out"
        yield TransformResult(problems=(Problem(syntax=None, message=message),))


def _transform_parts(
    document: Document, content_type: str, options: TransformOptions, response: ServiceResponse | None
) -> Iterator[tuple[Document, TransformResult]]:
    """Yield the document, or each document in an archive, with its statements.

    The statements of a transformation service belong to the whole document.
    """
    extraction = _extract_service_response(document, content_type, options, response)
    is_empty = not extraction.statements and not extraction.problems
    from_service = None if is_empty else TransformResult(extractions=(extraction,))
    if MEDIA[document.kind].is_archive:
        yield from _transform_members(document, options)
        if from_service is not None:
            yield document, from_service
    else:
        result = transform(document, options, content_type=content_type)
        yield document, result if from_service is None else merge([result, from_service])


def _transform_members(document: Document, options: TransformOptions) -> Iterator[tuple[Document, TransformResult]]:
    """Yield each document in an archive, and in nested archives up to a limit, with its statements."""
    for member in unpack_members(document):
        if isinstance(member, Problem):
            yield document, TransformResult(problems=(member,))
            continue
        name, content = member
        detected = detect(content, url=name, content_type="")
        if not MEDIA[detected.kind].is_archive:
            inner = Document(url=member_url(document.url, name), body=content, detected=detected)
            yield inner, transform(inner, options)


def _extract_service_response(
    document: Document, content_type: str, options: TransformOptions, response: ServiceResponse | None
) -> Extraction:
    """Return the statements in the response of a transformation service, or none if there is no response."""
    call = find_service_call(document, options, content_type=content_type) if response is not None else None
    if call is None or response is None:
        return Extraction(syntax=Syntax.OTHER)
    if call.refused or response.failure:
        return service_failure(call, call.refused or response.failure)
    names = BlankNames(f"{document.url} by {call.url}", Syntax.OTHER)
    return read_service_response(call, response.content_type, response.body, names)


_MAX_KNOWN_URLS = 100_000
"""Maximum number of known or described URLs that a parser process remembers (about ten megabytes for each set)."""
MAX_PROBLEMS = 50
"""Maximum number of problems that are kept per page, because a hostile page could have millions."""


class PageParser:
    """Parses pages and tests them against one target."""

    def __init__(self, options: ParseOptions) -> None:
        self._target: Target = target_from(options.target)
        self._transform_options = options.transform
        self._out_of_scope = None if options.scope.is_everything else OutOfScope(options.scope.scope())
        self._link_options = LinkOptions(
            kept_extensions=_find_extensions(transformable_types(self._transform_options)),
            outside=self._out_of_scope,
            element_ids=options.element_ids,
            context_graph=options.context_graph,
        )
        self._link_rules = options.following
        self._keep_ntriples = options.keep_ntriples
        self._hashed = options.hashed
        self._max_text = options.max_text
        self._obeyed_uses = options.obeyed_uses
        self._described: set[str] | None = set() if options.is_brief else None

    def read(self, page: PageBody) -> ParsedPage:
        is_second_pass = page.supplies != NO_SUBREQUEST_RESULTS  # the result of the first pass was not used
        described: AbstractSet[str] = frozenset() if is_second_pass or self._described is None else self._described
        if self._out_of_scope is not None:
            self._out_of_scope.on_page.clear()
        document, result, links = parse_document(
            page.body,
            url=page.url,
            content_type=page.content_type,
            options=self._transform_options,
            supplies=page.supplies,
            contexts=context_links(page.headers, page_url=page.url) if page.headers else (),
            collect_links=partial(self._collect_links, described=described),
        )
        if page.headers:
            links += header_links(page.headers, page_url=page.url)
        in_head = robots_directives(document) if MEDIA[document.kind].is_html else NO_DIRECTIVES
        in_header = header_directives(page.headers.get("x-robots-tag", ""))
        directives = in_head | in_header
        preferences = _find_preferences(page, document)
        reason = self._why_omitted(page, directives, preferences)
        if reason:
            result = _omit_statements(result, reason)
        if self._described is not None and not directives.nofollow:
            _add_described(self._described, links)
        serialized = serialize_page(page.url, result)
        return ParsedPage(
            kind=document.kind.value,
            relevant=self._target(result, document.kind),
            counts={syntax.value: count for syntax, count in result.counts.items()},
            quads=serialized.quads,
            graph_quads=serialized.graph_quads,
            graphs=serialized.graphs,
            says=syntax_keys(result),
            links=[] if directives.nofollow else links,
            problems=_limit_problems(result),
            content_hash="sha256:" + hashlib.sha256(page.body).hexdigest(),
            not_followed=len(links) if directives.nofollow else 0,
            out_of_scope=len(self._out_of_scope.on_page) if self._out_of_scope is not None else 0,
            wanted=tuple(sorted({url for extraction in result.extractions for url in extraction.wanted})),
            ntriples=ntriples(result) if self._keep_ntriples else b"",
            hashes=page_hashes(result, self._hashed) if self._hashed else b"",
            directives=(in_header if page.at else msgspec.structs.replace(in_header, ends_at=None)).text,
            ends_at=in_head.ends_at if page.at else None,
            preferences=preferences,
            content_fingerprint=content_fingerprint(result, page.url),
            is_script_application=_is_script_application(document, result),
            text=visible_text(document, max_characters=self._max_text) if self._max_text and not reason else "",
        )

    def _why_omitted(self, page: PageBody, directives: CrawlerDirectives, preferences: UsagePreferences) -> str:
        """Return why the statements of a page are left out, "" if they are kept."""
        if not directives.may_be_kept(page.at):
            return _describe_directives(directives)
        use = preferences.reserves(self._obeyed_uses) if self._obeyed_uses else ""
        return f"{use}: the page reserves this use, which obey_usage names" if use else ""

    def _collect_links(self, document: Document, result: TransformResult, *, described: AbstractSet[str]) -> list[Link]:
        return extract_links(document, result, self._link_options, self._link_rules, described)


def _is_script_application(document: Document, result: TransformResult) -> bool:
    has_data = any(found.statements for found in result.extractions if found.syntax in COUNTED)
    return not has_data and is_script_application(document)


class OutOfScope:
    """Tests whether URLs are out of scope, and collects those of the current page that are."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: set[str] = set()
        """URLs known to be out of scope, because the pages of a site often link to the same URLs."""
        self.on_page: set[str] = set()
        """Out-of-scope URLs of the current page. `PageParser` clears the set before each page."""

    def __call__(self, url: str) -> bool:
        if url not in self._known:
            if not self._scope(url):
                return False
            if len(self._known) >= _MAX_KNOWN_URLS:
                self._known.clear()
            self._known.add(url)
        self.on_page.add(url)
        return True


def _add_described(described: set[str], links: Sequence[Link]) -> None:
    if len(described) > _MAX_KNOWN_URLS:
        described.clear()  # links that are on every page are added again soon
    described.update(link.url for link in links if not link.nofollow)


def _find_extensions(patterns: Sequence[str]) -> frozenset[str]:
    known = mimetypes.types_map.items()
    return frozenset(end[1:] for end, kind in known if any(fits(pattern, kind) for pattern in patterns))


def _find_preferences(page: PageBody, document: Document) -> UsagePreferences:
    """Return the preferences about the use of a page: of its site, its headers and its HTML head."""
    in_head = usage_in_head(document) if MEDIA[document.kind].is_html else NO_PREFERENCES
    if not page.headers:
        return combine_preferences([page.site_preferences, in_head]) if in_head.uses else page.site_preferences
    in_robots_tag = usage_in_robots_tag(page.headers.get("x-robots-tag", ""))
    return combine_preferences([page.site_preferences, header_preferences(page.headers), in_robots_tag, in_head])


def _omit_statements(result: TransformResult, why: str) -> TransformResult:
    """Return a result without statements, with a problem that says why and how many they were."""
    count = sum(result.counts.values())
    note = Problem(syntax=None, message=f"{why}; {count} statements were left out")
    return TransformResult(problems=(note,)) if count else TransformResult()


def _describe_directives(directives: CrawlerDirectives) -> str:
    if not directives.noindex and directives.ends_at is not None:
        last = datetime.fromtimestamp(0, UTC) + timedelta(seconds=directives.ends_at)
        return f"unavailable_after: the page asks not to be kept after {last:%Y-%m-%d %H:%M}"
    return "noindex: the page asks not to be kept"


def _limit_problems(result: TransformResult) -> tuple[Problem, ...]:
    """Return the first problems, with one that counts the others."""
    problems = result.all_problems()
    if len(problems) <= MAX_PROBLEMS:
        return problems
    left_out = Problem(syntax=None, message=f"{len(problems) - MAX_PROBLEMS} further problems are not listed")
    return (*problems[:MAX_PROBLEMS], left_out)
