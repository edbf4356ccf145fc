"""Descriptions of things on many hosts with known truth, for the tests of identity.

Each real thing is described by its maker and on one to eight hosts. A stated share of the descriptions has a wrong
identifier (of another thing), no identifier, a placeholder, or a conflicting second one. Names vary as in shops: order
of words, additions of the seller, small letters, missing words. Some identifiers are hubs: the telephone number of a
shop on all its things, and its home page in sameAs.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from motherlode.quality.identifiers import Identifier, IdentifierKind
from motherlode.quality.identity import ThingDescription

WRONG, MISSING, PLACEHOLDER, CONFLICTING = 0.01, 0.10, 0.03, 0.02
"""Shares of descriptions with a wrong, missing, placeholder or second, conflicting strong identifier."""
_BRANDS = ["Acme", "Nordwind", "Kestrel", "Bellaria", "Tamarack", "Ostrava", "Lumen", "Pellworm", "Quill", "Sabine"]
_NOUNS = ["lamp", "chair", "kettle", "drill", "backpack", "notebook", "speaker", "jacket", "bicycle", "tent", "pan"]
_WORDS = ["red", "compact", "large", "folding", "steel", "oak", "wireless", "classic", "pro", "mini", "travel", "night"]
_EXTRAS = ["free shipping", "new", "sale", "buy online", "2 year warranty"]


@dataclass(frozen=True)
class Web:
    """Things with the number of the real thing that each describes."""

    things: list[ThingDescription]
    truth: dict[str, int]

    def pairs(self) -> set[frozenset[str]]:
        """Return all pairs of descriptions of one real thing."""
        return as_pairs(self.truth)


def as_pairs(numbers: dict[str, int]) -> set[frozenset[str]]:
    members: dict[int, list[str]] = {}
    for thing, number in numbers.items():
        members.setdefault(number, []).append(thing)
    return {
        frozenset((one, other))
        for group in members.values()
        for index, one in enumerate(group)
        for other in group[index + 1 :]
    }


def make_gtin(draw: random.Random) -> str:
    body = f"{draw.randrange(10**11, 10**12):013d}"
    return body + str(-sum(int(digit) * (3, 1)[index % 2] for index, digit in enumerate(body)) % 10)


def make_web(things: int = 400, hosts: int = 60, seed: int = 1) -> Web:
    draw = random.Random(seed)
    gtins = [make_gtin(draw) for _ in range(things)]
    names = [_make_name(draw) for _ in range(things)]
    made, truth = [], {}
    for number in range(things):
        maker = ThingDescription(
            id=f"http://maker.example/{number}",
            names=(names[number],),
            identifiers=(Identifier(IdentifierKind.GTIN, gtins[number]),),
        )
        made.append(maker)
        truth[maker.id] = number
        for host in draw.sample(range(hosts), draw.choice([1, 1, 2, 2, 3, 4, 8])):
            thing = ThingDescription(
                id=f"http://shop{host}.example/item/{number}",
                names=(_vary(names[number], draw),),
                identifiers=tuple(_identifiers(number, host, gtins, draw)),
                types=("schema:Product",),
            )
            made.append(thing)
            truth[thing.id] = number
    draw.shuffle(made)
    return Web(made, truth)


def _identifiers(number: int, host: int, gtins: list[str], draw: random.Random) -> Iterator[Identifier]:
    roll = draw.random()
    if roll < WRONG:
        yield Identifier(IdentifierKind.GTIN, draw.choice(gtins))
    elif roll < WRONG + MISSING:  # found by sameAs to the manufacturer's page instead
        yield Identifier(IdentifierKind.SAME_AS, f"maker.example/{number}")
    elif roll < WRONG + MISSING + PLACEHOLDER:
        yield Identifier(IdentifierKind.GTIN, "00000000000000")
        yield Identifier(IdentifierKind.SAME_AS, f"maker.example/{number}")
    else:
        yield Identifier(IdentifierKind.GTIN, gtins[number])
        if draw.random() < 0.3:
            yield Identifier(IdentifierKind.SAME_AS, f"maker.example/{number}")
        if draw.random() < CONFLICTING:
            yield Identifier(IdentifierKind.GTIN, draw.choice(gtins))
    yield Identifier(IdentifierKind.PHONE, f"+4930{host:08d}1")
    yield Identifier(IdentifierKind.SAME_AS, f"shop{host}.example")


def _make_name(draw: random.Random) -> str:
    words = draw.sample(_WORDS, 2)
    return f"{draw.choice(_BRANDS)} {words[0]} {words[1]} {draw.choice(_NOUNS)} {draw.randrange(100, 1000)}"


def _vary(name: str, draw: random.Random) -> str:
    words = name.split()
    if draw.random() < 0.2:
        words.remove(draw.choice(words[1:3]))
    if draw.random() < 0.2:
        words = [*words[1:], words[0]]
    if draw.random() < 0.3:
        words.append(draw.choice(_EXTRAS))
    text = " ".join(words)
    return draw.choice([text, text.lower(), text.upper()]) if draw.random() < 0.3 else text
