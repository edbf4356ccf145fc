"""Small generated pages for benchmarks that need nothing but the sizes: things with types, names, prices and brands.

A page has 5 to 200 quads; four in ten things are blank nodes. bench/varied_pages.py has realistic ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from motherlode.index.page_record import PageRecord, serialize_page
from motherlode.model import Extraction, Statement, Syntax, TransformResult
from motherlode.model.terms import RDF_TYPE, XSD

BATCH = 20_000
WORDS = tuple(
    "open data annual report water quality station museum history garden river market price review kitchen travel "  # noqa: SIM905
    "guide music summer winter city house paper table energy school family health road bridge island".split()
)
KINDS = ("Product", "Person", "Event", "Recipe", "Offer", "Organization")
SCHEMA = "http://schema.org/"
HOSTS, BRANDS = 997, 20
POINT = "SELECT ?p ?o { <%s> ?p ?o }"
STAR = f"SELECT ?s ?name ?price {{ ?s <{SCHEMA}brand> <%s> ; <{SCHEMA}name> ?name ; <{SCHEMA}price> ?price }}"


def host(number: int) -> str:
    return f"https://www.{WORDS[number % len(WORDS)]}-{number % HOSTS}.example"


def url(number: int) -> str:
    return f"{host(number)}/{WORDS[number % 7]}/{WORDS[number % 31]}-{number}.html"


def brand(number: int, which: int) -> str:
    return f"{host(number)}/brand/{which}"


def statements(number: int, dice: random.Random) -> list[Statement]:
    """Return the statements of a page: 5 to 200, few on most pages."""
    size = dice.randint(5, 200) if dice.random() < 0.25 else dice.randint(5, 40)
    found: list[Statement] = []
    for thing in range(size // 6 + 1):
        name = f"<{url(number)}#{thing}>" if thing % 5 < 3 else f"_:n{number:x}t{thing}"
        found += [
            (name, RDF_TYPE, f"<{SCHEMA}{dice.choice(KINDS)}>", ""),
            (name, f"<{SCHEMA}name>", f'"{" ".join(dice.choices(WORDS, k=3))} {number}"@en', ""),
            (name, f"<{SCHEMA}description>", f'"{" ".join(dice.choices(WORDS, k=20))}"', ""),
            (name, f"<{SCHEMA}price>", f'"{dice.randint(1, 2000)}"^^<{XSD}integer>', ""),
            (name, f"<{SCHEMA}brand>", f"<{brand(number, dice.randint(1, BRANDS))}>", ""),
            (name, f"<{SCHEMA}url>", f"<{host(number)}/item/{dice.randint(1, 10**6)}>", ""),
        ]
    return found[:size]


def pages(quads: int) -> Iterator[PageRecord]:
    """Yield pages with this many quads in total."""
    dice, made, number = random.Random(8), 0, 0
    while made < quads:
        number += 1
        said = TransformResult(
            extractions=(Extraction(syntax=Syntax.JSON_LD, statements=tuple(statements(number, dice))),)
        )
        graph_quads, count, graphs = serialize_page(url(number), said)
        made += count
        yield PageRecord(
            url=url(number),
            fetched_at=1.7e9 + number,
            status=200,
            graph_quads=graph_quads,
            quads=count,
            graphs=graphs,
            media_type="text/html; charset=utf-8",
            kind="html",
            syntaxes=("jsonld",),
            content_hash=f"sha256:{number:064x}",
            size=40 * len(graph_quads),
            referrer=url(number // 2 + 1),
        )


def batches(pages: Iterable[PageRecord]) -> Iterator[list[PageRecord]]:
    """Yield pages in batches of at least `BATCH` quads, as a crawl writes them."""
    waiting: list[PageRecord] = []
    count = 0
    for page in pages:
        waiting.append(page)
        count += page.quads
        if count >= BATCH:
            yield waiting
            waiting, count = [], 0
    if waiting:
        yield waiting
