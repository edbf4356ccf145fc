"""The classes of differences between our drop-in and extruct, each with the specification that it follows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import lxml.html
from selectolax.lexbor import LexborHTMLParser

UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A part of an item that differs; None if a side does not have it."""

    path: tuple[str, ...]
    theirs: Any
    mine: Any

    @property
    def key(self) -> str:
        """The last name in the path that is not an index."""
        return next((name for name in reversed(self.path) if not name.isdigit()), "")


class PageFeatures:
    """Features of a page that the classes test."""

    def __init__(self, url: str, body: bytes) -> None:
        self.url = url
        self.body = body

    @cached_property
    def has_lost_markup(self) -> bool:
        """Whether the tree of libxml2 lacks elements with structured data that an HTML5 parser finds."""
        tree = lxml.html.fromstring(self.body, parser=lxml.html.HTMLParser(encoding="utf-8"))
        attributes = ("itemscope", "itemprop", "property", "typeof", "rel", "role")
        selector = ", ".join(f"[{name}]" for name in attributes)
        here = {node.mem_id for node in LexborHTMLParser(self.body).css(selector)}
        there = tree.xpath("descendant-or-self::*[" + " or ".join(f"@{name}" for name in attributes) + "]")
        return len(there) < len(here)

    @cached_property
    def has_break_end_tag(self) -> bool:
        return b"</br>" in self.body

    @cached_property
    def has_body_type(self) -> bool:
        return re.search(rb"<body[^>]*\stypeof=", self.body) is not None

    @cached_property
    def is_rdfa10(self) -> bool:
        return b"XHTML+RDFa 1.0" in self.body[:2000]


@dataclass(frozen=True, slots=True)
class DifferenceClass:
    """A kind of difference. Without a citation, its items count against us."""

    syntaxes: tuple[str, ...]
    citation: str


CLASSES = {
    "content after </html>": DifferenceClass(
        ("microdata", "rdfa", "json-ld", "microformat"),
        "HTML, 13.2.6.4.22 (the after after body insertion mode): such content belongs to the body",
    ),
    "end tag </br>": DifferenceClass(("microdata",), 'HTML, 13.2.6.4.7 (in body): "</br>" is a br element'),
    "itemref to an item": DifferenceClass(
        ("microdata",), "HTML, 5.2.5, step 6: the children of an element with itemscope are not properties of others"
    ),
    "order of itemref properties": DifferenceClass(("microdata",), "HTML, 5.2.5, last step: sort in tree order"),
    "language of the lang attribute": DifferenceClass(
        ("rdfa",), "HTML+RDFa 1.1, 3.1; extruct fails cases 0252, 0253 and 0254 of the RDFa suite"
    ),
    "datatype of strings": DifferenceClass(
        ("rdfa",), "RDF 1.1 Concepts, 3.3, and JSON-LD 1.1 API, 8.5.2: xsd:string and rdf:langString are not written"
    ),
    "lexical form of a date": DifferenceClass(
        ("rdfa",), "RDF 1.1 Concepts, 3.3: the lexical form is part of the literal; rdflib rewrites it"
    ),
    "subject of body": DifferenceClass(
        ("rdfa",), "HTML+RDFa 1.1, 3.1: body without a resource has the subject of its parent"
    ),
    "markup of RDFa 1.0": DifferenceClass(
        ("rdfa",), "RDFa Core 1.1, 7.5, step 11: a property without a datatype is a plain literal"
    ),
    "white space in text": DifferenceClass(
        ("microformat",),
        "microformats2-parsing, textContent of p-, u- and e-; extruct fails the case v2/h-entry/summarycontent",
    ),
    "markup of e- properties": DifferenceClass(
        ("microformat",),
        "microformats2-parsing, e- property, and HTML, 13.3; extruct fails the case v2/h-entry/summarycontent",
    ),
    "fn of a classic hCard": DifferenceClass(
        ("microformat",),
        "microformats.org/wiki/h-card: fn is p-name; extruct fails the case v1/hreview/vcard",
    ),
    "broken JSON-LD block kept": DifferenceClass(("json-ld",), ""),
    UNEXPLAINED: DifferenceClass(("microdata", "opengraph", "json-ld", "microformat", "rdfa", "dublincore"), ""),
}
_STRING_TYPES = (
    "http://www.w3.org/2001/XMLSchema#string",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
)
_XML_LITERAL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"


