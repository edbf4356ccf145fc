"""Transformation by external services and by installed Python transformers.

An external service gets the content by POST and returns RDF, as in MultiCrawler (section 3.3), or HTML or XML, as the
paper's Tidy does, which the next step transforms (`is_further_step`). This package opens no socket.
`find_service_call` returns the request for a document, the caller sends it, and `read_service_response` parses the
response:

    call = find_service_call(document, options, content_type=page.content_type)
    if call is not None and not call.refused:
        # POST call.body to call.url with call.headers; stop after call.seconds; read at most call.most_received bytes;
        # follow no redirect; apply the address guard and politeness as for any request
        extraction = read_service_response(call, response.content_type, response.body, names)
    # if the call is refused or fails: service_failure(call, reason)

`ServiceCall` can be pickled, so a worker process can create it and the crawl process can send it.

Python transformers are found by their entry points (see `options`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Protocol

import pyoxigraph as ox

from motherlode.model import ContentKind, Detected, Extraction, Problem, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import ACCEPT_FROM_SERVICE, TransformOptions, allowed_transformers
from motherlode.transform.xslt.rdf_results import read_rdf
from motherlode.www.document import Document
from motherlode.www.media_types import MEDIA, essence, fits


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCall:
    """One POST request to a transformation service."""

    url: str
    page_url: str
    """URL of the content. Relative references in the response are resolved against it."""
    content_type: str
    body: bytes
    seconds: float
    most_received: int
    max_statements: int
    refused: str = ""
    """Why the request must not be sent; "" if it may be."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Request headers: type and URL of the content, and the accepted formats."""
        return {"Content-Type": self.content_type, "Content-Location": self.page_url, "Accept": ACCEPT_FROM_SERVICE}


def media_type_of(document: Document, content_type: str) -> str:
    """Return the media type of the Content-Type header, or else one that fits the detected kind."""
    known = MEDIA[document.kind].media_types
    return essence(content_type) or (known[0] if known else "application/octet-stream")


def find_service_call(document: Document, options: TransformOptions, *, content_type: str = "") -> ServiceCall | None:
    """Return the request for a document; None if no service accepts its media type."""
    media_type = media_type_of(document, content_type)
    service = next((service for service in options.services if fits(service.media_type, media_type)), None)
    if service is None:
        return None
    size = len(document.body)
    return ServiceCall(
        url=service.urls[0],
        page_url=document.url,
        content_type=content_type or media_type,
        body=document.body,
        seconds=service.seconds,
        most_received=service.most_received,
        max_statements=options.statements,
        refused=f"{size} bytes are more than the limit of {service.most_sent} bytes"
        if size > service.most_sent
        else "",
    )


def read_service_response(call: ServiceCall, content_type: str, body: bytes, names: BlankNames) -> Extraction:
    """Parse a response. Return a problem if it is not RDF or longer than the limit."""
    if len(body) > call.most_received:
        return service_failure(call, "the response is longer than the limit")
    rdf_format = ox.RdfFormat.from_media_type(essence(content_type))
    if rdf_format is None:
        media_type = essence(content_type)[:100]
        reason = f"the response is {media_type}, not RDF" if media_type else "the response has no media type"
        return service_failure(call, reason)
    return read_rdf(body, rdf_format, base=call.page_url, names=names, syntax=Syntax.OTHER, most=call.max_statements)


_PLAIN_XML = ("application/xml", "text/xml")


def is_further_step(detected: Detected, content_type: str) -> bool:
    """Return whether a response is HTML or XML, which is transformed like a page, and not an RDF document."""
    media = MEDIA[detected.kind]
    if not (media.is_html or media.is_xml) or detected.kind is ContentKind.RDF_XML:
        return False
    media_type = essence(content_type)
    return media_type in _PLAIN_XML or ox.RdfFormat.from_media_type(media_type) is None


def service_failure(call: ServiceCall, reason: str) -> Extraction:
    """Return an extraction with one problem: why the service gave no statements."""
    return _failure(f"the service {call.url}: {reason}")


def _failure(message: str) -> Extraction:
    return Extraction(syntax=Syntax.OTHER, problems=(Problem(syntax=Syntax.OTHER, message=message),))


# Python transformers


class Transformer(Protocol):
    """The function that an entry point names. It returns the media type and body of an RDF document."""

    def __call__(self, *, body: bytes, url: str, content_type: str) -> tuple[str, bytes]: ...


def find_transformer(document: Document, options: TransformOptions, *, content_type: str = "") -> EntryPoint | None:
    """Return the first allowed transformer that accepts the media type of the document, or None."""
    media_type = media_type_of(document, content_type)
    return next((point for point in allowed_transformers(options) if fits(point.name, media_type)), None)


def extract(document: Document, names: BlankNames, options: TransformOptions, *, content_type: str = "") -> Extraction:
    """Run the transformer for a document. Return an empty extraction if no transformer fits."""
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
        return _failure(f"the transformer {point.value}: {f'{type(error).__name__}: {error}'[:300]}")
    if rdf_format is None:
        reason = f"returned {media_type!r}, which is not an RDF media type"
        return _failure(f"the transformer {point.value}: {reason[:300]}")
    return read_rdf(body, rdf_format, base=document.url, names=names, syntax=Syntax.OTHER, most=options.statements)
