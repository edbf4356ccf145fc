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
    extract: Extract
    marks: frozenset[Mark] | None = None
    """A page whose bytes have none of these marks holds nothing of the syntax; None where marks tell nothing."""
    gate: Gate | None = None
    """False where the document holds nothing of the syntax, by what else there is to see."""


def _without_options(extract: Callable[[Document, BlankNames], Extraction]) -> Extract:
    return lambda document, names, _options: extract(document, names)


def _marked(syntax: Syntax, extract: Extract, *marks: Mark) -> Extractor:
    return Extractor(syntax=syntax, extract=extract, marks=frozenset(marks))


def _by_stylesheet(syntax: Syntax) -> Extractor:
    return Extractor(syntax=syntax, extract=xslt.extract, gate=xslt.wants)


_JSON_LD = _marked(Syntax.JSON_LD, jsonld.extract, Mark.JSON_LD)
_MICRODATA = _marked(Syntax.MICRODATA, _without_options(microdata.extract), Mark.MICRODATA)
_RDFA = _marked(Syntax.RDFA, _without_options(rdfa.extract), *rdfa.MARKS)
_MICROFORMATS = _marked(Syntax.MICROFORMATS, _without_options(microformats.extract), Mark.MICROFORMATS)
_PAGE = Extractor(syntax=Syntax.PAGE, extract=_without_options(page.extract))
_SCRIPTS = tuple(_marked(syntax, embedded.scripts_of(syntax), Mark.RDF_SCRIPTS) for syntax in embedded.SCRIPT_SYNTAXES)
_RDF_XML = Extractor(syntax=Syntax.RDF_XML, extract=embedded.extract_rdfxml, gate=embedded.may_have_rdfxml)
_FEED = _by_stylesheet(Syntax.FEED)
_GRDDL = _by_stylesheet(Syntax.GRDDL)
_HTML = (_JSON_LD, _MICRODATA, _RDFA, _MICROFORMATS, _PAGE, _GRDDL, *_SCRIPTS)
_XHTML = tuple(extractor for extractor in _HTML if extractor.syntax is not Syntax.RDF_XML)

EXTRACTORS: Mapping[ContentKind, tuple[Extractor, ...]] = {
    **dict.fromkeys(ContentKind, ()),
    **{
        kind: (Extractor(syntax=row.syntax, extract=documents.extract),)
        for kind, row in MEDIA.items()
        if row.syntax is not None
    },
    ContentKind.JSON_LD: (Extractor(syntax=Syntax.JSON_LD, extract=jsonld.read_document),),
    ContentKind.HTML: _HTML,
    ContentKind.XHTML: (*_XHTML, _RDF_XML),
    ContentKind.SVG: (_RDFA, _GRDDL, _RDF_XML),
    ContentKind.XML: (_RDFA, _GRDDL, _RDF_XML),
    ContentKind.RSS: (_FEED,),
    ContentKind.ATOM: (_FEED,),
}
"""In the order in which they run. A kind that holds no facts has none; archives are unpacked, not read."""
