"""The lines of a robots.txt, and the group among them that is for one product token (RFC 9309, 2.1 and 2.2).

Whatever owners write is read in the way that they most likely meant it: lines without a colon, misspelt names, markup.
Where two readings are possible, the one that forbids more is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from motherlode.fetch.robots_match import pattern_of

MAX_LINE = 16_663
"""Characters of a line that are read. No URL that we ask for is a quarter as long."""
MAX_DELAY = 86_400.0
"""Seconds. A host that asks for more is asked once a day: it is slowed, never dropped."""

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_TOKEN = re.compile(r"[A-Za-z_-]*")
_LONGEST_NAME = 24
"""Characters of a name that may be a misspelt one."""
_MOST_GUESSES = 500
"""Names in one file that are tried as misspelt ones: a file of nothing else is no robots.txt."""


class Field(Enum):
    """The lines that mean something; the value is the name without hyphens and doubled letters."""

    USER_AGENT = "useragent"
    ALLOW = "alow"
    DISALLOW = "disalow"
    CRAWL_DELAY = "crawldelay"
    SITEMAP = "sitemap"


_NAMES = {
    "user-agent": Field.USER_AGENT,
    "allow": Field.ALLOW,
    "disallow": Field.DISALLOW,
    "crawl-delay": Field.CRAWL_DELAY,
    "sitemap": Field.SITEMAP,
}


@dataclass(slots=True, kw_only=True)
class Group:
    """What one product token is told; all groups that name it, as one."""

    named: bool = False
    """Whether any line names it at all."""
    rules: dict[str, bool] = field(default_factory=dict)
    """Pattern → whether it allows. A pattern that is both allowed and disallowed is allowed (2.2.2)."""
    delay: float | None = None

    def add_rule(self, pattern: str, *, allowed: bool) -> None:
        self.rules[pattern] = allowed or self.rules.get(pattern, False)

    def add_delay(self, seconds: float) -> None:
        self.delay = seconds if self.delay is None else max(self.delay, seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a robots.txt says to one product token, and to everyone."""

    group: Group
    sitemaps: tuple[str, ...]


def read(text: str, agent: str) -> Reading:
    """The group for a product token, or else the one for everyone, and all sitemaps.

    Only rules end the naming of user agents: other lines, Crawl-delay among them, leave groups as they are (2.2.4).
    """
    agent = agent.lower()
    ours, everyones = Group(), Group()
    current: list[Group] = []
    naming = False
    sitemaps: dict[str, None] = {}
    for what, value in _fields(text):
        if what is Field.USER_AGENT:
            if not naming:
                current, naming = [], True
            group = everyones if _is_everyone(value) else ours if _names(value, agent) else None
            if group is not None:
                group.named = True
                current.append(group)
        elif what is Field.SITEMAP:
            if value:
                sitemaps[value] = None
        elif what is Field.CRAWL_DELAY:
            seconds = _seconds(value)
            if seconds is not None:
                for group in current:
                    group.add_delay(seconds)
        else:
            naming = False
            if value and current:
                pattern = pattern_of(value)
                for group in current:
                    group.add_rule(pattern, allowed=what is Field.ALLOW)
    return Reading(group=ours if ours.named else everyones, sitemaps=tuple(sitemaps))


def _untagged(line: str) -> str:
    """A line of a file that somebody made HTML of, without the tags around it.

    >>> _untagged("<p><b>Disallow: /a<b>/c</b></p><br>"), _untagged("<p")
    ('Disallow: /a<b>/c', '<p')
    """
    line = line.strip()
    while line.startswith("<") and ">" in line:
        line = line[line.index(">") + 1 :].lstrip()
    while line.endswith(">") and "<" in line:
        line = line[: line.rindex("<")].rstrip()
    return line


def _fields(text: str) -> Iterator[tuple[Field, str]]:
    guesses: dict[str, Field | None] = {}
    for line in text.replace("\r", "\n").split("\n"):
        if len(line) > MAX_LINE:
            line = line[:MAX_LINE]
        if "#" in line:
            line = line[: line.index("#")]
        if "<" in line:
            line = _untagged(line)
        name, colon, value = line.partition(":")
        what = _meaning(name, guesses) if colon else None
        if what is None:
            words = line.split(maxsplit=2)
            if len(words) == 2:
                what, value = _meaning(words[0], guesses), words[1]
        if what is not None:
            yield what, value.strip()


def _meaning(name: str, guesses: dict[str, Field | None]) -> Field | None:
    name = name.strip().lower()
    what = _NAMES.get(name)
    if what is None and 0 < len(name) <= _LONGEST_NAME:
        if name not in guesses and len(guesses) < _MOST_GUESSES:
            guesses[name] = _guessed(name)
        return guesses.get(name)
    return what


def _guessed(name: str) -> Field | None:
    """The field that a misspelt name stands for: one slip is forgiven, and any doubling of letters.

    >>> _guessed("dissalow"), _guessed("useg-agent"), _guessed("site"), _guessed("noindex")
    (<Field.DISALLOW: 'disalow'>, <Field.USER_AGENT: 'useragent'>, None, None)
    """
    squeezed = re.sub(r"(.)\1+", r"\1", re.sub(r"[\s_-]+", "", name))
    return next((what for what in Field if _within_one_slip(squeezed, what.value)), None)


def _within_one_slip(found: str, meant: str) -> bool:
    """Equal but for one letter that is wrong, missing, too many, or changed places with its neighbour."""
    if found == meant:
        return True
    at = next((i for i, (a, b) in enumerate(zip(found, meant, strict=False)) if a != b), min(len(found), len(meant)))
    if not at:  # the first letter is right: otherwise too many words come near
        return False
    rest, wanted = found[at:], meant[at:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


def _is_everyone(value: str) -> bool:
    return value.startswith("*") and (len(value) == 1 or value[1].isspace())


def _names(value: str, agent: str) -> bool:
    """Whether a User-agent line is for a product token: its name, without version and what else follows (2.2.1).

    >>> _names("Motherlode/1.0 (crawler)", "motherlode"), _names("Motherlode-News", "motherlode")
    (True, False)
    """
    value = value.lower()
    if not value.startswith(agent):
        return False
    token = _TOKEN.match(value)
    return (token is not None and token[0] == agent) or re.split(r"[/\s,;]", value, maxsplit=1)[0] == agent


def _seconds(value: str) -> float | None:
    number = _NUMBER.match(value.replace(",", ".", 1))
    return min(float(number[0]), MAX_DELAY) if number else None
