"""Which extractors read which kind of content."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from motherlode.model import ContentKind, Extraction, Syntax
from motherlode.transform.blank import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document
from motherlode.www.media import MEDIA

Extract = Callable[[Document, BlankNames, TransformOptions], Extraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """One syntax, how to tell cheaply that a page has none of it, and how to read it."""

    syntax: Syntax
    gate: Callable[[bytes], bool]
    """False means that the body, searched as bytes, cannot hold anything of the syntax."""
    extract: Extract


def _lazy(module: str, function: str, arguments: int) -> Callable[..., Any]:
    """Interim: the colleague's module is imported when it is first needed."""

    def call(*given: Any) -> Any:
        return getattr(importlib.import_module(f"motherlode.transform.{module}"), function)(*given[:arguments])

    return call


def _extractor(syntax: Syntax, module: str, *, function: str = "extract", arguments: int = 2) -> tuple[Extractor, ...]:
    if importlib.util.find_spec(f"motherlode.transform.{module}") is None:
        return ()
    return (Extractor(syntax=syntax, gate=_lazy(module, "gate", 1), extract=_lazy(module, function, arguments)),)


def _always(_body: bytes) -> bool:
    return True


_JSON_LD = _extractor(Syntax.JSON_LD, "jsonld", arguments=3)
_MICRODATA = _extractor(Syntax.MICRODATA, "microdata")
_RDFA = _extractor(Syntax.RDFA, "rdfa")
_MICROFORMATS = _extractor(Syntax.MICROFORMATS, "microformats")
_PAGE = _extractor(Syntax.PAGE, "page")
_FEED = _extractor(Syntax.FEED, "xslt", arguments=3)
_GRDDL = _extractor(Syntax.GRDDL, "xslt", arguments=3)
_HTML = (*_JSON_LD, *_MICRODATA, *_RDFA, *_MICROFORMATS, *_PAGE)

EXTRACTORS: Mapping[ContentKind, tuple[Extractor, ...]] = {
    **dict.fromkeys(ContentKind, ()),
    **{
        kind: (Extractor(syntax=row.syntax, gate=_always, extract=_lazy("documents", "extract", 3)),)
        for kind, row in MEDIA.items()
        if row.syntax is not None
    },
    ContentKind.JSON_LD: (Extractor(syntax=Syntax.JSON_LD, gate=_always, extract=_lazy("jsonld", "read_document", 3)),),
    ContentKind.HTML: _HTML,
    ContentKind.XHTML: (*_HTML, *_GRDDL),
    ContentKind.SVG: _RDFA,
    ContentKind.XML: (*_RDFA, *_GRDDL),
    ContentKind.RSS: (*_FEED, *_RDFA),
    ContentKind.ATOM: (*_FEED, *_RDFA),
}
