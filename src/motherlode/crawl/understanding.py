"""Detect and transform wired together: from a body to its facts, with archives and what a page needs from elsewhere."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from motherlode.detect import detect
from motherlode.model import Extraction, Facts, Problem, Syntax
from motherlode.transform import TransformOptions, member_url, members, merge, transform
from motherlode.transform.blank import BlankNames
from motherlode.transform.plugins import extract as run_plugin
from motherlode.transform.services import pending_service, read_service_answer, service_failed
from motherlode.www.document import Document
from motherlode.www.media import MEDIA

_DEPTH = 2
"""Archives inside archives that are opened."""


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
    document, facts = _understand(body, url, content_type, options, _DEPTH)
    more = [_by_plugin(document, content_type, options), _by_service(document, content_type, options, supplies.service)]
    found = [extraction for extraction in more if extraction.statements or extraction.problems]
    return document, merge([facts, Facts(extractions=tuple(found))]) if found else facts


def _understand(
    body: bytes, url: str, content_type: str, options: TransformOptions, depth: int
) -> tuple[Document, Facts]:
    document = Document(url=url, body=body, detected=detect(body, url=url, content_type=content_type))
    if not MEDIA[document.kind].is_archive:
        return document, transform(document, options)
    if depth == 0:
        return document, Facts(problems=(Problem(syntax=None, message="archive inside archives: not opened"),))
    found: list[Facts] = []
    for member in members(document):
        if isinstance(member, Problem):
            found.append(Facts(problems=(member,)))
        else:
            name, content = member
            found.append(_understand(content, member_url(url, name), "", options, depth - 1)[1])
    return document, merge(found)


def _wanted(options: TransformOptions) -> bool:
    return options.syntaxes is None or Syntax.OTHER in options.syntaxes


def _by_plugin(document: Document, content_type: str, options: TransformOptions) -> Extraction:
    if not _wanted(options):
        return Extraction(syntax=Syntax.OTHER)
    return run_plugin(document, BlankNames(document.url, Syntax.OTHER), options, content_type=content_type)


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
