"""Paths in a job file: seen from the file, and kept so that they can be found from anywhere."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from motherlode.crawler.config.errors import JobError as JobError
from motherlode.crawler.config.host_patterns import address_and_port, host_name, own_hosts, untrusted_hosts
from motherlode.crawler.url_rules import table_patterns
from motherlode.index.sinks.sink_settings import SinkSettings, sink_settings
from motherlode.links import LinkRules, link_rules_from
from motherlode.model.policy import MAX_UNTRIED_HOSTS
from motherlode.policies import (
    DEFAULT_POLICY,
    DEFAULT_REWARD,
    nearest,
    policy_from,
    reward_from,
    target_from,
)
from motherlode.policies.targets import UnreadableQueryError
from motherlode.transform.options import TransformOptions
from motherlode.transform.xslt.transform_settings import BUILTIN, from_table
from motherlode.www.urls import canonical

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


# ── What the user asks for: one typed object, whether it comes from a TOML file, from flags, or from both.


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A crawl to be done. Every key of a job file is a field here, by the same name."""

    seeds: tuple[str, ...] = ()
    """Where to start."""
    pages: int | None = None
    """Most requests for pages; failures count."""
    time: float | None = None
    """Most seconds; a job file may say "30m"."""
    bytes: int | None = None
    """Most bytes of bodies; a job file may say "1GB"."""
    target: str = "any"
    policy: str = DEFAULT_POLICY
    model: str = ""
    """A model file, or the folder of a crawl, that the policy starts from: see docs/models.md."""
    reward: str = DEFAULT_REWARD
    """What the policy learns from: target (0 or 1), statements, new-statements, per-request, per-byte: see
    docs/rewards.md."""
    choosy: float | None = None
    """With a budget of pages or bytes: rather wait some seconds for a host than ask one that promises less than this
    share of what it does. 0 asks whoever may be asked, which is faster and finds less. By default 0.65, and 0.85 where
    hosts have no delay."""
    dry_after: int | None = None
    """Stop when of so many requests in a row fewer than the share `dry_below` were finds."""
    dry_below: float = 0.01
    scope: str = "web"
    """host, pld, web, or a regular expression that a URL must match from its start."""
    simplify: bool = False
    """Take links for one page that differ only in the order of parameters, in empty ones, or in double slashes."""
    web: str | None = None
    """A WARC file in the place of the network."""
    delay: float | None = None
    """Seconds between two requests to one host; by default one, and none for a recorded web, where nobody minds."""
    warc: bool = False
    """Keep all answers as WARC files in the crawl's folder."""
    sitemaps: bool | str = True
    """Take up sitemaps: "robots" (or true) those that robots.txt files name, "usual" also /sitemap.xml where a
    robots.txt names none; false for none."""
    probe: str = "never"
    """A HEAD before a GET: "never", "unsure" where the address leaves open what is there, or "always"."""
    proxy: str | None = None
    """An HTTP proxy that all requests go through, as in http://127.0.0.1:3128: see docs/refresh.md on addresses."""
    proxy_env: str = ""
    """The environment variable with the URL of the proxy, password included, which then stands in no file."""
    own_hosts: tuple[str, ...] = ()
    """Hosts of your own (example.org, *.example.org) whose robots.txt is not applied; needs `contact`."""
    any_certificate: tuple[str, ...] = ()
    """Hosts that need not prove who they are, as in *.example.org or * for all: see docs/refresh.md on certificates."""
    concurrency: int = 64
    """Requests under way at the same time."""
    per_host: int = 4
    """Requests to one host at the same time, where the delay is 0."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address, whatever the host; by default half of `delay`."""
    per_address: int = 16
    """Requests to one IP address at the same time, where the delay of addresses is 0."""
    patience: float = 1.0
    """A host rests at least this many times as long as its answers take, up to a minute; not where the delay is 0."""
    pages_per_host: int | None = None
    """Most requests for pages of one host; failures count."""
    bytes_per_host: int | None = None
    """Most bytes of bodies from one host; a job file may say "50MB"."""
    barren_after: int | None = None
    """Requests without one relevant page, after which a host's remaining URLs are refused."""
    max_untried_hosts: int = MAX_UNTRIED_HOSTS
    """Hosts of one registrable domain that are contacted before one of them was relevant, and as many more for each
    host that was. Hosts of seeds do not count."""
    workers: int | None = None
    """Reader processes; by default one fewer than there are cores, but two where there are two."""
    max_body: int = 10 << 20
    """Bytes of a page that are read."""
    timeout: float = 120.0
    """Seconds for a whole answer."""
    retry_wait: float = 15.0
    """The unit, in seconds, of the waits after failures."""
    allow: tuple[str, ...] = ()
    """Address ranges that may be fetched from although they are not public, as in 127.0.0.0/8."""
    contact: str = ""
    """A URL or e-mail address for site owners; it goes into the User-Agent."""
    index: str = "now"
    """"now" fills the store and the index of words while the crawl runs; "later" appends quads to files, which is
    faster, and the first command that asks makes both of them: see docs/index.md."""
    words: bool = True
    """Keep an index of words for `motherlode search`."""
    seed: int = 0
    """Of all randomness."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Host names that do not go to DNS: "name" = "address:port"."""
    contexts: str = "bundled"
    """JSON-LD contexts: "bundled" uses only those that come with Motherlode, "fetch" also loads others, once each."""
    transform: Mapping[str, Any] = field(default_factory=dict)
    """Stylesheets, the allow-list of GRDDL, services and transformers of your own: see docs/transforms.md."""
    links: Mapping[str, Any] = field(default_factory=dict)
    """Which links are followed, by predicate, query, kind of term and regular expression: see docs/links.md."""
    sinks: tuple[Mapping[str, Any], ...] = ()
    """Where quads go while the crawl runs, beside its own store: see docs/sinks.md."""

    shards: int = 1
    """Crawls that share the hosts between them, on Ray where there are several: see docs/cluster.md."""
    ray: str = ""
    """Address of a running Ray cluster; without one, several shards run on a Ray of their own on this machine."""
    state: str = ""
    """Where shards keep checkpoints, as fsspec writes places (s3://bucket/path); without it their folders must do."""
    checkpoint: float = 30.0
    """Seconds between two checkpoints of a shard, where `state` names a place."""

    def __post_init__(self) -> None:
        self._check_amounts()
        self._check_choices()
        try:
            policy_from(self.policy)
            target_from(self.target)
            reward_from(self.reward)
            own_hosts(self.own_hosts)
            untrusted_hosts(self.any_certificate)
        except ValueError as error:
            raise JobError(in_words(error)) from error

    def _check_amounts(self) -> None:
        for name in _MORE_THAN_NOTHING:
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:  # nan is neither
                raise JobError(f"{name} must be greater than 0{' and finite' if value == inf else ''}; got {value}")
        for name in _NOT_NEGATIVE:
            value = getattr(self, name)
            if value is not None and not 0 <= value < inf:
                raise JobError(f"{name} must be a finite number from 0 on; got {value}")
        if self.choosy is not None and not 0 <= self.choosy <= 1:
            raise JobError(f"choosy must be a share from 0 to 1; got {self.choosy}")
        if not 0 < self.dry_below <= 1:
            raise JobError(f"dry_below must be a share above 0 and up to 1; got {self.dry_below}")
        if self.dry_after is not None and self.shards > 1:
            raise JobError("dry_after is for crawls without shards: each shard would see only its own part")

    def _check_choices(self) -> None:
        if self.sitemaps not in (True, False, "robots", "usual"):
            raise JobError(f'sitemaps must be "robots", "usual", true or false; got {self.sitemaps!r}')
        if self.probe not in ("never", "unsure", "always"):
            raise JobError(f'probe must be "never", "unsure" or "always"; got {self.probe!r}')
        if self.proxy is not None:
            _check_proxy(self.proxy, "proxy")
        if self.proxy is not None and self.proxy_env:
            raise JobError("proxy_env names where the proxy's URL is: leave out proxy")
        if not self.contact.isprintable():
            raise JobError(f"contact is a part of a line of HTTP, and can have no line breaks; got {self.contact!r}")
        if self.own_hosts and not self.contact:
            raise JobError("own_hosts needs contact: who leaves a robots.txt aside says who that is")
        if self.index not in ("now", "later"):
            raise JobError(f'index must be "now" or "later"; got {self.index!r}')
        if self.index == "later" and self.shards > 1:
            raise JobError('index = "later" is for crawls without shards: the stores of shards are merged at their end')
        if self.contexts not in ("bundled", "fetch"):
            raise JobError(f'contexts must be "bundled" or "fetch"; got {self.contexts!r}')

    @property
    def pause(self) -> float:
        """The delay that holds."""
        if self.delay is not None:
            return self.delay
        return _DELAY if self.web is None else 0.0

    def proxy_url(self, environment: Mapping[str, str]) -> str | None:
        """The proxy that is used; JobError if the environment lacks it."""
        if not self.proxy_env:
            return self.proxy
        found = environment.get(self.proxy_env)
        if found is None:
            raise JobError(f"the environment variable {self.proxy_env}, which proxy_env names, is not set")
        _check_proxy(found, self.proxy_env)
        return found

    def transform_options(self) -> TransformOptions:
        """What the `[transform]` table says, with its stylesheets read."""
        try:
            return from_table(self.transform, lambda name: Path(name).read_bytes())
        except OSError as error:
            raise JobError(f"the stylesheet {error.filename} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise JobError(f"the table [transform]: {error}") from error

    def following(self) -> LinkRules:
        """What the `[links]` table says about which links to follow."""
        try:
            table_patterns(self.links)
            return link_rules_from(self.links)
        except ValueError as error:
            raise JobError(f"the table [links]: {error}") from error

    def sink_settings(self) -> tuple[SinkSettings, ...]:
        """What the tables `[[sinks]]` say."""
        made = []
        for number, table in enumerate(self.sinks, 1):
            sizes = {name: parse_size(table[name]) for name in ("size", "spool") if isinstance(table.get(name), str)}
            try:
                made.append(sink_settings({**table, **sizes}))
            except ValueError as error:
                raise JobError(f"the table [[sinks]], number {number}: {error}") from error
        return tuple(made)

    def places(self) -> dict[str, tuple[str, int]]:
        """The table of hosts in the form that the fetcher wants: names as URLs spell them, international ones too."""
        table = {}
        for name, place in self.hosts.items():
            found = address_and_port(place)
            if found is None:
                raise JobError(f'hosts: {name} = {place!r} should be an address, as in "127.0.0.2:81" or "[::1]:81"')
            spelled = host_name(name)
            if spelled is None:
                raise JobError(f"hosts: {name!r} should be the name of a host, without a port or a path")
            table[spelled] = found
        return table


def _check_proxy(url: str, name: str) -> None:
    if "://" not in url or canonical(url) is None:
        shown = "a URL with a password" if holds_password(url) else repr(url)
        raise JobError(f"{name} should look like http://127.0.0.1:3128; got {shown}")


_MORE_THAN_NOTHING = (
    *("pages", "time", "bytes", "dry_after", "concurrency", "per_host", "per_address", "pages_per_host"),
    *("bytes_per_host", "barren_after", "max_untried_hosts", "workers", "max_body", "timeout", "shards", "checkpoint"),
)
_DELAY = 1.0
_NOT_NEGATIVE = ("delay", "retry_wait", "address_delay", "patience")


def in_words(error: ValueError) -> str:
    """What is wrong with a policy, a target or a reward; for a target's query with its place, as `query` tells it."""
    if not isinstance(error, UnreadableQueryError):
        return str(error)
    from motherlode.index.query.diagnostics import diagnose  # nobody waits for it but who has made a mistake

    return f"the target is not a SPARQL ASK that can be answered: {diagnose(error.query, error.complaint)}"


_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_time(text: str) -> float:
    """Seconds.

    >>> parse_time("30m"), parse_time("90")
    (1800.0, 90.0)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise JobError(f"time {text!r} should look like 90s, 30m, 2h or 1d")
    return float(match[1]) * _SECONDS[match[2].lower()]


def parse_size(text: str) -> int:
    """Bytes.

    >>> parse_size("1GB"), parse_size("512k")
    (1000000000, 512000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise JobError(f"size {text!r} should look like 500MB or 1GB")
    return int(float(match[1]) * _FACTORS[match[2].lower()])


def read_job_file(path: Path) -> dict[str, Any]:
    """The keys of a TOML job file, checked and in the types of `Job`."""
    try:
        with path.open("rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise JobError(f"the job file {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise JobError(f"the job file {path} is not TOML: {error}") from error
    return {name: _typed(name, value, path) for name, value in values.items()}


_FIELDS = {made.name: str(made.type) for made in dataclasses.fields(Job)}


_TOML_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "tuple": (list,),
    "Mapping": (dict,),
}
_ITEM_TYPES = {"tuple[str, ...]": str, "tuple[Mapping[str, Any], ...]": dict, "Mapping[str, str]": str}
_IN_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text in quotes",
    "tuple": "a list of texts",
    "Mapping": "a table",
}
_BETTER_WORDS = {
    "seeds": "a list of URLs",
    "allow": "a list of address ranges",
    "own_hosts": "a list of host names",
    "any_certificate": "a list of host names",
    "hosts": 'a table of names and addresses, as in "a.example" = "127.0.0.2:8080"',
    "time": 'a time such as "30m", or a number of seconds',
    "bytes": 'a size such as "1GB", or a number of bytes',
    "max_body": 'a size such as "10MB", or a number of bytes',
    "bytes_per_host": 'a size such as "50MB", or a number of bytes',
    "sitemaps": '"robots", "usual", true or false',
    "sinks": "a list of tables, each under [[sinks]]",
}
_UNITS: dict[str, Callable[[str], float]] = {
    "time": parse_time,
    **dict.fromkeys(("bytes", "max_body", "bytes_per_host"), parse_size),
}
"""Keys whose values may have a unit."""
_FLAGS_ALONE = frozenset({"output", "config", "refresh", "due", "serve", "quiet", "json"})
"""Flags that say how to run, and nothing about the crawl."""


def _typed(name: str, value: Any, path: Path) -> Any:
    declared = _FIELDS.get(name)
    if declared is None:
        raise JobError(f"{path}: {_unknown(name)}")
    if name in _UNITS and isinstance(value, str):
        try:
            return _UNITS[name](value)
        except JobError as error:
            raise JobError(f"{path}, {name}: {error}") from None
    if name == "sitemaps" and isinstance(value, (bool, str)):
        return value
    if not _fits(value, declared):
        words = _BETTER_WORDS.get(name) or _IN_WORDS[_outer(declared)]
        raise JobError(f"{path}: {name} should be {words}, not {_toml(value)}")
    return tuple(value) if isinstance(value, list) else located(name, value, path.parent)


def _unknown(name: str) -> str:
    """What to say of a key that is none; many a user writes a flag in its place."""
    key = name.replace("-", "_")
    if key in _FLAGS_ALONE:
        return f"{name} is for the command line alone: --{name.replace('_', '-')}"
    meant = {"stop_when_dry": "dry_after"}.get(key, key)
    hint = f" (did you mean {meant}?)" if meant in _FIELDS else nearest(name, _FIELDS)
    return f"unknown key {name!r}{hint}"


def _outer(declared: str) -> str:
    """A declared type without what is in brackets or behind a bar.

    >>> _outer("tuple[str, ...]"), _outer("int | None")
    ('tuple', 'int')
    """
    return re.split(r"[\[ ]", declared)[0]


def _fits(value: Any, declared: str) -> bool:
    if isinstance(value, bool) != (declared == "bool") or not isinstance(value, _TOML_TYPES[_outer(declared)]):
        return False
    items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return all(isinstance(item, _ITEM_TYPES.get(declared, object)) for item in items)


def job_to_toml(job: Job, *, only: Collection[str] | None = None, without: Collection[str] = ()) -> str:
    """The job as a file that gives the same job again, wherever the file lies; or some of its keys."""
    lines = []
    for made in dataclasses.fields(job):
        value = located(made.name, getattr(job, made.name), Path.cwd())
        if made.name == "seeds":  # no request has a password from there
            value = [_PASSWORD.sub("://", seed) for seed in value]
        if value is None or made.name in without or (only is not None and made.name not in only):
            continue
        lines.append(f"{made.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


_PASSWORD = re.compile(r"://[^/?#@\s\"']*:[^/?#\s\"']*@")
"""In a URL."""


def holds_password(text: str) -> bool:
    """Whether there is a URL with a password in a text.

    >>> holds_password('proxy = "http://ann:s=cret@127.0.0.1:3128"'), holds_password("http://a.example:80/@b")
    (True, False)
    """
    return _PASSWORD.search(text) is not None


def secret_keys(job: Job) -> frozenset[str]:
    """The keys of a job whose values hold passwords; they are kept in a file that the user alone may read."""
    return frozenset(
        made.name
        for made in dataclasses.fields(job)
        if made.name != "seeds" and holds_password(_toml(getattr(job, made.name) or ""))
    )


def check_secrets(path: Path) -> None:
    """JobError if a job file holds a password and others than its owner may read it."""
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # who reads the job tells of it
        return
    if mode & 0o077 and holds_password(text):
        raise JobError(
            f"{path} holds a password, and others on this machine may read it: `chmod 600 {path}`, or take the "
            "password out (for a proxy: proxy_env names an environment variable that holds its URL)"
        )


def _toml(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else {"\\": "\\\\", '"': '\\"'}.get(c, c) for c in value
        )
        return f'"{escaped}"'
    return str(value)
