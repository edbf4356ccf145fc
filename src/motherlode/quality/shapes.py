"""Shapes of SHACL Core, compiled once from a shapes graph.

A compiled shape has a list of constraints; `constraints` compiles those. Shapes may refer to each other in circles, so
`ShapeCompiler` registers a shape before it compiles its constraints.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from motherlode.model.terms import prefixed_name
from motherlode.quality.page_graph import PageGraph, parse_literal
from motherlode.quality.property_paths import Path, ShapeError, compile_path, sh

_CLASS = "<http://www.w3.org/2000/01/rdf-schema#Class>"
_OWL_CLASS = "<http://www.w3.org/2002/07/owl#Class>"
_SHAPE_TYPES = (sh("NodeShape"), sh("PropertyShape"))
VIOLATION = sh("Violation")
MISSING = "is missing"
"""Message of a property that needs a value and has none."""


class Offence(NamedTuple):
    """A value that violates a constraint."""

    value: str | None = None
    """The value, as a term. None if the constraint is about all values together, as minCount is."""
    path: str | None = None
    """The property that the value belongs to, as a term, if it is not the path of the shape."""
    message: str = ""
    """A message that replaces the one of the constraint."""


Check = Callable[[PageGraph, str, Sequence[str]], Sequence[Offence]]
"""Function from a graph, a focus node and its values to the offences."""


class Constraint(NamedTuple):
    """A compiled constraint: the term of its component, its check, and a message for people."""

    component: str
    check: Check
    message: str


@dataclass(slots=True, kw_only=True, eq=False)
class Targets:
    """The targets of a shape: which nodes of a graph it validates."""

    classes: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    subjects_of: tuple[str, ...] = ()
    objects_of: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.classes or self.nodes or self.subjects_of or self.objects_of)


@dataclass(slots=True, kw_only=True, eq=False)
class Shape:
    """A SHACL shape, compiled: its targets, constraints and property shapes."""

    id: str
    """The node of the shape in the shapes graph: an IRI or a blank node."""
    path: Path | None = None
    """The path of a property shape; None for a node shape."""
    severity: str = VIOLATION
    messages: tuple[str, ...] = ()
    """Messages for people: the values of sh:message, as literals."""
    deactivated: bool = False
    targets: Targets = field(default_factory=Targets)
    constraints: list[Constraint] = field(default_factory=list)
    properties: list["Shape"] = field(default_factory=list)
    """Shapes of sh:property."""
    is_recursive: bool = False

    def values(self, graph: PageGraph, focus: str) -> Sequence[str]:
        """Return the value nodes of a focus node."""
        return (focus,) if self.path is None else self.path.evaluate(graph, focus)

    def validate(self, graph: PageGraph, focus: str) -> "list[Result]":
        """Return a result for each violation by a focus node."""
        if self.deactivated:
            return []
        if self.is_recursive:
            return self._validate_once(graph, focus)
        return self._validate(graph, focus)

    def conforms(self, graph: PageGraph, node: str) -> bool:
        """Return whether a node violates no constraint of the shape."""
        return not self.validate(graph, node)

    def _validate_once(self, graph: PageGraph, focus: str) -> "list[Result]":
        """Validate with a recursive shape. A node that is being validated with it conforms."""
        key = self.id, focus
        if key in graph.active:
            return []
        graph.active.add(key)
        try:
            return self._validate(graph, focus)
        finally:
            graph.active.discard(key)

    def _validate(self, graph: PageGraph, focus: str) -> "list[Result]":
        values = self.values(graph, focus)
        results = []
        for constraint in self.constraints:
            offences = constraint.check(graph, focus, values)
            if offences:
                results += [Result(focus, self, constraint, offence) for offence in offences]
        for shape in self.properties:
            for value in values:
                results += shape.validate(graph, value)
        return results


class Result(NamedTuple):
    """A result of validation: which constraint of which shape a focus node violates."""

    focus: str
    shape: Shape
    constraint: Constraint
    offence: Offence

    @property
    def message(self) -> str:
        """The message of the shape, or one that follows from the constraint."""
        if self.shape.messages:
            literal = parse_literal(self.shape.messages[0])
            return literal.text if literal else ""
        if self.shape.path and "|" in self.shape.path.text and self.constraint.message == MISSING:
            return "none of these is present"
        return self.offence.message or self.constraint.message

    @property
    def path(self) -> str:
        """The path for people; "" for a node shape."""
        if self.offence.path:
            return prefixed_name(self.offence.path[1:-1])
        return self.shape.path.text if self.shape.path else ""

    @property
    def severity(self) -> str:
        """The name of the severity in lower case: violation, warning or info."""
        return self.shape.severity[1:-1].rpartition("#")[2].lower()

    @property
    def component(self) -> str:
        """The name of the constraint component: MinCount, Datatype."""
        return self.constraint.component[1:-1].rpartition("#")[2].removesuffix("ConstraintComponent")


CompileConstraints = Callable[["ShapeCompiler", str], Iterable[Constraint]]


class ShapeCompiler:
    """Compiles the shapes of a shapes graph."""

    def __init__(self, graph: PageGraph, compile_constraints: CompileConstraints) -> None:
        self.graph = graph
        self._compile_constraints = compile_constraints
        self._shapes: dict[str, Shape] = {}
        self._users: dict[str, set[str]] = {}
        """Shape → the shapes that its constraints refer to."""

    def compile_targeted(self) -> list[Shape]:
        """Return the shapes that have targets."""
        found = {node: self._read_targets(node) for node in dict.fromkeys(self.graph.nodes())}
        shapes = []
        for node, targets in found.items():
            if targets:
                shape = self.shape(node)
                shape.targets = targets
                shapes.append(shape)
        self._mark_recursive()
        return shapes

    def shape(self, node: str, user: str = "") -> Shape:
        """Return the compiled shape with a node. `user` is the shape that refers to it."""
        if user:
            self._users.setdefault(user, set()).add(node)
        if node in self._shapes:
            return self._shapes[node]
        shape = self._shapes[node] = self._make(node)
        shape.constraints.extend(self._compile_constraints(self, node))
        shape.properties.extend(self.shape(inner, node) for inner in self.graph.objects(node, sh("property")))
        if any(inner.path is None for inner in shape.properties):
            raise ShapeError(f"a value of sh:property of {node} has no sh:path")
        return shape

    def _make(self, node: str) -> Shape:
        graph = self.graph
        paths = graph.objects(node, sh("path"))
        if len(paths) > 1:
            raise ShapeError(f"{node} has {len(paths)} values of sh:path, and only one is allowed")
        return Shape(
            id=node,
            path=compile_path(graph, paths[0]) if paths else None,
            severity=next(iter(graph.objects(node, sh("severity"))), VIOLATION),
            messages=tuple(graph.objects(node, sh("message"))),
            deactivated=is_true(graph, node, "deactivated"),
        )

    def _read_targets(self, node: str) -> Targets:
        objects, types = self.graph.objects, self.graph.types(node)
        implicit = (node,) if (_CLASS in types or _OWL_CLASS in types) and any(t in types for t in _SHAPE_TYPES) else ()
        return Targets(
            classes=(*objects(node, sh("targetClass")), *implicit),
            nodes=tuple(objects(node, sh("targetNode"))),
            subjects_of=tuple(objects(node, sh("targetSubjectsOf"))),
            objects_of=tuple(objects(node, sh("targetObjectsOf"))),
        )

    def _mark_recursive(self) -> None:
        for node, shape in self._shapes.items():
            reached: set[str] = set()
            waiting = list(self._users.get(node, ()))
            while waiting and node not in reached:
                inner = waiting.pop()
                if inner not in reached:
                    reached.add(inner)
                    waiting.extend(self._users.get(inner, ()))
            shape.is_recursive = node in reached


def is_true(graph: PageGraph, node: str, name: str) -> bool:
    """Return whether a parameter of SHACL is the literal true."""
    values = graph.objects(node, sh(name))
    literal = parse_literal(values[0]) if values else None
    return literal is not None and literal.text == "true"
