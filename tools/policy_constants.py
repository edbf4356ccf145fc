"""Print every numeric constant of the default policy that can change a pick, as a Markdown table.

python -m tools.policy_constants

The constants are the fields of `PolicyConfig` and the module constants with a number in the package
`policies/motherlode`. Limits of caches and of memory are counted apart: they are listed in `BOUNDS`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import motherlode.policies.motherlode as package
from motherlode.policies.motherlode import PolicyConfig

FOLDER = Path(package.__file__).parent
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
    for path in sorted(FOLDER.glob("*.py")):
        if path.name in NO_MODULES:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                value = _number(node.value)
                if isinstance(target, ast.Name) and value is not None:
                    yield path.name, target.id, value


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
    bounds = [name for _, name, _ in module_constants() if name in BOUNDS]
    print(f"\n{len(constants())} constants; apart from them {len(bounds)} limits of memory and caches.")


if __name__ == "__main__":
    main()
