"""URLs: the cases of the WHATWG standard and the normal forms of crawler-commons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from motherlode.www.urls import canonical, parse, simplify

from .runner import Case, CaseResult, shared

WHATWG = "url WHATWG, all"
WHATWG_WEB = "url WHATWG, http(s)"
RESOLVE = "url crawler-commons, resolved"
NORMAL = "url crawler-commons, simplified form"
CANONICAL = "url crawler-commons, canonical form"
FLOORS = {WHATWG: 1.0, WHATWG_WEB: 1.0, RESOLVE: 1.0, NORMAL: 126 / 136, CANONICAL: 107 / 136}
"""Failing cases of the normal forms: schemes other than http(s), which are not crawled (six), URLs without a host or a
scheme (three), and an IPv6 address that the WHATWG standard writes differently. The canonical form also keeps the order
of parameters and double slashes.
"""


def cases() -> Iterator[Case]:
    for data in _load("whatwg-urltestdata.json"):
        yield Case(id=data["id"], row=WHATWG, data=data)
        if data.get("href", "").startswith(("http:", "https:")):
            yield Case(id=data["id"], row=WHATWG_WEB, data=data)
    for data in _load("crawler-commons-resolve.json"):
        yield Case(id=data["id"], row=RESOLVE, data=data)
    for data in _load("crawler-commons-normalizer.json"):
        yield Case(id=data["id"], row=NORMAL, data=data)
        yield Case(id=data["id"], row=CANONICAL, data=data)


def run(case: Case) -> CaseResult:
    data = case.data
    if case.row in (WHATWG, WHATWG_WEB, RESOLVE):
        found, wanted = parse(data["input"], data["base"] or None), data.get("href")
    else:
        found, wanted = canonical(data["in"]), data["out"]
        if found is not None and case.row == NORMAL:
            found = simplify(found)
    return True if found == wanted else f"{found}, not {wanted}"


def _load(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shared("url", name).read_bytes())
    return found
