"""RDFa 1.1: Core, Lite, HTML+RDFa, XHTML+RDFa, and any XML with its attributes. OpenGraph is RDFa, too.

A document becomes a sparse tree, which holds only the elements that can matter (`html_tree`, `xml_tree`). The
processing rules (`sequence`) go over it once, parents before children, with a context for each element and without
recursion. Then patterns are copied (`copying`). What the rules complain of can be had as the processor graph; what
follows from vocabularies (`expansion`) needs their documents and is for whoever has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from motherlode.model import ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.graph_rules import copied, expanded
from motherlode.transform.rdfa.html_tree import MARKS, html_tree
from motherlode.transform.rdfa.processor_graph import ProcessorGraph, ProcessorMessage
from motherlode.transform.rdfa.rdfa_processor import MOST_STATEMENTS, Processor
from motherlode.transform.rdfa.sparse_tree import RdfaTree, xml_tree
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document
from motherlode.www.html_limits import TextBudget

__all__ = ["MARKS", "expanded", "extract", "processor_graph"]

_MOST_REFUSED = 100
"""Bad IRIs of one page that are told one by one."""


def extract(document: Document, names: BlankNames, *, roles: bool = False) -> Extraction:
    """All statements of a document. With `roles`, those of the role attribute, too (Role Attribute 1.0)."""
    return _processed(document, names, ProcessorGraph(), roles=roles)


def processor_graph(document: Document, names: BlankNames) -> tuple[Statement, ...]:
    """What the processor has to say about the document (RDFa Core 1.1, section 7.6)."""
    report = ProcessorGraph()
    _processed(document, names, report, roles=False)
    return tuple(report.statements(document.url, names))


def _processed(document: Document, names: BlankNames, report: ProcessorGraph, *, roles: bool) -> Extraction:
    tree, problems = _tree(document, report, roles=roles)
    if tree is None:
        return Extraction(syntax=Syntax.RDFA, problems=tuple(problems))
    budget = TextBudget(len(document.body))
    processor = Processor(tree, names, report, budget=budget, roles=roles)
    processor.run()
    problems.extend(locate_problems(document, Syntax.RDFA, report.repaired.items(), repaired=True))
    if processor.full:
        problems.append(_problem(f"more than {MOST_STATEMENTS} statements; the rest was left out"))
    if budget.was_short:
        problems.append(_problem("properties nested in properties repeat too much text; the rest was left out"))
    refused = ((f"not a valid IRI: {term[:200]}", term[1:-1]) for term in [*report.refused][:_MOST_REFUSED])
    problems.extend(locate_problems(document, Syntax.RDFA, refused))
    statements = _without(report.refused, processor.statements)
    final = copied(statements, limit=MOST_STATEMENTS) if tree.host.is_html5 else statements
    return Extraction(syntax=Syntax.RDFA, statements=tuple(dict.fromkeys(final)), problems=tuple(problems))


def _without(refused: Mapping[str, None], statements: list[Statement]) -> list[Statement]:
    return [it for it in statements if refused.keys().isdisjoint(it)] if refused else statements


def _tree(document: Document, report: ProcessorGraph, *, roles: bool) -> tuple[RdfaTree | None, list[Problem]]:
    """XHTML that is no XML is read as HTML; other XML that is broken, as far as it can be mended."""
    if document.kind is ContentKind.HTML:
        return html_tree(document, roles=roles), []
    source = document.xml
    problems = []
    if source.error:
        report.add(ProcessorMessage.DOCUMENT_ERROR, source.error)
        problems.append(
            _problem(f"not well-formed: {source.error}", line=source.line, column=source.column, repaired=True)
        )
        if document.kind is ContentKind.XHTML:
            return html_tree(document, roles=roles), problems
    root = source.root
    return None if root is None else xml_tree(document, root, public_id=source.public_id), problems


def _problem(message: str, *, line: int | None = None, column: int | None = None, repaired: bool = False) -> Problem:
    return Problem(syntax=Syntax.RDFA, message=message, line=line, column=column, repaired=repaired)
