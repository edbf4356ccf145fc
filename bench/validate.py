"""Pages per second of `motherlode validate`, and pySHACL on a sample of the same pages.

    python bench/validate.py [--pages 5000] [--sample 30] [--processes 1] [--seed 1]

Each synthetic page is a data graph of its own with at least 30 statements about one of 24 types; 30 % of the pages have
a violation: a required property is missing, a name is misspelt, or a value has the wrong form. Texts and URLs differ
from page to page, so that caches of literals do not help. The pages are validated with the largest bundled profiles
together, `google` and `schema.org`. pySHACL gets the shapes of `google` alone, parsed before, and no subclasses, so it
has less to do. All figures are CPU time, except where the clock is named. Making the pages is not counted.
"""

import argparse
import random
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

from motherlode.model.terms import RDF_TYPE, literal
from motherlode.quality.page_graph import Triple
from motherlode.quality.shape_profiles import load_validator

S = "http://schema.org/"
PROFILES = ("google", "schema.org")
MIN_STATEMENTS = 30
VIOLATING_SHARE = 0.3
_CHUNK = 2_500
_ROUNDS = 3
"""Number of parts in which both sides alternate."""

DATE, TIME, NUMBER = '"2026-03-01"', '"PT30M"', '"12.50"'
URL, TEXT, CODE = "<https://shop.example/x>", '"Some text"', '"EUR"'
OFFER = {"@type": "Offer", "price": NUMBER, "priceCurrency": CODE, "availability": f"<{S}InStock>", "url": URL}
RATING = {"@type": "AggregateRating", "ratingValue": NUMBER, "ratingCount": '"7"', "bestRating": '"20"'}
PERSON = {"@type": "Person", "name": TEXT, "url": URL}
ADDRESS = {"@type": "PostalAddress", "streetAddress": TEXT, "postalCode": '"1"', "addressLocality": TEXT}
COMPANY = {"@type": "Organization", "name": TEXT, "url": URL, "logo": URL, "address": ADDRESS}
PLACE = {"@type": "Place", "name": TEXT, "address": ADDRESS}
REVIEW = {"@type": "Review", "author": PERSON, "reviewRating": {"@type": "Rating", "ratingValue": NUMBER}}
ANSWER = {"@type": "Answer", "text": TEXT}
QUESTION = {"@type": "Question", "name": TEXT, "acceptedAnswer": ANSWER}
ARTICLE = {"headline": TEXT, "author": PERSON, "datePublished": DATE, "dateModified": DATE, "image": URL}
TYPES: dict[str, dict[str, Any]] = {
    "Product": {"name": TEXT, "offers": OFFER, "image": URL, "brand": COMPANY, "aggregateRating": RATING},
    "Recipe": {"name": TEXT, "image": URL, "cookTime": TIME, "recipeIngredient": TEXT, "author": PERSON},
    "Event": {"name": TEXT, "startDate": DATE, "location": PLACE, "offers": OFFER, "organizer": COMPANY},
    "MusicEvent": {"name": TEXT, "startDate": DATE, "location": PLACE, "performer": PERSON},
    "JobPosting": {
        "title": TEXT,
        "description": TEXT,
        "datePosted": DATE,
        "hiringOrganization": COMPANY,
        "jobLocation": PLACE,
    },
    "Article": ARTICLE,
    "NewsArticle": ARTICLE,
    "BlogPosting": ARTICLE,
    "Dataset": {"name": TEXT, "description": TEXT, "license": URL, "creator": COMPANY, "keywords": TEXT},
    "Movie": {"name": TEXT, "image": URL, "director": PERSON, "aggregateRating": RATING},
    "Book": {
        "name": TEXT,
        "author": PERSON,
        "url": URL,
        "workExample": {"@type": "Book", "name": TEXT, "author": PERSON, "url": URL, "workExample": URL},
    },
    "Course": {"name": TEXT, "description": TEXT, "provider": COMPANY},
    "VideoObject": {"name": TEXT, "thumbnailUrl": URL, "uploadDate": DATE, "duration": TIME},
    "LocalBusiness": {"name": TEXT, "address": ADDRESS, "telephone": TEXT, "url": URL, "review": REVIEW},
    "Restaurant": {"name": TEXT, "address": ADDRESS, "servesCuisine": TEXT, "priceRange": TEXT},
    "Store": {"name": TEXT, "address": ADDRESS, "aggregateRating": RATING},
    "Organization": {"name": TEXT, "url": URL, "address": ADDRESS, "founder": PERSON},
    "SoftwareApplication": {"name": TEXT, "offers": OFFER, "aggregateRating": RATING, "operatingSystem": TEXT},
    "FAQPage": {"mainEntity": QUESTION, "name": TEXT, "author": PERSON},
    "Car": {"name": TEXT, "offers": OFFER, "model": TEXT, "brand": COMPANY},
    "ImageObject": {"contentUrl": URL, "creator": PERSON, "license": URL},
    "ScholarlyArticle": ARTICLE,
    "WebSite": {"name": TEXT, "url": URL, "publisher": COMPANY},
    "ProfilePage": {"mainEntity": PERSON, "dateCreated": DATE},
}
REQUIRED = {"Article": "", "NewsArticle": "", "BlogPosting": "", "ScholarlyArticle": "", "Organization": ""}
"""Types without a required property in the profile. Their violations are misspelt names."""
MISSPELT = ("nmae", "discription", "datepublished", "auther", "imageUrl", "adress")


