"""Paths in a job file: seen from the file, and kept so that they can be found from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motherlode.transform.xslt.settings import BUILTIN

_PATHS = frozenset({"web", "model", "state"})
"""Keys that name a file or a folder; `state` may also be a place that has a scheme."""


def located(name: str, value: Any, folder: Path) -> Any:
    """A value whose paths can be found from anywhere; those that are relative are seen from the folder."""
    if name == "transform":
        return _with_places(value, folder)
    if name in _PATHS and value and "://" not in value:
        return str((folder / value).resolve())
    return value


def _with_places(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A `[transform]` table whose stylesheets can be found from anywhere."""

    def place(name: Any) -> Any:
        return name if not isinstance(name, str) or name.startswith(BUILTIN) else str((folder / name).resolve())

    made = dict(table)
    if isinstance(made.get("stylesheets"), list):
        made["stylesheets"] = [
            {**sheet, "xslt": place(sheet["xslt"])} if isinstance(sheet, dict) and "xslt" in sheet else sheet
            for sheet in made["stylesheets"]
        ]
    if isinstance(made.get("grddl"), dict):
        made["grddl"] = {url: place(name) for url, name in made["grddl"].items()}
    return made
