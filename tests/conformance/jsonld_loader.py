"""Document loader for JSON-LD in HTML, with the errors that the specification requires (JSON-LD 1.1 API, section 9.4).

Motherlode itself extracts every script of a page on its own. The W3C suite needs the strict loader.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import msgspec

from motherlode.transform.jsonld.jsonld_blocks import MEDIA_TYPE, find_scripts
from motherlode.transform.jsonld.jsonld_errors import JsonLdError
from motherlode.www.document import Document


def load_scripts(document: Document, *, fragment: str = "", extract_all: bool = False) -> Any:
    """Decode the script with the identifier `fragment`, or all scripts into one array, or the first script."""
    if fragment:
        return _decode(_find_script_text(document, unquote(fragment)))
    contents = [script.content for script in find_scripts(document)]
    if not extract_all:
        return _decode(contents[0]) if contents else []
    decoded = [_decode(content) for content in contents]
    return [item for value in decoded for item in (value if isinstance(value, list) else [value])]


def _find_script_text(document: Document, identifier: str) -> str:
    for node in document.html.css("[id]"):
        if node.attributes.get("id") == identifier:
            media_type = (node.attributes.get("type") or "").partition(";")[0].strip().lower()
            if node.tag != "script" or media_type != MEDIA_TYPE:
                raise JsonLdError("loading document failed", f"#{identifier} is not a JSON-LD script")
            return node.text()
    raise JsonLdError("loading document failed", f"no element #{identifier}")


def _decode(content: str) -> Any:
    try:
        return msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise JsonLdError("invalid script element", str(error)) from error
