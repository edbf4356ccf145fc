"""JSON-LD script elements of an HTML page (JSON-LD 1.1, section 7; JSON-LD 1.1 API, section 9.4)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

import msgspec

from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.settings import Json
from motherlode.www import scripts
from motherlode.www.document import Document
from motherlode.www.scripts import Script

MEDIA_TYPE = "application/ld+json"


def find_scripts(document: Document) -> Iterator[Script]:
    """The page's JSON-LD blocks in their order."""
    return iter(scripts.find_scripts(document, _is_json_ld))


def _is_json_ld(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def load_scripts(document: Document, *, fragment: str = "", extract_all: bool = False) -> Json:
    """One decoded document of a page's blocks, with the errors that the specification demands.

    With a fragment, the element of that identifier; else all blocks in one array, or the first block alone.
    """
    if fragment:
        return _strictly_decoded(_targeted(document, unquote(fragment)))
    blocks = find_scripts(document)
    if not extract_all:
        first = next(blocks, None)
        return [] if first is None else _strictly_decoded(first.content)
    merged: list[Json] = []
    for script in blocks:
        value = _strictly_decoded(script.content)
        merged.extend(value if isinstance(value, list) else [value])
    return merged


def _targeted(document: Document, identifier: str) -> str:
    for node in document.html.css("[id]"):
        if node.attributes.get("id") == identifier:
            if node.tag != "script" or not _is_json_ld(node.attributes.get("type") or ""):
                raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"#{identifier} is no JSON-LD script")
            return node.text()
    raise JsonLdError(ErrorCode.LOADING_DOCUMENT_FAILED, f"no element #{identifier}")


def _strictly_decoded(content: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise JsonLdError(ErrorCode.INVALID_SCRIPT_ELEMENT, str(error)) from error
