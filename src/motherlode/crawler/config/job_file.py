"""Job files with the keys of a `Job`, and files of seed URLs. A relative path is relative to its job file."""

import dataclasses
import re
import sys
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from motherlode.crawler.config.job import UNIT_PARSERS, Job
from motherlode.crawler.config.values import JobError, has_password, remove_password
from motherlode.policies import nearest
from motherlode.transform.options import BUILTIN

RENAMED_KEYS: Mapping[str, str] = {
    "choosy": "wait_threshold",
    "barren_after": "host_stop_after",
    "dry_after": "stop_after",
    "dry_below": "stop_below",
    "patience": "delay_factor",
}
"""Keys of earlier versions and their names today."""
_RENAMED_FLAGS: Mapping[str, str] = {"stop_when_dry": "stop_after"}
"""Flags of earlier versions, in the spelling of keys, that had another name than their key."""
_COMMAND_LINE_ONLY = frozenset({"output", "config", "refresh", "due", "forever", "serve", "quiet", "json"})
"""Flags that configure a run and not the crawl."""
_PATH_KEYS = frozenset({"web", "model", "state", "signing_key"})
"""Keys whose value is a path. `state` may also be a URL."""

_COMMENT = re.compile(r"(?:^|\s)#.*")

_FIELDS = {one.name: str(one.type) for one in dataclasses.fields(Job)}
_TOML_TYPES = {"bool": bool, "int": int, "float": int | float, "str": str, "Sequence": list, "Mapping": dict}
_ITEM_TYPES = {"Sequence[str]": str, "Sequence[Mapping[str, Any]]": dict, "Mapping[str, str]": str}
_TYPE_DESCRIPTIONS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "Sequence": "a list of texts",
    "Mapping": "a table",
}
_KEY_DESCRIPTIONS = {
    "seeds": "a list of URLs",
    "allow": "a list of address ranges",
    "own_hosts": "a list of host names",
    "response_headers": "a list of header names",
    "any_certificate": "a list of host names",
    "obey_usage": "a list of uses",
    "name_servers": "a list of IP addresses",
    "validate": "a list of profiles or files",
    "hosts": 'a table of names and addresses, as in "a.example" = "127.0.0.2:8080"',
    "time": 'a time such as "30m", or a number of seconds',
    "bytes": 'a size such as "1GB", or a number of bytes',
    "max_body": 'a size such as "10MB", or a number of bytes',
    "max_disk": 'a size such as "50GB", or a number of bytes',
    "round_time": 'a time such as "1h", or a number of seconds',
    "bytes_per_host": 'a size such as "50MB", or a number of bytes',
    "sitemaps": '"robots", "usual", true or false',
    "sinks": "a list of tables, each under [[sinks]]",
    "sources": "a list of tables, each under [[sources]]",
}
"""Descriptions for keys that need a more exact one than their type."""


