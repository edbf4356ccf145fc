"""XML read for its links: hardened, forgiving, and indifferent to namespaces."""

from __future__ import annotations

from lxml import etree

from motherlode.www.document import Document


def parse(document: Document) -> etree._Element | None:
    """The root element of whatever can be read; None where nothing can. No entity is resolved, nothing is loaded."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(document.body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def local(element: etree._Element) -> str:
    """The element's name without its namespace, lower-case; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
