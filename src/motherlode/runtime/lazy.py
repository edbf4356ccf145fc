"""Lazy attributes of a package (PEP 562): a module of the package is imported when one of its names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for `package`. `modules` maps each module, relative to the package, to its exported names.

    >>> exports = lazy_exports("importlib", {"resources": ["files", "as_file"], "machinery": ["PathFinder"]})
    >>> exports("files").__name__
    'files'
    """
    module_by_name = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in module_by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_by_name[name]}"), name)

    return load
