"""A drop-in for the library extruct: the same function, options and shapes of results, many times faster.

    from motherlode import extruct   # instead of: import extruct
    data = extruct.extract(html, base_url="https://example.org/page", uniform=True)

docs/migrate/extruct.md lists the differences. Where the specifications differ from extruct, we follow them. A broken
JSON-LD block does not affect the others if `errors` is "log" or "ignore".
"""

from __future__ import annotations

import copy
import json
import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import lxml.etree
import lxml.html
from selectolax.lexbor import LexborNode

from motherlode.api import items
from motherlode.detect.charset import detect_charset
from motherlode.model import ContentKind, Detected, DetectionEvidence
from motherlode.www.document import Document

__all__ = ["SYNTAXES", "extract"]

SYNTAXES = ["microdata", "opengraph", "json-ld", "microformat", "rdfa", "dublincore"]
"""The names of all syntaxes."""

_ERROR_MODES = ("log", "ignore", "strict")
_MARKER = "data-motherlode-node"
"""The attribute that connects an element of an lxml tree with the same element of our tree."""
_logger = logging.getLogger(__name__)

Items = dict[str, list[dict[str, Any]]]


def extract(
    htmlstring_or_tree: str | bytes | lxml.html.HtmlElement,
    base_url: str | None = None,
    encoding: str = "UTF-8",
    syntaxes: list[str] = SYNTAXES,
    errors: str = "strict",
    uniform: bool = False,  # noqa: FBT001 - the signature of extruct
    return_html_node: bool = False,  # noqa: FBT001
    schema_context: str = items.SCHEMA_CONTEXT,
    with_og_array: bool = False,  # noqa: FBT001
    url: str | None = None,
) -> Items:
    """Return the structured data of an HTML page as lists of dicts by syntax.

    - `htmlstring_or_tree`: the page as text, as bytes in `encoding`, or as an lxml tree (without "microformat").
    - `base_url`: the URL of the page; `url` is its deprecated name.
    - `errors`: "strict" raises the first error, "log" logs errors, "ignore" ignores them.
    - `uniform`: give all syntaxes the shape of JSON-LD, with @context and @type; `schema_context` is the context of
      Microdata types that name none, and `with_og_array` keeps all values of repeated OpenGraph properties.
    - `return_html_node`: add the lxml element of each Microdata item under the key htmlNode.

    >>> extract('<p itemscope itemtype="http://schema.org/Thing"><b itemprop="name">A</b></p>', syntaxes=["microdata"])
    {'microdata': [{'type': 'http://schema.org/Thing', 'properties': {'name': 'A'}}]}
    """
    if base_url is None and url is not None:
        warnings.warn('"url" argument is deprecated, please use "base_url"', DeprecationWarning, stacklevel=2)
        base_url = url
    _check_arguments(htmlstring_or_tree, syntaxes, errors)
    try:
        source = _open_source(htmlstring_or_tree, base_url or "", encoding, with_nodes=return_html_node)
    except (lxml.etree.LxmlError, ValueError) as error:
        if errors == "strict":
            raise
        if errors == "log":
            _logger.exception("Failed to parse html, raises %s", error)
        return {}
    readers = _choose_readers(source, errors)
    found = _run_readers({name: readers[name] for name in _ORDER if name in syntaxes}, errors, "extract")
    if not uniform:
        return found
    shapes = _choose_shapes(found, schema_context, with_og_array=with_og_array)
    return found | _run_readers({name: shapes[name] for name in found if name in shapes}, errors, "uniform extracted")


_ORDER = ("microdata", "json-ld", "opengraph", "microformat", "rdfa", "dublincore")
"""The order of the keys of the result."""


def _check_arguments(page: object, syntaxes: object, errors: str) -> None:
    if not isinstance(syntaxes, list) or not all(name in SYNTAXES for name in syntaxes):
        raise ValueError(f"syntaxes must be a list with any or all (default) of these values: {SYNTAXES}")
    if errors not in _ERROR_MODES:
        raise ValueError('Invalid error command, valid values are either "log", "ignore" or "strict"')
    if not isinstance(page, str | bytes) and "microformat" in syntaxes:
        raise ValueError(
            "'microformat' syntax requires a string, not a parsed tree. Consider adjusting the 'syntaxes' argument to "
            "exclude it, or passing an HTML string or bytes."
        )


