"""The `Job`: everything that a user configures about a crawl, as one typed and checked object."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from os import fspath
from pathlib import Path
from typing import Any

from motherlode.crawler.config.host_patterns import (
    compile_named_hosts,
    compile_own_hosts,
    compile_untrusted_hosts,
    is_name_server,
    normalize_host,
    parse_endpoint,
)
from motherlode.crawler.config.notice_settings import NoticeSettings
from motherlode.crawler.config.sources import SourceSettings, parse_sources
from motherlode.crawler.config.values import JobError as JobError
from motherlode.crawler.config.values import has_password, parse_size, parse_time
from motherlode.crawler.url_rules import compile_links_table
from motherlode.fetch.http.host_headers import HostHeaders, check_header
from motherlode.fetch.http.proxy import ENVIRONMENT, Proxy, proxy_chooser
from motherlode.fetch.http.signatures import RequestSigner, SigningKey, check_agent
from motherlode.index.sinks.sink_settings import SinkSettings, sink_settings
from motherlode.links.from_quads import LinkRules, link_rules_from
from motherlode.model.policy import MAX_UNTRIED_HOSTS
from motherlode.model.usage import ALIASES, USES
from motherlode.policies import DEFAULT_POLICY, DEFAULT_REWARD, policy_from, reward_from, target_from
from motherlode.policies.scorers import ScorerLimits
from motherlode.policies.targets import UnreadableQueryError
from motherlode.transform.options import TransformOptions, from_table

DEFAULT_DELAY_SECONDS = 1.0
DEFAULT_HEADERS = (
    *("cache-control", "content-encoding", "content-language", "content-length", "date", "etag", "expires"),
    *("last-modified", "link", "retry-after", "server", "vary", "x-robots-tag"),
)
"""Default of `response_headers`. Content-Type is missing, because it has a property of its own (`dcterms:format`)."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
UNIT_PARSERS: Mapping[str, Callable[[str], float]] = {
    "time": parse_time,
    "round_time": parse_time,
    **dict.fromkeys(("bytes", "max_body", "bytes_per_host", "max_disk", "memory"), parse_size),
}
"""Keys whose values may have a unit."""
LOG_LEVELS = ("debug", "info", "warning", "error")
DEFAULT_LOG_LEVEL = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Configuration of one crawl. Every key of a job file is a field of the same name.

    As in a job file, a time or a size may be a text with a unit: `time="30m"`, `bytes="1GB"`.

    >>> job = Job(seeds=["https://example.org/"], pages=1000, time="30m")
    >>> job.seeds, job.time
    (('https://example.org/',), 1800.0)
    """

    seeds: Sequence[str] = ()
    """URLs to start from."""
    pages: int | None = None
    """Budget of requests for pages. Failed requests count."""
    time: float | None = None
    """Budget of seconds. A job file may say "30m"."""
    bytes: int | None = None
    """Budget of bytes of response bodies. A job file may say "1GB"."""
    target: str = "any"
    """Which pages are relevant: see docs/crawl.md."""
    policy: str = DEFAULT_POLICY
    """How the next URL is chosen: see docs/policies.md."""
    model: str = ""
    """A model file or a crawl folder that the policy starts from: see docs/models.md."""
    reward: str = DEFAULT_REWARD
    """The reward that the policy learns from: target (0 or 1), statements, new-statements, new-subjects, new-types,
    new-hosts, per-request, per-byte, or a scorer of the user: see docs/rewards.md."""
    scorer: Mapping[str, Any] = field(default_factory=dict)
    """Limits of scorers: seconds per page, max_bytes that are sent, and workers: see docs/rewards.md."""
    wait_threshold: float | None = None
    """With a budget of pages or bytes: wait some seconds for a better host if the value of every ready host is below
    this share of the better host's value. 0 never waits, which is faster and finds less. The default is 0.65, and 0.85
    if hosts have no delay."""
    stop_after: int | None = None
    """Stop if the share of relevant pages among this many requests in a row is less than `stop_below`."""
    stop_below: float = 0.01
    """The crawl stops if less than this share of the last `stop_after` requests gave relevant pages."""
    scope: str = "web"
    """host, pld, web, or a regular expression that a URL must match from its start."""
    simplify: bool = False
    """Whether links are equal that differ only in the order of parameters, empty parameters or double slashes."""
    web: str | None = None
    """A WARC file that is crawled instead of the network."""
    delay: float | None = None
    """Seconds between two requests to one host. The default is 1, and 0 for a recorded web."""
    warc: bool = False
    """Whether to save all responses as WARC files in the crawl folder."""
    sitemaps: bool | str = True
    """Which sitemaps to read: "robots" (or true) those that robots.txt names, "usual" also /sitemap.xml if robots.txt
    names none, false none."""
    probe: str = "never"
    """When to send a HEAD before a GET: "never", "always", or "unsure" (if the URL does not show the media type)."""
    proxy: str | None = None
    """URL of an HTTP or SOCKS5 proxy for all requests, as in http://127.0.0.1:3128 or socks5://127.0.0.1:1080, or
    "environment" for HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY: see docs/network.md."""
    proxy_env: str = ""
    """Name of an environment variable with the proxy's URL, so that its password is in no file."""
    own_hosts: Sequence[str] = ()
    """The user's own hosts (example.org, *.example.org), whose robots.txt is not applied. Needs `contact`."""
    any_certificate: Sequence[str] = ()
    """Hosts whose certificates are not verified, as in *.example.org, or * for all: see docs/refresh.md."""
    concurrency: int = 64
    """Maximum number of requests in flight."""
    per_host: int = 4
    """Maximum number of requests in flight to one host, if the delay is 0."""
    address_delay: float | None = None
    """Seconds between two requests to one IP address, whatever the host. The default is half of `delay`."""
    per_address: int = 16
    """Maximum number of requests in flight to one IP address, if the delay of addresses is 0."""
    delay_factor: float = 1.0
    """The delay of a host is at least this many times its response time, up to a minute. Not used if the delay is 0."""
    pages_per_host: int | None = None
    """Budget of requests for pages of one host. Failed requests count."""
    bytes_per_host: int | None = None
    """Budget of bytes of response bodies of one host. A job file may say "50MB"."""
    host_stop_after: int | None = None
    """Refuse the remaining URLs of a host after this many requests without a relevant page."""
    max_untried_hosts: int = MAX_UNTRIED_HOSTS
    """Hosts of one registrable domain that are contacted before one of them had a relevant page. Each host with a
    relevant page allows as many more. Hosts of seeds do not count."""
    workers: int | None = None
    """Parser processes. The default is one fewer than there are cores, and two on two cores."""
    memory: int | None = None
    """Ceiling of the memory of all processes of the crawl, in bytes. A job file may say "2GB". Above three quarters
    of it, the least valuable links and hosts are set aside on disk: see docs/crawl.md."""
    max_body: int = 10 << 20
    """Maximum number of bytes of a response body that are read."""
    timeout: float = 120.0
    """Timeout in seconds for a whole response."""
    min_rate: float = 200.0
    """Minimum bytes per second of a response, averaged over 30 seconds. A slower response fails. 0 allows any rate."""
    retry_wait: float = 15.0
    """Seconds of one unit of back-off: waits after failures are multiples of it."""
    idle_timeout: float = 60.0
    """Seconds that a crawl waits if it has nothing left but retries of failed requests. Then they are given up."""
    allow: Sequence[str] = ()
    """Private address ranges that may be fetched from, as in 127.0.0.0/8."""
    contact: str = ""
    """URL or e-mail address for site owners, sent in the User-Agent header."""
    user_agent_suffix: str = ""
    """Text at the end of the User-Agent header."""
    headers: Mapping[str, Any] = field(default_factory=dict)
    """Further request headers for named hosts: "*.example.org" = { Accept-Language = "de" }."""
    tokens: Mapping[str, str] = field(default_factory=dict)
    """Bearer tokens for named hosts, sent over https only: "api.example.org" = "token"."""
    tokens_env: Mapping[str, str] = field(default_factory=dict)
    """Names of environment variables with bearer tokens, by host, so that a token is in no file."""
    signing_key: str = ""
    """File with the private key that signs https requests (Web Bot Auth): see docs/trust.md and `motherlode keys`."""
    signature_agent: str = ""
    """The https URL, without a path, at which the key directory is published. Needed with `signing_key`."""
    obey_usage: Sequence[str] = ()
    """Uses for which the preferences of sites are obeyed: train-ai, train-ai-images, ai-use, search, tdm. Pages that
    reserve one are not fetched, or their statements are not kept if only the page itself says so: docs/trust.md."""
    tdmrep: bool = False
    """Whether to request /.well-known/tdmrep.json once per origin. Always requested if `obey_usage` names tdm."""
    index: str = "now"
    """When the log of quads is indexed. "now": a process of low priority fills the store and the index of words during
    the crawl. "later": the first command that reads fills both: see docs/index-later.md."""
    describe: str = "requests"
    """Which URLs the provenance describes. "pages": pages and redirects. "requests": also URLs whose request failed or
    was refused, for example by robots.txt. "all": also those that wait when a run ends. See docs/provenance.md."""
    response_headers: Sequence[str] = DEFAULT_HEADERS
    """Names of response headers that the provenance has; "*" for all: see docs/provenance.md."""
    words: bool = True
    """Whether to keep an index of words for `motherlode search`."""
    log_level: str = DEFAULT_LOG_LEVEL
    """Lowest level of the lines in `crawl.log`: debug, info (one line per URL), warning or error."""
    seed: int = 0
    """Seed of all random numbers."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """Host names that are not resolved by DNS: "name" = "address:port"."""
    name_servers: Sequence[str] = ()
    """IP addresses of name servers, as in 127.0.0.1 or 127.0.0.1:5353. The default is those of this machine."""
    contexts: str = "bundled"
    """Which JSON-LD contexts are used: "bundled" only those of Motherlode, "fetch" also others, each loaded once."""
    transform: Mapping[str, Any] = field(default_factory=dict)
    """Stylesheets, the allow-list of GRDDL, services and user-defined transformers: see docs/transforms.md."""
    links: Mapping[str, Any] = field(default_factory=dict)
    """Which links are followed, by predicate, query, kind of term and regular expression: see docs/links.md."""
    sinks: Sequence[Mapping[str, Any]] = ()
    """Where quads are sent during the crawl, in addition to the crawl's store: see docs/sinks.md."""

    pages_per_day: int | None = None
    """Budget of requests for pages per day of `crawl --refresh --forever`, spread over the day."""
    round_time: float = 3600.0
    """Seconds between the beginnings of two rounds of `crawl --refresh --forever`. A job file may say "1h"."""
    max_disk: int | None = None
    """Largest size of the crawl folder, at which `crawl --refresh --forever` waits. A job file may say "50GB"."""
    validate: Sequence[str] = ()
    """Profiles, or files of SHACL shapes, by which all pages are validated at the end of a run, as in ["google"]."""
    sources: Sequence[Mapping[str, Any]] = ()
    """Providers that are harvested, each with a name, a sitemap or seeds, a contact and a budget."""
    notices: Mapping[str, Any] = field(default_factory=dict)
    """A webhook or a command that gets notices of the end, outages, challenged hosts and drops of the harvest rate."""

    shards: int = 1
    """Number of crawls that share the hosts. More than one run on Ray: see docs/cluster.md."""
    ray_parsers: int = 0
    """Number of parsers on Ray, for each shard, instead of parser processes beside the crawl: see docs/cluster.md."""
    ray: str = ""
    """Address of a running Ray cluster. Without it, shards and remote parsers start Ray on this machine."""
    state: str = ""
    """Where shards keep checkpoints, as an fsspec URL (s3://bucket/path). Without it they are only in their folders."""
    checkpoint: float = 30.0
    """Seconds between two checkpoints of a shard, if `state` is set."""

    def __post_init__(self) -> None:
        self._normalize()
        self._check_numbers()
        self._check_choices()
        self._check_combinations()
        try:
            policy_from(self.policy)
            target_from(self.target)
            reward_from(self.reward)
            self.scorer_limits()
            compile_own_hosts(self.own_hosts)
            compile_untrusted_hosts(self.any_certificate)
            self.host_headers(None)
        except ValueError as error:
            raise JobError(describe_error(error)) from error

    def _normalize(self) -> None:
        """Convert lists to tuples, texts with units to numbers, and paths to texts."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
            elif isinstance(value, Path):
                object.__setattr__(self, name, fspath(value))
            elif isinstance(value, str) and name in UNIT_PARSERS:
                object.__setattr__(self, name, UNIT_PARSERS[name](value))
            elif isinstance(value, str) and name in _LISTS:
                raise JobError(f"{name} must be a list, as in {name}=[{value!r}]; got the text {value!r}")

    def _check_numbers(self) -> None:
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:  # false for nan
                raise JobError(f"{name} must be greater than 0{' and finite' if value == inf else ''}; got {value}")
        for name in _NOT_NEGATIVE:
            value = getattr(self, name)
            if value is not None and not 0 <= value < inf:
                raise JobError(f"{name} must be a finite number from 0 on; got {value}")
        if self.wait_threshold is not None and not 0 <= self.wait_threshold <= 1:
            raise JobError(f"wait_threshold must be a share from 0 to 1; got {self.wait_threshold}")
        if not 0 < self.stop_below <= 1:
            raise JobError(f"stop_below must be a share above 0 and up to 1; got {self.stop_below}")

    def _check_choices(self) -> None:
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                *others, last = (f'"{choice}"' for choice in choices)
                raise JobError(f"{name} must be {', '.join(others)} or {last}; got {value!r}")
        if self.sitemaps not in (True, False, "robots", "usual"):
            raise JobError(f'sitemaps must be "robots", "usual", true or false; got {self.sitemaps!r}')
        if unknown := next((use for use in self.obey_usage if use not in USES), ""):
            raise JobError(f"obey_usage must be a list of {', '.join(USES)}; got {ALIASES.get(unknown, unknown)!r}")
        wrong = next((name for name in self.response_headers if not _HEADER_NAME.fullmatch(name)), None)
        if wrong is not None:
            raise JobError(f'response_headers must be names such as "last-modified", or "*" for all; got {wrong!r}')
        if self.proxy is not None:
            _check_proxy(self.proxy, "proxy")
        for server in self.name_servers:
            if not is_name_server(server):
                raise JobError(f'name_servers: {server!r} should be an address, as in "127.0.0.1" or "[::1]:5353"')
        if not (self.user_agent_suffix.isprintable() and self.user_agent_suffix.isascii()):
            raise JobError(f"user_agent_suffix must be printable ASCII characters; got {self.user_agent_suffix!r}")
        if self.signature_agent and (problem := check_agent(self.signature_agent)):
            raise JobError(f"signature_agent: {problem}")
        if not self.contact.isprintable():
            raise JobError(f"contact is sent in an HTTP header and cannot have line breaks; got {self.contact!r}")

    def _check_combinations(self) -> None:
        if self.proxy is not None and self.proxy_env:
            raise JobError("proxy and proxy_env both name a proxy: leave out proxy or proxy_env")
        if bool(self.signing_key) != bool(self.signature_agent):
            raise JobError("signing_key and signature_agent need each other: sites look up the key at signature_agent")
        if self.own_hosts and not self.contact:
            raise JobError("own_hosts needs contact: a crawler that does not apply robots.txt must name its owner")
        if self.stop_after is not None and self.shards > 1:
            raise JobError("stop_after works only without shards, because a shard sees only its own requests")
        if self.links.get("index_query") and self.index == "later":
            raise JobError('[links] index_query needs the index while the crawl runs, and index = "later" has none')
        if self.links.get("index_query") and self.shards > 1:
            raise JobError("[links] index_query works only without shards, because each shard has an index of its own")
        if self.validate and self.index == "later":
            raise JobError('validate needs the index at the end of the crawl, and index = "later" has none')
        if self.index == "later" and self.shards > 1:
            raise JobError('index = "later" works only without shards, because the stores of shards are merged')

    @property
    def has_scorer(self) -> bool:
        """Whether a scorer of the user is the target or the reward."""
        return target_from(self.target).scorer is not None or reward_from(self.reward).scorer is not None

    def scorer_limits(self) -> ScorerLimits:
        """Parse the table `[scorer]`."""
        table = dict(self.scorer)
        if isinstance(table.get("max_bytes"), str):
            table["max_bytes"] = parse_size(table["max_bytes"])
        try:
            return ScorerLimits.from_table(table)
        except ValueError as error:
            raise JobError(f"the table [scorer]: {error}") from error

    @property
    def host_delay(self) -> float:
        """Seconds between two requests to one host: `delay`, or its default."""
        if self.delay is not None:
            return self.delay
        return DEFAULT_DELAY_SECONDS if self.web is None else 0.0

    def proxy_url(self, environment: Mapping[str, str]) -> str | None:
        """Return the URL of the proxy, or None. JobError if the variable that `proxy_env` names is not set or wrong."""
        if self.proxy == ENVIRONMENT:
            try:
                proxy_chooser(self.proxy, environment)
            except ValueError as error:
                raise JobError(f"a proxy of the environment: {error}") from None
        if not self.proxy_env:
            return self.proxy
        url = environment.get(self.proxy_env)
        if url is None:
            raise JobError(f"the environment variable {self.proxy_env}, which proxy_env names, is not set")
        _check_proxy(url, self.proxy_env)
        return url

    def host_headers(self, environment: Mapping[str, str] | None) -> tuple[HostHeaders, ...]:
        """Return the headers and tokens for named hosts. Without an environment, those of `tokens_env` are left out."""
        tokens = {host: ("tokens", token) for host, token in self.tokens.items()}
        for host, variable in (self.tokens_env if environment is not None else {}).items():
            assert environment is not None
            if variable not in environment:
                raise JobError(f"the environment variable {variable}, which tokens_env names, is not set")
            tokens[host] = "tokens_env", environment[variable]
        rules = [_host_headers("headers", host, headers) for host, headers in self.headers.items()]
        for host, (key, token) in tokens.items():
            rules.append(_host_headers(key, host, {"Authorization": f"Bearer {token}"})._replace(https_only=True))
        for host in self.tokens_env:
            compile_named_hosts(host, key="tokens_env")
        return tuple(rules)

    def request_signer(self) -> RequestSigner | None:
        """Return the signer of requests, or None. JobError if the key cannot be read, or if others may read it."""
        if not self.signing_key:
            return None
        path = Path(self.signing_key)
        try:
            is_open, text = path.stat().st_mode & 0o077, path.read_bytes()
        except OSError as error:
            raise JobError(f"the key {path}, which signing_key names, cannot be read: {error.strerror}") from error
        if is_open:
            raise JobError(f"the private key {path} must be readable by its owner alone: chmod 600 {path}")
        try:
            return RequestSigner(SigningKey.from_pem(text), self.signature_agent)
        except ValueError as error:
            raise JobError(f"signing_key: {path}: {error}") from error

    def transform_options(self) -> TransformOptions:
        """Parse the table `[transform]` and read its stylesheets."""
        try:
            return from_table(self.transform, lambda name: Path(name).read_bytes())
        except OSError as error:
            raise JobError(f"the stylesheet {error.filename} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise JobError(f"the table [transform]: {error}") from error

    def link_rules(self) -> LinkRules:
        try:
            compile_links_table(self.links)
            return link_rules_from(self.links)
        except ValueError as error:
            raise JobError(f"the table [links]: {error}") from error

    def sink_settings(self) -> tuple[SinkSettings, ...]:
        settings = []
        for number, table in enumerate(self.sinks, 1):
            sizes = {name: parse_size(table[name]) for name in ("size", "spool") if isinstance(table.get(name), str)}
            try:
                settings.append(sink_settings({**table, **sizes}))
            except ValueError as error:
                raise JobError(f"the table [[sinks]], number {number}: {error}") from error
        return tuple(settings)

    def source_sitemaps(self) -> frozenset[str]:
        """Return the sitemaps of all sources."""
        return frozenset(url for source in self.source_list() for url in source.sitemap)

    def source_list(self) -> tuple[SourceSettings, ...]:
        """Parse the tables `[[sources]]`."""
        try:
            return parse_sources(self.sources)
        except ValueError as error:
            raise JobError(str(error)) from error

    @property
    def all_seeds(self) -> tuple[str, ...]:
        """The seeds, and the sitemaps and seeds of the sources."""
        return (*self.seeds, *(url for source in self.source_list() for url in source.urls))

    def notice_settings(self) -> NoticeSettings | None:
        """Parse the table `[notices]`. None if there is none."""
        if not self.notices:
            return None
        try:
            return NoticeSettings.from_table(self.notices)
        except (ValueError, TypeError) as error:
            raise JobError(f"the table [notices]: {error}") from error

    def host_endpoints(self) -> dict[str, tuple[str, int]]:
        """Return IP address and port of each host in `hosts`, with host names in the spelling of URLs."""
        endpoints = {}
        for name, text in self.hosts.items():
            endpoint = parse_endpoint(text)
            if endpoint is None:
                raise JobError(f'hosts: {name} = {text!r} should be an address, as in "127.0.0.2:81" or "[::1]:81"')
            host = normalize_host(name)
            if host is None:
                raise JobError(f"hosts: {name!r} should be the name of a host, without a port or a path")
            endpoints[host] = endpoint
        return endpoints


_POSITIVE = (
    *("pages", "time", "bytes", "stop_after", "concurrency", "per_host", "per_address", "pages_per_host"),
    *("bytes_per_host", "host_stop_after", "max_untried_hosts", "workers", "max_body", "timeout", "shards"),
    *("checkpoint", "pages_per_day", "round_time", "max_disk", "memory"),
)
_CHOICES = {
    "probe": ("never", "unsure", "always"),
    "index": ("now", "later"),
    "contexts": ("bundled", "fetch"),
    "describe": ("pages", "requests", "all"),
    "log_level": LOG_LEVELS,
}
_NOT_NEGATIVE = ("min_rate", "ray_parsers", "delay", "retry_wait", "idle_timeout", "address_delay", "delay_factor")


def _host_headers(key: str, host: str, headers: object) -> HostHeaders:
    if not isinstance(headers, Mapping) or not all(isinstance(value, str) for value in headers.values()):
        raise JobError(f'{key}: {host} should be a table of headers, as in {{ Accept-Language = "de" }}')
    problems = filter(None, (check_header(name, value) for name, value in headers.items()))
    if problem := next(problems, ""):
        raise JobError(f"{key}: {host}: {problem}")
    return HostHeaders(compile_named_hosts(host, key=key), headers)


def _check_proxy(url: str, name: str) -> None:
    if url == ENVIRONMENT:
        return
    try:
        Proxy.from_url(url)
    except ValueError:
        shown = "a URL with a password" if has_password(url) else repr(url)
        raise JobError(f"{name} should look like http://127.0.0.1:3128; got {shown}") from None


_LISTS = frozenset(one.name for one in fields(Job) if str(one.type).startswith("Sequence"))


def describe_error(error: ValueError) -> str:
    """Return the message about a wrong policy, target or reward. For a SPARQL target it shows the position."""
    if not isinstance(error, UnreadableQueryError):
        return str(error)
    from motherlode.index.query.diagnostics import diagnose  # slow to import, and needed for errors only

    return f"the target is not a SPARQL ASK that can be answered: {diagnose(error.query, error.message)}"
