"""The `[transform]` table of a job file, read into options. Unknown keys are errors: a typo is not to pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from motherlode.transform import xslt
from motherlode.transform.options import Service, Stylesheet, TransformOptions

BUILTIN = "builtin:"
_SHEET = {"xslt", "root", "namespace"}
_SERVICE = {"media_type", "url", "seconds", "most_sent", "most_received"}


def from_table(table: Mapping[str, Any], load: Callable[[str], bytes], **others: Any) -> TransformOptions:
    """Options from a table; `load` reads a stylesheet by the name it has there. ValueError says what is wrong.

    >>> options = from_table({"stylesheets": [{"xslt": "builtin:xhtml", "root": "html"}]}, load=lambda name: b"")
    >>> options.stylesheets[0].fits("http://www.w3.org/1999/xhtml", "html")
    True
    """
    _check("[transform]", table, {"stylesheets", "grddl", "services", "transformers", "strict_jsonld"})
    sheets = [_stylesheet(entry, load) for entry in _tables("stylesheets", table.get("stylesheets", []))]
    allowed = {str(url): _load(str(name), load) for url, name in dict(table.get("grddl", {})).items()}
    services = [_service(entry) for entry in _tables("services", table.get("services", []))]
    named = table.get("transformers")
    if named is not None and not isinstance(named, list):
        raise ValueError("transformers must be a list of media types")
    strict_jsonld = table.get("strict_jsonld", False)
    if not isinstance(strict_jsonld, bool):
        raise ValueError(f"strict_jsonld must be true or false, not {strict_jsonld!r}")
    return TransformOptions(
        stylesheets=tuple(sheets),
        transformations=allowed,
        services=tuple(services),
        transformers=None if named is None else frozenset(map(str, named)),
        strict_jsonld=strict_jsonld,
        **others,
    )


def _stylesheet(entry: Mapping[str, Any], load: Callable[[str], bytes]) -> Stylesheet:
    _check("[[transform.stylesheets]]", entry, _SHEET)
    if "xslt" not in entry:
        raise ValueError("[[transform.stylesheets]] needs the key xslt")
    name = str(entry["xslt"])
    return Stylesheet(
        name=name, xslt=_load(name, load), root=str(entry.get("root", "")), namespace=entry.get("namespace")
    )


def _service(entry: Mapping[str, Any]) -> Service:
    _check("[[transform.services]]", entry, _SERVICE)
    if missing := {"media_type", "url"} - entry.keys():
        raise ValueError(f"[[transform.services]] needs {' and '.join(sorted(missing))}")
    return Service(**entry)


def _load(name: str, load: Callable[[str], bytes]) -> bytes:
    if name.startswith(BUILTIN):
        try:
            return xslt.builtin(name.removeprefix(BUILTIN))
        except FileNotFoundError:
            raise ValueError(f"there is no stylesheet {name}; there are rss, atom and xhtml") from None
    sheet = load(name)
    if fault := xslt.fault_in(sheet):
        raise ValueError(f"{name}: {fault}")
    return sheet


def _tables(name: str, value: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise ValueError(f"{name} must be a list of tables")
    return value


def _check(where: str, table: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(table.keys() - known):
        raise ValueError(f"{where} does not know {', '.join(unknown)}; it knows {', '.join(sorted(known))}")
