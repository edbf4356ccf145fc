"""The processing rules (RDFa Core 1.1, section 7.5), the values of properties, and property copying."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from motherlode.model import Statement
from motherlode.model.terms import RDF, RDF_TYPE, literal
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa import evaluation_context
from motherlode.transform.rdfa.curies import INITIAL_TOKENS, CurieResolver, ProcessorGraph, apply_declarations
from motherlode.transform.rdfa.evaluation_context import EvaluationContext, IncompleteTriple, ListMapping
from motherlode.transform.rdfa.sparse_tree import ACTIVE, SCOPING, RdfaElement, RdfaTree
from motherlode.www.html_ancestors import date_datatype
from motherlode.www.html_limits import TextBudget
from motherlode.www.iri import check

_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"
_LANGUAGE_DATATYPES = frozenset({f"<{RDF}langString>", f"<{RDF}dirLangString>"})
"""Datatypes that a language tag implies (RDF 1.1 Concepts, section 3.3). Some pages name them explicitly."""


class RdfaValues:
    """Reads the property values of one document within a text budget."""

    def __init__(self, tree: RdfaTree, resolver: CurieResolver, budget: TextBudget) -> None:
        self._is_html5 = tree.host.is_html5
        self._reader = tree.reader
        self._resolver = resolver
        self.budget = budget

    def read_value(self, element: RdfaElement, context: EvaluationContext, local: _LocalValues | None) -> str | None:
        """Return the object of a property, or None if it has none. `local` is None for an element without a type."""
        attributes = element.attributes
        content = attributes.get("content")
        if content is not None and "datatype" not in attributes:
            return literal(content, language=context.language)
        time = self._read_time(element) if content is None and self._is_html5 else None
        if "datatype" in attributes:
            return self._typed_literal(element, context, content if content is not None else time)
        if time is not None:
            datatype = date_datatype(time)
            return literal(time, datatype=datatype) if datatype else literal(time, language=context.language)
        if local is None or not local.is_related:
            resource = self.read_object(element, context)
            if resource is not None:
                return resource
            if local is not None and local.typed is not None and "about" not in attributes:
                return local.typed
        text = self._read_text(element)
        return None if text is None else literal(text, language=context.language)

    def read_plain_value(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        """Return the object of a property on an element without resource attributes and type."""
        attributes = element.attributes
        content = attributes.get("content")
        if "datatype" in attributes or "datetime" in attributes or element.tag == "time":
            return self.read_value(element, context, None)
        text = self._read_text(element) if content is None else content
        return None if text is None else literal(text, language=context.language)

    def read_object(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        """Return the resource that `resource`, `href` or `src` names, in this order of precedence."""
        attributes = element.attributes
        if "resource" in attributes:
            named = self._resolver.resolve_resource(attributes["resource"], context)
            if named is not None:
                return named
        for name in ("href", "src"):
            if name in attributes:
                return self._resolver.resolve_reference(attributes[name], context)
        return None

    def _read_time(self, element: RdfaElement) -> str | None:
        """Return the `datetime` attribute or the text of a `time` element, or None."""
        given = element.attributes.get("datetime")
        if given is None and element.tag == "time":
            return self._read_text(element)
        return given

    def _typed_literal(self, element: RdfaElement, context: EvaluationContext, given: str | None) -> str | None:
        """Return a literal with the datatype of the element. `given` is a value that replaces the element's text."""
        word = element.attributes["datatype"].strip()
        datatype = self._resolver.resolve_token(word, context) if word else None
        if datatype == _XML_LITERAL or (datatype == _HTML_LITERAL and given is None):
            return self._markup_literal(element, context, datatype)
        text = self._read_text(element) if given is None else given
        if text is None:
            return None
        if datatype is None or datatype[0] != "<" or datatype in _LANGUAGE_DATATYPES:
            return literal(text, language=context.language)
        return literal(text, datatype=datatype[1:-1])

    def _markup_literal(self, element: RdfaElement, context: EvaluationContext, datatype: str) -> str | None:
        if self.budget.is_spent:
            return None
        if datatype == _XML_LITERAL:
            markup = self._reader.read_markup(element.node, context.declared)
        else:
            markup = self._reader.read_html(element.node)
        self.budget.spend(markup)
        return f"{literal(markup)}^^{datatype}"

    def _read_text(self, element: RdfaElement) -> str | None:
        """Return the text of an element, or None if the text budget is spent."""
        if self.budget.is_spent:
            return None
        text = self._reader.read_text(element.node)
        self.budget.spend(text)
        return text


