"""Reading of the `[transform]` table of a job file. Unknown keys are errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from motherlode.transform import xslt
from motherlode.transform.options import Service, Stylesheet, TransformOptions

BUILTIN = "builtin:"
"""Prefix of the names of built-in stylesheets."""
_STYLESHEET_KEYS = {"xslt", "root", "namespace"}
_SERVICE_KEYS = {"media_type", "url", "seconds", "most_sent", "most_received"}


def from_table(table: Mapping[str, Any], load: Callable[[str], bytes], **others: Any) -> TransformOptions:
    """Return the options of a table; raise ValueError if it is wrong. `load` reads a stylesheet by its name.

    >>> options = from_table({"stylesheets": [{"xslt": "builtin:xhtml", "root": "html"}]}, load=lambda name: b"")
    >>> options.stylesheets[0].fits("http://www.w3.org/1999/xhtml", "html")
    True
    """
    _check_keys("[transform]", table, {"stylesheets", "grddl", "services", "transformers", "strict_jsonld"})
    sheets = [_read_stylesheet(entry, load) for entry in _check_tables("stylesheets", table.get("stylesheets", []))]
    allowed = {str(url): _load_stylesheet(str(name), load) for url, name in dict(table.get("grddl", {})).items()}
    services = [_read_service(entry) for entry in _check_tables("services", table.get("services", []))]
    transformers = table.get("transformers")
    if transformers is not None and not isinstance(transformers, list):
        raise ValueError("transformers must be a list of media types")
    strict_jsonld = table.get("strict_jsonld", False)
    if not isinstance(strict_jsonld, bool):
        raise ValueError(f"strict_jsonld must be true or false, not {strict_jsonld!r}")
    return TransformOptions(
        stylesheets=tuple(sheets),
        transformations=allowed,
        services=tuple(services),
        transformers=None if transformers is None else frozenset(map(str, transformers)),
        strict_jsonld=strict_jsonld,
        **others,
    )


def _read_stylesheet(entry: Mapping[str, Any], load: Callable[[str], bytes]) -> Stylesheet:
    _check_keys("[[transform.stylesheets]]", entry, _STYLESHEET_KEYS)
    if "xslt" not in entry:
        raise ValueError("[[transform.stylesheets]] needs the key xslt")
    name = str(entry["xslt"])
    return Stylesheet(
        name=name, xslt=_load_stylesheet(name, load), root=str(entry.get("root", "")), namespace=entry.get("namespace")
    )


def _read_service(entry: Mapping[str, Any]) -> Service:
    _check_keys("[[transform.services]]", entry, _SERVICE_KEYS)
    if missing := {"media_type", "url"} - entry.keys():
        raise ValueError(f"[[transform.services]] needs {' and '.join(sorted(missing))}")
    return Service(**entry)


def _load_stylesheet(name: str, load: Callable[[str], bytes]) -> bytes:
    if name.startswith(BUILTIN):
        try:
            return xslt.builtin(name.removeprefix(BUILTIN))
        except FileNotFoundError:
            raise ValueError(f"there is no stylesheet {name}; the built-in ones are rss, atom and xhtml") from None
    sheet = load(name)
    if fault := xslt.fault_in(sheet):
        raise ValueError(f"{name}: {fault}")
    return sheet


def _check_tables(name: str, value: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise ValueError(f"{name} must be a list of tables")
    return value


def _check_keys(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"{where} does not know {', '.join(unknown)}; its keys are {', '.join(sorted(known))}")
