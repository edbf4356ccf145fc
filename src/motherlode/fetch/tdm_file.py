"""The file tdmrep.json of a host, which reserves text and data mining by path (TDM Reservation Protocol of W3C)."""

from __future__ import annotations

import msgspec

from motherlode.fetch.robots import MAX_USAGE_RULES, NO_USAGE_RULES, UsageRules, normalize_pattern
from motherlode.www.usage_values import tdm_preferences

TDM_PATH = "/.well-known/tdmrep.json"
MAX_TDM_BYTES = 1 << 19


def parse_tdm_file(body: bytes) -> UsageRules:
    """Return the rules of a tdmrep.json: the first one that matches decides. Invalid rules are left out.

    >>> parse_tdm_file(b'[{"location": "/a/", "tdm-reservation": 1}]').preferences("http://a.example/a/b").reserved
    ['tdm']
    """
    try:
        found = msgspec.json.decode(body[:MAX_TDM_BYTES].removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NO_USAGE_RULES
    rules = []
    for rule in (found if isinstance(found, list) else [])[:MAX_USAGE_RULES]:
        location = rule.get("location") if isinstance(rule, dict) else None
        if isinstance(location, str) and location.startswith(("/", "*")):
            stated = tdm_preferences(rule.get("tdm-reservation"), rule.get("tdm-policy", ""))
            if stated.uses:
                rules.append((normalize_pattern(location), stated))
    return UsageRules(rules) if rules else NO_USAGE_RULES
