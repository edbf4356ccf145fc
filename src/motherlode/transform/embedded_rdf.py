"""Extract RDF documents embedded in other documents: script elements of HTML, and RDF/XML elements in SVG or other XML.

Each block (RDF 1.1 Turtle, appendix A; RDF/XML, section 7.2.1) is parsed as a document of its own. It inherits only its
base IRI, language and namespaces from the surrounding document.
"""

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy

from lxml import etree
from msgspec.structs import replace

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Problem, Statement, Syntax
from motherlode.transform import rdf_documents
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import TransformOptions
from motherlode.transform.timeouts import Deadline, ExtractorTimeout, suspend_timeout
from motherlode.www.document import Document
from motherlode.www.iri import resolve_and_check
from motherlode.www.media_types import MEDIA, RDF_NAMESPACE, by_media_type
from motherlode.www.xml import Element

SCRIPT_SYNTAXES = (Syntax.TURTLE, Syntax.N_TRIPLES, Syntax.N_QUADS, Syntax.TRIG, Syntax.N3, Syntax.RDF_XML)
"""Syntaxes read from script elements. JSON-LD has rules of its own and is not among them."""
_MAX_BLOCKS = 1_000
_RDF = f"{{{RDF_NAMESPACE}}}RDF"
_NAMESPACE = RDF_NAMESPACE.encode()
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_CDATA, _CDATA_END = "<![CDATA[", "]]>"

LocateProblems = Callable[[tuple[Problem, ...]], Iterable[Problem]]
"""Converts positions of problems in a block to positions in the page."""
EmbeddedBlocks = Iterator[tuple[Document, LocateProblems]]


def make_script_extractor(syntax: Syntax) -> Callable[[Document, BlankNames, TransformOptions], Extraction]:
    """Return an extractor for the script elements of one syntax."""
    return lambda document, names, options: _extract_blocks(
        _find_script_blocks(document, syntax), syntax, names, options
    )


def extract_rdfxml(document: Document, names: BlankNames, options: TransformOptions) -> Extraction:
    """Extract the `rdf:RDF` elements of an XML document."""
    found = _extract_blocks(_find_rdf_elements(document), Syntax.RDF_XML, names, options)
    source = document.xml
    if not source.error or not (found.statements or found.problems):
        return found
    message = f"not well-formed: {source.error}"
    problem = Problem(syntax=Syntax.RDF_XML, message=message, line=source.line, column=source.column, repaired=True)
    return Extraction(syntax=found.syntax, statements=found.statements, problems=(problem, *found.problems))


def may_have_rdfxml(document: Document, _options: TransformOptions) -> bool:
    """Return False if the document does not contain the RDF namespace."""
    if document.charset.startswith(("utf-16", "utf-32")):
        return RDF_NAMESPACE in document.text
    return _NAMESPACE in document.body


def _extract_blocks(blocks: EmbeddedBlocks, syntax: Syntax, names: BlankNames, options: TransformOptions) -> Extraction:
    statements: list[Statement] = []
    problems: list[Problem] = []
    deadline = Deadline(options.seconds)
    try:
        for number, (block, locate) in enumerate(blocks):
            if number >= _MAX_BLOCKS:
                message = f"more than {_MAX_BLOCKS} blocks; the rest was left out"
                problems.append(Problem(syntax=syntax, message=message))
                break
            found = rdf_documents.extract(block, names, options)
            statements.extend(found.statements)
            problems.extend(locate(found.problems))
            if len(statements) > options.statements:
                break
            deadline.check()
    except ExtractorTimeout:
        suspend_timeout()
        message = f"took longer than {options.seconds:g} seconds; the rest was left out"
        problems.append(Problem(syntax=syntax, message=message))
    return Extraction(syntax=syntax, statements=tuple(statements), problems=tuple(dict.fromkeys(problems)))


def _make_document(text: bytes, kind: ContentKind, base: str) -> Document:
    return Document(url=base, body=text, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT))


# Script elements


def _find_script_blocks(document: Document, syntax: Syntax) -> EmbeddedBlocks:
    for script in document.find_scripts(lambda written: _kind_of(written, syntax) is not None):
        kind = _kind_of(script.media_type, syntax)
        content = script.content.strip()
        if content.startswith(_CDATA):
            content = content.removeprefix(_CDATA).removesuffix(_CDATA_END)
        if content and kind is not None:
            block = _make_document(content.encode(errors="replace"), kind, document.iri_base)
            yield block, _locate_in_script(document, content)


def _kind_of(media_type: str, syntax: Syntax) -> ContentKind | None:
    kind = by_media_type(media_type)
    return kind if kind is not None and MEDIA[kind].syntax is syntax else None


def _locate_in_script(document: Document, content: str) -> LocateProblems:
    """Return a function that converts positions in a script to positions in the page."""

    def locate(problems: tuple[Problem, ...]) -> Iterator[Problem]:
        source = document.text.replace("\r\n", "\n").replace("\r", "\n") if problems else ""  # as the parser does it
        start = source.find(content)
        line = source.count("\n", 0, start)
        column = start - (source.rfind("\n", 0, start) + 1)
        for problem in problems:
            if start < 0 or problem.line is None or problem.column is None:  # the HTML parser may have changed the text
                yield replace(problem, line=None, column=None)
            else:
                shift = column if problem.line == 1 else 0
                yield replace(problem, line=problem.line + line, column=problem.column + shift)

    return locate


# XML elements


def _find_rdf_elements(document: Document) -> EmbeddedBlocks:
    """Yield the outermost `rdf:RDF` elements. An `rdf:RDF` element inside another is part of a literal."""
    root = document.xml.root
    if root is None:
        return
    for element in root.iter(_RDF):
        around = list(element.iterancestors())
        if not any(ancestor.tag == _RDF for ancestor in around):
            copy = _copy_with_language(element, around)
            if _is_truncated(document) and all(it.getnext() is None for it in (element, *around)):
                _remove_last_element(copy)
            text = etree.tostring(copy, encoding="utf-8", with_tail=False)
            yield (
                _make_document(text, ContentKind.RDF_XML, _resolve_base(around, document.iri)),
                _locate_at_element(element),
            )


def _copy_with_language(element: Element, around: list[Element]) -> Element:
    """Return a copy of the element with an explicit language. The tree itself is shared with other extractors."""
    copy = deepcopy(element)
    language = next((it.get(_XML_LANG) for it in (element, *around) if it.get(_XML_LANG) is not None), None)
    if language:
        copy.set(_XML_LANG, language)
    return copy


def _is_truncated(document: Document) -> bool:
    return bool(document.xml.error) and not document.body.rstrip(b"\0 \t\r\n").endswith(b">")


def _remove_last_element(block: Element) -> None:
    """Remove the element in which the document was truncated, because its name or text may be incomplete."""
    last = block
    while len(last):
        last = last[-1]
    if last is not block:
        last.getparent().remove(last)


def _resolve_base(around: list[Element], url: str) -> str:
    """Resolve the xml:base attributes of the ancestors against the document URL (XML Base, section 4)."""
    base = url
    for element in reversed(around):
        reference = element.get(_XML_BASE)
        base = resolve_and_check(base, reference).value if reference else base
    return base


def _locate_at_element(element: Element) -> LocateProblems:
    """Return a function that sets the line of problems to that of the element: the parser only sees a copy of it."""
    line = element.sourceline
    return lambda problems: [replace(problem, line=line, column=None) for problem in problems]
