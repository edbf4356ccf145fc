"""Documents and stylesheets for the tests of this folder."""

from __future__ import annotations

from motherlode.model import ContentKind, Detected, DetectionEvidence, Extraction, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.options import Stylesheet, TransformOptions
from motherlode.transform.xslt import extract
from motherlode.www.document import Document

URL = "http://example.org/doc"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XHTML = "http://www.w3.org/1999/xhtml"
DEFAULT = TransformOptions()

Statements = set[tuple[str, str, str]]


def document(body: str | bytes, kind: ContentKind = ContentKind.XML, charset: str = "utf-8") -> Document:
    data = body.encode() if isinstance(body, str) else body
    return Document(
        url=URL, body=data, detected=Detected(kind=kind, evidence=DetectionEvidence.CONTENT, charset=charset)
    )


def extract_document(page: Document, options: TransformOptions = DEFAULT) -> Extraction:
    return extract(page, BlankNames(page.url, Syntax.GRDDL), options)


def statements(page: Document, options: TransformOptions = DEFAULT) -> Statements:
    """Return the statements with blank nodes as _:1, _:2 … in order of appearance."""
    names: dict[str, str] = {}

    def short(term: str) -> str:
        return names.setdefault(term, f"_:{len(names) + 1}") if term.startswith("_:") else term

    return {(short(s), short(p), short(o)) for s, p, o, _ in extract_document(page, options).statements}


def sheet(templates: str, output: str = "", head: str = "") -> bytes:
    """Return a stylesheet with these templates."""
    return f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:rdf="{RDF}"
        xmlns:ex="http://example.org/ns#" xmlns:h="{XHTML}" xmlns:exsl="http://exslt.org/common"
        xmlns:str="http://exslt.org/strings" extension-element-prefixes="exsl">
        {head}<xsl:param name="base"/>{output}{templates}</xsl:stylesheet>""".encode()


def constant_sheet(value: str) -> bytes:
    """Return a stylesheet that writes the same statement for every document."""
    return sheet(
        f"""<xsl:template match="/"><rdf:RDF><rdf:Description rdf:about="{{$base}}"><ex:says>{value}</ex:says>
        </rdf:Description></rdf:RDF></xsl:template>"""
    )


def options_with(xslt: bytes, root: str = "doc", seconds: float = 5.0) -> TransformOptions:
    return TransformOptions(stylesheets=(Stylesheet(name="user.xsl", xslt=xslt, root=root),), seconds=seconds)
