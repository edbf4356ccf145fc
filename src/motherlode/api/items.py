"""The structured data of an HTML page as dicts by syntax, in the shapes that users of extruct know."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlparse

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.api.dublin_core import find_dublin_core
from motherlode.model import ContentKind, Syntax, TransformResult
from motherlode.transform import microformats, rdfa
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.jsonld.hydration import find_hydration_objects
from motherlode.transform.jsonld.json_decoder import decode
from motherlode.transform.jsonld.jsonld_blocks import find_scripts
from motherlode.transform.microdata.item_json import read_item_dicts
from motherlode.transform.node_objects import build_node_objects
from motherlode.www.document import Document
from motherlode.www.html_prefilter import Mark

ItemDict = dict[str, Any]
MICROFORMATS_CONTEXT = "http://microformats.org/wiki/"
SCHEMA_CONTEXT = "http://schema.org"
_logger = logging.getLogger(__name__)


def read_items(
    document: Document | None, result: TransformResult, syntaxes: Collection[Syntax] | None = None
) -> dict[str, list[ItemDict]]:
    """Return the items of a page by syntax in the uniform shape of extruct.

    Syntaxes that extruct does not have, such as Turtle, are node objects of expanded JSON-LD under our names.
    `document` is None if only the statements are known.
    """
    found: dict[str, list[ItemDict]] = {}
    if document is not None and document.kind in (ContentKind.HTML, ContentKind.XHTML):
        for name, (syntax, read) in _UNIFORM_READERS.items():
            if syntaxes is None or syntax in syntaxes:
                found[name] = _read_isolated(name, read, document)
    elif document is not None and document.kind is ContentKind.JSON_LD:
        found["json-ld"] = _flatten_values(decode(document.text.removeprefix("\ufeff")).values)
    for extraction in result.extractions:
        name = _NAMES.get(extraction.syntax, extraction.syntax.value)
        if name not in found and extraction.statements:
            found[name] = build_node_objects(extraction.statements)
    return found


def _read_isolated(name: str, read: Callable[[Document], list[ItemDict]], document: Document) -> list[ItemDict]:
    try:
        return read(document)
    except Exception:  # isolation: an unexpected page in one syntax does not affect the others
        _logger.exception("internal error: the items of %s in %s could not be read", document.url, name)
        return []


def _flatten_values(values: list[Any]) -> list[ItemDict]:
    """Return the objects of some JSON values. Arrays at the top are replaced by their members."""
    members = (it for value in values for it in (value if isinstance(value, list) else [value]))
    return [item for item in members if item]


# JSON-LD

ReportBroken = Callable[[json.JSONDecodeError], None]
"""Called for each block that is not valid JSON, with its first error. It may raise the error."""
_HARMLESS_REPAIRS = frozenset({"comment or CDATA wrapper", "trailing comma", "raw control character in a string"})
"""Repairs of faults that readers of JSON-LD commonly accept."""


def read_jsonld(document: Document, report_broken: ReportBroken) -> list[ItemDict]:
    """Return the top-level objects of the JSON-LD scripts. A broken script does not affect the others."""
    if Mark.JSON_LD not in document.marks:
        return []
    return _flatten_values(
        [it for script in find_scripts(document) for it in _decode_script(script.content, report_broken)]
    )


def _read_jsonld_and_hydration(document: Document) -> list[ItemDict]:
    """Return the JSON-LD of a page without raising errors, and the schema.org objects in its hydration data."""
    found = read_jsonld(document, lambda _error: None)
    return found + find_hydration_objects(document, found)


def _decode_script(text: str, report_broken: ReportBroken) -> list[Any]:
    try:
        return [value for value in [msgspec.json.decode(text)] if isinstance(value, dict | list)]
    except (ValueError, RecursionError):
        pass
    try:  # also accepts control characters, NaN and lone surrogates
        return [value for value in [json.loads(text, strict=False)] if isinstance(value, dict | list)]
    except (ValueError, RecursionError):
        pass
    decoded = decode(text)
    faults = [repair for repair in decoded.repairs if repair.message not in _HARMLESS_REPAIRS]
    if decoded.failure is not None:
        faults.insert(0, decoded.failure)
    if faults:
        report_broken(json.JSONDecodeError(faults[0].message, text, faults[0].offset))
    return decoded.values


# Microdata, microformats and RDFa


def read_microdata(document: Document, html_node_of: Callable[[LexborNode], Any] | None = None) -> list[ItemDict]:
    """Return the Microdata items. `html_node_of` returns the element that the key htmlNode of each item holds."""
    if Mark.MICRODATA not in document.marks:
        return []
    return read_item_dicts(document, html_node_of)


def read_microformats(document: Document) -> list[ItemDict]:
    """Return the items in the canonical JSON of microformats2."""
    return microformats.parse_items(document, with_languages=True) if Mark.MICROFORMATS in document.marks else []


_SOCIAL_NAMESPACES = {
    "article": "http://ogp.me/ns/article#",
    "book": "http://ogp.me/ns/book#",
    "fb": "http://ogp.me/ns/fb#",
    "music": "http://ogp.me/ns/music#",
    "profile": "http://ogp.me/ns/profile#",
    "twitter": "https://dev.twitter.com/cards#",
    "video": "http://ogp.me/ns/video#",
}
"""Prefixes that pages use without a declaration, in addition to RDFa's initial context."""