def classify(page: PageFeatures, syntax: str, differences: Sequence[Difference]) -> str:
    """Return the class of an item. If there are several, it is the last one in `CLASSES`; unexplained is last."""
    found = [_CLASSIFIERS[syntax](page, difference) for difference in differences]
    return max(found, key=list(CLASSES).index, default=UNEXPLAINED)


def _classify_microdata(page: PageFeatures, it: Difference) -> str:
    if it.theirs is None and page.has_lost_markup and b"itemref" not in page.body:
        return "content after </html>"
    if b"itemref" in page.body:
        if _as_list(it.theirs) and set(map(str, _as_list(it.mine))) < set(map(str, _as_list(it.theirs))):
            return "itemref to an item"
        if isinstance(it.theirs, list) and sorted(map(str, it.theirs)) == sorted(map(str, _as_list(it.mine))):
            return "order of itemref properties"
        return UNEXPLAINED
    is_same_words = isinstance(it.theirs, str) and isinstance(it.mine, str) and it.theirs.split() == it.mine.split()
    return "end tag </br>" if is_same_words and page.has_break_end_tag else UNEXPLAINED


def _classify_rdfa(page: PageFeatures, it: Difference) -> str:
    if it.key == "@language" and it.theirs is None and b"lang" in page.body:
        return "language of the lang attribute"
    if it.theirs is None and page.has_lost_markup:
        return "content after </html>"
    if it.key == "@type" and it.theirs in _STRING_TYPES and it.mine is None:
        return "datatype of strings"
    if it.key == "@id" and str(it.theirs).startswith("_:") and it.mine == page.url and page.has_body_type:
        return "subject of body"
    if page.is_rdfa10 and (it.theirs == _XML_LITERAL or (it.key == "@value" and "xmlns" in str(it.theirs))):
        return "markup of RDFa 1.0"
    if it.key == "@value" and str(it.theirs).startswith(str(it.mine)) and "T00:00:00" in str(it.theirs):
        return "lexical form of a date"
    return UNEXPLAINED


def _classify_microformats(_page: PageFeatures, it: Difference) -> str:
    theirs, mine = str(it.theirs), str(it.mine)
    if it.key == "html":
        return "markup of e- properties" if _read_fragment(theirs) == _read_fragment(mine) else UNEXPLAINED
    if _squeeze(theirs) == _squeeze(mine):
        return "white space in text"
    is_author = "author" in it.path and it.key in ("name", "value")
    return "fn of a classic hCard" if is_author and theirs.endswith(f" {mine}") else UNEXPLAINED


def _classify_jsonld(_page: PageFeatures, it: Difference) -> str:
    is_error = isinstance(it.theirs, str) and "JSONDecodeError" in it.theirs and it.mine
    return "broken JSON-LD block kept" if is_error else UNEXPLAINED


def _read_fragment(html: str) -> list[Any]:
    """Return elements with sorted attributes, and texts without white space, of a fragment of HTML."""
    body = LexborHTMLParser(html).body
    nodes = [] if body is None else list(body.traverse(include_text=True))
    found = [
        _squeeze(node.text_content or "") if node.tag == "-text" else (node.tag, sorted(node.attributes.items()))
        for node in nodes
    ]
    return [it for it in found if it]


def _squeeze(text: str) -> str:
    """Return a text without white space, void element slashes and repeated slashes, in which the sides differ."""
    return re.sub(r"\s+|/(?=[/>])", "", text)


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


_CLASSIFIERS = {
    "microdata": _classify_microdata,
    "rdfa": _classify_rdfa,
    "microformat": _classify_microformats,
    "json-ld": _classify_jsonld,
    "opengraph": lambda _page, _it: UNEXPLAINED,
    "dublincore": lambda _page, _it: UNEXPLAINED,
}
