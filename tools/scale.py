"""Compute what a crawl of the web needs from measured figures, and write docs/scale.md.

    python tools/scale.py [-o docs/scale.md]

Measured figures come from bench/results (crawl.md, frontier.md, index.md, extract.md, cluster.json). Figures that
cannot be measured on one machine are named assumptions below. The second half is a simulation of 1 to 1,000 shards,
which uses the shards' own code for hashing, batching, reporting and merging, and shows the limits of the design.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motherlode.cluster.coordinator import MERGE_BYTES_PER_SECOND, compute_merge_seconds
from motherlode.cluster.outbox import BATCHES_PER_SECOND, MAX_BATCH_LINKS, MIN_WAIT_SECONDS
from motherlode.cluster.partitioner import jump
from motherlode.cluster.shard import REPORTS_PER_SECOND

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
DAY = 86_400
SMALL, LARGE = 1e8, 1e10
"""Pages of the two planned crawls."""


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """Figures that cannot be measured on one machine."""

    cores: int = 16
    """Cores of one machine."""
    disk: float = 4e12
    """Bytes of disk of one machine."""
    memory: float = 32e9
    """Bytes of memory of one machine for frontiers: half of 64 GB."""
    network: float = 1e9 / 8
    """Bytes per second of one machine."""
    busy: float = 0.6
    """Share of a machine's cores that a crawl keeps busy over weeks."""
    packed: float = 4.0
    """Compression ratio of bodies on the network (gzip, brotli)."""
    host_pages: float = 100.0
    """Mean number of pages fetched per host."""
    delay: float = 1.0
    """Seconds between two requests to a host."""
    days: float = 30.0
    """Duration of the crawl."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Measured figures, each with its file."""

    cpu: float
    """Seconds of CPU per page, all phases (crawl.md)."""
    phases: tuple[tuple[str, float], ...]
    """µs of CPU per page by phase (crawl.md)."""
    quads: float
    """Quads per page (crawl.md)."""
    body: float
    """Uncompressed bytes per body (extract.md)."""
    url_bytes: float
    """Bytes on disk per known URL (frontier.md)."""
    url_memory: float
    """Bytes of memory per known URL (frontier.md: memory with few hosts, without the hosts)."""
    host_memory: float
    """Bytes of memory per host (frontier.md: difference between a million and ten thousand hosts)."""
    quad_bytes: float
    """Bytes on disk per quad: log, store with union and provenance, words (index.md)."""
    known: float
    """Known URLs per fetched page in a crawl of 2,000 real pages (cluster.json)."""
    links: float
    """Links per page to other domains that were not sent recently (cluster.json)."""
    link_bytes: float
    """Bytes per such link in a batch (cluster.json)."""
    call: float
    """Seconds per Ray call (cluster.json)."""
    delta: float
    """Bytes of the statistics that a shard learns in three seconds; the largest of all policies (cluster.json)."""


def read_measured(folder: Path) -> Measured:
    crawl, frontier = (folder / "crawl.md").read_text(), (folder / "frontier.md").read_text()
    index, extract = (folder / "index.md").read_text(), (folder / "extract.md").read_text()
    shards = json.loads((folder / "cluster.json").read_text())
    pages = _number(r"([\d,]+) pages\)", crawl)
    ours = _cells(r"\| Motherlode, indexed while crawling, quads and words \|.*", crawl)
    urls = _number(r"([\d,]+) URLs each", frontier)
    largest, smallest = _cells(r"\| 1,000,000 \|.*", frontier), _cells(r"\| 10,000 \|.*", frontier)
    host_memory = 1e6 * (largest[-3] - smallest[-3]) / 990_000
    return Measured(
        cpu=ours[1] / 1000,
        phases=tuple((name, float(value)) for name, value in re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", crawl, re.M)),
        quads=ours[2] / pages,
        body=1000 * _number(r"pages of ([\d.]+) KB", extract),
        url_bytes=1e9 * largest[-1] / urls,
        url_memory=(1e6 * smallest[-3] - 10_000 * host_memory) / urls,
        host_memory=host_memory,
        quad_bytes=sum(_number(rf"disk per quad: .*\| (?:\d+ \+ ){{{part}}}(\d+)", index) for part in range(3)),
        known=shards["known_a_page"],
        links=2 * shards["links_a_page"],  # with two shards, half of the links to other domains stay in their shard
        link_bytes=shards["bytes_a_page"] / shards["links_a_page"],
        call=shards["call_us"] / 1e6,
        delta=shards["delta_bytes"],
    )


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"bench/results contains nothing like {pattern!r}: run `make bench` first")
    return float(found[1].replace(",", ""))


