"""One table of `[[sinks]]` in a job file, checked and typed."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import urlsplit


class SinkKind(Enum):
    """Where quads may go."""

    NQUADS = "nquads"
    UPDATE = "update"
    GRAPH_STORE = "graphstore"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkSettings:
    """What a user says about a sink. Every key of a table is a field here, by the same name."""

    kind: SinkKind
    url: str = ""
    """The endpoint for updates, or the graph store."""
    path: str = "segments"
    """The folder of N-Quads files; seen from the crawl's own folder, where it is not absolute."""
    provenance: bool = True
    """Send what is known about each page, too; by default not to a graph store, which replaces only whole graphs."""
    size: int = 64_000_000
    """Packed bytes of one N-Quads file."""
    spool: int = 10_000_000_000
    """Bytes that may wait on disk for an endpoint before the crawl stops."""
    timeout: float = 60.0
    """Seconds for one request."""
    drain: float = 30.0
    """Seconds that the end of a crawl waits for an endpoint; what is left then is sent by the next `resume`."""
    user: str = ""
    password_env: str = ""
    """The environment variable with the password of `user`: it stands in no file."""
    token_env: str = ""
    """The environment variable with a bearer token."""

    def headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The header that lets us in; ValueError where the environment lacks what it should hold."""
        for name in filter(None, (self.password_env, self.token_env)):
            if name not in environment:
                raise ValueError(f"the environment variable {name}, which a sink needs, is not set")
        if self.token_env:
            return {"Authorization": f"Bearer {environment[self.token_env]}"}
        if self.user:
            password = environment[self.password_env] if self.password_env else ""
            return {"Authorization": f"Basic {base64.b64encode(f'{self.user}:{password}'.encode()).decode()}"}
        return {}


_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("kind", "url", "path", "user", "password_env", "token_env"), (str,)),
    "provenance": (bool,),
    **dict.fromkeys(("size", "spool"), (int,)),
    **dict.fromkeys(("timeout", "drain"), (int, float)),
}


def sink_settings(table: Mapping[str, Any]) -> SinkSettings:
    """The settings that a table means; ValueError says what is wrong.

    >>> sink_settings({"kind": "graphstore", "url": "http://127.0.0.1:7878/store"}).provenance
    False
    """
    for name, value in table.items():
        if name not in _TYPES:
            raise ValueError(f"unknown key {name!r}; known: {', '.join(sorted(_TYPES))}")
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool) != (name == "provenance"):
            raise ValueError(f"{name} cannot be {value!r}")
    kinds = {kind.value: kind for kind in SinkKind}
    kind = kinds.get(table.get("kind", ""))
    if kind is None:
        raise ValueError(f"kind must be one of {', '.join(kinds)}; got {table.get('kind')!r}")
    if kind is not SinkKind.NQUADS:
        _check_url(kind, table.get("url", ""))
    for name in ("size", "spool", "timeout"):
        if name in table and table[name] <= 0:
            raise ValueError(f"{name} must be greater than 0; got {table[name]}")
    defaults = {"provenance": kind is not SinkKind.GRAPH_STORE}
    return SinkSettings(**{**defaults, **table, "kind": kind})


def _check_url(kind: SinkKind, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"a sink of kind {kind.value!r} needs the url of an endpoint; got {url!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a sink's url holds no password: use user and password_env, or token_env")
