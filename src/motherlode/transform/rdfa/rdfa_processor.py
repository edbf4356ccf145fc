"""The value of a property (RDFa Core 1.1, section 7.5, step 11; HTML+RDFa 1.1, section 3.1, rules 9 to 11)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.curies import INITIAL_TOKENS, Resolver, scoped
from motherlode.transform.rdfa.evaluation_context import (
    PREFIXES,
    TERMS,
    XHV,
    EvaluationContext,
    HostLanguage,
    Incomplete,
    Lists,
)
from motherlode.transform.rdfa.processor_graph import ProcessorGraph
from motherlode.transform.rdfa.sparse_tree import ACTIVE, SCOPING, RdfaElement, RdfaTree, TreeReader
from motherlode.www.html_ancestors import time_datatype
from motherlode.www.html_limits import TextBudget
from motherlode.www.iri import check

_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"
_IN_A_LANGUAGE = frozenset({f"<{RDF}langString>", f"<{RDF}dirLangString>"})
"""Datatypes that a literal has by its language alone (RDF 1.1 Concepts, section 3.3); pages name them nevertheless."""


class RdfaValues:
    """Reads values of one document, within a budget."""

    def __init__(self, *, host: HostLanguage, reader: TreeReader, resolver: Resolver, budget: TextBudget) -> None:
        self._host = host
        self._reader = reader
        self._resolver = resolver
        self.budget = budget

    def term(self, element: RdfaElement, context: EvaluationContext, *, typed: str | None, related: bool) -> str | None:
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

    def plain(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        """The same for an element that names no resource and has no type."""
        attributes = element.attributes
        content = attributes.get("content")
        if "datatype" in attributes or "datetime" in attributes or element.tag == "time":
            return self.term(element, context, typed=None, related=False)
        text = self._text(element) if content is None else content
        return None if text is None else literal(text, language=context.language)

    def object(self, element: RdfaElement, context: EvaluationContext) -> str | None:
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

    def _moment(self, element: RdfaElement) -> str | None:
        given = element.attributes.get("datetime")
        if given is None and element.tag == "time":
            return self._text(element)
        return given

    def _typed(self, element: RdfaElement, context: EvaluationContext, given: str | None) -> str | None:
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

    def _markup(self, element: RdfaElement, context: EvaluationContext, datatype: str) -> str | None:
        if self.budget.is_spent:
            return None
        if datatype == _XML_LITERAL:
            markup = self._reader.markup(element.node, context.declared)
        else:
            markup = self._reader.html(element.node)
        self.budget.spend(markup)
        return f"{literal(markup)}^^{datatype}"

    def _text(self, element: RdfaElement) -> str | None:
        if self.budget.is_spent:
            return None
        text = self._reader.text(element.node)
        self.budget.spend(text)
        return text


# ── The processing rules (RDFa Core 1.1, section 7.5), one element after the other, parents before children.

MOST_STATEMENTS = 500_000
_WEIGHTY = (ACTIVE | SCOPING) - {"property"}
_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"


class _Local(msgspec.Struct):
    """What the rules work out for one element before they state anything."""

    subject: str | None = None
    """The new subject."""
    object: str | None = None
    """The current object resource."""
    typed: str | None = None
    """The typed resource."""
    skip: bool = False


class Processor:
    """Processes one tree."""

    def __init__(
        self, tree: RdfaTree, names: BlankNames, report: ProcessorGraph, *, budget: TextBudget, roles: bool
    ) -> None:
        self._tree = tree
        self._host = tree.host
        self._names = names
        self._report = report
        self._roles = roles
        self._resolver = Resolver(url=tree.url, terms=tree.host.terms, names=names, report=report)
        self.values = RdfaValues(host=tree.host, reader=tree.reader, resolver=self._resolver, budget=budget)
        self.statements: list[Statement] = []
        self._has_lists = any("inlist" in element.attributes for element in tree.elements)
        self._lists: list[Lists] = []
        self._parents = frozenset([element.parent for element in tree.elements])
        """The places of elements that have others inside."""

    @property
    def full(self) -> bool:
        return len(self.statements) >= MOST_STATEMENTS

    def run(self) -> None:
        base = f"<{self._tree.base}>"
        first = EvaluationContext(
            base=self._tree.base,
            subject=base,
            object=base,
            lists=self._new_lists(base),
            prefixes=PREFIXES,
            tokens=INITIAL_TOKENS if self._host.terms is TERMS else {},
        )
        contexts: list[EvaluationContext] = []
        for place, element in enumerate(self._tree.elements):
            context = contexts[element.parent] if contexts else first
            if _WEIGHTY.isdisjoint(element.attributes) and self._is_plain(element, context):
                self._plain_property(element, context)
            else:
                context = self._element(place, element, context)
            contexts.append(context)
            if len(self.statements) >= MOST_STATEMENTS:
                break
        for lists in self._lists:
            for predicate, items in lists.items.items():
                self._collection(lists.owner, predicate, items)

    def _element(self, place: int, element: RdfaElement, context: EvaluationContext) -> EvaluationContext:
        """States what the element at a place says; gives the context of what is inside, if anything is."""
        inherited = context
        context, stated = scoped(element, context, host=self._host, report=self._report)
        self.statements.extend(stated)
        attributes = element.attributes
        if self._roles and "role" in attributes:
            self._role(element, context)
        if ACTIVE.isdisjoint(attributes) and (element.parent != -1 or context.base is inherited.base):
            return context
        rel, rev = self._relations(element, context)
        local = _Local()
        if rel is None and rev is None:
            self._without_relation(element, context, local)
        else:
            self._with_relation(element, context, local)
        if local.typed is not None:
            for type_ in self._resolver.types(attributes["typeof"], context):
                self.statements.append((local.typed, RDF_TYPE, type_, ""))
        lists = context.lists
        if local.subject is not None and local.subject != context.object:
            lists = self._new_lists(local.subject)
        incomplete = self._relate(element, local, lists, rel, rev)
        if "property" in attributes:
            related = rel is not None or rev is not None
            self._properties(element, context, local, lists, related=related)
        if not local.skip and local.subject is not None:
            self._complete(inherited, local.subject)
        if local.skip or place not in self._parents:
            return context
        return self._inside(context, local, lists, incomplete)

    def _is_plain(self, element: RdfaElement, context: EvaluationContext) -> bool:
        """Most elements are so: a property of the resource at hand, and nothing that the rules must weigh."""
        return not (
            context.incomplete
            or element.namespaces
            or element.parent == -1
            or self._roles
            or element.tag in ("head", "body")
        )

    def _plain_property(self, element: RdfaElement, context: EvaluationContext) -> None:
        written = element.attributes.get("property")
        predicates = self._resolver.predicates(written, context) if written else ()
        value = self.values.plain(element, context) if predicates else None
        if value is None:
            return
        if len(predicates) > 1:
            predicates = predicates[: self.values.budget.affordable(value, len(predicates))]
        for predicate in predicates:
            self.statements.append((context.object, predicate, value, ""))

    # Steps 5 and 6: subjects and objects -----------------------------------------------------------------------------

    def _relations(self, element: RdfaElement, context: EvaluationContext) -> tuple[list[str] | None, list[str] | None]:
        """The predicates of rel and rev; None where the attribute is missing, or muted by HTML+RDFa's rule 7."""
        attributes = element.attributes
        if "rel" not in attributes and "rev" not in attributes:
            return None, None
        muted = self._host.is_html5 and "property" in attributes
        found: list[list[str] | None] = []
        for name in ("rel", "rev"):
            value = attributes.get(name)
            if value is not None and muted:
                value = " ".join(word for word in value.split() if ":" in word) or None
            found.append(None if value is None else self._resolver.predicates(value, context))
        return found[0], found[1]

    def _about(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        value = element.attributes.get("about")
        return None if value is None else self._resolver.resource(value, context)

    def _fallback(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        """The subject of elements that name none: the root, and head and body (HTML+RDFa, rule 8)."""
        if element.parent == -1:
            return f"<{context.base}>"
        return context.object if self._host.is_html and element.tag in ("head", "body") else None

    def _without_relation(self, element: RdfaElement, context: EvaluationContext, local: _Local) -> None:
        """Step 5."""
        attributes = element.attributes
        about = self._about(element, context)
        if "property" in attributes and "content" not in attributes and "datatype" not in attributes:
            local.subject = about or self._fallback(element, context) or context.object
            if "typeof" in attributes:
                local.typed = about or (local.subject if element.parent == -1 else None)
                local.typed = local.typed or self.values.object(element, context) or self._names.fresh()
                local.object = local.typed
            return
        local.subject = about or self.values.object(element, context) or self._fallback(element, context)
        if local.subject is None:
            if "typeof" in attributes:
                local.subject = self._names.fresh()
            else:
                local.subject = context.object
                local.skip = "property" not in attributes
        if "typeof" in attributes:
            local.typed = local.subject

    def _with_relation(self, element: RdfaElement, context: EvaluationContext, local: _Local) -> None:
        """Step 6."""
        about = self._about(element, context)
        if about is None and element.parent == -1:
            about = f"<{context.base}>"
        local.subject = about or context.object
        local.object = self.values.object(element, context)
        if "typeof" in element.attributes:
            if about is not None:
                local.typed = about
            else:
                local.object = local.typed = local.object or self._names.fresh()

    # Steps 9 to 14: statements ---------------------------------------------------------------------------------------

    def _relate(
        self, element: RdfaElement, local: _Local, lists: Lists, rel: list[str] | None, rev: list[str] | None
    ) -> tuple[Incomplete, ...]:
        """Steps 9 and 10: relations with an object are stated, those without one wait for it."""
        if rel is None and rev is None:
            return ()
        in_list = "inlist" in element.attributes
        subject, target = local.subject or "", local.object
        if target is not None:
            for predicate in rel or ():
                if in_list:
                    lists.of(predicate).append(target)
                else:
                    self.statements.append((subject, predicate, target, ""))
            for predicate in rev or ():
                self.statements.append((target, predicate, subject, ""))
            return ()
        if not rel and not rev:
            return ()
        local.object = self._names.fresh()
        if in_list:
            waiting = [Incomplete(collection=lists.of(predicate)) for predicate in rel or ()]
        else:
            waiting = [Incomplete(forward=predicate) for predicate in rel or ()]
        return (*waiting, *(Incomplete(backward=predicate) for predicate in rev or ()))

    def _properties(
        self, element: RdfaElement, context: EvaluationContext, local: _Local, lists: Lists, *, related: bool
    ) -> None:
        """Step 11."""
        predicates = self._resolver.predicates(element.attributes["property"], context)
        if not predicates:
            return
        value = self.values.term(element, context, typed=local.typed, related=related)
        if value is None:
            return
        for predicate in predicates[: self.values.budget.affordable(value, len(predicates))]:
            if "inlist" in element.attributes:
                lists.of(predicate).append(value)
            else:
                self.statements.append((local.subject or "", predicate, value, ""))

    def _complete(self, inherited: EvaluationContext, subject: str) -> None:
        """Step 12."""
        for relation in inherited.incomplete:
            if relation.collection is not None:
                relation.collection.append(subject)
            elif relation.forward:
                self.statements.append((inherited.subject, relation.forward, subject, ""))
            else:
                self.statements.append((subject, relation.backward, inherited.subject, ""))

    def _inside(
        self, context: EvaluationContext, local: _Local, lists: Lists, incomplete: tuple[Incomplete, ...]
    ) -> EvaluationContext:
        """Step 13."""
        subject = local.subject or context.subject
        target = local.object or subject
        return EvaluationContext(
            base=context.base,
            subject=subject,
            object=target,
            lists=lists if target == subject else self._new_lists(target),
            prefixes=context.prefixes,
            language=context.language,
            vocabulary=context.vocabulary,
            incomplete=incomplete,
            tokens=context.tokens,
            declared=context.declared,
        )

    def _new_lists(self, owner: str) -> Lists:
        if not self._lists or self._has_lists:
            self._lists.append(Lists(owner))
        return self._lists[-1]

    def _collection(self, owner: str, predicate: str, items: Iterable[str]) -> None:
        """Step 14."""
        before, link = owner, predicate
        for item in items:
            node = self._names.fresh()
            self.statements.append((before, link, node, ""))
            self.statements.append((node, _FIRST, item, ""))
            before, link = node, _REST
        self.statements.append((before, link, _NIL, ""))

    def _role(self, element: RdfaElement, context: EvaluationContext) -> None:
        """Role Attribute 1.0, section 4: terms are of the XHTML vocabulary, whatever vocabulary is in force."""
        identifier = element.attributes.get("id", "").strip()
        subject = self._resolver.reference(f"#{identifier}", context) if identifier else None
        subject = subject or self._names.fresh()
        for word in element.attributes["role"].split():
            role = self._resolver.token(word, context) if ":" in word else self._report.term(check(XHV + word))
            if role is not None:
                self.statements.append((subject, f"<{XHV}role>", role, ""))