def _cells(pattern: str, text: str) -> list[float]:
    """Return the numbers of a table row without its first cell."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"bench/results contains no row like {pattern!r}: run `make bench` first")
    return [float(cell.replace(",", "")) for cell in found[0].strip("| ").split("|")[1:]]


# ── requirements of a crawl ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class CrawlNeeds:
    """Requirements of a crawl."""

    pages: float
    cores: float
    machines: int
    by: str
    """The resource that determines the number of machines."""
    received: float
    """Bytes per second, all machines together."""
    exchanged: float
    """Bytes per second between all shards."""
    frontier: float
    store: float
    memory: float
    """Bytes of frontier in memory per machine."""
    days_on_ten: float
    """Days with ten machines, by CPU only."""


def need(pages: float, measured: Measured, given: Assumptions) -> CrawlNeeds:
    seconds = given.days * DAY
    core_seconds = pages * measured.cpu
    cores = core_seconds / seconds / given.busy
    frontier = pages * measured.known * measured.url_bytes
    store = pages * measured.quads * measured.quad_bytes
    memory = pages * (measured.known * measured.url_memory + measured.host_memory / given.host_pages)
    received = pages * measured.body / given.packed / seconds
    wanted = {
        "CPU": cores / given.cores,
        "disk": (frontier + store) / given.disk,
        "memory": memory / given.memory,
        "network": received / given.network,
    }
    by = max(wanted, key=lambda name: wanted[name])
    machines = max(1, -int(-wanted[by] // 1))
    return CrawlNeeds(
        pages=pages,
        cores=cores,
        machines=machines,
        by=by,
        received=received,
        exchanged=pages * measured.links * measured.link_bytes / seconds,
        frontier=frontier,
        store=store,
        memory=memory / machines,
        days_on_ten=core_seconds / (10 * given.cores * given.busy) / DAY,
    )


# ── limits of the design ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class ShardFigures:
    """Figures for one number of shards."""

    shards: int
    imbalance: float
    """Pages of the largest shard as a multiple of the mean."""
    capped: float
    """The same if each host gives at most the pages that its delay allows in the time."""
    batches: float
    """Batches that a shard sends per second."""
    links_per_batch: float
    wait: float
    """Seconds that a link waits in its batch."""
    calls_share: float
    """Share of a core for batches sent and received."""
    reports: float
    """Reports per second at the coordinator."""
    merge: float
    """Seconds between two deltas of a shard."""
    merge_traffic: float
    """Bytes per second at the coordinator."""


def host_sizes(hosts: int, seed: int) -> np.ndarray:
    """Return the pages of each domain: Pareto with exponent 1.2, so that the largest has a few percent of the web."""
    return np.floor(10 * (1 + np.random.default_rng(seed).pareto(1.2, hosts)))


def simulate(
    shards: int, sizes: np.ndarray, keys: np.ndarray, measured: Measured, *, pages: float, given: Assumptions
) -> ShardFigures:
    owners = np.fromiter((jump(int(key), shards) for key in keys), dtype=np.int64, count=len(keys))
    full = np.bincount(owners, weights=sizes, minlength=shards)
    cap = (
        sizes.sum() * given.days * DAY / given.delay / LARGE
    )  # the simulated web is a scaled-down model of the large one
    possible = np.bincount(owners, weights=np.minimum(sizes, cap), minlength=shards)
    found = pages * measured.links * (1 - 1 / shards)  # links per second for other shards
    wait = max(MIN_WAIT_SECONDS, (shards - 1) / BATCHES_PER_SECOND)
    batches = links_per_batch = 0.0
    if shards > 1:
        each = found / (shards - 1)
        # a batch starts with its first link and is sent after `wait`, or when it is full
        links_per_batch = min(MAX_BATCH_LINKS, 1 + each * wait)
        batches = found / links_per_batch
    merge = compute_merge_seconds(shards, measured.delta)
    return ShardFigures(
        shards=shards,
        imbalance=float(full.max() / full.mean()),
        capped=float(possible.max() / possible.mean()),
        batches=batches,
        links_per_batch=links_per_batch,
        wait=wait if shards > 1 else 0.0,
        calls_share=2 * batches * measured.call,
        reports=min(REPORTS_PER_SECOND, shards / 0.2) if shards > 1 else 0.0,
        merge=merge,
        merge_traffic=shards * (shards - 1) * measured.delta / merge,
    )


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines.extend(f"| {' | '.join(row)} |" for row in rows)
    return "\n".join(lines)


def size(count: float) -> str:
    """Format a number of bytes.

    >>> size(999), size(1.5e9), size(2.34e14)
    ('999 B', '1.5 GB', '234.0 TB')
    """
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:.0f} B"


def needs_table(needs: Sequence[CrawlNeeds]) -> str:
    rows = {
        "cores, busy as assumed": [f"{one.cores:,.1f}" for one in needs],
        "machines": [f"{one.machines:,} (by {one.by})" for one in needs],
        "received, all machines": [f"{size(one.received)}/s" for one in needs],
        "received, per machine": [f"{size(one.received / one.machines)}/s" for one in needs],
        "links between shards, all": [f"{size(one.exchanged)}/s" for one in needs],
        "frontier on disk": [size(one.frontier) for one in needs],
        "frontier in memory, per machine": [size(one.memory) for one in needs],
        "quad store on disk": [size(one.store) for one in needs],
        "days with ten machines, by CPU": [f"{one.days_on_ten:,.1f}" for one in needs],
    }
    head = ("in 30 days", *(f"{one.pages:,.0f} pages" for one in needs))
    return table(head, [(name, *cells) for name, cells in rows.items()])


def shards_table(shard_figures: Sequence[ShardFigures]) -> str:
    head = (
        "shards",
        "largest shard, × mean",
        "with hosts capped",
        "batches/s per shard",
        "links per batch",
        "a link waits, s",
        "cores for calls",
        "reports/s",
        "s between merges",
        "merge traffic",
    )
    return table(
        head,
        [
            (
                f"{one.shards:,}",
                f"{one.imbalance:.2f}",
                f"{one.capped:.2f}",
                f"{one.batches:,.1f}",
                f"{one.links_per_batch:,.1f}",
                f"{one.wait:.1f}",
                f"{one.calls_share:.3f}",
                f"{one.reports:,.0f}",
                f"{one.merge:,.0f}",
                f"{size(one.merge_traffic)}/s",
            )
            for one in shard_figures
        ],
    )


def measured_table(measured: Measured, given: Assumptions) -> str:
    rows = [
        ("CPU per page, from the seed to the stored quad", f"{1000 * measured.cpu:.2f} ms", "crawl.md"),
        *((f"— {name}", f"{value:.0f} µs", "crawl.md") for name, value in measured.phases),
        ("quads per page", f"{measured.quads:.1f}", "crawl.md"),
        ("body, uncompressed", size(measured.body), "extract.md"),
        ("known URL on disk", size(measured.url_bytes), "frontier.md"),
        ("known URL in memory", size(measured.url_memory), "frontier.md"),
        ("host in memory", size(measured.host_memory), "frontier.md"),
        ("quad on disk", size(measured.quad_bytes), "index.md"),
        ("known URLs per fetched page", f"{measured.known:.1f}", "cluster.json"),
        ("links per page to other domains", f"{measured.links:.2f}", "cluster.json"),
        ("such a link in a batch", size(measured.link_bytes), "cluster.json"),
        ("Ray call", f"{1000 * measured.call:.2f} ms", "cluster.json"),
        ("statistics learned in three seconds, largest policy", size(measured.delta), "cluster.json"),
    ]
    assumed = [
        ("cores of a machine", f"{given.cores}", "assumed"),
        ("disk of a machine", size(given.disk), "assumed"),
        ("memory of a machine for frontiers", size(given.memory), "assumed"),
        ("pages fetched from a host", f"{given.host_pages:.0f}", "assumed"),
        ("network of a machine", f"{size(given.network)}/s", "assumed"),
        ("share of the cores kept busy", f"{given.busy:.0%}", "assumed"),
        ("compression of bodies on the network", f"{given.packed:.0f} times", "assumed"),
        ("delay of a host", f"{given.delay:.0f} s", "assumed"),
    ]
    return table(("figure", "value", "from"), [*rows, *assumed])


def page(measured: Measured, given: Assumptions) -> str:
    needs = [need(pages, measured, given) for pages in (SMALL, LARGE)]
    sizes, keys = host_sizes(200_000, 1), np.random.default_rng(2).integers(0, 2**63, 200_000)
    rate = given.cores * given.busy / measured.cpu / given.cores  # a shard has a core
    shard_figures = [
        simulate(n, sizes, keys, measured, pages=rate, given=given) for n in (1, 2, 4, 10, 30, 100, 300, 1000)
    ]
    return TEXT.format(
        figures=measured_table(measured, given),
        needs=needs_table(needs),
        shard_figures=shards_table(shard_figures),
        rate=rate,
        hosts=len(sizes),
        largest=100 * sizes.max() / sizes.sum(),
        cap=given.days * DAY / given.delay,
        merge_limit=size(MERGE_BYTES_PER_SECOND),
        store=size(needs[1].store),
    )


TEXT = """# What a crawl of the web needs

