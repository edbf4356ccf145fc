"""The wheel and the sdist of the project, and virtual environments with nothing but declared dependencies.

An environment has links to the installed packages that the wheel's metadata names, and their dependencies. So a module
that is used but not declared is missing there, and nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "requirements.lock")
_BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


def build_sdist(folder: Path) -> Path:
    """Build the source distribution from a copy of the sources, and return its path."""
    source = folder / "source"
    for name in _SOURCES:
        source.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source)
    for name in ("src", "docs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return _build("build_sdist", source, folder)


def build_wheel(sdist: Path, folder: Path) -> Path:
    """Build the wheel from nothing but the source distribution, and return its path."""
    shutil.unpack_archive(sdist, folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return _build("build_wheel", source, folder)


def _build(step: str, source: Path, folder: Path) -> Path:
    command = [sys.executable, "-c", _BUILD, step, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def make_environment(folder: Path, wheel: Path, extras: frozenset[str] = frozenset()) -> Path:
    """Make an environment with the wheel, its dependencies and those of some extras. Return the path of its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    requires = re.findall(r"^Requires-Dist: (.*)$", metadata, flags=re.MULTILINE)
    for found in find_dependencies(requires, extras):
        _link(found, packages)
    python = folder / "bin" / "python"
    script = folder / "bin" / "motherlode"
    script.write_text(f"#!{python}\nimport sys\nfrom motherlode.cli import main\nsys.exit(main())\n")
    script.chmod(0o755)
    return python


def find_dependencies(requires: list[str], extras: frozenset[str]) -> list[Distribution]:
    """Return the installed distributions that some requirements need, directly or not. Assert that they are there."""
    found: dict[str, Distribution] = {}
    waiting = list(_applicable(requires, extras))
    while waiting:
        requirement = waiting.pop()
        wanted = frozenset(requirement.extras)
        if requirement.name == "motherlode":
            waiting += _applicable(requires, wanted)
            continue
        key = f"{re.sub(r'[-_.]+', '-', requirement.name).lower()}{sorted(wanted)}"
        if key in found:
            continue
        try:
            found[key] = distribution(requirement.name)
        except PackageNotFoundError as error:
            raise AssertionError(f"{requirement} is declared but not installed here: make setup") from error
        assert requirement.specifier.contains(found[key].version, prereleases=True), requirement
        waiting += _applicable(found[key].requires or [], wanted)
    return list(found.values())


def _applicable(requires: list[str], extras: frozenset[str]) -> Iterator[Requirement]:
    for text in requires:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _link(found: Distribution, packages: Path) -> None:
    """Link the modules, packages and metadata of a distribution into an environment."""
    tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        source, target = Path(str(found.locate_file(top))), packages / top
        if not source.exists() or target.is_symlink():
            continue
        if target.is_dir():  # a namespace package that several distributions share
            continue
        target.symlink_to(source)


# Environments that uv installs, with the package indexes of this machine


def install_with_uv(folder: Path, interpreter: str, *packages: str) -> Path:
    """Make an environment with packages and their dependencies, and return the path of its Python, or skip the test."""
    uv = pytest.importorskip("uv").find_uv_bin()
    settings = {**os.environ, **index_settings(), "UV_CACHE_DIR": str(folder / "cache")}
    python = folder / "env" / "bin" / "python"
    make = [uv, "venv", "-q", "-p", interpreter, str(folder / "env")]
    install = [uv, "pip", "install", "-q", "--only-binary", ":all:", "--python", str(python), *packages]
    for command in (make, install):
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"uv cannot install the dependencies for {interpreter} here: {done.stderr.strip()[-300:]}")
    return python


def find_interpreter(version: str) -> str | None:
    """Return the path of a Python of this version that runs, on the PATH or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python")))]
    for path in filter(None, candidates):
        if not subprocess.run([path, "--version"], capture_output=True, check=False).returncode:
            return path
    return None


def index_settings() -> dict[str, str]:
    """Return the package indexes that pip is configured to use here, as settings of uv, which does not read them."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = dict(re.findall(r"^[\w:.]*\.([\w-]+)='(.*)'$", listed, flags=re.MULTILINE))
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS"}
    as_pip = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # all indexes are alike
    return {setting: found[name] for name, setting in names.items() if name in found} | as_pip