def make_page(numbers: random.Random) -> list[Triple]:
    """Return the statements of a page, with a violation with the probability `VIOLATING_SHARE`."""
    type_ = numbers.choice(list(TYPES))
    values = dict(TYPES[type_])
    triples: list[Triple] = []
    if numbers.random() < VIOLATING_SHARE:
        _break(type_, values, numbers)
    nodes = iter(range(1_000_000))
    _describe(triples, type_, values, nodes, numbers)
    while len(triples) < MIN_STATEMENTS:
        item = {"@type": "ListItem", "position": '"1"', "name": TEXT, "item": URL}
        values = {"itemListElement": item, "name": TEXT, "description": TEXT}
        _describe(triples, "BreadcrumbList", values, nodes, numbers)
    return triples


def _break(type_: str, values: dict[str, Any], numbers: random.Random) -> None:
    dates = [name for name, value in values.items() if value == DATE]
    if dates and numbers.random() < 0.3:
        values[dates[0]] = '"1st of March"'
    if type_ in REQUIRED or numbers.random() < 0.5:
        values[numbers.choice(MISSPELT)] = TEXT
    else:
        del values[next(iter(values))]


def _describe(
    triples: list[Triple], type_: str, values: dict[str, Any], nodes: Iterator[int], numbers: random.Random
) -> str:
    node = f"_:b{next(nodes)}"
    triples.append((node, RDF_TYPE, f"<{S}{type_}>"))
    for name, value in values.items():
        if isinstance(value, dict):
            inner = dict(value)
            value = _describe(triples, inner.pop("@type"), inner, nodes, numbers)
        elif value == TEXT:
            value = literal(f"Some text {numbers.random()}")
        elif value == URL:
            value = f"<https://shop.example/{numbers.random()}>"
        triples.append((node, f"<{S}{name}>", value))
    return node


class Measured(NamedTuple):
    """Figures of some pages."""

    pages: int
    cpu_seconds: float
    violating: int
    results: int
    statements: int
    peak_megabytes: float


def measure(seed: int, count: int) -> Measured:
    """Make pages and validate them one after the other."""
    validator, numbers = load_validator(*PROFILES), random.Random(seed)
    seconds, violating, results, statements = 0.0, 0, 0, 0
    for _ in range(count):
        page = make_page(numbers)
        start = time.process_time()
        found = validator.validate(page)
        seconds += time.process_time() - start
        violating += any(result.severity == "violation" for result in found.results)
        results += len(found.results)
        statements += len(page)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(count, seconds, violating, results, statements, peak)


def measure_pyshacl(seed: int, count: int) -> float:
    """Return the CPU seconds of pySHACL for pages. Graphs are made before."""
    import pyshacl
    import rdflib

    def graph(triples: list[Triple]) -> rdflib.Graph:
        return rdflib.Graph().parse(data="".join(f"{s} {p} {o} .\n" for s, p, o in triples), format="nt")

    shapes = graph(list(load_validator("google").shapes_graph.triples()))
    numbers = random.Random(seed)
    pages = [graph(make_page(numbers)) for _ in range(count)]
    start = time.process_time()
    for page in pages:
        pyshacl.validate(page, shacl_graph=shapes, inference="none", advanced=False)
    return time.process_time() - start


def add(parts: list[Measured]) -> Measured:
    """Return the sum of figures; the peak is the highest."""
    pages, cpu, violating, results, statements, _ = (sum(column) for column in zip(*parts, strict=True))
    return Measured(
        int(pages), cpu, int(violating), int(results), int(statements), max(p.peak_megabytes for p in parts)
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--sample", type=int, default=30, help="pages for pySHACL; 0 for none")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.perf_counter()
    if options.processes > 1:
        chunks = [min(_CHUNK, options.pages - done) for done in range(0, options.pages, _CHUNK)]
        with ProcessPoolExecutor(options.processes) as pool:
            ours = add(list(pool.map(measure, range(options.seed, options.seed + len(chunks)), chunks)))
        peers = [measure_pyshacl(options.seed, options.sample)] if options.sample else []
    else:
        parts, peers = [], []
        for number in range(_ROUNDS):
            parts.append(measure(options.seed + number, options.pages // _ROUNDS))
            if options.sample:
                peers.append(measure_pyshacl(options.seed + number, options.sample // _ROUNDS))
        ours = add(parts)
    report(ours, time.perf_counter() - start, peers, options.sample // _ROUNDS * _ROUNDS or options.sample)


def report(ours: Measured, wall_seconds: float, peers: list[float], sample: int) -> None:
    """Print the figures."""
    each = 1000 * ours.cpu_seconds / ours.pages
    print(f"pages {ours.pages:,}, {ours.statements / ours.pages:.1f} statements each, {len(TYPES)} types")
    print(f"with violations {ours.violating / ours.pages:.1%}, {ours.results / ours.pages:.1f} results per page")
    print(f"motherlode: {each:.3f} ms CPU per page, {1000 / each:,.0f} pages per CPU second")
    print(f"100,000 pages: {each * 100:.0f} s CPU; this run {wall_seconds:.1f} s by the clock with making the pages")
    print(f"peak memory of a process {ours.peak_megabytes:.0f} MB")
    if peers:
        theirs = 1000 * sum(peers) / sample
        print(f"pySHACL: {theirs:.1f} ms CPU per page on {sample} pages; ratio {theirs / each:,.0f}")


if __name__ == "__main__":
    main()