This page is written by `tools/scale.py` from `bench/results`; run it again after `make bench`. The figures come from a
shared machine and are coarse: read them to one digit.

## Measured and assumed figures

{figures}

## 100 million and 10 billion pages

    cores     = pages × CPU per page ÷ seconds ÷ share kept busy
    frontier  = pages × known URLs per page × bytes per known URL
    store     = pages × quads per page × bytes per quad
    received  = pages × bytes per body ÷ compression ÷ seconds
    exchanged = pages × links per page to other domains × bytes per such link ÷ seconds
    memory    = pages × (known URLs per page × memory per URL + memory per host ÷ pages per host)
    machines  = the largest of cores, disk, memory and network, each divided by the capacity of a machine

{needs}

CPU is not the limit: frontier and store are. The store keeps each statement twice, in its page's graph and in the
union, in several orders. Small stores need more bytes per quad than large ones, so this is an upper bound. The memory
of the frontier is measured up to ten million URLs per process and extrapolated linearly, which is an upper bound too.
Links between shards are negligible compared with the pages. More machines do not change politeness: a host with a delay
of one second gives at most {cap:,.0f} pages in 30 days.

One folder of 10 billion pages ({store} of quads) is not possible: `merge_shards` is for results that fit on one disk.
For larger crawls, keep the folders of the shards. Each is the folder of a crawl, which `query`, `export` and `stats`
can read. For joins over all of them, load their `export` into an engine that is made for that size.

