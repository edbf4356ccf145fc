"""Targets: predicates that decide from the statements of a page whether the page is relevant."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pyoxigraph

from motherlode.model import DOCUMENT_SYNTAXES, ContentKind, Syntax, TransformResult
from motherlode.model.schema_org import find_unknown_class, find_unknown_classes
from motherlode.model.sparql import query_in_order, tokens
from motherlode.model.target_kinds import MakeJudge, find_target_kind
from motherlode.model.terms import PREFIXES, RDF_TYPE, expand_prefix, iri
from motherlode.policies.registry import nearest
from motherlode.policies.scorers import SCORER_FORMS, ScorerSpec, parse_threshold

Counts = Mapping[Syntax, int]
Judge = Callable[[Counts, ContentKind, Callable[[], bytes]], bool]


@dataclass(frozen=True, slots=True)
class Target:
    """Decides whether a page is relevant.

    Call it with the result of transforming a page. `judge` takes the parts that a recorded web stores instead.
    """

    spec: str
    judge: Judge
    """Takes the number of statements by syntax, the content kind, and a function that returns the statements as
    N-Triples. The function is called only if the target needs it."""
    needs_statements: bool = False
    """True if `judge` needs the statements, False if their numbers by syntax are enough."""
    scorer: ScorerSpec | None = None
    """The scorer of the user that decides, or None. Then `judge` always returns False."""
    least_score: float = 0.0
    """The least score of a relevant page, if there is a scorer."""

    def __call__(self, result: TransformResult, kind: ContentKind) -> bool:
        return self.judge(result.counts, kind, lambda: ntriples(result))

    def accepts(self, score: float | None) -> bool:
        """Return whether a page with this score of the user's scorer is relevant. None if the scorer failed."""
        return score is not None and score >= self.least_score


def ntriples(result: TransformResult) -> bytes:
    """Return the statements of a page as sorted N-Triples, without those of `Syntax.PAGE`."""
    lines = {
        f"{s} {p} {o} .\n"
        for extraction in result.extractions
        if extraction.syntax is not Syntax.PAGE
        for s, p, o, _ in extraction.statements
    }
    return "".join(sorted(lines)).encode("utf-8", "replace")


COUNTED = frozenset(set(Syntax) - {Syntax.PAGE, Syntax.FEED})
"""Syntaxes that count for the target `any`. Excluded are our own metadata about a page (PAGE), which every page has,
and feeds (FEED), which are not RDF but are converted by us."""

_BY_NAME: dict[str, frozenset[Syntax]] = {
    "any": COUNTED,
    "rdf": DOCUMENT_SYNTAXES,
    "jsonld": frozenset({Syntax.JSON_LD}),
    "microdata": frozenset({Syntax.MICRODATA}),
    "rdfa": frozenset({Syntax.RDFA}),
    "microformats": frozenset({Syntax.MICROFORMATS}),
}
TARGETS = (*_BY_NAME, "type:IRI", "valid:PROFILE", "ASK { … }")


class UnreadableQueryError(ValueError):
    """The SPARQL parser rejects the query of a target. Has the query and the message of the parser."""

    def __init__(self, query: str, message: str) -> None:
        super().__init__(f"the target is not a SPARQL ASK that can be answered: {_first_line(message)}")
        self.query = query
        self.message = message


def _first_line(message: str) -> str:
    return message.partition("\n")[0][:120]


_COUNT = re.compile(r"(?P<name>[a-z-]+)\s*(?:>=\s*(?P<least>\d+))?")
_ASK = re.compile(r"(?:\s|#[^\n]*\n|PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>)*ASK\b", re.IGNORECASE)


