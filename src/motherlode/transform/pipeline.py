"""The table of extractors per content kind, and `transform`, which runs them one by one in isolation."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from motherlode.model import ContentKind, Extraction, Problem, Syntax, TransformResult
from motherlode.transform import (
    embedded_rdf,
    html_metadata,
    jsonld,
    microdata,
    microformats,
    plugins,
    rdf_documents,
    rdfa,
    xslt,
)
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions, installed_transformers
from motherlode.transform.timeouts import ExtractorTimeout, TimeLimit, shared_timer
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark
from motherlode.www.media_types import MEDIA

Gate = Callable[[Document, TransformOptions], bool]
Extract = Callable[[Document, BlankNames, TransformOptions], Extraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """An extractor of one syntax, with cheap tests of whether a document can contain it."""

    syntax: Syntax
    extract: Extract
    marks: frozenset[Mark] | None = None
    """Run only if the body contains one of these marks. None if the syntax has no marks."""
    gate: Gate | None = None
    """Run only if this function returns True."""


def _ignore_options(extract: Callable[[Document, BlankNames], Extraction]) -> Extract:
    return lambda document, names, _options: extract(document, names)


def _make_marked_extractor(syntax: Syntax, extract: Extract, *marks: Mark) -> Extractor:
    return Extractor(syntax=syntax, extract=extract, marks=frozenset(marks))


def _make_stylesheet_extractor(syntax: Syntax) -> Extractor:
    return Extractor(syntax=syntax, extract=xslt.extract, gate=xslt.wants)


_JSON_LD = _make_marked_extractor(Syntax.JSON_LD, jsonld.extract, Mark.JSON_LD, Mark.HYDRATION)
_MICRODATA = _make_marked_extractor(Syntax.MICRODATA, _ignore_options(microdata.extract), Mark.MICRODATA)
_RDFA = _make_marked_extractor(Syntax.RDFA, _ignore_options(rdfa.extract), *rdfa.MARKS)
_MICROFORMATS = _make_marked_extractor(Syntax.MICROFORMATS, _ignore_options(microformats.extract), Mark.MICROFORMATS)
_PAGE = Extractor(syntax=Syntax.PAGE, extract=_ignore_options(html_metadata.extract))
_SCRIPTS = tuple(
    _make_marked_extractor(syntax, embedded_rdf.make_script_extractor(syntax), Mark.RDF_SCRIPTS)
    for syntax in embedded_rdf.SCRIPT_SYNTAXES
)
_RDF_XML = Extractor(syntax=Syntax.RDF_XML, extract=embedded_rdf.extract_rdfxml, gate=embedded_rdf.may_have_rdfxml)
_FEED = _make_stylesheet_extractor(Syntax.FEED)
_GRDDL = _make_stylesheet_extractor(Syntax.GRDDL)
_HTML = (_JSON_LD, _MICRODATA, _RDFA, _MICROFORMATS, _PAGE, _GRDDL, *_SCRIPTS)
_XHTML = tuple(extractor for extractor in _HTML if extractor.syntax is not Syntax.RDF_XML)

EXTRACTORS: Mapping[ContentKind, tuple[Extractor, ...]] = {
    **dict.fromkeys(ContentKind, ()),
    **{
        kind: (Extractor(syntax=row.syntax, extract=rdf_documents.extract),)
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
"""Extractors per content kind, in the order in which they run. Kinds without RDF, and archives, have none."""


# Running the extractors


def transform(
    document: Document,
    options: TransformOptions = TransformOptions(),  # noqa: B008 - it is frozen
    *,
    content_type: str = "",
) -> TransformResult:
    """Return the extractions of a document. `content_type` selects transformers and is compared with its kind."""
    found: list[Extraction] = []
    with shared_timer():
        for extractor in (*EXTRACTORS[document.kind], *_find_plugin_extractors(document, options, content_type)):
            if options.syntaxes is None or extractor.syntax in options.syntaxes:
                extraction = _run_isolated(extractor, document, options)
                if extraction and (extraction.statements or extraction.problems or extraction.wanted):
                    found.append(_limit_statements(extraction, options.statements))
    broken = rdf_documents.find_missing_rdf(document, content_type) or _find_label_mismatch(
        document, options, content_type
    )
    return TransformResult(extractions=tuple(found), problems=(*document.problems, *([broken] if broken else [])))


def _find_label_mismatch(document: Document, options: TransformOptions, content_type: str) -> Problem | None:
    problem = rdf_documents.find_label_mismatch(document.kind, content_type, document.url)
    is_wanted = problem is not None and (options.syntaxes is None or problem.syntax in options.syntaxes)
    return problem if is_wanted else None


def merge(results: Iterable[TransformResult]) -> TransformResult:
    """Join the results of several documents into the result of one page."""
    known = tuple(results)
    return TransformResult(
        extractions=tuple(e for one in known for e in one.extractions),
        problems=tuple(p for one in known for p in one.problems),
    )


def _find_plugin_extractors(document: Document, options: TransformOptions, content_type: str) -> tuple[Extractor, ...]:
    """Return the extractor for the transformer installed for this media type, or an empty tuple."""
    if not installed_transformers() or plugins.find_transformer(document, options, content_type=content_type) is None:
        return ()
    extract = partial(plugins.extract, content_type=content_type)
    return (Extractor(syntax=Syntax.OTHER, extract=extract),)


def _run_isolated(extractor: Extractor, document: Document, options: TransformOptions) -> Extraction | None:
    """Run one extractor. Return None if its test rejects the document, and a problem if the extractor fails."""
    syntax = extractor.syntax
    try:
        if extractor.marks is not None and extractor.marks.isdisjoint(document.marks):
            return None
        if extractor.gate is not None and not extractor.gate(document, options):
            return None
        with TimeLimit(options.seconds):
            return extractor.extract(document, BlankNames(document.url, syntax), options)
    except ExtractorTimeout:
        problem = Problem(syntax=syntax, message=f"took longer than {options.seconds:g} seconds and was stopped")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - isolation: whatever a page does to one syntax, the others go on;
        # a panic in a Rust library is not even an Exception
        problem = Problem(syntax=syntax, message=f"the extractor failed: {type(error).__name__}: {error}"[:500])
    return Extraction(syntax=syntax, problems=(problem,))


def _limit_statements(extraction: Extraction, limit: int) -> Extraction:
    if len(extraction.statements) <= limit:
        return extraction
    problem = Problem(syntax=extraction.syntax, message=f"more than {limit} statements; the rest was left out")
    return Extraction(
        syntax=extraction.syntax,
        statements=extraction.statements[:limit],
        problems=(*extraction.problems, problem),
        wanted=extraction.wanted,
    )