## From 1 to 1,000 shards

This is a simulation with {hosts:,} domains whose sizes follow a Pareto distribution (exponent 1.2; the largest has
{largest:.1f} % of the pages). Domains are assigned by the hash that shards use. Each shard has one core and fetches
{rate:.0f} pages per second. Batches of links, reports and learned statistics follow the rules of `motherlode.cluster`.

{shard_figures}

Limits of the design, in the order in which they appear:

- **Imbalance.** A domain belongs to one shard, so the largest domain limits the gain of more shards. In a crawl of 10
  billion pages politeness limits each host anyway (the column "with hosts capped"), and most of the imbalance
  disappears. In a smaller crawl set `pages_per_host`.
- **Batches of links** cost the same from ten shards on, because a shard sends at most {batches} incomplete batches per
  second. The time that a link waits grows, which does no harm while the receiving shard has other work. Batches this
  small do not make the cost of Ray's calls negligible, as batches of 100 links and more do (bench/results/cluster.md),
  but limit it.
- **Merging learned statistics** becomes slow early. All statistics go to all other shards through the coordinator,
  which is quadratic. Its traffic is limited to {merge_limit} per second, so the pauses grow instead: seconds for ten
  shards, minutes for a hundred, hours for a thousand. A tree that adds up statistics on the way would be the next step.
- **The coordinator** is one process. Reports are limited to {reports} per second in total, so beyond a hundred shards
  budgets, grants of IP addresses and the end of the crawl are coordinated more slowly.
"""
TEXT = TEXT.replace("{batches}", str(BATCHES_PER_SECOND)).replace("{reports}", str(REPORTS_PER_SECOND))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "scale.md")
    options = parser.parse_args()
    options.output.write_text(page(read_measured(RESULTS), Assumptions()))


if __name__ == "__main__":
    main()
