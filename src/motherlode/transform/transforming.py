"""The transform itself: the extractors of a kind, one after the other, each on its own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from motherlode.model import Extraction, Facts, Problem, Syntax
from motherlode.transform import documents, plugins
from motherlode.transform.blank import BlankNames
from motherlode.transform.bounds import OutOfTime, TimeLimit, alarm_ready
from motherlode.transform.installed import installed
from motherlode.transform.options import TransformOptions
from motherlode.transform.registry import EXTRACTORS, Extractor
from motherlode.www.document import Document


def transform(
    document: Document,
    options: TransformOptions = TransformOptions(),  # noqa: B008 - it is frozen
    *,
    content_type: str = "",
) -> Facts:
    """All facts of a document, syntax by syntax; an extractor that found nothing leaves no trace.

    The Content-Type that the document came with only matters to the user's own transformers.
    """
    found: list[Extraction] = []
    with alarm_ready():
        for extractor in (*EXTRACTORS[document.kind], *_users(document, options, content_type)):
            if options.syntaxes is None or extractor.syntax in options.syntaxes:
                extraction = _isolated(extractor, document, options)
                if extraction and (extraction.statements or extraction.problems or extraction.wanted):
                    found.append(_bounded(extraction, options.statements))
    broken = documents.broken_promise(document, content_type) or _wrong_label(document, options, content_type)
    return Facts(extractions=tuple(found), problems=(*document.problems, *([broken] if broken else [])))


def _wrong_label(document: Document, options: TransformOptions, content_type: str) -> Problem | None:
    problem = documents.wrong_label(document.kind, content_type, document.url)
    is_wanted = problem is not None and (options.syntaxes is None or problem.syntax in options.syntaxes)
    return problem if is_wanted else None


def merge(facts: Iterable[Facts]) -> Facts:
    """The facts of several documents as those of one page."""
    known = tuple(facts)
    return Facts(
        extractions=tuple(e for one in known for e in one.extractions),
        problems=tuple(p for one in known for p in one.problems),
    )


def _users(document: Document, options: TransformOptions, content_type: str) -> tuple[Extractor, ...]:
    """The transformer that somebody installed for this type of content."""
    if not installed() or plugins.transformer_for(document, options, content_type=content_type) is None:
        return ()
    extract = partial(plugins.extract, content_type=content_type)
    return (Extractor(syntax=Syntax.OTHER, extract=extract),)


def _isolated(extractor: Extractor, document: Document, options: TransformOptions) -> Extraction | None:
    """What an extractor gives, or what became of it; None where its gate is closed."""
    syntax = extractor.syntax
    try:
        if extractor.marks is not None and extractor.marks.isdisjoint(document.marks):
            return None
        if extractor.gate is not None and not extractor.gate(document, options):
            return None
        with TimeLimit(options.seconds):
            return extractor.extract(document, BlankNames(document.url, syntax), options)
    except OutOfTime:
        problem = Problem(syntax=syntax, message=f"took longer than {options.seconds:g} seconds and was stopped")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - isolation: whatever a page does to one syntax, the others go on;
        # a panic in a Rust library is not even an Exception
        problem = Problem(syntax=syntax, message=f"the extractor failed: {type(error).__name__}: {error}"[:500])
    return Extraction(syntax=syntax, problems=(problem,))


def _bounded(extraction: Extraction, limit: int) -> Extraction:
    if len(extraction.statements) <= limit:
        return extraction
    problem = Problem(syntax=extraction.syntax, message=f"more than {limit} statements; the rest was left out")
    return Extraction(
        syntax=extraction.syntax,
        statements=extraction.statements[:limit],
        problems=(*extraction.problems, problem),
        wanted=extraction.wanted,
    )
