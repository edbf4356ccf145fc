"""Packages with lazy exports: every public name resolves, and importing the package imports no heavy library."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ["crawler", "fetch", "transform", "transform.xslt"]
HEAVY = {"aiohttp", "lxml", "numpy", "pyarrow", "pyoxigraph", "ray", "selectolax", "sklearn", "tantivy"}


@pytest.mark.parametrize("package", PACKAGES)
def test_lazy_exports_resolve_every_public_name(package: str) -> None:
    module = import_module(f"motherlode.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_lazy_exports_unknown_name_raises_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'motherlode.{package}' has no attribute 'nothing'"):
        _ = import_module(f"motherlode.{package}").nothing


@pytest.mark.parametrize("module", [*PACKAGES, "transform.options"])
def test_package_import_loads_no_heavy_library(module: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", f"import sys, motherlode.{module}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(process.stdout.split())