def read_job_file(path: Path, *, accept_renamed_keys: bool = False) -> dict[str, Any]:
    """Read a TOML job file and return its keys in the types of `Job`. Renamed keys are errors unless accepted."""
    try:
        with path.open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise JobError(f"the job file {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise JobError(f"the job file {path} is not TOML: {error}") from error
    if accept_renamed_keys:
        values = {RENAMED_KEYS.get(name, name): value for name, value in values.items()}
    return {name: _convert(name, value, path) for name, value in values.items()}


def _convert(name: str, value: Any, path: Path) -> Any:
    declared = _FIELDS.get(name)
    if declared is None:
        raise JobError(f"{path}: {_describe_unknown_key(name)}")
    if name in UNIT_PARSERS and isinstance(value, str):
        try:
            return UNIT_PARSERS[name](value)
        except JobError as error:
            raise JobError(f"{path}, {name}: {error}") from None
    if name == "sitemaps" and isinstance(value, (bool, str)):
        return value
    if not _has_type(value, declared):
        expected = _KEY_DESCRIPTIONS.get(name) or _TYPE_DESCRIPTIONS[_outer_type(declared)]
        raise JobError(f"{path}: {name} should be {expected}, not {_to_toml(value)}")
    return tuple(value) if isinstance(value, list) else make_paths_absolute(name, value, path.parent)


def _describe_unknown_key(name: str) -> str:
    """Return an error message for a key that `Job` does not have. Users often write a flag instead of a key."""
    key = name.replace("-", "_")
    if key in _COMMAND_LINE_ONLY:
        return f"{name} is for the command line alone: --{name.replace('_', '-')}"
    new_name = RENAMED_KEYS.get(key) or _RENAMED_FLAGS.get(key)
    if new_name is not None:
        return f"the key {name!r} is now called {new_name}: rename it in the file"
    hint = f" (did you mean {key}?)" if key in _FIELDS else nearest(name, _FIELDS)
    return f"unknown key {name!r}{hint}"


def _outer_type(declared: str) -> str:
    """Return a declared type without type arguments and without alternatives."""
    return re.split(r"[\[ ]", declared)[0]


def _has_type(value: Any, declared: str) -> bool:
    if isinstance(value, bool) != (declared == "bool") or not isinstance(value, _TOML_TYPES[_outer_type(declared)]):
        return False
    items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return all(isinstance(item, _ITEM_TYPES.get(declared, object)) for item in items)


def make_paths_absolute(name: str, value: Any, folder: Path) -> Any:
    """Return the value of a key with absolute paths. Relative paths are relative to the folder."""
    if name == "transform":
        return _make_stylesheets_absolute(value, folder)
    if name in _PATH_KEYS and value and "://" not in value:
        return str((folder / value).resolve())
    return value


def _make_stylesheets_absolute(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:

    def resolve(name: Any) -> Any:
        return name if not isinstance(name, str) or name.startswith(BUILTIN) else str((folder / name).resolve())

    resolved = dict(table)
    if isinstance(resolved.get("stylesheets"), list):
        resolved["stylesheets"] = [
            {**sheet, "xslt": resolve(sheet["xslt"])} if isinstance(sheet, dict) and "xslt" in sheet else sheet
            for sheet in resolved["stylesheets"]
        ]
    if isinstance(resolved.get("grddl"), dict):
        resolved["grddl"] = {url: resolve(name) for url, name in resolved["grddl"].items()}
    return resolved


def job_to_toml(job: Job, *, only: Collection[str] | None = None, without: Collection[str] = ()) -> str:
    """Serialize a job, or some of its keys, as a job file for any folder. Passwords in seeds are left out."""
    lines = []
    for one in dataclasses.fields(job):
        value = make_paths_absolute(one.name, getattr(job, one.name), Path.cwd())
        if one.name == "seeds":
            value = [remove_password(seed) for seed in value]
        if value is None or one.name in without or (only is not None and one.name not in only):
            continue
        lines.append(f"{one.name} = {_to_toml(value)}")
    return "\n".join(lines) + "\n"


def describe_job(job: Job) -> dict[str, str]:
    """Return the keys of a job that differ from their defaults, for a description that is published.

    Keys with passwords are left out, and so are paths of this machine.
    """
    hidden = secret_keys(job) | _PATH_KEYS | {"hosts"}
    changed = (one for one in dataclasses.fields(job) if one.name not in hidden and _is_changed(job, one))
    return {one.name: _to_toml(getattr(job, one.name)) for one in changed}


def _is_changed(job: Job, one: "dataclasses.Field[Any]") -> bool:
    default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
    return bool(getattr(job, one.name) != default)


def secret_keys(job: Job) -> frozenset[str]:
    """Return the keys of a job whose values have passwords. They are kept in a file that only its owner may read."""
    found = {
        one.name
        for one in dataclasses.fields(job)
        if one.name != "seeds" and has_password(_to_toml(getattr(job, one.name) or ""))
    }
    return frozenset(found | {name for name in ("tokens", "headers", "notices") if getattr(job, name)})


def _to_toml(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_to_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_to_toml(key)} = {_to_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {"\\": "\\\\", '"': '\\"'}.get(c, c) for c in value
        )
        return f'"{escaped}"'
    return str(value)


STDIN = "-"
"""The name of a file that means stdin."""


def read_seeds(path: Path) -> tuple[str, ...]:
    """Read a file with one URL per line. A # starts a comment at the beginning of a line or after a space.

    The path - is stdin. Raise JobError if the file has no URL.
    """
    try:
        text = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
        lines = text.decode("utf-8-sig").splitlines()
    except OSError as error:
        hint = "; give a URL without --seeds" if str(path).startswith(("http:", "https:")) else ""
        raise JobError(f"the seed file {path} cannot be read: {error.strerror}{hint}") from error
    except UnicodeDecodeError as error:
        raise JobError(f"the seed file {path} is not UTF-8 text: {error}") from error
    urls = tuple(url for line in lines if (url := _COMMENT.sub("", line).strip()))
    if not urls:
        raise JobError(f"the seed file {path} has no URL: write one per line")
    return urls
