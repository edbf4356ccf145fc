"""Names of a package that are loaded when somebody asks for them: whoever wants one need not wait for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def names_from(package: str, **modules: Sequence[str]) -> Callable[[str], Any]:
    """A package's `__getattr__` (PEP 562), where each module of the package is given with the names that it holds.

    >>> names_from("importlib", resources=["files", "as_file"], machinery=["PathFinder"])("files").__name__
    'files'
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def value_of(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return value_of