def read_rdfa(document: Document) -> list[ItemDict]:
    """Return the RDFa statements, including OpenGraph, as node objects of expanded JSON-LD."""
    if document.marks.isdisjoint(rdfa.MARKS) and b"role" not in document.body:
        return []
    found = rdfa.extract(document, BlankNames(document.url, Syntax.RDFA), roles=True)
    return build_node_objects(found.statements, rename=_expand_social_prefix)


def _expand_social_prefix(iri: str) -> str:
    prefix, _, name = iri.partition(":")
    namespace = _SOCIAL_NAMESPACES.get(prefix)
    return iri if namespace is None else namespace + name


# OpenGraph and Dublin Core in the head

_OPENGRAPH_NAMESPACES = {
    "og": "http://ogp.me/ns#",
    **{name: f"http://ogp.me/ns/{name}#" for name in ("music", "video", "article", "book", "profile", "product")},
}
_PREFIX_MAPPING = re.compile(r"\s*(\w+):\s*([^\s]+)")


def read_opengraph(document: Document) -> list[ItemDict]:
    """Return the OpenGraph properties of the page: their namespaces, and pairs of name and content in order."""
    head = document.html.head
    if head is None or Mark.PROPERTIES not in document.marks:
        return []
    root = document.html.root
    namespaces = {**_read_prefixes(root), **_read_prefixes(head)}
    properties: list[tuple[str, str]] = []
    for node in head.css("meta[property][content]"):
        attributes = node.attributes
        name = attributes["property"] or ""
        prefix = name.partition(":")[0]
        if prefix in _OPENGRAPH_NAMESPACES:
            namespaces[prefix] = _OPENGRAPH_NAMESPACES[prefix]
        if prefix in namespaces:
            properties.append((name, attributes["content"] or ""))
    return [{"namespace": namespaces, "properties": properties}] if properties else []


def _read_prefixes(node: LexborNode | None) -> dict[str, str]:
    written = node.attributes.get("prefix") if node is not None else None
    return dict(_PREFIX_MAPPING.findall(written)) if written else {}


_DUBLIN_CORE_NAMESPACES = ("http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/")


def read_dublincore(document: Document) -> list[ItemDict]:
    """Return one dict with the Dublin Core elements and terms of `meta` and `link`, and their namespaces."""
    namespaces: dict[str, str] = {}
    found: dict[str, list[ItemDict]] = {"elements": [], "terms": []}
    for attributes, word in _iter_named_nodes(document):
        if "name" not in attributes and "schema" in word:
            href = (attributes.get("href") or "").strip()
            if href in _DUBLIN_CORE_NAMESPACES:
                namespaces[word.replace("schema.", "")] = href
        property_ = find_dublin_core(word.rpartition(".")[2].lower())
        if property_ is not None:
            group, uri = property_
            found[group].append({**{name: value or "" for name, value in attributes.items()}, "URI": uri})
    return [{"namespaces": namespaces, **found}]


def _iter_named_nodes(document: Document) -> Iterator[tuple[Mapping[str, str | None], str]]:
    """Yield the attributes and the name of each `meta` element, then those and the relation of each `link` element."""
    for selector, attribute in (("meta[name]", "name"), ("link[rel]", "rel")):
        for node in document.html.css(selector):
            attributes = node.attributes
            yield attributes, attributes[attribute] or ""


