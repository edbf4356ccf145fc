"""Extraction of all syntaxes from real pages, compared with extruct and with parsing the same pages.

    python bench/extract.py [--pages 500] [--rounds 3] [--seed 1] [--skip-peers]

The pages are a random sample of the recorded web. Everything runs on one core in one process. The programs take turns
on every batch of pages, so that other load of the machine affects all of them. Times are CPU times. Parsing and our
extraction take turns first, and our extraction and extruct afterwards, because a second of extruct between two batches
evicts the processor's caches, which would not happen in a crawl.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fastwarc.warc import ArchiveIterator
from selectolax.lexbor import LexborHTMLParser

from motherlode.detect import detect
from motherlode.model import ContentKind, Detected, DetectionEvidence, Syntax
from motherlode.transform import TransformOptions, transform
from motherlode.transform.timeouts import shared_timer
from motherlode.www.document import Document
from motherlode.www.urls import resolve
from results import record, table

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "sites.warc.gz"
BATCH = 25
LINKS = "a[href], area[href], link[href]"
BARE, RESOLVED = "parse + collect links", "parse + collect + resolve links"
ALL, BESIDE, THEIRS = "ours, all syntaxes", "ours, all syntaxes, in turns with extruct", "extruct, all syntaxes"
MIN_TIMES_EXTRUCT = 30.0
MAX_TIMES_PARSING = 3.0
SYNTAXES = {
    Syntax.JSON_LD: "json-ld",
    Syntax.MICRODATA: "microdata",
    Syntax.RDFA: "rdfa",
    Syntax.MICROFORMATS: "microformat",
    Syntax.PAGE: "dublincore",
}
"""Our syntaxes with the names in extruct. Its OpenGraph is part of our RDFa."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One page of the recorded web."""

    url: str
    content_type: str
    body: bytes


Contender = Callable[[Sample], int]
"""A function that extracts data from one page and returns the number of items."""


def draw(pages: int, seed: int) -> list[Sample]:
    """Return a random sample of the HTML pages of the recorded web."""
    found = []
    with CORPUS.open("rb") as stream:
        for entry in ArchiveIterator(stream, parse_http=True):
            http = entry.http_headers
            content_type = (http.get("content-type") or "") if http else ""
            if http and http.status_code == 200 and content_type.startswith(("text/html", "application/xhtml+xml")):
                url = entry.headers["WARC-Target-URI"]
                found.append(Sample(url=url, content_type=content_type, body=entry.reader.read()))
    return random.Random(seed).sample(found, min(pages, len(found)))


def parse_and_collect(sample: Sample) -> int:
    """Baseline: parse with the same parser and collect every link as written on the page."""
    tree = LexborHTMLParser(sample.body)
    return len([node.attributes.get("href") for node in tree.css(LINKS)])


def parse_and_resolve(sample: Sample) -> int:
    """For comparison: the same with resolved links."""
    tree = LexborHTMLParser(sample.body)
    references = [node.attributes.get("href") or "" for node in tree.css(LINKS)]
    return len({resolve(sample.url, reference) for reference in references})


def ours(syntaxes: frozenset[Syntax] | None) -> Contender:
    options = TransformOptions(syntaxes=syntaxes)

    def run(sample: Sample) -> int:
        detected = detect(sample.body, url=sample.url, content_type=sample.content_type)
        facts = transform(Document(url=sample.url, body=sample.body, detected=detected), options)
        return sum(facts.counts.values())

    return run


def extruct_with(syntaxes: Sequence[str] | None) -> Contender:
    import extruct  # slow import, not needed with --skip-peers

    chosen = list(syntaxes or extruct.SYNTAXES)

    def run(sample: Sample) -> int:
        found = extruct.extract(sample.body, base_url=sample.url, syntaxes=chosen, errors="ignore")
        return sum(len(part) for part in found.values())

    return run


