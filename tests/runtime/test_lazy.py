"""Packages whose names are loaded on demand: every name is there, and loading one does not load the others."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ["crawler", "links", "index", "transform", "transform.xslt"]
HEAVY = {"aiohttp", "lxml", "numpy", "pyarrow", "pyoxigraph", "ray", "selectolax", "sklearn", "tantivy"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_found(package: str) -> None:
    module = import_module(f"motherlode.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_other_names_are_not(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'motherlode.{package}' has no attribute 'nothing'"):
        _ = import_module(f"motherlode.{package}").nothing


@pytest.mark.parametrize("module", [*PACKAGES, "transform.options"])
def test_a_package_alone_loads_nothing_heavy(module: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", f"import sys, motherlode.{module}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(told.stdout.split())
