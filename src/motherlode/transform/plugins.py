"""External transformation services, as in MultiCrawler (section 3.3): content is sent by POST, RDF comes back.

This room opens no socket. It says which call a document wants (`find_service_call`) and reads the answer
(`read_service_response`); between the two, whoever holds the HTTP client makes the call:

    call = pending_service(document, options, content_type=page.content_type)
    if call is not None and not call.refused:
        # POST call.body to call.url with call.headers; give up after call.seconds, read at most call.most_received
        # bytes, follow no redirect; the address guard and the politeness clocks hold for it as for any request
        extraction = read_service_answer(call, answer.content_type, answer.body, names)
    # a call that is refused, or was not answered: service_failed(call, reason)

The call is plain data and can be pickled: a worker process may ask for it and the fetch room may make it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Protocol

import pyoxigraph as ox

from motherlode.model import Extraction, Problem, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import ACCEPT, Service, TransformOptions
from motherlode.transform.plugin_registry import allowed_transformers
from motherlode.transform.xslt.rdf_results import read_rdf
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, essence, fits


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCall:
    """One POST that a document wants."""

    url: str
    page_url: str
    """Where the content came from; base for relative references in the answer."""
    content_type: str
    body: bytes
    seconds: float
    most_received: int
    max_statements: int
    refused: str = ""
    """A reason why the call must not be made."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What the service is told: the type of the content, where it came from, and what to answer with."""
        return {"Content-Type": self.content_type, "Content-Location": self.page_url, "Accept": ACCEPT}


def media_type_of(document: Document, content_type: str) -> str:
    """The media type that a server gave, or else one that fits what the content was found to be."""
    known = MEDIA[document.kind].media_types
    return essence(content_type) or (known[0] if known else "application/octet-stream")


def find_service_call(document: Document, options: TransformOptions, *, content_type: str = "") -> ServiceCall | None:
    """The call that a document wants; None where no service is for it."""
    media_type = media_type_of(document, content_type)
    service = next((service for service in options.services if fits(service.media_type, media_type)), None)
    if service is None:
        return None
    return ServiceCall(
        url=service.url,
        page_url=document.url,
        content_type=content_type or media_type,
        body=document.body,
        seconds=service.seconds,
        most_received=service.most_received,
        max_statements=options.statements,
        refused=_refusal(document, service),
    )


def _refusal(document: Document, service: Service) -> str:
    size = len(document.body)
    return f"{size} bytes are more than the service is given" if size > service.most_sent else ""


def read_service_response(call: ServiceCall, content_type: str, body: bytes, names: BlankNames) -> Extraction:
    """The statements of an answer; a problem where it is no RDF, or more than was asked for."""
    if len(body) > call.most_received:
        return service_failure(call, "the answer is longer than the limit")
    rdf_format = ox.RdfFormat.from_media_type(essence(content_type))
    if rdf_format is None:
        return service_failure(call, f"the answer is {essence(content_type)[:100] or 'of no type'}, which is no RDF")
    found = read_rdf(body, rdf_format, base=call.page_url, names=names, syntax=Syntax.OTHER, most=call.max_statements)
    return Extraction(syntax=Syntax.OTHER, statements=found.statements, problems=found.problems)


def service_failure(call: ServiceCall, reason: str) -> Extraction:
    """What there is to say of a call that gave nothing."""
    return Extraction(
        syntax=Syntax.OTHER, problems=(Problem(syntax=Syntax.OTHER, message=f"the service {call.url}: {reason}"),)
    )


# ── Transformers in Python for other types of content, found by their entry points.


class Transformer(Protocol):
    """What an entry point names."""

    def __call__(self, *, body: bytes, url: str, content_type: str) -> tuple[str, bytes]: ...


def find_transformer(document: Document, options: TransformOptions, *, content_type: str = "") -> EntryPoint | None:
    """The transformer that a document is for, of those that the options allow."""
    media_type = media_type_of(document, content_type)
    return next((point for point in allowed_transformers(options) if fits(point.name, media_type)), None)


def extract(document: Document, names: BlankNames, options: TransformOptions, *, content_type: str = "") -> Extraction:
    """What the transformer for a document makes of it; nothing where there is none."""
    point = find_transformer(document, options, content_type=content_type)
    if point is None:
        return Extraction(syntax=Syntax.OTHER)
    try:
        transform: Transformer = point.load()
        media_type, body = transform(
            body=document.body, url=document.url, content_type=content_type or media_type_of(document, "")
        )
        rdf_format = ox.RdfFormat.from_media_type(essence(media_type))
    except Exception as error:  # noqa: BLE001 - other people's code may raise anything
        return _transformer_failure(point, f"{type(error).__name__}: {error}")
    if rdf_format is None:
        return _transformer_failure(point, f"gave {media_type!r}, which is no RDF")
    found = read_rdf(body, rdf_format, base=document.url, names=names, syntax=Syntax.OTHER, most=options.statements)
    return Extraction(syntax=Syntax.OTHER, statements=found.statements, problems=found.problems)


def _transformer_failure(point: EntryPoint, reason: str) -> Extraction:
    message = f"the transformer {point.value}: {reason[:300]}"
    return Extraction(syntax=Syntax.OTHER, problems=(Problem(syntax=Syntax.OTHER, message=message),))
