"""The keyword arguments of `motherlode.crawl`, for type checkers. `Job` defines and documents them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict


class JobOptions(TypedDict, total=False):
    """The fields of a `Job` without its seeds. A test compares both."""

    pages: int | None
    time: float | str | None
    bytes: int | str | None
    target: str
    policy: str
    model: str | PathLike[str]
    reward: str
    scorer: Mapping[str, Any]
    wait_threshold: float | None
    stop_after: int | None
    stop_below: float
    scope: str
    simplify: bool
    web: str | PathLike[str] | None
    delay: float | None
    warc: bool
    sitemaps: bool | str
    probe: str
    proxy: str | None
    proxy_env: str
    own_hosts: Sequence[str]
    any_certificate: Sequence[str]
    concurrency: int
    per_host: int
    address_delay: float | None
    per_address: int
    delay_factor: float
    pages_per_host: int | None
    bytes_per_host: int | str | None
    host_stop_after: int | None
    max_untried_hosts: int
    workers: int | None
    memory: int | str | None
    max_body: int | str
    timeout: float
    min_rate: float
    retry_wait: float
    idle_timeout: float
    allow: Sequence[str]
    contact: str
    user_agent_suffix: str
    headers: Mapping[str, Any]
    tokens: Mapping[str, str]
    tokens_env: Mapping[str, str]
    signing_key: str
    signature_agent: str
    obey_usage: Sequence[str]
    tdmrep: bool
    index: str
    describe: str
    response_headers: Sequence[str]
    words: bool
    log_level: str
    seed: int
    hosts: Mapping[str, str]
    name_servers: Sequence[str]
    contexts: str
    transform: Mapping[str, Any]
    links: Mapping[str, Any]
    sinks: Sequence[Mapping[str, Any]]
    pages_per_day: int | None
    round_time: float | str
    max_disk: int | str | None
    validate: Sequence[str]
    sources: Sequence[Mapping[str, Any]]
    notices: Mapping[str, Any]
    shards: int
    ray_parsers: int
    ray: str
    state: str
    checkpoint: float