def _run_readers(readers: dict[str, Callable[[], Any]], errors: str, task: str) -> Items:
    """Return the results of the readers. With `errors` other than "strict", a reader that fails has no result."""
    found: Items = {}
    for name, read in readers.items():
        try:
            found[name] = read()
        except Exception as error:
            if errors == "strict":
                raise
            if errors == "log":
                _logger.exception("Failed to %s %s, raises %s", task, name, error)
    return found


# Input


class _Source:
    """A page, and for an lxml tree the element whose items are wanted."""

    def __init__(self, document: Document, part: Document, nodes: list[Any] | None) -> None:
        self.document = document
        self.part = part
        """The document of the element that was given. It is the whole page unless the element is inside a tree."""
        self._nodes = nodes

    @property
    def html_node_of(self) -> Callable[[LexborNode], Any] | None:
        """The function from an element of our tree to the same element of the lxml tree, or None."""
        nodes = self._nodes
        return None if nodes is None else lambda node: nodes[int(node.attributes.get(_MARKER) or 0)]


def _open_source(page: Any, base_url: str, encoding: str, *, with_nodes: bool) -> _Source:
    if isinstance(page, str | bytes):
        if not page.strip():
            raise lxml.etree.ParserError("Document is empty")
        if not with_nodes:
            document = _parse(page, base_url, encoding)
            return _Source(document, document, None)
        page = lxml.html.fromstring(page, parser=lxml.html.HTMLParser(encoding=encoding))
    root = page.getroottree().getroot() if hasattr(page, "getroottree") else page.getroot()
    element = page if hasattr(page, "getroottree") else root
    part, nodes = _parse_tree(element, base_url)
    return _Source(part if element is root else _parse_tree(root, base_url)[0], part, nodes if with_nodes else None)


def _parse(page: str | bytes, base_url: str, encoding: str) -> Document:
    body = page.encode(errors="replace") if isinstance(page, str) else page
    charset = "utf-8" if isinstance(page, str) else _choose_charset(page, encoding)
    detected = Detected(kind=ContentKind.HTML, evidence=DetectionEvidence.CONTENT, charset=charset)
    return Document(url=base_url, body=body, detected=detected)


def _choose_charset(body: bytes, encoding: str) -> str:
    """Return the given encoding, or for bytes that are not UTF-8 as claimed, the one that the page itself declares."""
    if encoding.lower() not in ("utf-8", "utf8"):
        return encoding
    try:
        body.decode()
    except UnicodeDecodeError:
        return detect_charset(body, "")
    return "utf-8"


def _parse_tree(element: Any, base_url: str) -> tuple[Document, list[Any]]:
    """Return the document of an lxml element, and its elements that are items. Each item's marker is its index."""
    nodes = element.xpath("descendant-or-self::*[@itemscope]")
    marked = copy.deepcopy(element)
    for number, node in enumerate(marked.xpath("descendant-or-self::*[@itemscope]")):
        node.set(_MARKER, str(number))
    text = lxml.html.tostring(marked, encoding="unicode", with_tail=False)
    return _parse(text, base_url, "utf-8"), nodes


# Syntaxes


def _choose_readers(source: _Source, errors: str) -> dict[str, Callable[[], Any]]:
    return {
        "microdata": partial(items.read_microdata, source.part, source.html_node_of),
        "json-ld": partial(items.read_jsonld, source.part, partial(_report_broken, errors=errors)),
        "opengraph": partial(items.read_opengraph, source.document),
        "microformat": partial(items.read_microformats, source.document),
        "rdfa": partial(items.read_rdfa, source.document),
        "dublincore": partial(items.read_dublincore, source.document),
    }


def _report_broken(error: json.JSONDecodeError, *, errors: str) -> None:
    if errors == "strict":
        raise error
    if errors == "log":
        _logger.error("Failed to extract a json-ld block as written: %s", error)


def _choose_shapes(found: Items, schema_context: str, *, with_og_array: bool) -> dict[str, Callable[[], Any]]:
    shapes: dict[str, Callable[[Any], Any]] = {
        "microdata": partial(items.uniform_items, context=schema_context),
        "microformat": partial(items.uniform_items, context=items.MICROFORMATS_CONTEXT),
        "opengraph": partial(items.uniform_opengraph, with_arrays=with_og_array),
        "dublincore": items.uniform_dublincore,
    }
    return {name: partial(shape, found[name]) for name, shape in shapes.items() if name in found}
