"""Transformers in Python for other types of content, found by their entry points.

A package that has one says so in its pyproject.toml, with the media type as the name:

    [project.entry-points."motherlode.transformers"]
    "application/pdf" = "my_package.pdf:transform"

and the function takes the content and gives a media type of RDF and the RDF in it:

    def transform(*, body: bytes, url: str, content_type: str) -> tuple[str, bytes]: ...

It runs where our own extractors run, under the same time limit. What it raises is recorded and costs nothing else.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Protocol

import pyoxigraph as ox

from motherlode.model import Extraction, Problem, Syntax
from motherlode.transform.blank import BlankNames
from motherlode.transform.installed import allowed
from motherlode.transform.options import TransformOptions
from motherlode.transform.services import media_type_of
from motherlode.transform.xslt.results import read_rdf
from motherlode.www.document import Document
from motherlode.www.media import essence, fits


class Transformer(Protocol):
    """What an entry point names."""

    def __call__(self, *, body: bytes, url: str, content_type: str) -> tuple[str, bytes]: ...


def transformer_for(document: Document, options: TransformOptions, *, content_type: str = "") -> EntryPoint | None:
    """The transformer that a document is for, of those that the options allow."""
    media_type = media_type_of(document, content_type)
    return next((point for point in allowed(options) if fits(point.name, media_type)), None)


def extract(document: Document, names: BlankNames, options: TransformOptions, *, content_type: str = "") -> Extraction:
    """What the transformer for a document makes of it; nothing where there is none."""
    point = transformer_for(document, options, content_type=content_type)
    if point is None:
        return Extraction(syntax=Syntax.OTHER)
    try:
        transform: Transformer = point.load()
        media_type, body = transform(
            body=document.body, url=document.url, content_type=content_type or media_type_of(document, "")
        )
        rdf_format = ox.RdfFormat.from_media_type(essence(media_type))
    except Exception as error:  # noqa: BLE001 - other people's code may raise anything
        return _failed(point, f"{type(error).__name__}: {error}")
    if rdf_format is None:
        return _failed(point, f"gave {media_type!r}, which is no RDF")
    found = read_rdf(body, rdf_format, base=document.url, names=names, syntax=Syntax.OTHER, most=options.statements)
    return Extraction(syntax=Syntax.OTHER, statements=found.statements, problems=found.problems)


def _failed(point: EntryPoint, reason: str) -> Extraction:
    message = f"the transformer {point.value}: {reason[:300]}"
    return Extraction(syntax=Syntax.OTHER, problems=(Problem(syntax=Syntax.OTHER, message=message),))
