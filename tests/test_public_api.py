"""The names of `motherlode`: each is the documented object, typed, and `import motherlode` loads no heavy library."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import motherlode as ml

HEAVY = {
    *(
        "ada_url",
        "aiodns",
        "aiohttp",
        "asyncio",
        "duckdb",
        "fastwarc",
        "hyperscan",
        "jinja2",
        "lmdb",
        "lxml",
        "msgspec",
    ),
    *("numpy", "pandas", "polars", "pyarrow", "pyoxigraph", "ray", "rich", "scrapy", "selectolax", "sklearn"),
    *("tantivy", "typer", "uvloop", "xxhash", "zstandard"),
}
SOURCE = Path(ml.__file__).parent


def test_import_motherlode_loads_no_heavy_library() -> None:
    program = "import sys, motherlode; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(process.stdout.split())
    assert "motherlode" in loaded
    assert not HEAVY & loaded
    assert {name for name in loaded if name.startswith("motherlode.")} == {"motherlode.project", "motherlode.runtime"}


@pytest.mark.parametrize("name", ml.__all__)
def test_public_name_is_documented(name: str) -> None:
    assert (getattr(ml, name).__doc__ or "").strip()


def test_public_names_survive_the_import_of_every_submodule() -> None:
    before = {name: getattr(ml, name) for name in ml.__all__}
    for module in walk_packages(ml.__path__, "motherlode."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ImportError as error:
                assert "motherlode" not in (error.name or ""), error  # only an extra may be missing
    assert {name: getattr(ml, name) for name in ml.__all__} == before


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'motherlode' has no attribute 'nothing'"):
        _ = ml.nothing


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_does_not_import_motherlode_itself(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.module != "motherlode"
        elif isinstance(node, ast.Import):
            assert "motherlode" not in [alias.name for alias in node.names]
