"""Detect, transform and extract wired together: from a body to its facts and links.

Archives are read member by member, and what a page needs from elsewhere is put in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from motherlode.crawl.readings import NO_SUPPLIES, ServiceAnswer, Supplies
from motherlode.detect import detect
from motherlode.model import ContentKind, Detected, Extraction, Facts, Link, Problem, Syntax
from motherlode.transform import TransformOptions, member_url, members, merge, transform
from motherlode.transform.blank import BlankNames
from motherlode.transform.services import pending_service, read_service_answer, service_failed
from motherlode.www.document import Document
from motherlode.www.media import MEDIA, essence

MOST_LINKS = 50_000
"""Links of one archive: as many as one sitemap may have. Each member has limits of its own."""
_SEVERAL_CONTEXTS = Facts(
    problems=(Problem(syntax=Syntax.JSON_LD, message="several Link headers name a JSON-LD context: none was used"),)
)


class Understanding(NamedTuple):
    """What a body is, says and leads to."""

    document: Document
    facts: Facts
    links: list[Link]


Gather = Callable[[Document, Facts], list[Link]]
"""The links of a document and its facts."""


def understand(
    body: bytes,
    *,
    url: str,
    content_type: str,
    options: TransformOptions,
    supplies: Supplies = NO_SUPPLIES,
    contexts: Sequence[str] = (),
    gather: Gather | None = None,
    named: str = "",
) -> Understanding:
    """The document that a body is, all facts in it, and its links if they are gathered.

    Facts and links of the members of an archive count as the archive's own. `contexts` are the JSON-LD contexts that
    the headers of the answer name. `named` is where the body was found, if that is not at its own URL: its extension
    goes before that of the URL.
    """
    if supplies.contexts:
        options = replace(options, contexts={**options.contexts, **supplies.contexts})
    detected = detect(body, url=named or url, content_type=content_type)
    known: list[Facts] = []
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
            known.append(Facts(problems=tuple(late)))
    links = gathered[0] if gathered else []
    if MEDIA[document.kind].is_archive:
        links = _once_each(gathered, url)
        known += _left_out(len(links) - MOST_LINKS, unread)
        del links[MOST_LINKS:]
    return Understanding(document, known[0] if len(known) == 1 else merge(known), links)


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


def _left_out(links: int, members: int) -> Iterator[Facts]:
    """The problem that an archive has more links than it may give."""
    if links > 0 or members:
        rest = [f"{links:,} more of them" if links > 0 else "", f"all those of {members:,} members" if members else ""]
        left_out = " and ".join(filter(None, rest))
        message = f"an archive gives {MOST_LINKS:,} links at most: {left_out} were left out"
        yield Facts(problems=(Problem(syntax=None, message=message),))


def _parts(
    document: Document, content_type: str, options: TransformOptions, answer: ServiceAnswer | None
) -> Iterator[tuple[Document, Facts]]:
    """A document with its facts, or those in an archive; and what a service says counts as the facts of the whole."""
    asked = _by_service(document, content_type, options, answer)
    said = Facts(extractions=(asked,)) if asked.statements or asked.problems else None
    if MEDIA[document.kind].is_archive:
        yield from _members(document, options)
        if said is not None:
            yield document, said
    else:
        facts = transform(document, options, content_type=content_type)
        yield document, facts if said is None else merge([facts, said])


def _members(document: Document, options: TransformOptions) -> Iterator[tuple[Document, Facts]]:
    """Each document in an archive with its facts; archives in archives have been opened as far as is safe."""
    for member in members(document):
        if isinstance(member, Problem):
            yield document, Facts(problems=(member,))
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
    call = pending_service(document, options, content_type=content_type) if answer is not None else None
    if call is None or answer is None:
        return Extraction(syntax=Syntax.OTHER)
    if call.refused or answer.failure:
        return service_failed(call, call.refused or answer.failure)
    names = BlankNames(f"{document.url} by {call.url}", Syntax.OTHER)
    return read_service_answer(call, answer.content_type, answer.body, names)
