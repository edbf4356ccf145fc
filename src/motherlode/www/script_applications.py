"""Recognise pages whose content only a script would insert. Scripts are never run, so such pages are counted."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from motherlode.model import ContentKind
from motherlode.www.document import Document
from motherlode.www.visible_text import iter_visible

MAX_TEXT_CHARACTERS = 60
"""Visible characters of an application without content, such as "Loading …". White space does not count."""
_CONTENT_TAGS = frozenset(
    {"a", "img", "picture", "iframe", "frame", "object", "embed", "video", "audio", "form", "table", "p", "h1", "h2"}
)
"""Elements that a page without content does not have outside of `noscript`."""
_MOUNT_TAGS = frozenset({"div", "main", "section"})
_SCRIPTS = "script[src], script[type=module]"


def is_script_application(document: Document) -> bool:
    """Return whether an HTML page is empty but for scripts and an element for their output.

    The page loads a script by its URL or as a module, and does not redirect by `meta`. The body has a child that is a
    custom element, or a `div`, `main` or `section` with an id. Outside of `noscript` it has no link, picture, frame,
    media, form, table, paragraph or heading, and at most 60 visible characters.
    """
    body = document.html.body if document.kind in (ContentKind.HTML, ContentKind.XHTML) else None
    if body is None or not _is_empty(body) or not any(map(_is_mount_element, body.iter())):
        return False
    html = document.html
    return html.css_first(_SCRIPTS) is not None and html.css_first('meta[http-equiv="refresh" i]') is None


def _is_empty(body: LexborNode) -> bool:
    """Whether a body has no content. Most bodies have some in their first elements, so this is fast."""
    characters = 0
    for node in iter_visible(body):
        if node.tag == "-text":
            characters += len("".join((node.text_content or "").split()))
            if characters > MAX_TEXT_CHARACTERS:
                return False
        elif node.tag in _CONTENT_TAGS:
            return False
    return True


def _is_mount_element(node: LexborNode) -> bool:
    tag = node.tag or ""
    return ("-" in tag and not tag.startswith("-")) or (tag in _MOUNT_TAGS and bool(node.attributes.get("id")))
