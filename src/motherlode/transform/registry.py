"""Which extractors read which kind of content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from motherlode.model import ContentKind, Extraction, Syntax
from motherlode.transform import documents, embedded, jsonld, microdata, microformats, page, rdfa, xslt
from motherlode.transform.blank import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.www.document import Document
from motherlode.www.marks import Mark
from motherlode.www.media import MEDIA

Gate = Callable[[Document, TransformOptions], bool]
Extract = Callable[[Document, BlankNames, TransformOptions], Extraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """One syntax, how to tell cheaply that a page has none of it, and how to read it."""

    syntax: Syntax
    gate: Gate
    """False where the document holds nothing of the syntax, by the marks that its bytes have."""
    extract: Extract


def _always(_document: Document, _options: TransformOptions) -> bool:
    return True


def _if_marked(*marks: Mark) -> Gate:
    wanted = frozenset(marks)
    return lambda document, _options: not wanted.isdisjoint(document.marks)


def _without_options(extract: Callable[[Document, BlankNames], Extraction]) -> Extract:
    return lambda document, names, _options: extract(document, names)


def _by_stylesheet(syntax: Syntax) -> Extractor:
    return Extractor(
        syntax=syntax,
        gate=xslt.wants,
        extract=xslt.extract,
    )


_JSON_LD = Extractor(syntax=Syntax.JSON_LD, gate=_if_marked(Mark.JSON_LD), extract=jsonld.extract)
_MICRODATA = Extractor(
    syntax=Syntax.MICRODATA, gate=_if_marked(Mark.MICRODATA), extract=_without_options(microdata.extract)
)
_RDFA = Extractor(syntax=Syntax.RDFA, gate=_if_marked(*rdfa.MARKS), extract=_without_options(rdfa.extract))
_MICROFORMATS = Extractor(
    syntax=Syntax.MICROFORMATS, gate=_if_marked(Mark.MICROFORMATS), extract=_without_options(microformats.extract)
)
_PAGE = Extractor(syntax=Syntax.PAGE, gate=_always, extract=_without_options(page.extract))
_SCRIPTS = tuple(
    Extractor(syntax=syntax, gate=_if_marked(Mark.RDF_SCRIPTS), extract=embedded.scripts_of(syntax))
    for syntax in embedded.SCRIPT_SYNTAXES
)
_RDF_XML = Extractor(syntax=Syntax.RDF_XML, gate=embedded.may_have_rdfxml, extract=embedded.extract_rdfxml)
_FEED = _by_stylesheet(Syntax.FEED)
_GRDDL = _by_stylesheet(Syntax.GRDDL)
_HTML = (_JSON_LD, _MICRODATA, _RDFA, _MICROFORMATS, _PAGE, _GRDDL, *_SCRIPTS)
_XHTML = tuple(extractor for extractor in _HTML if extractor.syntax is not Syntax.RDF_XML)

EXTRACTORS: Mapping[ContentKind, tuple[Extractor, ...]] = {
    **dict.fromkeys(ContentKind, ()),
    **{
        kind: (Extractor(syntax=row.syntax, gate=_always, extract=documents.extract),)
        for kind, row in MEDIA.items()
        if row.syntax is not None
    },
    ContentKind.JSON_LD: (Extractor(syntax=Syntax.JSON_LD, gate=_always, extract=jsonld.read_document),),
    ContentKind.HTML: _HTML,
    ContentKind.XHTML: (*_XHTML, _RDF_XML),
    ContentKind.SVG: (_RDFA, _GRDDL, _RDF_XML),
    ContentKind.XML: (_RDFA, _GRDDL, _RDF_XML),
    ContentKind.RSS: (_FEED,),
    ContentKind.ATOM: (_FEED,),
}
"""In the order in which they run. A kind that holds no facts has none; archives are unpacked, not read."""
