"""Values in which sites state preferences about the use of their pages: Content-Usage, Content-Signal, TDMRep, noai.

Content-Usage is read as in draft-ietf-aipref-attach and draft-ietf-aipref-vocab, Content-Signal as described at
contentsignals.org, and `tdm-reservation` as in the TDM Reservation Protocol of W3C (all read in November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from motherlode.model.usage import ALIASES, NO_PREFERENCES, USES, Usage, UsagePreferences, combine_preferences

USAGE_HEADERS = ("content-usage", "content-signal", "tdm-reservation", "tdm-policy")
"""Names of the response headers that state preferences, besides X-Robots-Tag."""
_MAX_CHARACTERS = 2000
_MAX_URL_CHARACTERS = 2000
_ITEM = (
    r"""(?:"(?:[^"\\]|\\["\\])*"|\?[01]|:[A-Za-z0-9+/=]*:|[-@]?[0-9][0-9.]*"""
    r"""|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*)"""
)
_KEY = r"[a-z*][a-z0-9_.*-]*"
_MEMBER = re.compile(rf"({_KEY})(?:=({_ITEM}|\([^()]*\)))?(?:;[ ]*{_KEY}(?:={_ITEM})?)*[ \t]*(?:,[ \t]*(?=[^ \t])|$)")
"""A member of a dictionary of RFC 9651 with its parameters, and the comma after it."""
_SIGNAL = re.compile(r"([a-z-]+)\s*=\s*(yes|no)\b", re.IGNORECASE)
_NO_AI = {"noai": Usage.TRAIN_AI.value, "noimageai": Usage.TRAIN_AI_IMAGES.value}


def parse_content_usage(value: str) -> UsagePreferences:
    """Return the preferences of a Content-Usage value. None are stated if it is no dictionary of RFC 9651.

    >>> parse_content_usage("train-ai=n, search=y;x=1, other=y").uses, parse_content_usage("train-ai=n, Search=y").uses
    ({'train-ai': False, 'search': True}, {})
    """
    value = value.strip(" ")
    members: dict[str, str | None] = {}
    at = 0
    while at < len(value) <= _MAX_CHARACTERS:
        found = _MEMBER.match(value, at)
        if found is None:
            return NO_PREFERENCES
        members[found[1]] = found[2]  # the last one counts
        at = found.end()
    return UsagePreferences({use: members[use] == "y" for use in USES if members.get(use) in ("y", "n")})


def parse_content_signal(value: str) -> UsagePreferences:
    """Return the preferences of a Content-Signal value.

    >>> parse_content_signal("search=yes, ai-train=no").uses
    {'search': True, 'train-ai': False}
    """
    uses: dict[str, bool] = {}
    for name, answer in _SIGNAL.findall(value[:_MAX_CHARACTERS]):
        use = ALIASES.get(name.lower(), name.lower())
        if use in USES:
            uses[use] = answer.lower() == "yes" and uses.get(use, True)
    return UsagePreferences(uses)


def tdm_preferences(reservation: object, policy: object = "") -> UsagePreferences:
    """Return the preferences of a `tdm-reservation`, which is 0 or 1, with the `tdm-policy` beside it.

    >>> tdm_preferences("1", "https://a.example/p.json"), tdm_preferences("2").uses
    (UsagePreferences(uses={'tdm': False}, tdm_policy='https://a.example/p.json'), {})
    """
    text = str(reservation).strip() if isinstance(reservation, (str, int)) else ""
    if text not in ("0", "1"):  # an error, which counts as if nothing were said
        return NO_PREFERENCES
    is_reserved = text == "1"
    is_url = isinstance(policy, str) and 0 < len(policy) <= _MAX_URL_CHARACTERS
    return UsagePreferences({Usage.TDM.value: not is_reserved}, str(policy).strip() if is_reserved and is_url else "")


def no_ai_preferences(directive: str) -> UsagePreferences:
    """Return the preferences of one robots directive: `noai` or `noimageai`."""
    words = directive.split()
    return UsagePreferences({use: False for name, use in _NO_AI.items() if name in words})


_HEADER_PARSERS: Mapping[str, Callable[[str], UsagePreferences]] = {
    "content-usage": parse_content_usage,
    "content-signal": parse_content_signal,
}


def header_preferences(headers: Mapping[str, str]) -> UsagePreferences:
    """Return the preferences of response headers, without X-Robots-Tag."""
    stated = [parse(headers[name]) for name, parse in _HEADER_PARSERS.items() if name in headers]
    if "tdm-reservation" in headers:
        stated.append(tdm_preferences(headers["tdm-reservation"], headers.get("tdm-policy", "")))
    return combine_preferences(stated)