def measure(samples: Sequence[Sample], contenders: dict[str, Contender], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of each program for all pages: the sum over batches of the best round."""
    batches = [samples[start : start + BATCH] for start in range(0, len(samples), BATCH)]
    best = {name: [float("inf")] * len(batches) for name in contenders}
    for number in range(rounds):
        for place, batch in enumerate(batches):
            for name, contender in contenders.items():
                before = time.process_time()
                for sample in batch:
                    contender(sample)
                best[name][place] = min(best[name][place], time.process_time() - before)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return {name: sum(seconds) for name, seconds in best.items()}


def pages_section(samples: Sequence[Sample], rounds: int, *, peers: bool) -> tuple[str, bool]:
    contenders: dict[str, Contender] = {BARE: parse_and_collect, RESOLVED: parse_and_resolve, ALL: ours(None)}
    for syntax in SYNTAXES:
        contenders[f"ours, {syntax.value}"] = ours(frozenset({syntax}))
    taken = measure(samples, contenders, rounds)
    ratio = taken[ALL] / taken[BARE]
    good = ratio <= MAX_TIMES_PARSING
    told = [
        f"- CPU of all syntaxes against parsing and collecting links: **{ratio:.2f} times** (at most "
        f"{MAX_TIMES_PARSING:g}); against parsing with resolved links: {taken[ALL] / taken[RESOLVED]:.2f}"
    ]
    if peers:
        theirs: dict[str, Contender] = {BESIDE: ours(None), THEIRS: extruct_with(None)}
        for name in (*SYNTAXES.values(), "opengraph"):
            theirs[f"extruct, {name}"] = extruct_with([name])
        taken |= measure(samples, theirs, rounds)
        ratio = taken[THEIRS] / taken[BESIDE]
        told.append(f"- pages per second against extruct: **{ratio:.1f} times** (at least {MIN_TIMES_EXTRUCT:g})")
        good = good and ratio >= MIN_TIMES_EXTRUCT
    rows = [
        (name, f"{len(samples) / seconds:,.0f}", f"{seconds / len(samples) * 1e6:,.0f}", f"{seconds / taken[BARE]:.2f}")
        for name, seconds in taken.items()
    ]
    size = sum(len(sample.body) for sample in samples) / len(samples) / 1000
    quads = sum(map(contenders[ALL], samples))
    lines = [
        f"{len(samples)} random pages of {size:.1f} KB on average, from which we extract {quads:,} quads.",
        f"CPU time on one core, {rounds} interleaved rounds; the best round of each batch of {BATCH} pages counts.",
        "",
        table(("program", "pages/s", "µs/page", "times parsing"), rows),
        "",
        *told,
    ]
    return "\n".join(lines), good


def documents(triples: int) -> Iterable[tuple[str, ContentKind, bytes]]:
    """Yield the same generated data in every RDF syntax: name in rdflib, our content kind, body."""
    import pyoxigraph as ox

    lines = []
    for number in range(triples // 5):
        item = f"<http://example.org/item/{number}>"
        lines.append(f"{item} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Product> .")
        lines.append(f'{item} <http://schema.org/name> "Item number {number}"@en .')
        lines.append(f'{item} <http://schema.org/price> "{number}.99"^^<http://www.w3.org/2001/XMLSchema#decimal> .')
        lines.append(f"{item} <http://schema.org/brand> <http://example.org/brand/{number % 50}> .")
        lines.append(f"{item} <http://schema.org/offers> _:offer{number} .")
    quads = list(ox.parse("\n".join(lines).encode(), ox.RdfFormat.N_TRIPLES))
    for name, kind, rdf_format in (
        ("turtle", ContentKind.TURTLE, ox.RdfFormat.TURTLE),
        ("trig", ContentKind.TRIG, ox.RdfFormat.TRIG),
        ("nt", ContentKind.N_TRIPLES, ox.RdfFormat.N_TRIPLES),
        ("nquads", ContentKind.N_QUADS, ox.RdfFormat.N_QUADS),
        ("xml", ContentKind.RDF_XML, ox.RdfFormat.RDF_XML),
        ("json-ld", ContentKind.JSON_LD, ox.RdfFormat.JSON_LD),
    ):
        body = ox.serialize(quads, format=rdf_format)
        if body is not None:
            yield name, kind, body


def documents_section(triples: int, rounds: int) -> str:
    """Return quads per second for each RDF syntax, ours and rdflib; rdflib indexes its graph, ours is a list."""
    import rdflib

    rows = []
    for name, kind, body in documents(triples):
        document = Document(
            url="http://example.org/", body=body, detected=Detected(kind=kind, evidence=DetectionEvidence.HEADER)
        )
        mine, theirs = [], []
        for _ in range(rounds):
            before = time.process_time()
            found = sum(transform(document).counts.values())
            between = time.process_time()
            rdflib.Dataset().parse(data=body, format=name)
            mine.append(found / (between - before))
            theirs.append(triples / (time.process_time() - between))
        ratio = statistics.median(mine) / statistics.median(theirs)
        rates = (f"{statistics.median(mine):,.0f}", f"{statistics.median(theirs):,.0f}", f"{ratio:.1f}")
        rows.append((kind.value, f"{found:,}", *rates))
    return table(("syntax", "quads", "ours, quads/s", "rdflib, quads/s", "ratio"), rows)


def prepare(pages: int, seed: int) -> list[Sample]:
    """Pin this process to one core, silence the libraries, and return the pages. Exit if there is no recorded web."""
    if not CORPUS.exists():
        print(f"the recorded web is missing: {CORPUS}", file=sys.stderr)
        raise SystemExit(2)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    samples = draw(pages, seed)
    gc.freeze()
    return samples


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pages", type=int, default=500)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--triples", type=int, default=20_000)
    arguments.add_argument("--skip-peers", action="store_true", help="leave extruct and rdflib out")
    given = arguments.parse_args()
    samples = prepare(given.pages, given.seed)
    with shared_timer():  # as in the parser processes of a crawl
        section, good = pages_section(samples, given.rounds, peers=not given.skip_peers)
    markdown = f"## Extraction\n\n{section}"
    if not given.skip_peers:
        markdown += "\n\n### RDF documents\n\n" + documents_section(given.triples, given.rounds)
    print(markdown)
    if not given.skip_peers:
        record("extract", markdown)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
