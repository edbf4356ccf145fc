"""Rules for terms of schema.org: unknown and superseded names, properties of other types, and types of values.

The rules work on the tables of the vocabulary and not on shapes, because one shape per class and property would be
thousands. Their results look like those of shapes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from motherlode.model.terms import PREFIXES, RDF_TYPE
from motherlode.quality.page_graph import PageGraph, is_iri, parse_literal
from motherlode.quality.property_paths import sh
from motherlode.quality.shapes import VIOLATION, Constraint, Offence, Result, Shape
from motherlode.quality.vocabulary import schema_org

_NAMESPACE = "<http://schema.org/"
_WRONG_NAMESPACE = re.compile(r"<(?i:https?://(?:www\.)?(?:schemas?|shema|scheme)\.org)[/#]+(?P<name>[^/#>]*)[/#]*>")
_WARNING, _INFO = sh("Warning"), sh("Info")
_MAX_CACHED_NAMES = 1 << 14
_MAX_NAME_CHARACTERS = 100
_MAX_SHOWN = 5
"""Maximum number of names in a message."""


class Rule(NamedTuple):
    """A rule in the form of a shape with one constraint."""

    shape: Shape
    constraint: Constraint

    def result(self, focus: str, predicate: str, value: str | None, message: str) -> Result:
        """Return a validation result that says that a node violates the rule."""
        return Result(focus, self.shape, self.constraint, Offence(value, predicate, message))


def _rule(name: str, severity: str) -> Rule:
    shape = Shape(id=f"<urn:motherlode:shapes:schema.org:{name}>", severity=severity)
    return Rule(
        shape, Constraint(f"<{PREFIXES['ml']}{name}ConstraintComponent>", lambda _graph, _focus, _values: (), name)
    )


UNKNOWN_CLASS = _rule("UnknownClass", VIOLATION)
UNKNOWN_PROPERTY = _rule("UnknownProperty", VIOLATION)
UNKNOWN_MEMBER = _rule("UnknownMember", VIOLATION)
WRONG_NAMESPACE = _rule("WrongNamespace", VIOLATION)
SUPERSEDED = _rule("Superseded", _WARNING)
OTHER_TYPE = _rule("PropertyOfOtherType", _WARNING)
VALUE_TYPE = _rule("ValueType", _WARNING)
TEXT_FOR_THING = _rule("TextForThing", _INFO)
RULES = (
    *(UNKNOWN_CLASS, UNKNOWN_PROPERTY, UNKNOWN_MEMBER, WRONG_NAMESPACE),
    *(SUPERSEDED, OTHER_TYPE, VALUE_TYPE, TEXT_FOR_THING),
)


def name_of(term: str) -> str:
    """Return the name of a term of schema.org, or "" for other terms. Long names are cut, because caches keep them."""
    return term[len(_NAMESPACE) : -1][:_MAX_NAME_CHARACTERS] if term.startswith(_NAMESPACE) else ""


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def superclasses(term: str) -> frozenset[str]:
    """Return the superclasses of a class of schema.org, as terms. Other classes have none."""
    name = name_of(term)
    return (
        frozenset(f"{_NAMESPACE}{above}>" for above in schema_org().ancestors(name) - {name}) if name else frozenset()
    )


# ── Nearest names ────────────────────────────────────────────────────────────────────────────────────


class _Synonyms(msgspec.Struct, frozen=True):
    classes: dict[str, str]
    properties: dict[str, str]


@lru_cache(maxsize=1)
def _synonyms() -> _Synonyms:
    body = Path(__file__).with_name("schema_synonyms.json").read_bytes()
    return msgspec.json.decode(body, type=_Synonyms)


_MIN_SIMILARITY = 0.86
_MIN_LENGTH_RATIO = 0.55
"""A name that is about twice as long means something else."""
_OWN_BONUS = 0.05
"""Added to the similarity of the properties that the types of the node have."""
_SEPARATORS = re.compile(r"[\s_\-.:/#]+")


def _fold(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def nearest_class(name: str) -> str:
    """Return the class that a wrong name probably means, or ""."""
    return _nearest(name, tuple(schema_org().classes), _synonyms().classes)


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def nearest_member(name: str, enumerations: frozenset[str]) -> str:
    """Return the member of one of some enumerations that a wrong name probably means, or ""."""
    members = schema_org().members
    own = tuple(member for member, classes in members.items() if enumerations.intersection(classes))
    return _nearest(name, own or tuple(members), {})


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def nearest_property(name: str, types: frozenset[str] = frozenset()) -> str:
    """Return the property that a wrong name probably means, preferably one of the types of its node, or ""."""
    current = tuple(known for known in schema_org().properties if known not in schema_org().superseded)
    own = tuple(known for known in current if types.intersection(schema_org().properties[known].domains))
    return _nearest(name, current, _synonyms().properties, own)


def _nearest(name: str, known: Sequence[str], synonyms: dict[str, str], own: Sequence[str] = ()) -> str:
    folded = {_fold(one): one for one in known}
    wanted = _fold(name)
    if wanted in folded:
        return folded[wanted]
    for synonym, meaning in synonyms.items():
        if _fold(synonym) == wanted:
            return meaning
    own_names = {_fold(one): one for one in own}
    best = _best(wanted, own_names, _OWN_BONUS), _best(wanted, folded, 0.0)
    return max(best)[1]


def _best(wanted: str, names: dict[str, str], bonus: float) -> tuple[float, str]:
    found = process.extractOne(
        wanted, names.keys(), scorer=JaroWinkler.similarity, score_cutoff=_MIN_SIMILARITY - bonus
    )
    if not found or min(len(wanted), len(found[0])) < _MIN_LENGTH_RATIO * max(len(wanted), len(found[0])):
        return 0.0, ""
    return found[1] + bonus, names[found[0]]


def _suggest(name: str) -> str:
    return f" (did you mean {name}?)" if name else ""


# ── Types ────────────────────────────────────────────────────────────────────────────────────────────


def check_terms(graph: PageGraph) -> tuple[list[Result], int]:
    """Return the results of all rules, and the number of nodes with terms of schema.org."""
    results: list[Result] = []
    nodes = 0
    for node in graph.nodes():
        before = len(results)
        used = False
        types = graph.types(node)
        for predicate, values in graph.properties(node).items():
            if predicate == RDF_TYPE:
                used |= any(map(name_of, values))
                for value in values:
                    results += _check_type(node, value)
            elif name := name_of(predicate):
                used = True
                results += _check_property(graph, node, types, name, values)
            elif ".org" in predicate:
                results += _check_namespace(node, predicate, predicate)
        nodes += used or len(results) > before
    return results, nodes


def _check_namespace(node: str, predicate: str, term: str) -> Iterator[Result]:
    match = _WRONG_NAMESPACE.fullmatch(term)
    if match is not None and not term.startswith(_NAMESPACE):
        message = f"{term[1:-1]} is not in the namespace of schema.org: use https://schema.org/{match['name']}"
        yield WRONG_NAMESPACE.result(node, predicate, term, message)


def _check_type(node: str, type_: str) -> Iterator[Result]:
    name = name_of(type_)
    if not name:
        yield from _check_namespace(node, RDF_TYPE, type_)
        return
    rule, message = _judge_class(name)
    if rule is not None:
        yield rule.result(node, RDF_TYPE, type_, message)


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _judge_class(name: str) -> tuple[Rule | None, str]:
    vocabulary = schema_org()
    if name in vocabulary.superseded:
        return SUPERSEDED, f"{name} is superseded by {' or '.join(vocabulary.superseded[name])}"
    if name in vocabulary.classes:
        return None, ""
    if name in vocabulary.members:
        return UNKNOWN_CLASS, f"{name} is a member of {vocabulary.members[name][0]} and not a class"
    return UNKNOWN_CLASS, f"{name} is not a class of schema.org{_suggest(nearest_class(name))}"


# ── Properties ───────────────────────────────────────────────────────────────────────────────────────

_ACTION_SUFFIX = re.compile(r"-(?:input|output)$")
"""Suffix of properties that describe the input and output of an action."""


def _check_property(
    graph: PageGraph, node: str, types: frozenset[str], name: str, values: Sequence[str]
) -> Iterator[Result]:
    predicate = f"{_NAMESPACE}{name}>"
    name = _ACTION_SUFFIX.sub("", name)
    rule, message = _judge_property(name, types)
    if rule is not None:
        yield rule.result(node, predicate, None, message)
    if rule is None or rule is OTHER_TYPE:
        expected = _expected(name)
        for value in values:
            found, message = _judge_value(graph, expected, value)
            if found is not None:
                yield found.result(node, predicate, value, message)


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _judge_property(name: str, types: frozenset[str]) -> tuple[Rule | None, str]:
    vocabulary = schema_org()
    names = frozenset(filter(None, map(name_of, types)))
    if name in vocabulary.superseded:
        return SUPERSEDED, f"is superseded by {' or '.join(vocabulary.superseded[name])}"
    if name not in vocabulary.properties:
        return UNKNOWN_PROPERTY, f"is not a property of schema.org{_suggest(nearest_property(name, names))}"
    domains = vocabulary.properties[name].domains
    known = names & vocabulary.classes.keys()
    if not known or len(names) != len(types) or not domains or known.intersection(domains):
        return None, ""
    if known != names:  # an unknown class may have the property
        return None, ""
    return OTHER_TYPE, f"is not a property of {_lowest(known)}, but of {_show(domains)}"


def _lowest(names: Iterable[str]) -> str:
    """Return the most specific of some classes: the one with the most superclasses."""
    return max(names, key=lambda name: (len(schema_org().ancestors(name)), name))


def _show(names: Sequence[str]) -> str:
    return " or ".join(names[:_MAX_SHOWN]) + (" or …" if len(names) > _MAX_SHOWN else "")


# ── Values ───────────────────────────────────────────────────────────────────────────────────────────

_LITERAL_FORMS = {
    "Number": re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"),
    "Integer": re.compile(r"\s*[+-]?\d+\s*"),
    "Float": re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"),
    "Boolean": re.compile(r"(?i:true|false|https?://schema\.org/(True|False))"),
    "Date": re.compile(r"-?\d{4}(-?\d\d(-?\d\d)?)?(T.*)?|--\d\d-\d\d"),
    "DateTime": re.compile(
        r"-?\d{4}(-?\d\d(-?\d\d)?)?([T ]\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?\s?(Z|[+-]\d\d:?(\d\d)?)?)?"
    ),
    "Time": re.compile(r"T?\d\d(:?\d\d(:?\d\d([.,]\d+)?)?)?(Z|[+-]\d\d:?(\d\d)?)?"),
    "Duration": re.compile(r"-?P(?!$)(\d+([.,]\d+)?[YMWD])*(T(\d+([.,]\d+)?[HMS])+)?"),
    "URL": re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:|/|\./|\?|#|www\.)\S*|[^\s./]+[./]\S*"),
}
"""Data types whose texts have a form."""
_DATA_TYPES = frozenset({*_LITERAL_FORMS, "Text", "CssSelectorType", "PronounceableText", "XPathType"}) - {"Duration"}
_FREE_TEXT = frozenset({"Text", "CssSelectorType", "PronounceableText", "XPathType"})
_ANYWHERE = frozenset({f"{_NAMESPACE}Role>", f"{_NAMESPACE}StatisticalPopulation>"})
"""Classes whose things may be the value of any property."""


class _Expected(NamedTuple):
    """The allowed values of a property."""

    names: tuple[str, ...]
    is_free_text: bool
    forms: tuple[re.Pattern[str], ...]
    classes: frozenset[str]
    """Terms of the classes."""
    enumerations: frozenset[str]


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _expected(name: str) -> _Expected:
    vocabulary = schema_org()
    ranges = vocabulary.properties[name].ranges
    classes = [one for one in ranges if one not in _DATA_TYPES]
    enumerations = {
        below for one in classes if "Enumeration" in vocabulary.ancestors(one) for below in vocabulary.subclasses(one)
    }
    return _Expected(
        names=ranges,
        is_free_text=not ranges or bool(_FREE_TEXT.intersection(ranges)),
        forms=tuple(_LITERAL_FORMS[one] for one in ranges if one in _LITERAL_FORMS),
        classes=frozenset(f"{_NAMESPACE}{one}>" for one in classes),
        enumerations=frozenset(enumerations),
    )


def _judge_value(graph: PageGraph, expected: _Expected, value: str) -> tuple[Rule | None, str]:
    if value.startswith('"'):
        return (None, "") if expected.is_free_text and not expected.enumerations else _judge_literal(expected, value)
    name = name_of(value)
    if name and not graph.properties(value):
        return _judge_member(expected, name)
    return _judge_thing(graph, expected, value)


def _judge_literal(expected: _Expected, value: str) -> tuple[Rule | None, str]:
    literal = parse_literal(value)
    text = literal.text if literal else ""
    if expected.enumerations and (name := _member_name(text)):
        return _judge_member(expected, name)
    if expected.enumerations.intersection(schema_org().members.get(text.strip(), ())):
        return VALUE_TYPE, f"is a text; the member of the enumeration is https://schema.org/{text.strip()}"
    if expected.is_free_text or any(form.fullmatch(text) for form in expected.forms):
        return None, ""
    if expected.classes and not expected.forms:
        return TEXT_FOR_THING, f"is a text; expected: {_show(expected.names)}"
    return VALUE_TYPE, f"is not valid; expected: {_show(expected.names)}"


_MEMBER_URL = re.compile(r"\s*https?://schema\.org/(\w+)\s*")


def _member_name(text: str) -> str:
    """Return the name in a text that is a URL of schema.org, or ""."""
    match = _MEMBER_URL.fullmatch(text)
    return match[1] if match else ""


def _judge_member(expected: _Expected, name: str) -> tuple[Rule | None, str]:
    vocabulary = schema_org()
    classes = vocabulary.members.get(name)
    if classes is None:
        if not expected.enumerations or name in vocabulary.classes or name in vocabulary.properties:
            return None, ""
        hint = nearest_member(name, expected.enumerations)
        return UNKNOWN_MEMBER, f"{name} is not a member of {_show(expected.names)}{_suggest(hint)}"
    above = {f"{_NAMESPACE}{up}>" for one in classes for up in vocabulary.ancestors(one)}
    if expected.classes and not above & expected.classes:
        return VALUE_TYPE, f"{name} is a member of {_show(classes)}; expected: {_show(expected.names)}"
    return None, ""


def _judge_thing(graph: PageGraph, expected: _Expected, value: str) -> tuple[Rule | None, str]:
    types = graph.types(value)
    if not types:
        if not is_iri(value) or expected.classes or expected.is_free_text or "URL" in expected.names:
            return None, ""
        return VALUE_TYPE, f"is an IRI; expected: {_show(expected.names)}"
    names = set(map(name_of, types))
    if "" in names or types & expected.classes or types & _ANYWHERE or not names <= schema_org().classes.keys():
        return None, ""
    if not expected.names or (not expected.classes and is_iri(value) and "URL" in expected.names):
        return None, ""
    return VALUE_TYPE, f"has the type {_lowest(names)}; expected: {_show(expected.names)}"
