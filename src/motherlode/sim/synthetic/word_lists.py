"""The word lists of the synthetic web: titles, names, places, sentences. ASCII only, except ACCENTED."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


def listed(text: str) -> tuple[str, ...]:
    """Return the parts between commas."""
    return tuple(text.split(","))


FIRST_NAMES = listed(
    "Ada,Alan,Amina,Anders,Bea,Boris,Carla,Chen,Dana,Dmitri,Elif,Emil,Fatima,Felix,Grace,Hana,Hugo,Ines,Ivan,Jana,"
    "Jonas,Kaito,Karin,Lena,Luis,Maya,Milan,Nadia,Noor,Olga,Omar,Petra,Priya,Quinn,Rosa,Samir,Sofia,Tariq,Uma,Vera,"
    "Viktor,Wanda,Xenia,Yara,Yusuf,Zoe,Ragnar,Selma",
)
LAST_NAMES = listed(
    "Abara,Bauer,Castro,Dubois,Eriksen,Fischer,Garcia,Haddad,Ibsen,Jansen,Keller,Lindt,Moreau,Novak,Okafor,Peters,"
    "Quist,Rossi,Santos,Tanaka,Ueda,Varga,Weber,Xu,Yilmaz,Zhou,Amsel,Brandt,Cohen,Dietrich,Engel,Farkas",
)
CITIES = listed(
    "Aarhus,Bergen,Cordoba,Delft,Essen,Florence,Ghent,Haifa,Izmir,Jaipur,Kigali,Lviv,Maribor,Nantes,Oulu,Porto,Quito,"
    "Riga,Split,Tartu,Utrecht,Vigo,Weimar,Xalapa,Yerevan,Zagreb,Bologna,Galway",
)
COMPANIES = listed(
    "Northwind,Oakhurst,Bluefin,Kestrel,Meridian,Foxglove,Larkspur,Granite,Harbour,Juniper,Saltmarsh,Thornbury,"
    "Windmill,Copperfield,Lanternworks,Millstream",
)
ORGANISATIONS = tuple(f"{name} {kind}" for name in COMPANIES for kind in ("Press", "Works", "Institute", "Trust"))
TOPICS = listed(
    "harvest,winter,garden,cycling,maps,bread,light,paper,history,travel,music,letters,rivers,stars,clocks,tools,"
    "weather,trains,wood,glass,wool,salt,honey,seeds",
)
INGREDIENTS = tuple(
    f"{amount} {food}"
    for food in listed(
        "flour,sugar,butter,rice,lentils,spinach,tomatoes,garlic,ginger,yoghurt,olive oil,lemon juice,chickpeas,"
        "mushrooms,carrots,leeks"
    )
    for amount in ("100 g", "2 spoons of", "1 cup of", "a little")
)
ACCENTED = "Café Zürich — déjà vu, smørrebrød, piñata, naïve façade. Größe und Übung: 5 €."


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Titles:
    """Titles of one kind of thing: a word from each of three lists, and the same as a URL slug.

    >>> titles = Titles(first=("Red",), second=("Hat",), third=("for Men",))
    >>> titles.title(7), titles.slug(7)
    ('Red Hat for Men', 'red-hat-for-men')
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    third: tuple[str, ...]
    heads: tuple[str, ...] = field(init=False)
    head_slugs: tuple[str, ...] = field(init=False)
    tail_slugs: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        heads = tuple(f"{one} {two}" for one in self.first for two in self.second)
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "head_slugs", tuple(map(_slug, heads)))
        object.__setattr__(self, "tail_slugs", tuple(map(_slug, self.third)))

    def head(self, bits: int) -> str:
        return self.heads[bits % len(self.heads)]

    def both(self, bits: int) -> tuple[str, str]:
        """Return title and slug."""
        head, tail = bits % len(self.heads), (bits >> 24) % len(self.third)
        return f"{self.heads[head]} {self.third[tail]}", f"{self.head_slugs[head]}-{self.tail_slugs[tail]}"

    def title(self, bits: int) -> str:
        return f"{self.heads[bits % len(self.heads)]} {self.third[(bits >> 24) % len(self.third)]}"

    def slug(self, bits: int) -> str:
        return f"{self.head_slugs[bits % len(self.heads)]}-{self.tail_slugs[(bits >> 24) % len(self.third)]}"


def person(bits: int) -> str:
    """Return one of the 1,536 names of the lists."""
    return f"{FIRST_NAMES[bits % len(FIRST_NAMES)]} {LAST_NAMES[(bits >> 12) % len(LAST_NAMES)]}"


def date(bits: int) -> str:
    """Return a date of the years 2015 to 2026.

    >>> date(0)
    '2015-01-01'
    """
    return f"{2015 + bits % 12}-{1 + (bits >> 8) % 12:02}-{1 + (bits >> 16) % 28:02}"


_OPENINGS = listed(
    "In the end,Every spring,As a rule,Now and then,For a long time,Without much noise,On most days,Since last year,"
    "Against all advice,At the old market,Behind the station,After the rain,With some patience,To our surprise,"
    "Before the meeting,Around noon",
)
_SUBJECTS = listed(
    "the neighbours,a small team,our readers,the archive,this workshop,the committee,a quiet street,the second edition,"
    "the kitchen,an old friend,the catalogue,the river,the evening class,a handful of volunteers,the museum,"
    "the night train",
)
_VERBS = listed(
    "collected,repaired,remembered,described,borrowed,painted,measured,carried home,counted,translated,replaced,"
    "photographed,discussed,sorted,planted,rebuilt",
)
_OBJECTS = listed(
    "more than anyone had planned,the tools that were left over,a list of things to try,two boxes of letters,"
    "the notes from the first visit,what the weather had spared,a map of the valley,the last copies,"
    "everything that still worked,the oldest part of the wall,some seeds for next year,a long table and benches,"
    "the clock above the door,recipes from three generations,the results of the survey,the missing pages",
)


def _sentence(number: int) -> str:
    one, two = number % 16, (number // 16) % 16
    three, four = (number * 7 + two * 3) % 16, (number * 11 + two * 5) % 16
    return f"{_OPENINGS[one]} {_SUBJECTS[two]} {_VERBS[three]} {_OBJECTS[four]}."


SENTENCES = tuple(_sentence(number) for number in range(256))
PARAGRAPHS = tuple(
    " ".join(SENTENCES[(start * 37 + step * 11) % 256] for step in range(3 + start % 6)) for start in range(256)
)