# The uniform shape: @context and @type, with properties as keys of the item itself


def uniform_opengraph(items: list[ItemDict], *, with_arrays: bool = False) -> list[ItemDict]:
    """Return OpenGraph in the uniform shape. A repeated property has its first value, or all with `with_arrays`."""
    found = []
    for item in items:
        flat: ItemDict = {}
        for name, content in item["properties"]:
            known = flat.get(name)
            if name not in flat or (content.strip() and not _has_content(known)):
                flat[name] = content
            elif with_arrays and content.strip():
                flat[name] = [*known, content] if isinstance(known, list) else [known, content]
        if type_ := flat.pop("og:type", None):
            flat["@type"] = type_
        found.append({**flat, "@context": item["namespace"]})
    return found


def _has_content(value: Any) -> bool:
    return isinstance(value, list) or bool(value and value.strip())


def uniform_dublincore(items: list[ItemDict]) -> list[ItemDict]:
    """Return Dublin Core in the uniform shape, with the value of DC.type as @type."""
    found = []
    for item in items:
        elements: list[ItemDict] = []
        types: list[ItemDict] = []
        for element in item["elements"]:
            is_type = any(value.rpartition(".")[2].lower() == "type" for value in element.values())
            (types if is_type else elements).append(element)
        flat = {"elements": elements, "terms": item["terms"], "@context": item["namespaces"]}
        if types:
            flat["@type"] = types[-1].get("content", "")
        found.append(flat)
    return found


def uniform_items(items: list[ItemDict], context: str) -> list[ItemDict]:
    """Return Microdata or microformats in the uniform shape."""
    return [_flatten(item, context, is_top=True) for item in items]


def _flatten(item: Any, context: str, *, is_top: bool = False) -> Any:
    """Return an item with its properties as keys; other values and items without a type are returned unchanged."""
    if not isinstance(item, dict) or not item.get("type"):
        return item
    flat = {key: value for key, value in item.items() if key not in ("type", "properties", "children")}
    written = item["type"]
    inferred, name = (context, written) if isinstance(written, list) else infer_context(written, context)
    flat["@type"] = name
    if is_top:
        flat["@context"] = inferred
    for key, value in item.get("properties", {}).items():
        is_list = isinstance(value, list)
        flat[key] = [_flatten(it, context) for it in value] if is_list else _flatten(value, context)
    if children := item.get("children"):
        flat["children"] = [_flatten(child, context) for child in children]
    return flat


def infer_context(written: str, context: str = SCHEMA_CONTEXT) -> tuple[str, str]:
    """Return the vocabulary and the name of a type.

    >>> infer_context("https://schema.org/Product"), infer_context("http://data-vocabulary.org/a#Event")
    (('https://schema.org', 'Product'), ('http://data-vocabulary.org/a', 'Event'))
    """
    parts = urlparse(written)
    if not parts.netloc or not parts.path:
        return context, written
    base = f"{parts.scheme}://{parts.netloc}"
    if parts.fragment:
        return urljoin(base, parts.path), parts.fragment.strip("/")
    return base, parts.path.strip("/")


_UNIFORM_READERS: dict[str, tuple[Syntax, Callable[[Document], list[ItemDict]]]] = {
    "microdata": (Syntax.MICRODATA, lambda page: uniform_items(read_microdata(page), SCHEMA_CONTEXT)),
    "json-ld": (Syntax.JSON_LD, _read_jsonld_and_hydration),
    "opengraph": (Syntax.RDFA, lambda page: uniform_opengraph(read_opengraph(page))),
    "microformat": (Syntax.MICROFORMATS, lambda page: uniform_items(read_microformats(page), MICROFORMATS_CONTEXT)),
    "rdfa": (Syntax.RDFA, read_rdfa),
    "dublincore": (Syntax.PAGE, lambda page: uniform_dublincore(read_dublincore(page))),
}
"""Name in extruct → our syntax, and the function that reads it in the uniform shape."""
_NAMES = {
    Syntax.MICRODATA: "microdata",
    Syntax.JSON_LD: "json-ld",
    Syntax.MICROFORMATS: "microformat",
    Syntax.RDFA: "rdfa",
    Syntax.PAGE: "dublincore",
}
