"""robots.txt decisions: the cases of Google's parser and of crawler-commons.

The rows "… RFC 9309" have only cases that follow the standard. Cases that Google marks as its own are left out. If a
note says that Google differs from the standard, the standard's result is expected.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from motherlode.fetch.robots import RobotsRules, normalize_path, normalize_pattern

from .runner import Case, CaseResult, shared

GOOGLE = "robots Google, all"
GOOGLE_RFC = "robots Google, RFC 9309"
COMMONS = "robots crawler-commons, product tokens"
COMMONS_OTHER = "robots crawler-commons, whole User-Agents"
DELAY = "robots crawler-commons, Crawl-delay"
PATHS = "robots Google, paths and escapes"
FLOORS = {GOOGLE: 141 / 145, GOOGLE_RFC: 1.0, COMMONS: 228 / 234, DELAY: 6 / 8, PATHS: 1.0}
"""Failing cases of Google: three that contradict RFC 9309, and one about index.html.

Failing cases of crawler-commons: four with agents that are not product tokens (and two about Crawl-delay with such
agents), one that expects a host with a long Crawl-delay to be dropped, and one that does not count a wildcard that
matches nothing.
"""


def cases() -> Iterator[Case]:
    for data in _load("google-robotstxt.json"):
        yield Case(id=data["id"], row=GOOGLE, data=data)
        if not data["google_only"]:
            right = not data["allowed"] if "note" in data else data["allowed"]
            yield Case(id=data["id"], row=GOOGLE_RFC, data={**data, "allowed": right})
    for data in _load("crawler-commons.json"):
        yield Case(id=data["id"], row=COMMONS if data["exact_agent"] else COMMONS_OTHER, data=data)
    for data in _load("crawler-commons-delay.json"):
        yield Case(id=data["id"], row=DELAY, data=data)
    extra = json.loads(shared("robots", "google-extra.json").read_bytes())
    for data in extra["path_of_url"] + extra["escape_pattern"]:
        yield Case(id=str(data.get("url", data.get("in"))), row=PATHS, data=data)


def run(case: Case) -> CaseResult:
    data = case.data
    if case.row == PATHS:
        if "url" in data:
            found, wanted = normalize_path(data["url"]), data["path"]
        else:
            found, wanted = normalize_pattern(data["in"]), data["out"]
        return True if found == wanted else found
    rules = RobotsRules(data["robots"].encode(errors="surrogateescape"), agent=data["agent"])
    if case.row == DELAY:
        return True if rules.delay == data["crawl_delay_ms"] / 1000 else f"{rules.delay} s"
    return rules.allows(data["url"]) is data["allowed"]


def _load(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("robots", name).read_bytes())
    return found
