"""The kinds of things on the synthetic web, and the words of their values. The tables are in `entity_kinds.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import Enum
from importlib.resources import files
from typing import Any

import msgspec

ACCENTED = "Café Zürich — déjà vu, smørrebrød, piñata, naïve façade. Größe und Übung: 5 €."
_TABLES = json.loads(files(__package__).joinpath("entity_kinds.json").read_text())


class Titles:
    """Titles of one kind of thing: a word from each of three lists, and the same as a URL slug."""

    def __init__(self, *, first: list[str], second: list[str], third: list[str]) -> None:
        self.first = first
        self.second = second
        self._heads = [f"{one} {two}" for one in first for two in second]
        self._tails = third
        self._head_slugs = [_slug(head) for head in self._heads]
        self._tail_slugs = [_slug(tail) for tail in third]

    def head(self, bits: int) -> str:
        """Return the first two parts of a title."""
        return self._heads[bits % len(self._heads)]

    def title(self, bits: int) -> str:
        return f"{self._heads[bits % len(self._heads)]} {self._tails[(bits >> 24) % len(self._tails)]}"

    def slug(self, bits: int) -> str:
        return f"{self._head_slugs[bits % len(self._heads)]}-{self._tail_slugs[(bits >> 24) % len(self._tails)]}"

    def both(self, bits: int) -> tuple[str, str]:
        """Return title and slug; faster than two calls."""
        head, tail = bits % len(self._heads), (bits >> 24) % len(self._tails)
        return f"{self._heads[head]} {self._tails[tail]}", f"{self._head_slugs[head]}-{self._tail_slugs[tail]}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


_WORDS: dict[str, list[str]] = _TABLES["words"]
_TITLES = {name: Titles(**lists) for name, lists in _TABLES["titles"].items()}


def _sentence(number: int) -> str:
    one, two = number % 16, (number // 16) % 16
    three, four = (number * 7 + two * 3) % 16, (number * 11 + two * 5) % 16
    words = _WORDS["openings"][one], _WORDS["subjects"][two], _WORDS["verbs"][three], _WORDS["objects"][four]
    return f"{' '.join(words)}."


TOPICS = _WORDS["topics"]
SENTENCES = [_sentence(number) for number in range(256)]
PARAGRAPHS = [
    " ".join(SENTENCES[(start * 37 + step * 11) % 256] for step in range(3 + start % 6)) for start in range(256)
]
POOLS: Mapping[str, list[str]] = {
    **_WORDS,
    "sentences": SENTENCES,
    "halls": [f"{name} Hall" for name in _WORDS["companies"]],
    "organisations": [
        f"{name} {kind}" for name in _WORDS["companies"] for kind in ("Press", "Works", "Institute", "Trust")
    ],
    "ingredients": [
        f"{amount} {food}" for food in _WORDS["foods"] for amount in ("100 g", "2 spoons of", "1 cup of", "a little")
    ],
}
"""Lists of values by name: those of the file, and those that are combined from them."""


def person(bits: int, shift: int = 0) -> str:
    """Return one of 1,536 names of people."""
    first, last = _TITLES["people"].first, _TITLES["people"].second
    return f"{first[(bits >> shift) % len(first)]} {last[(bits >> shift + 12) % len(last)]}"


def date(bits: int, shift: int = 0) -> str:
    """Return a date of the years 2015 to 2026."""
    bits >>= shift
    return f"{2015 + bits % 12}-{1 + (bits >> 8) % 12:02}-{1 + (bits >> 16) % 28:02}"


_DRAWS: Mapping[str, Callable[..., str]] = {
    "title": lambda bits, titles: _TITLES[titles].title(bits),
    "head": lambda bits, titles: _TITLES[titles].head(bits),
    "pick": lambda bits, pool, shift: POOLS[pool][(bits >> shift) % len(POOLS[pool])],
    "number": lambda bits, low, high, shift: str(low + (bits >> shift) % (high - low)),
    "code": lambda bits, pattern, low, count: pattern % (low + bits % count),
    "minutes": lambda bits, shift: f"PT{10 + (bits >> shift) % 90}M",  # two digits, so that they sort as text too
    "degrees": lambda bits, most, shift: f"{(bits >> shift) % (200 * most) / 100 - most:.2f}",
    "person": person,
    "date": date,
}
"""How a value is drawn, by the first element of `EntityField.draw`. The other elements are arguments."""


class Form(Enum):
    """How a value is written if a syntax has more than one form."""

    TEXT = "text"
    DATE = "date"
    DURATION = "duration"
    NUMBER = "number"


class EntityField(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One property of a kind of thing. It has one drawn value, several values of a pool, or a nested thing."""

    name: str
    """Name in the schema.org vocabulary."""
    draw: tuple[str | int, ...] = ()
    """Name and arguments of the function that draws the value."""
    form: Form = Form.TEXT
    microformat: str = ""
    """The microformats2 property with its prefix. Empty if the microformat has no such property."""
    pool: str = ""
    """For properties with several values: the name of the pool of distinct values."""
    least: int = 1
    most: int = 1
    type: str = ""
    """The schema.org type of a nested thing."""
    parts: tuple[EntityField, ...] = ()

    def values(self, bits: int) -> tuple[str, ...]:
        """Return the drawn values of the property, unless it is a nested thing."""
        if not self.pool:
            return (_DRAWS[str(self.draw[0])](bits, *self.draw[1:]),)
        pool, start = POOLS[self.pool], bits >> 27
        return tuple(pool[(start + n * 7) % len(pool)] for n in range(self.repeats(bits)))

    def repeats(self, bits: int) -> int:
        """Return how many values a thing drawn by these bits has for the property."""
        return self.least + (bits >> 33) % (self.most - self.least + 1)


class EntityKind(Enum):
    """The kinds of things that the synthetic web describes (or only mentions)."""

    RECIPE = "recipe"
    PRODUCT = "product"
    EVENT = "event"
    BOOK = "book"
    PERSON = "person"
    ARTICLE = "article"
    MOVIE = "movie"
    JOB = "job"
    PLACE = "place"
    DATASET = "dataset"
    COURSE = "course"
    REVIEW = "review"
    THREAD = "thread"
    PHOTO = "photo"
    MANUAL = "manual"


class EntityKindFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that the tables say about one kind of thing."""

    type: str
    """Type in the schema.org vocabulary."""
    titles: Titles
    paths: tuple[str, ...]
    """Path names of sections with such things. No two kinds share a name."""
    stems: tuple[str, ...]
    """Names of hosts about such things."""
    fields: tuple[EntityField, ...]
    microformat: str = ""
    """The root class in microformats2, if any."""

    def __post_init__(self) -> None:
        if sum(one.most > one.least for one in self.fields) > 1:
            raise ValueError(f"more than one repeated field in {self.type}")

    @property
    def repeated(self) -> EntityField | None:
        """The property whose number of values varies between things."""
        return next((one for one in self.fields if one.most > one.least), None)


def _find_titles(_type: type, name: Any) -> Titles:
    return _TITLES[name]


KINDS = msgspec.convert(_TABLES["kinds"], dict[EntityKind, EntityKindFacts], dec_hook=_find_titles)
