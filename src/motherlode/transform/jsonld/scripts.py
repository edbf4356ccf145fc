"""JSON-LD script elements of an HTML page (JSON-LD 1.1, section 7; JSON-LD 1.1 API, section 9.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborNode

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.settings import Json
from motherlode.www.document import Document

MEDIA_TYPE = "application/ld+json"
_SELECTOR = "script[type]"


@dataclass(frozen=True, slots=True)
class Script:
    """One block of a page."""

    content: str
    identifier: str
    """Of the element, or empty."""


def find_scripts(document: Document) -> Iterator[Script]:
    """The page's JSON-LD blocks in their order."""
    for node in document.html.css(_SELECTOR):
        if _is_json_ld(node):
            yield Script(node.text(), node.attributes.get("id") or "")


def _is_json_ld(node: LexborNode) -> bool:
    media_type = node.attributes.get("type") or ""
    return node.tag == "script" and media_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def load_scripts(document: Document, *, fragment: str = "", extract_all: bool = False) -> Json:
    """One decoded document of a page's blocks, with the errors that the specification demands.

    With a fragment, the element of that identifier; else all blocks in one array, or the first block alone.
    """
    if fragment:
        return _strictly_decoded(_targeted(document, unquote(fragment)))
    scripts = find_scripts(document)
    if not extract_all:
        first = next(scripts, None)
        return [] if first is None else _strictly_decoded(first.content)
    merged: list[Json] = []
    for script in scripts:
        value = _strictly_decoded(script.content)
        merged.extend(value if isinstance(value, list) else [value])
    return merged


def _targeted(document: Document, identifier: str) -> str:
    for node in document.html.css("[id]"):
        if node.attributes.get("id") == identifier:
            if not _is_json_ld(node):
                raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"#{identifier} is no JSON-LD script")
            return node.text()
    raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"no element #{identifier}")


def _strictly_decoded(content: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise JsonLdError(ErrorCode.INVALID_SCRIPT_ELEMENT, str(error)) from error
