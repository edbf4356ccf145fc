"""The constraint components of SHACL Core, compiled to checks of the values of a focus node."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from motherlode.model.terms import prefixed_name
from motherlode.quality.datatypes import compare, is_well_formed
from motherlode.quality.page_graph import PageGraph, is_iri, parse_literal
from motherlode.quality.property_paths import ShapeError, sh
from motherlode.quality.shapes import MISSING, Check, Constraint, Offence, Shape, ShapeCompiler, is_true

_NONE: tuple[Offence, ...] = ()


def compile_constraints(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    """Yield the compiled constraints of a shape, given by its node in the shapes graph."""
    for name, build in _SIMPLE.items():
        for value in compiler.graph.objects(node, sh(name)):
            yield _make(name, *build(value))
    for build_all in (_pattern, _languages, _unique_language, _logical, _node, _qualified, _closed, _in):
        yield from build_all(compiler, node)


def _make(name: str, check: Check, message: str) -> Constraint:
    return Constraint(sh(f"{name[0].upper()}{name[1:]}ConstraintComponent"), check, message)


def show_term(term: str) -> str:
    """Return a term for people: a prefixed name, or the text of a literal."""
    literal = parse_literal(term)
    return f'"{literal.text}"' if literal else prefixed_name(term[1:-1]) if is_iri(term) else term


def _each(fails: Callable[[PageGraph, str], bool]) -> Check:
    """Return a check that reports each value for which `fails` is true."""

    def check(graph: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
        return [Offence(value) for value in values if fails(graph, value)]

    return check


def _number(term: str) -> int:
    literal = parse_literal(term)
    try:
        return int(literal.text) if literal else 0
    except ValueError as error:
        raise ShapeError(f"{show_term(term)} is not a whole number") from error


# ── Types and kinds of values ────────────────────────────────────────────────────────────────────────


def _class(class_: str) -> tuple[Check, str]:
    return _each(lambda graph, value: class_ not in graph.types(value)), f"is not a {show_term(class_)}"


def _datatype(term: str) -> tuple[Check, str]:
    wanted = term[1:-1]

    def fails(_graph: PageGraph, value: str) -> bool:
        literal = parse_literal(value)
        return literal is None or literal.datatype != wanted or not is_well_formed(literal.text, wanted)

    return _each(fails), f"is not a valid literal of the datatype {show_term(term)}"


_KINDS = {"IRI": "i", "BlankNode": "b", "Literal": "l"}


def _node_kind(term: str) -> tuple[Check, str]:
    name = term[1:-1].rpartition("#")[2]
    allowed = {_KINDS[part] for part in name.split("Or") if part in _KINDS}
    return _each(lambda _graph, value: _kind(value) not in allowed), f"is not of the kind {name}"


def _kind(term: str) -> str:
    return "l" if term.startswith('"') else "b" if term.startswith("_") else "i" if is_iri(term) else ""


# ── Number of values ─────────────────────────────────────────────────────────────────────────────────


def _min_count(term: str) -> tuple[Check, str]:
    least = _number(term)
    offences = (Offence(),)
    message = MISSING if least == 1 else f"has less than {least} values"
    return lambda _graph, _focus, values: offences if len(values) < least else _NONE, message


def _max_count(term: str) -> tuple[Check, str]:
    most = _number(term)
    offences = (Offence(),)
    return lambda _graph, _focus, values: offences if len(values) > most else _NONE, f"has more than {most} values"


# ── Ranges, strings and languages ────────────────────────────────────────────────────────────────────


def _range(allowed: tuple[int, ...], words: str, limit: str) -> tuple[Check, str]:
    return _each(lambda _graph, value: compare(value, limit) not in allowed), f"is not {words} {show_term(limit)}"


def _length(is_allowed: Callable[[int, int], bool], words: str, term: str) -> tuple[Check, str]:
    limit = _number(term)

    def fails(_graph: PageGraph, value: str) -> bool:
        text = _text(value)
        return text is None or not is_allowed(len(text), limit)

    return _each(fails), f"has {words} than {limit} characters"


def _text(term: str) -> str | None:
    """Return the text of a literal or an IRI, or None for other terms."""
    literal = parse_literal(term)
    return literal.text if literal else term[1:-1] if is_iri(term) else None


_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}


def _pattern(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    flags = "".join(_text(value) or "" for value in compiler.graph.objects(node, sh("flags")))
    for term in compiler.graph.objects(node, sh("pattern")):
        source = _text(term) or ""
        try:
            pattern = re.compile(source, sum(_FLAGS.get(flag, re.NOFLAG) for flag in set(flags)))
        except re.error as error:
            raise ShapeError(f"sh:pattern {source!r} is not a regular expression: {error}") from error
        yield _make("pattern", _each(partial(_mismatches, pattern)), f"does not match {source}")


def _mismatches(pattern: re.Pattern[str], _graph: PageGraph, value: str) -> bool:
    text = _text(value)
    return text is None or pattern.search(text) is None


def _languages(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    for head in compiler.graph.objects(node, sh("languageIn")):
        ranges = tuple((_text(term) or "").lower() for term in compiler.graph.read_list(head))

        def fails(_graph: PageGraph, value: str, ranges: tuple[str, ...] = ranges) -> bool:
            literal = parse_literal(value)
            return literal is None or not any(_matches_language(literal.language, wanted) for wanted in ranges)

        yield _make("languageIn", _each(fails), f"is not in one of the languages {', '.join(ranges)}")


def _matches_language(tag: str, wanted: str) -> bool:
    return bool(tag) and (wanted == "*" or tag == wanted or tag.startswith(wanted + "-"))


def _unique_language(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    if not is_true(compiler.graph, node, "uniqueLang"):
        return

    def check(_graph: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
        literals = filter(None, map(parse_literal, values))
        languages = Counter(literal.language for literal in literals if literal.language)
        return [Offence() for count in languages.values() if count > 1]

    yield _make("uniqueLang", check, "has several values in one language")


# ── Pairs of properties ──────────────────────────────────────────────────────────────────────────────


def _equals(other: str) -> tuple[Check, str]:
    def check(graph: PageGraph, focus: str, values: Sequence[str]) -> Sequence[Offence]:
        others = graph.objects(focus, other)
        differing = set(values) ^ set(others)
        return [Offence(value) for value in dict.fromkeys((*values, *others)) if value in differing]

    return check, f"does not have the same values as {show_term(other)}"


def _disjoint(other: str) -> tuple[Check, str]:
    def check(graph: PageGraph, focus: str, values: Sequence[str]) -> Sequence[Offence]:
        others = graph.objects(focus, other)
        return [Offence(value) for value in values if value in others]

    return check, f"has a value that {show_term(other)} also has"


def _less(allowed: tuple[int, ...], words: str, other: str) -> tuple[Check, str]:
    def check(graph: PageGraph, focus: str, values: Sequence[str]) -> Sequence[Offence]:
        others = graph.objects(focus, other)
        return [Offence(value) for value in values for limit in others if compare(value, limit) not in allowed]

    return check, f"is not {words} the value of {show_term(other)}"


# ── Shapes of values ─────────────────────────────────────────────────────────────────────────────────


def _logical(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    for term in compiler.graph.objects(node, sh("not")):
        refused = compiler.shape(term, node)
        yield _make("not", _each(refused.conforms), "is not allowed")
    for name, (is_allowed, message) in _LOGICAL.items():
        for head in compiler.graph.objects(node, sh(name)):
            shapes = [compiler.shape(term, node) for term in compiler.graph.read_list(head)]
            yield _make(name, _each(partial(_rejects, is_allowed, shapes)), message)


_LOGICAL: dict[str, tuple[Callable[[Iterable[bool]], bool], str]] = {
    "and": (all, "does not have all alternatives that it needs"),
    "or": (any, "has none of the alternatives of which it needs one"),
    "xone": (lambda results: sum(results) == 1, "does not have exactly one of the alternatives"),
}


def _rejects(is_allowed: Callable[[Iterable[bool]], bool], shapes: list[Shape], graph: PageGraph, value: str) -> bool:
    return not is_allowed(shape.conforms(graph, value) for shape in shapes)


def _node(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    for term in compiler.graph.objects(node, sh("node")):
        shape = compiler.shape(term, node)
        yield _make("node", partial(_check_node, shape), f"does not conform to {show_term(term)}")


def _check_node(shape: Shape, graph: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
    offences = []
    for value in values:
        if inner := shape.validate(graph, value):
            first = inner[0]
            offences.append(Offence(value, message=f"{first.path} {first.message}" if first.path else first.message))
    return offences


def _qualified(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    graph = compiler.graph
    for term in graph.objects(node, sh("qualifiedValueShape")):
        shape = compiler.shape(term, node)
        siblings = [compiler.shape(sibling, node) for sibling in _siblings(graph, node, term)]
        count = partial(_count_conforming, shape, siblings)
        for limit in map(_number, graph.objects(node, sh("qualifiedMinCount"))):
            check = partial(_check_least, count, limit)
            yield _make("qualifiedMinCount", check, f"has less than {limit} values that conform to the shape of values")
        for limit in map(_number, graph.objects(node, sh("qualifiedMaxCount"))):
            check = partial(_check_most, count, limit)
            yield _make("qualifiedMaxCount", check, f"has more than {limit} values that conform to the shape of values")


def _siblings(graph: PageGraph, node: str, own: str) -> Iterable[str]:
    """Return the sibling shapes, whose values do not count if sh:qualifiedValueShapesDisjoint is true."""
    if not is_true(graph, node, "qualifiedValueShapesDisjoint"):
        return ()
    parents = graph.subjects(sh("property"), node)
    others = (other for parent in parents for other in graph.objects(parent, sh("property")))
    shapes = (shape for other in others for shape in graph.objects(other, sh("qualifiedValueShape")))
    return [shape for shape in dict.fromkeys(shapes) if shape != own]


def _count_conforming(shape: Shape, siblings: list[Shape], graph: PageGraph, values: Sequence[str]) -> int:
    return sum(
        shape.conforms(graph, value) and not any(sibling.conforms(graph, value) for sibling in siblings)
        for value in values
    )


def _check_least(count: Any, limit: int, graph: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
    return (Offence(),) if count(graph, values) < limit else _NONE


def _check_most(count: Any, limit: int, graph: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
    return (Offence(),) if count(graph, values) > limit else _NONE


# ── Other components ─────────────────────────────────────────────────────────────────────────────────


def _closed(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    graph = compiler.graph
    if not is_true(graph, node, "closed"):
        return
    ignored = (term for head in graph.objects(node, sh("ignoredProperties")) for term in graph.read_list(head))
    own = (path for shape in graph.objects(node, sh("property")) for path in graph.objects(shape, sh("path")))
    allowed = frozenset((*ignored, *filter(is_iri, own)))

    def check(data: PageGraph, _focus: str, values: Sequence[str]) -> Sequence[Offence]:
        return [
            Offence(object_, predicate)
            for value in values
            for predicate, objects in data.properties(value).items()
            if predicate not in allowed
            for object_ in objects
        ]

    yield _make("closed", check, "is not allowed here")


def _has_value(wanted: str) -> tuple[Check, str]:
    offences = (Offence(),)
    message = f"does not have the value {show_term(wanted)}"
    return lambda _graph, _focus, values: _NONE if wanted in values else offences, message


_MAX_SHOWN = 10
"""Maximum number of allowed values in a message."""


def _in(compiler: ShapeCompiler, node: str) -> Iterator[Constraint]:
    for head in compiler.graph.objects(node, sh("in")):
        members = compiler.graph.read_list(head)
        shown = ", ".join(map(show_term, members[:_MAX_SHOWN])) + (", …" if len(members) > _MAX_SHOWN else "")
        allowed = frozenset(members)

        def fails(_graph: PageGraph, value: str, allowed: frozenset[str] = allowed) -> bool:
            return value not in allowed

        yield _make("in", _each(fails), f"is not one of {shown}")


_SIMPLE: dict[str, Callable[[str], tuple[Check, str]]] = {
    "class": _class,
    "datatype": _datatype,
    "nodeKind": _node_kind,
    "minCount": _min_count,
    "maxCount": _max_count,
    "minExclusive": partial(_range, (1,), "greater than"),
    "minInclusive": partial(_range, (0, 1), "at least"),
    "maxExclusive": partial(_range, (-1,), "less than"),
    "maxInclusive": partial(_range, (-1, 0), "at most"),
    "minLength": partial(_length, lambda length, limit: length >= limit, "less"),
    "maxLength": partial(_length, lambda length, limit: length <= limit, "more"),
    "equals": _equals,
    "disjoint": _disjoint,
    "lessThan": partial(_less, (-1,), "less than"),
    "lessThanOrEquals": partial(_less, (-1, 0), "at most"),
    "hasValue": _has_value,
}
"""Components with one parameter, whose value is enough to compile the constraint."""