def target_from(spec: str) -> Target:
    """Parse a target as users write it.

    >>> target_from("microdta>=5")
    Traceback (most recent call last):
    ...
    ValueError: unknown target 'microdta>=5' (did you mean microdata?); known: any, rdf, jsonld, microdata, rdfa, \
microformats (each also with >=N), type:IRI, valid:PROFILE, or a SPARQL ASK { … }; or a scorer of yours: \
python:MODULE:FUNCTION, scorer:NAME, command:COMMAND or an http(s) URL
    """
    if _ASK.match(spec):
        return Target(spec, _ask(spec), needs_statements=True)
    if spec.startswith("type:"):
        return Target(spec, _type(spec.removeprefix("type:").strip("<> ")), needs_statements=True)
    if (scored := parse_threshold(spec)) is not None:
        return Target(spec, lambda counts, kind, _: False, scorer=scored[0], least_score=scored[1])
    if (added := find_target_kind(spec)) is not None:
        return Target(spec, _added(*added), needs_statements=True)
    match = _COUNT.fullmatch(spec.strip())
    syntaxes = _BY_NAME.get(match["name"]) if match else None
    if match is None or syntaxes is None:
        hint = nearest(match["name"] if match else spec, _BY_NAME)
        known = f"{', '.join(_BY_NAME)} (each also with >=N), type:IRI, valid:PROFILE, or a SPARQL ASK {{ … }}"
        raise ValueError(f"unknown target {spec!r}{hint}; known: {known}; {SCORER_FORMS}")
    least = int(match["least"] or 1)
    if least < 1:
        raise ValueError(f"target {spec!r}: every page has at least 0 statements; use at least 1")
    if match["name"] == "rdf":
        return Target(spec, lambda counts, kind, _: _in_document(counts, kind) >= least)
    return Target(spec, lambda counts, kind, _: sum(n for s, n in counts.items() if s in syntaxes) >= least)


_AROUND_RDF = frozenset({ContentKind.HTML, ContentKind.XHTML, ContentKind.SVG, ContentKind.XML})
"""Content kinds that may embed RDF but are not RDF documents."""


def _in_document(counts: Counts, kind: ContentKind) -> int:
    """Count the statements of an RDF document; 0 for other pages. JSON-LD counts only in JSON-LD documents."""
    if kind in _AROUND_RDF:
        return 0
    syntaxes = DOCUMENT_SYNTAXES | ({Syntax.JSON_LD} if kind is ContentKind.JSON_LD else set())
    return sum(count for syntax, count in counts.items() if syntax in syntaxes)


def hint_about_target(spec: str) -> str:
    """Return a hint if a target names a class that schema.org does not have, so that few pages may match; else "".

    >>> hint_about_target("type:schema:Prodct")
    'schema.org has no class Prodct (did you mean Product?)'
    """
    if spec.startswith("type:"):
        return find_unknown_class(expand_prefix(spec.removeprefix("type:").strip("<> ")) or "")
    return "; ".join(find_unknown_classes(spec)) if _ASK.match(spec) else ""


def _type(name: str) -> Judge:
    expanded = expand_prefix(name)
    if expanded is None:
        prefix = name.partition(":")[0]
        raise ValueError(
            f"target type:{name}: the prefix {prefix!r} is not known{nearest(prefix, PREFIXES)}; "
            f"known: {', '.join(PREFIXES)}. You can also give a full IRI, as in type:http://schema.org/Recipe"
        )
    if iri(expanded) is None:
        raise ValueError(f"target type:{name}: give an IRI, as in type:http://schema.org/Recipe or type:schema:Recipe")
    names = {expanded}
    if "://schema.org/" in expanded:  # both spellings are in use
        local = expanded.partition("://schema.org/")[2]
        names = {f"http://schema.org/{local}", f"https://schema.org/{local}"}
    # with the line feed, which no literal can contain, so that a literal that quotes a statement does not match
    wanted = [f" {RDF_TYPE} <{spelled}> .\n".encode() for spelled in names]

    def judge(counts: Counts, kind: ContentKind, statements: Callable[[], bytes]) -> bool:
        text = statements() if counts else b""
        return any(line in text for line in wanted)

    return judge


def _added(make: MakeJudge, argument: str) -> Judge:
    """Return the judge of a target kind that another package added. Pages without statements are not relevant."""
    judge_statements = make(argument)

    def judge(counts: Counts, kind: ContentKind, statements: Callable[[], bytes]) -> bool:
        text = statements() if counts else b""
        return bool(text) and judge_statements(text)

    return judge


def _ask(query: str) -> Judge:
    if any(token.is_word("SERVICE") for token in tokens(query)):
        raise ValueError(
            "a target is evaluated on the statements of one page: SERVICE, which sends requests, is not allowed in it"
        )
    try:
        pyoxigraph.Store().query(query, prefixes=PREFIXES)
    except SyntaxError as error:
        raise UnreadableQueryError(query, str(error)) from error
    except (RuntimeError, OSError) as error:  # unknown functions, unreachable services
        reason = _first_line(str(error))
        raise ValueError(f"the target is not a SPARQL ASK that can be answered: {reason}") from error

    def judge(counts: Counts, kind: ContentKind, statements: Callable[[], bytes]) -> bool:
        text = statements() if counts else b""
        if not text:
            return False
        store = pyoxigraph.Store()
        store.load(text, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
        return bool(query_in_order(partial(store.query, prefixes=PREFIXES), query))

    return judge
