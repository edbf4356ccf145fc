"""RDFa 1.1: Core, Lite, HTML+RDFa, XHTML+RDFa and RDFa in other XML. OpenGraph is RDFa too.

A document becomes a sparse tree of the elements that can take part in statements (`sparse_tree`). The processing rules
(`rdfa_processor`) visit each element once, parents before children, with an evaluation context per element.
"""

from collections.abc import Sequence

from motherlode.model import ContentKind, Extraction, Problem, Statement, Syntax
from motherlode.transform.bnodes import BlankNames
from motherlode.transform.rdfa.curies import ProcessorGraph, ProcessorMessage
from motherlode.transform.rdfa.rdfa_processor import MAX_STATEMENTS, RdfaProcessor, copy_patterns
from motherlode.transform.rdfa.sparse_tree import MARKS, RdfaTree, build_html_tree, build_xml_tree
from motherlode.transform.source_locations import locate_problems
from motherlode.www.document import Document
from motherlode.www.html_limits import TextBudget

__all__ = ["MARKS", "extract", "processor_graph"]


def extract(document: Document, names: BlankNames, *, roles: bool = False) -> Extraction:
    """Extract the statements of a document. With `roles`, also those of Role Attribute 1.0."""
    return _process(document, names, ProcessorGraph(), roles=roles)


def processor_graph(document: Document, names: BlankNames) -> tuple[Statement, ...]:
    """Return the errors and warnings about a document as statements (RDFa Core 1.1, section 7.6)."""
    graph = ProcessorGraph()
    _process(document, names, graph, roles=False)
    return tuple(graph.statements(document.url, names))


def _process(document: Document, names: BlankNames, graph: ProcessorGraph, *, roles: bool) -> Extraction:
    tree, problems = _build_tree(document, graph, roles=roles)
    if tree is None:
        return Extraction(syntax=Syntax.RDFA, problems=tuple(problems))
    budget = TextBudget(len(document.body))
    processor = RdfaProcessor(tree, names, graph, budget=budget, roles=roles)
    processor.run()
    problems.extend(locate_problems(document, Syntax.RDFA, graph.repairs.items(), repaired=True))
    limits = []
    if len(processor.statements) >= MAX_STATEMENTS:
        limits.append(f"more than {MAX_STATEMENTS} statements; the rest was left out")
    if budget.was_short:
        limits.append("nested properties repeat too much text; the rest was left out")
    problems.extend(Problem(syntax=Syntax.RDFA, message=message) for message in limits)
    problems.extend(graph.iri_problems.locate(document, Syntax.RDFA))
    statements: Sequence[Statement] = processor.statements
    if invalid := graph.iri_problems.invalid:
        statements = [it for it in statements if invalid.keys().isdisjoint(it)]
    if tree.host.is_html5:
        statements = copy_patterns(statements, limit=MAX_STATEMENTS)
    return Extraction(syntax=Syntax.RDFA, statements=tuple(dict.fromkeys(statements)), problems=tuple(problems))


def _build_tree(document: Document, graph: ProcessorGraph, *, roles: bool) -> tuple[RdfaTree | None, list[Problem]]:
    """Return the sparse tree (None without a root) and problems. XHTML that is not well-formed is read as HTML."""
    if document.kind is ContentKind.HTML:
        return build_html_tree(document, roles=roles), []
    source = document.xml
    problems = []
    if source.error:
        graph.add_message(ProcessorMessage.DOCUMENT_ERROR, source.error)
        message = f"not well-formed: {source.error}"
        at = {"line": source.line, "column": source.column}
        problems.append(Problem(syntax=Syntax.RDFA, message=message, repaired=True, **at))
        if document.kind is ContentKind.XHTML:
            return build_html_tree(document, roles=roles), problems
    root = source.root
    return None if root is None else build_xml_tree(document, root, public_id=source.public_id), problems
