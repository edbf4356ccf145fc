"""Print every numeric constant of the default policy that can change a pick, as a Markdown table.

python -m tools.policy_constants

The constants are the fields of `PolicyConfig`, the module constants with a number in the package `policies/motherlode`,
those of other modules that change picks (`ELSEWHERE`), and numbers that have no name: literals in expressions and
repetitions in regular expressions. Limits of caches and of memory are counted apart: they are listed in `BOUNDS`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import motherlode.policies.motherlode as package
from motherlode.policies.motherlode import PolicyConfig

FOLDER = Path(package.__file__).parent
SOURCE = FOLDER.parents[1]
ELSEWHERE = {
    "policies/priority_queue.py": ("_WAIT_THRESHOLD", "_WAIT_THRESHOLD_WITHOUT_DELAY"),
    "frontier/host_queue.py": ("_MAX_AWAITED_SECONDS", "_MIN_CRAWL_WAIT_SECONDS"),
}
"""Constants of other modules that change picks, by module. All four belong to the rule by which a crawl waits for a
better host, so they have no effect on crawls with one request in flight and no delay."""
BOUNDS = frozenset(
    {
        "_MAX_CACHED",
        "_MAX_SAVED_VALUES",
        "_MAX_WEIGHT",
        "_MAX_PATTERNS_PER_HOST",
        "_MAX_ARMS_PER_HOST",
        "_MAX_ARMS_FOR_HUBS",
        "_MAX_WAITING_ARMS_OF_UNSEEN_HOST",
        "_MAX_PARAMETERS_WITH_VALUES",
        "_MAX_SCRIPTS_PER_HOST",
        "_MAX_RULES_PER_HOST",
        "_MAX_LINKED_ARMS",
        "_MAX_TAG_PATH_CHARACTERS",
        "_MAX_UPDATES_PER_PICK",
    }
)
"""Limits of memory, caches and time. They change picks only if a host has very many patterns or arms."""
NOT_PICKS = frozenset({"_BASE_PARTS", "GENERAL_FEATURES", "RESPONSE", "RELEVANCE", "_MANY_STATEMENTS", "_SAME_VALUE"})
"""Sizes of tuples, indices and tolerances of comparisons, from which no behaviour follows."""
NO_MODULES = frozenset({"explanation.py"})
"""Modules whose constants only concern what people are shown."""


def settings() -> Iterator[tuple[str, str, float]]:
    """Yield module, name and value of the numeric settings. Switches for ablation experiments are left out."""
    for field in fields(PolicyConfig):
        value = getattr(PolicyConfig(), field.name)
        if not isinstance(value, bool):
            yield "config.py", field.name, value


def module_constants() -> Iterator[tuple[str, str, float]]:
    """Yield module, name and value of each module constant with a number."""
    for path in _modules():
        for name, value in _assigned(path):
            yield path.name, name, value
    for name, wanted in ELSEWHERE.items():
        for constant, value in _assigned(SOURCE / name):
            if constant in wanted:
                yield name.rpartition("/")[2], constant, value


def unnamed_numbers() -> Iterator[tuple[str, str, float]]:
    """Yield module, line and value of each number without a name. 0, 1 and indices are left out."""
    for path in _modules():
        lines = path.read_text(encoding="utf-8").splitlines()
        tree = ast.parse("\n".join(lines))
        skipped = {id(part) for node in ast.walk(tree) for part in _without_meaning(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in skipped:
                for value in _numbers_in(node.value):
                    yield path.name, lines[node.lineno - 1].strip(), value


def _modules() -> list[Path]:
    return [path for path in sorted(FOLDER.glob("*.py")) if path.name not in NO_MODULES]


def _assigned(path: Path) -> Iterator[tuple[str, float]]:
    """Yield name and value of each number that a module assigns at its top level."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names, values = ([*one.elts] if isinstance(one, ast.Tuple) else [one] for one in (target, node.value))
            for name, value in zip(names, values, strict=False):
                number = _number(value)
                if isinstance(name, ast.Name) and number is not None:
                    yield name.id, number


def _without_meaning(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node whose numbers have a name, or are indices, offsets or defaults of arguments."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from _constants_of(node.value) if node.value is not None and _number(node.value) is not None else ()
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        yield from _constants_of(node.slice)
    elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Call):  # `text.find("://") + 3`
        yield from _constants_of(node.right) if getattr(node.left.func, "attr", "") == "find" else ()
    elif isinstance(node, ast.arguments):
        yield from (one for one in (*node.defaults, *node.kw_defaults) if one is not None)
    elif isinstance(node, ast.Expr):
        yield node.value


def _constants_of(node: ast.AST) -> Iterator[ast.AST]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Constant))


_REPETITION = re.compile(r"\{(?:\d*,)?(\d+)\}")


def _numbers_in(value: object) -> list[float]:
    """Return a number, or the greatest repetitions of a regular expression."""
    if isinstance(value, str):
        return [float(number) for number in _REPETITION.findall(value)]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return [float(value)] if is_number and value not in (0, 1) else []  # type: ignore[arg-type]


def _number(node: ast.expr) -> float | None:
    """Return the value of a number or of a shift of two numbers; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        left, right = _number(node.left), _number(node.right)
        return None if left is None or right is None else int(left) << int(right)
    return None


def constants() -> list[tuple[str, str, float]]:
    """Return the constants that change picks."""
    found = [*settings(), *module_constants()]
    return [one for one in found if one[1] not in BOUNDS | NOT_PICKS]


def main() -> None:
    print("| module | constant | value |\n|---|---|---|")
    for module, name, value in constants():
        print(f"| `{module}` | `{name}` | {value:g} |")
    for module, line, value in unnamed_numbers():
        print(f"| `{module}` | `{line}` | {value:g} |")
    bounds = [name for _, name, _ in module_constants() if name in BOUNDS]
    unnamed = len(list(unnamed_numbers()))
    print(f"\n{len(constants())} constants and {unnamed} numbers without a name;")
    print(f"apart from them {len(bounds)} limits of memory and caches.")


if __name__ == "__main__":
    main()
