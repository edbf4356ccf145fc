"""The value of a property (RDFa Core 1.1, section 7.5, step 11; HTML+RDFa 1.1, section 3.1, rules 9 to 11)."""

from __future__ import annotations

from motherlode.model.terms import RDF, literal
from motherlode.transform.rdfa.context import Context
from motherlode.transform.rdfa.curies import Resolver
from motherlode.transform.rdfa.hosts import Host
from motherlode.transform.rdfa.tree import Element, Reader
from motherlode.www.html_budget import TextBudget
from motherlode.www.html_times import time_datatype

_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"
_IN_A_LANGUAGE = frozenset({f"<{RDF}langString>", f"<{RDF}dirLangString>"})
"""Datatypes that a literal has by its language alone (RDF 1.1 Concepts, section 3.3); pages name them nevertheless."""


class Values:
    """Reads values of one document, within a budget."""

    def __init__(self, *, host: Host, reader: Reader, resolver: Resolver, budget: TextBudget) -> None:
        self._host = host
        self._reader = reader
        self._resolver = resolver
        self.budget = budget

    def term(self, element: Element, context: Context, *, typed: str | None, related: bool) -> str | None:
        """The object of a property; None where nothing can be said."""
        attributes = element.attributes
        content = attributes.get("content")
        if content is not None and "datatype" not in attributes:
            return literal(content, language=context.language)
        moment = self._moment(element) if content is None and self._host.is_html5 else None
        if "datatype" in attributes:
            return self._typed(element, context, content if content is not None else moment)
        if moment is not None:
            datatype = time_datatype(moment)
            return literal(moment, datatype=datatype) if datatype else literal(moment, language=context.language)
        if not related:
            resource = self.object(element, context)
            if resource is not None:
                return resource
            if typed is not None and "about" not in attributes:
                return typed
        text = self._text(element)
        return None if text is None else literal(text, language=context.language)

    def plain(self, element: Element, context: Context) -> str | None:
        """The same for an element that names no resource and has no type."""
        attributes = element.attributes
        content = attributes.get("content")
        if "datatype" in attributes or "datetime" in attributes or element.tag == "time":
            return self.term(element, context, typed=None, related=False)
        text = self._text(element) if content is None else content
        return None if text is None else literal(text, language=context.language)

    def object(self, element: Element, context: Context) -> str | None:
        """The resource that resource, href or src name, in this order."""
        attributes = element.attributes
        if "resource" in attributes:
            named = self._resolver.resource(attributes["resource"], context)
            if named is not None:
                return named
        for name in ("href", "src"):
            if name in attributes:
                return self._resolver.reference(attributes[name], context)
        return None

    def _moment(self, element: Element) -> str | None:
        given = element.attributes.get("datetime")
        if given is None and element.tag == "time":
            return self._text(element)
        return given

    def _typed(self, element: Element, context: Context, given: str | None) -> str | None:
        word = element.attributes["datatype"].strip()
        datatype = self._resolver.token(word, context) if word else None
        if datatype == _XML_LITERAL:
            return self._markup(element, context, datatype)
        if datatype == _HTML_LITERAL and given is None:
            return self._markup(element, context, datatype)
        text = self._text(element) if given is None else given
        if text is None:
            return None
        if datatype is None or datatype[0] != "<" or datatype in _IN_A_LANGUAGE:
            return literal(text, language=context.language)
        return literal(text, datatype=datatype[1:-1])

    def _markup(self, element: Element, context: Context, datatype: str) -> str | None:
        if self.budget.is_spent:
            return None
        if datatype == _XML_LITERAL:
            markup = self._reader.markup(element.node, context.declared)
        else:
            markup = self._reader.html(element.node)
        self.budget.spend(markup)
        return f"{literal(markup)}^^{datatype}"

    def _text(self, element: Element) -> str | None:
        if self.budget.is_spent:
            return None
        text = self._reader.text(element.node)
        self.budget.spend(text)
        return text
