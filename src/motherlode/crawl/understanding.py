"""Detect and transform wired together: from a body to its facts, with archives and what a page needs from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from motherlode.detect import detect
from motherlode.model import Extraction, Facts, Problem, Syntax
from motherlode.transform import TransformOptions, member_url, members, merge, transform
from motherlode.transform.blank import BlankNames
from motherlode.transform.services import pending_service, read_service_answer, service_failed
from motherlode.www.document import Document
from motherlode.www.media import MEDIA


class ServiceAnswer(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a transformation service gave for a page."""

    content_type: str = ""
    body: bytes = b""
    failure: str = ""
    """Why there is no answer."""


class Supplies(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a page needs from elsewhere, fetched for it by the crawl before it is read a second time."""

    contexts: dict[str, bytes] = {}
    """JSON-LD contexts by URL."""
    service: ServiceAnswer | None = None


NO_SUPPLIES = Supplies()


def understand(
    body: bytes, *, url: str, content_type: str, options: TransformOptions, supplies: Supplies = NO_SUPPLIES
) -> tuple[Document, Facts]:
    """The document that a body is, and all facts in it. The members of an archive count as facts of the archive."""
    if supplies.contexts:
        options = replace(options, contexts={**options.contexts, **supplies.contexts})
    document, facts = _understand(body, url, content_type, options)
    asked = _by_service(document, content_type, options, supplies.service)
    if not (asked.statements or asked.problems):
        return document, facts
    return document, merge([facts, Facts(extractions=(asked,))])


def _understand(body: bytes, url: str, content_type: str, options: TransformOptions) -> tuple[Document, Facts]:
    document = Document(url=url, body=body, detected=detect(body, url=url, content_type=content_type))
    if not MEDIA[document.kind].is_archive:
        return document, transform(document, options, content_type=content_type)
    return document, merge(_member_facts(document, options))


def _member_facts(document: Document, options: TransformOptions) -> Iterator[Facts]:
    """The facts of each document in an archive; archives in archives have been opened as far as is safe."""
    for member in members(document):
        if isinstance(member, Problem):
            yield Facts(problems=(member,))
            continue
        name, content = member
        detected = detect(content, url=name, content_type="")
        if not MEDIA[detected.kind].is_archive:
            yield transform(Document(url=member_url(document.url, name), body=content, detected=detected), options)


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
