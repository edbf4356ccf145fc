"""Extract metadata from the head of an HTML page. These statements never make a page relevant.

| in the head of a page | statement about the page |
|---|---|
| `title` | dcterms:title |
| `meta` description, keywords (one each), author | dcterms:description, dcterms:subject, dcterms:creator |
| `html lang` | dcterms:language |
| `link` canonical, alternate, license, next, prev, author | IANA link relation: <…/relation/canonical> |
| `meta` DC.title, dcterms.issued, DC.date.issued … | dc11:title, dcterms:issued, dcterms:issued … |
| `link` DC.relation, dcterms.license … | the same, with the linked IRI as object |
| `link` schema.X | declares the prefix X for the names that follow: X.name is a name in that namespace |

Dublin Core names follow DC-HTML (DCMI, 2008). Case is ignored, because pages do not use it consistently.
"""

from collections.abc import Mapping

from motherlode.model import ContentKind, Extraction, Statement, Syntax
from motherlode.model.terms import iri, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document
from motherlode.www.html_ancestors import own_language
from motherlode.www.iri import check, repair_message, resolve_and_check

_TERMS = "http://purl.org/dc/terms/"
_ELEMENTS = "http://purl.org/dc/elements/1.1/"
_SCHEMAS = {"dc": _ELEMENTS, "dcterms": _TERMS}
_TITLE, _LANGUAGE, _SUBJECT = f"<{_TERMS}title>", f"<{_TERMS}language>", f"<{_TERMS}subject>"
_META = {"description": f"<{_TERMS}description>", "author": f"<{_TERMS}creator>", "keywords": _SUBJECT}
_RELATIONS = {
    name: f"<http://www.iana.org/assignments/relation/{name}>"
    for name in ("canonical", "alternate", "license", "next", "prev", "author")
}
_SELECTOR = "title, meta[name], link[rel]:not([rel=stylesheet], [rel=icon], [rel=preload], [rel=prefetch])"
_MAX_KEYWORDS = 100
_MAX_ELEMENTS = 1_000


def extract(document: Document, _names: BlankNames) -> Extraction:
    """Extract the metadata of an HTML document."""
    page = iri(document.iri)
    head = document.html.head
    if page is None or head is None:
        return Extraction(syntax=Syntax.PAGE)
    reader = _HeadReader(page, document)
    for element in head.css(_SELECTOR)[:_MAX_ELEMENTS]:
        attributes = element.attributes
        rel = attributes.get("rel")
        if rel is not None:
            reader.read_link(attributes, rel)
        elif "name" in attributes:
            reader.read_meta(attributes)
        else:
            reader.read_title(element.text())
    return Extraction(
        syntax=Syntax.PAGE,
        statements=tuple(dict.fromkeys(reader.statements)),
        problems=(
            *locate_problems(document, Syntax.PAGE, reader.invalid.items()),
            *locate_problems(document, Syntax.PAGE, reader.repaired.items(), repaired=True),
        ),
    )


class _HeadReader:
    """Reads the elements of one head."""

    def __init__(self, page: str, document: Document) -> None:
        self.statements: list[Statement] = []
        self.invalid: dict[str, str] = {}
        """Messages about invalid references, with the reference as written."""
        self.repaired: dict[str, str] = {}
        """Messages about repaired references, with the reference as written."""
        self._page = page
        self._document = document
        self._schemas = _SCHEMAS.copy()
        self._has_title = False
        root = document.html.root
        self._is_xml = document.kind is ContentKind.XHTML
        self.language = _language(root.attributes, is_xml=self._is_xml) if root is not None else ""
        self.add_text(_LANGUAGE, self.language, "")

    def add_text(self, predicate: str, text: str, language: str) -> None:
        """Add a statement with a literal, unless the text is empty."""
        if text:
            self.statements.append((self._page, predicate, literal(text, language=language), ""))

    def read_title(self, text: str) -> None:
        """Add the text of the first `title` element. Later ones are ignored, because they may be in SVG images."""
        if not self._has_title:
            self._has_title = True
            self.add_text(_TITLE, " ".join(text.split()), self.language)

    def read_meta(self, attributes: Mapping[str, str | None]) -> None:
        """Add the statements of a `meta` element."""
        name = (attributes["name"] or "").strip()
        predicate = _META.get(name.lower()) if "." not in name else self._find_dublin_core_property(name)
        if predicate is None:
            return
        content = " ".join((attributes.get("content") or "").split())
        language = _language(attributes, is_xml=self._is_xml) or self.language
        texts = content.split(",")[:_MAX_KEYWORDS] if name.lower() == "keywords" else [content]
        for text in texts:
            self.add_text(predicate, text.strip(), language)

    def read_link(self, attributes: Mapping[str, str | None], rel: str) -> None:
        """Add the statements of a `link` element, or declare its prefix."""
        href = (attributes.get("href") or "").strip()
        if not href:
            return
        words = rel.split()
        if "stylesheet" in rel.lower():  # here `alternate` means an alternative style sheet (HTML, section 4.6.7.1)
            words = [word for word in words if word.lower() != "alternate"]
        for word in words:
            predicate = _RELATIONS.get(word.lower()) if "." not in word else self._find_dotted_relation(word, href)
            if predicate is None:
                continue
            address = resolve_and_check(self._document.iri_base, href)
            if not address.is_valid:
                self.invalid[f"not a valid IRI: {address.term[:200]}"] = href
                continue
            if address.is_repaired:
                self.repaired[repair_message(address)] = href
            self.statements.append((self._page, predicate, address.term, ""))

    def _find_dotted_relation(self, word: str, href: str) -> str | None:
        prefix, _, name = word.partition(".")
        if prefix.lower() == "schema":
            self._schemas[name.lower()] = href
            return None
        return self._find_dublin_core_property(word)

    def _find_dublin_core_property(self, name: str) -> str | None:
        """Return the property for a dotted name such as `DC.date.issued`, or None if its prefix is unknown."""
        prefix, dot, rest = name.partition(".")
        namespace = self._schemas.get(prefix.lower()) if dot and rest else None
        if namespace is None:
            return None
        *_, last = rest.split(".")
        if "." in rest and namespace == _ELEMENTS:  # refinements of elements are terms
            namespace = _TERMS
        found = check(namespace + last[:1].lower() + last[1:])
        return found.term if last and found.is_valid else None


def _language(attributes: Mapping[str, str | None], *, is_xml: bool) -> str:
    """Return the language of an element. `xml:lang` is accepted in HTML as well."""
    own = own_language(attributes, is_xml=is_xml)
    return own or (attributes.get("xml:lang") or "").strip()