# Processing rules

MAX_STATEMENTS = 500_000
_NOT_PLAIN = (ACTIVE | SCOPING) - {"property"}
"""Attributes that exclude an element from the fast path for plain properties (see `_is_plain`)."""
_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"


class _LocalValues(msgspec.Struct, kw_only=True):
    """The local values of the rules for one element (section 7.5, step 1)."""

    lists: ListMapping
    rel: list[str] | None = None
    """The predicates of `rel`; None if the attribute is missing or ignored."""
    rev: list[str] | None = None
    subject: str | None = None
    object: str | None = None
    """The current object resource."""
    typed: str | None = None
    skip: bool = False
    """True if the element makes no statement and passes its context on unchanged."""
    incomplete: tuple[IncompleteTriple, ...] = ()
    """The incomplete triples for the descendants."""

    @property
    def is_related(self) -> bool:
        return self.rel is not None or self.rev is not None


class RdfaProcessor:
    """Applies the processing rules to one sparse tree."""

    def __init__(
        self, tree: RdfaTree, names: BlankNames, graph: ProcessorGraph, *, budget: TextBudget, roles: bool
    ) -> None:
        self._tree = tree
        self._host = tree.host
        self._names = names
        self._graph = graph
        self._roles = roles
        self._resolver = CurieResolver(url=tree.url, terms=tree.host.terms, names=names, graph=graph)
        self.values = RdfaValues(tree, self._resolver, budget)
        self.statements: list[Statement] = []
        self._has_lists = any("inlist" in element.attributes for element in tree.elements)
        self._list_mappings: list[ListMapping] = []
        self._parents = frozenset([element.parent for element in tree.elements])
        """The positions of elements that have descendants in the tree."""

    def run(self) -> None:
        """Apply the rules to all elements; the results are in `statements`."""
        base = f"<{self._tree.base}>"
        initial = EvaluationContext(
            base=self._tree.base,
            subject=base,
            object=base,
            lists=self._new_list_mapping(base),
            prefixes=evaluation_context.PREFIXES,
            tokens=INITIAL_TOKENS if self._host.terms is evaluation_context.TERMS else {},
        )
        contexts: list[EvaluationContext] = []
        for position, element in enumerate(self._tree.elements):
            context = contexts[element.parent] if contexts else initial
            if _NOT_PLAIN.isdisjoint(element.attributes) and self._is_plain(element, context):
                self._add_plain_property(element, context)
            else:
                context = self._process_element(position, element, context)
            contexts.append(context)
            if len(self.statements) >= MAX_STATEMENTS:
                break
        for mapping in self._list_mappings:
            for predicate, items in mapping.items.items():
                self._add_collection(mapping.owner, predicate, items)

    def _process_element(self, position: int, element: RdfaElement, context: EvaluationContext) -> EvaluationContext:
        """Add the statements of an element; return the evaluation context of its descendants."""
        inherited = context
        context, stated = apply_declarations(element, context, host=self._host, graph=self._graph)
        self.statements.extend(stated)
        attributes = element.attributes
        if self._roles and "role" in attributes:
            self._add_roles(element, context)
        if ACTIVE.isdisjoint(attributes) and (element.parent != -1 or context.base is inherited.base):
            return context
        local = self._read_relations(element, context)
        if local.is_related:
            self._establish_related(element, context, local)
        else:
            self._establish_subject(element, context, local)
        if local.typed is not None:
            for type_ in self._resolver.resolve_types(attributes["typeof"], context):
                self.statements.append((local.typed, RDF_TYPE, type_, ""))
        if local.subject is not None and local.subject != context.object:
            local.lists = self._new_list_mapping(local.subject)
        if local.rel or local.rev:
            self._add_relations(element, local)
        if "property" in attributes:
            self._add_properties(element, context, local)
        if not local.skip and local.subject is not None:
            self._complete_triples(inherited, local.subject)
        if local.skip or position not in self._parents:
            return context
        subject = local.subject or context.subject
        target = local.object or subject
        lists = local.lists if target == subject else self._new_list_mapping(target)
        return replace(context, subject=subject, object=target, lists=lists, incomplete=local.incomplete)

    def _is_plain(self, element: RdfaElement, context: EvaluationContext) -> bool:
        """Whether an element is only a property of the parent object. Most are, and take the fast path."""
        is_special = element.parent == -1 or element.tag in ("head", "body")
        return not (context.incomplete or element.namespaces or is_special or self._roles)

    def _add_plain_property(self, element: RdfaElement, context: EvaluationContext) -> None:
        written = element.attributes.get("property")
        predicates = self._resolver.resolve_predicates(written, context) if written else ()
        value = self.values.read_plain_value(element, context) if predicates else None
        if value is None:
            return
        if len(predicates) > 1:
            predicates = predicates[: self.values.budget.affordable(value, len(predicates))]
        for predicate in predicates:
            self.statements.append((context.object, predicate, value, ""))

    def _read_relations(self, element: RdfaElement, context: EvaluationContext) -> _LocalValues:
        """Return local values with the predicates of `rel` and `rev`.

        On an element with `property`, values that are neither CURIEs nor IRIs are ignored (HTML+RDFa 1.1, section 3.1,
        rule 7).
        """
        local = _LocalValues(lists=context.lists)
        attributes = element.attributes
        if "rel" not in attributes and "rev" not in attributes:
            return local
        only_curies = self._host.is_html5 and "property" in attributes
        for name in ("rel", "rev"):
            value = attributes.get(name)
            if value is not None and only_curies:
                value = " ".join(word for word in value.split() if ":" in word) or None
            if value is not None:
                setattr(local, name, self._resolver.resolve_predicates(value, context))
        return local

    def _about(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        value = element.attributes.get("about")
        return None if value is None else self._resolver.resolve_resource(value, context)

    def _fallback(self, element: RdfaElement, context: EvaluationContext) -> str | None:
        """Return the subject of the root, and of head and body (HTML+RDFa, rule 8), if they name none."""
        if element.parent == -1:
            return f"<{context.base}>"
        return context.object if self._host.is_html and element.tag in ("head", "body") else None

    def _establish_subject(self, element: RdfaElement, context: EvaluationContext, local: _LocalValues) -> None:
        """Set the local values of an element without relations (step 5)."""
        attributes = element.attributes
        about = self._about(element, context)
        if "property" in attributes and "content" not in attributes and "datatype" not in attributes:
            local.subject = about or self._fallback(element, context) or context.object
            if "typeof" in attributes:
                local.typed = about or (local.subject if element.parent == -1 else None)
                local.typed = local.typed or self.values.read_object(element, context) or self._names.fresh()
                local.object = local.typed
            return
        local.subject = about or self.values.read_object(element, context) or self._fallback(element, context)
        if local.subject is None:
            if "typeof" in attributes:
                local.subject = self._names.fresh()
            else:
                local.subject = context.object
                local.skip = "property" not in attributes
        if "typeof" in attributes:
            local.typed = local.subject

    def _establish_related(self, element: RdfaElement, context: EvaluationContext, local: _LocalValues) -> None:
        """Set the local values of an element with relations (step 6)."""
        about = self._about(element, context)
        if about is None and element.parent == -1:
            about = f"<{context.base}>"
        local.subject = about or context.object
        local.object = self.values.read_object(element, context)
        if "typeof" in element.attributes:
            if about is not None:
                local.typed = about
            else:
                local.object = local.typed = local.object or self._names.fresh()

    def _add_relations(self, element: RdfaElement, local: _LocalValues) -> None:
        """Add the statements of relations with an object (step 9), or else the incomplete triples (step 10)."""
        in_list = "inlist" in element.attributes
        subject, target = local.subject or "", local.object
        if target is None:
            local.object = self._names.fresh()
            if in_list:
                forward = [IncompleteTriple(collection=local.lists.items[predicate]) for predicate in local.rel or ()]
            else:
                forward = [IncompleteTriple(forward=predicate) for predicate in local.rel or ()]
            local.incomplete = (*forward, *(IncompleteTriple(backward=predicate) for predicate in local.rev or ()))
            return
        for predicate in local.rel or ():
            if in_list:
                local.lists.items[predicate].append(target)
            else:
                self.statements.append((subject, predicate, target, ""))
        for predicate in local.rev or ():
            self.statements.append((target, predicate, subject, ""))

    def _add_properties(self, element: RdfaElement, context: EvaluationContext, local: _LocalValues) -> None:
        """Add the statements of the property attribute (step 11)."""
        predicates = self._resolver.resolve_predicates(element.attributes["property"], context)
        value = self.values.read_value(element, context, local) if predicates else None
        if value is None:
            return
        for predicate in predicates[: self.values.budget.affordable(value, len(predicates))]:
            if "inlist" in element.attributes:
                local.lists.items[predicate].append(value)
            else:
                self.statements.append((local.subject or "", predicate, value, ""))

    def _complete_triples(self, inherited: EvaluationContext, subject: str) -> None:
        """Complete the inherited incomplete triples with a subject (step 12)."""
        for relation in inherited.incomplete:
            if relation.collection is not None:
                relation.collection.append(subject)
            elif relation.forward:
                self.statements.append((inherited.subject, relation.forward, subject, ""))
            else:
                self.statements.append((subject, relation.backward, inherited.subject, ""))

    def _new_list_mapping(self, owner: str) -> ListMapping:
        """Return a new list mapping. A document without `inlist` uses one for all owners."""
        if not self._list_mappings or self._has_lists:
            self._list_mappings.append(ListMapping(owner))
        return self._list_mappings[-1]

    def _add_collection(self, owner: str, predicate: str, items: Iterable[str]) -> None:
        """Add the statements of an RDF collection (step 14)."""
        before, link = owner, predicate
        for item in items:
            node = self._names.fresh()
            self.statements.append((before, link, node, ""))
            self.statements.append((node, _FIRST, item, ""))
            before, link = node, _REST
        self.statements.append((before, link, _NIL, ""))

    def _add_roles(self, element: RdfaElement, context: EvaluationContext) -> None:
        """Add the statements of the role attribute (Role Attribute 1.0, section 4), whose terms are those of XHTML."""
        identifier = element.attributes.get("id", "").strip()
        subject = self._resolver.resolve_reference(f"#{identifier}", context) if identifier else None
        subject = subject or self._names.fresh()
        for word in element.attributes["role"].split():
            is_term = ":" not in word
            role = (
                self._graph.record_term(check(evaluation_context.XHV + word))
                if is_term
                else self._resolver.resolve_token(word, context)
            )
            if role is not None:
                self.statements.append((subject, f"<{evaluation_context.XHV}role>", role, ""))


# Property copying (HTML+RDFa 1.1, section 3.5)

_COPY = "<http://www.w3.org/ns/rdfa#copy>"
_PATTERN = "<http://www.w3.org/ns/rdfa#Pattern>"


def copy_patterns(statements: Sequence[Statement], *, limit: int) -> Sequence[Statement]:
    """Return the statements with each `rdfa:Pattern` copied to where `rdfa:copy` refers to it, at most `limit`."""
    if not any(statement[1] == _COPY for statement in statements):
        return statements
    patterns = {subject for subject, predicate, value, _ in statements if predicate == RDF_TYPE and value == _PATTERN}
    known = dict.fromkeys(statements)
    by_pattern: dict[str, list[Statement]] = {pattern: [] for pattern in patterns}
    copiers: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    queue = list(known)
    while queue and len(known) < limit:
        statement = queue.pop()
        subject, predicate, value, graph = statement
        copies: list[Statement] = []
        if predicate == _COPY and value in patterns:
            copiers[value].append(subject)
            copies.extend((subject, p, o, g) for _, p, o, g in by_pattern[value])
        if subject in patterns and (predicate, value) != (RDF_TYPE, _PATTERN):
            by_pattern[subject].append(statement)
            copies.extend((copier, predicate, value, graph) for copier in copiers[subject])
        new = [copy for copy in copies if copy not in known]
        known.update(dict.fromkeys(new))
        queue.extend(new)
    used = {pattern for pattern, by in copiers.items() if by}
    return [it for it in known if it[0] not in used and not (it[1] == _COPY and it[2] in used)]
