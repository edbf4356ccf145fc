"""The settings of one sink: a table of `[[sinks]]` in a job file, checked and typed."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import urlsplit


class SinkKind(Enum):
    """The kinds of sinks."""

    NQUADS = "nquads"
    UPDATE = "update"
    GRAPH_STORE = "graphstore"


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkSettings:
    """The settings of a sink. Each field has the name of its key in the table."""

    kind: SinkKind
    url: str = ""
    """URL of the update endpoint or of the graph store."""
    path: str = "segments"
    """Folder of the N-Quads files. A relative path starts at the crawl's folder."""
    provenance: bool = True
    """Whether to send the provenance of each page. False by default for a graph store: it replaces whole graphs."""
    size: int = 64_000_000
    """Compressed bytes per N-Quads file."""
    spool: int = 10_000_000_000
    """Maximum bytes in the spool of an endpoint. If more wait, the crawl stops."""
    timeout: float = 60.0
    drain: float = 30.0
    """Seconds to wait for an endpoint at the end of a crawl. The next `resume` sends what is left then."""
    user: str = ""
    password_env: str = ""
    """Environment variable with the password of `user`, so that no file contains it."""
    token_env: str = ""
    """Environment variable with a bearer token."""

    def headers(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the Authorization header, if any. ValueError if an environment variable is missing."""
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
    """Return the settings in a table. ValueError says what is wrong with it."""
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
        url = table.get("url", "")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"a sink of kind {kind.value!r} needs the url of an endpoint; got {url!r}")
        if parts.username is not None or parts.password is not None:
            raise ValueError("a sink's url holds no password: use user and password_env, or token_env")
    for name in ("size", "spool", "timeout"):
        if name in table and table[name] <= 0:
            raise ValueError(f"{name} must be greater than 0; got {table[name]}")
    return SinkSettings(**{"provenance": kind is not SinkKind.GRAPH_STORE, **table, "kind": kind})
