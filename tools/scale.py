"""What a crawl of the web needs, computed from what was measured: writes docs/scale.md.

    python tools/scale.py [-o docs/scale.md]

Measured figures come out of bench/results (crawl.md, frontier.md, index.md, extract.md, cluster.json); what cannot be
measured on one machine stands below as assumptions, by name. The second half is a simulation of 1 to 1,000 shards that
uses the shards' own code for hashing, batching, reporting and merging, and shows where the design bends.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motherlode.cluster.coordinator import MERGE_BYTES, merge_seconds
from motherlode.cluster.outbox import BATCHES_PER_SECOND, LEAST_WAIT, MAX_BATCH_LINKS
from motherlode.cluster.partitioner import jump
from motherlode.cluster.shard import REPORTS_PER_SECOND

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"
DAY = 86_400
SMALL, LARGE = 1e8, 1e10
"""Pages of the two crawls that are planned."""


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What no benchmark on one machine can tell."""

    cores: int = 16
    """Of one machine."""
    disk: float = 4e12
    """Bytes of one machine."""
    memory: float = 32e9
    """Bytes of one machine that frontiers may have: half of 64 GB."""
    network: float = 1e9 / 8
    """Bytes a second of one machine."""
    busy: float = 0.6
    """Share of a machine's cores that a crawl keeps busy over weeks."""
    packed: float = 4.0
    """Times that bodies shrink on their way (gzip, brotli)."""
    host_pages: float = 100.0
    """Pages that are fetched from a host, on average."""
    delay: float = 1.0
    """Seconds between two requests to a host."""
    days: float = 30.0
    """In which the crawl is to be done."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Each figure with the file that it comes from."""

    cpu: float
    """Seconds of CPU a page, all phases (crawl.md)."""
    phases: tuple[tuple[str, float], ...]
    """µs of CPU a page by phase (crawl.md)."""
    quads: float
    """Quads a page (crawl.md)."""
    body: float
    """Bytes of a body, unpacked (extract.md)."""
    url_bytes: float
    """Bytes on disk of a known URL (frontier.md)."""
    url_memory: float
    """Bytes of memory of a known URL (frontier.md: what is left where there are few hosts)."""
    host_memory: float
    """Bytes of memory of a host (frontier.md: what a million hosts take beyond ten thousand)."""
    quad_bytes: float
    """Bytes on disk of a quad, union and provenance included (index.md)."""
    known: float
    """Known URLs for each page fetched, in a crawl of 2,000 real pages (cluster.json)."""
    links: float
    """Links a page that lead to another domain and were not sent lately (cluster.json)."""
    link_bytes: float
    """Bytes of such a link in a batch (cluster.json)."""
    call: float
    """Seconds of a call of Ray's (cluster.json)."""
    delta: float
    """Bytes of what a shard learns in three seconds, of the policy with the largest (cluster.json)."""


def read_measured(folder: Path) -> Measured:
    crawl, frontier = (folder / "crawl.md").read_text(), (folder / "frontier.md").read_text()
    index, extract = (folder / "index.md").read_text(), (folder / "extract.md").read_text()
    shards = json.loads((folder / "cluster.json").read_text())
    pages = _number(r"([\d,]+) pages\)", crawl)
    ours = _cells(r"\| Motherlode \|.*", crawl)
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
        quad_bytes=_number(r"\(([\d,]+) bytes a quad\)", index),
        known=shards["known_a_page"],
        links=2 * shards["links_a_page"],  # of two shards, each link to another domain stays with one in two
        link_bytes=shards["bytes_a_page"] / shards["links_a_page"],
        call=shards["call_us"] / 1e6,
        delta=shards["delta_bytes"],
    )


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"the results hold nothing like {pattern!r}: run `make bench` first")
    return float(found[1].replace(",", ""))


def _cells(pattern: str, text: str) -> list[float]:
    """The numbers of a table's row, without its first cell."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"the results hold no row like {pattern!r}: run `make bench` first")
    return [float(cell.replace(",", "")) for cell in found[0].strip("| ").split("|")[1:]]


# ── what a crawl needs ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Need:
    """What so many pages take."""

    pages: float
    cores: float
    machines: int
    by: str
    """What the number of machines follows from."""
    received: float
    """Bytes a second, all machines together."""
    exchanged: float
    """Bytes a second between shards, all together."""
    frontier: float
    store: float
    memory: float
    """Bytes of frontier in memory, a machine."""
    days_on_ten: float
    """With ten machines, by CPU alone."""


def need(pages: float, measured: Measured, given: Assumptions) -> Need:
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
    return Need(
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


# ── where the design bends ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Bend:
    """One number of shards."""

    shards: int
    imbalance: float
    """Pages of the fullest shard, as a multiple of the mean."""
    capped: float
    """The same where no host gives more pages than its delay allows in the time."""
    letters: float
    """That a shard sends in a second."""
    links_a_letter: float
    wait: float
    """Seconds that a link waits for company."""
    calls_share: float
    """Of a core, for letters sent and received."""
    reports: float
    """A second, at the coordinator."""
    merge: float
    """Seconds between two deltas of a shard."""
    merge_traffic: float
    """Bytes a second at the coordinator."""


def host_sizes(hosts: int, seed: int) -> np.ndarray:
    """Pages of each domain: Pareto with exponent 1.2, which gives the largest a few percent of the web."""
    return np.floor(10 * (1 + np.random.default_rng(seed).pareto(1.2, hosts)))


def simulate(
    shards: int, sizes: np.ndarray, keys: np.ndarray, measured: Measured, *, pages: float, given: Assumptions
) -> Bend:
    owners = np.fromiter((jump(int(key), shards) for key in keys), dtype=np.int64, count=len(keys))
    full = np.bincount(owners, weights=sizes, minlength=shards)
    cap = sizes.sum() * given.days * DAY / given.delay / LARGE  # the simulated web is a small picture of the large one
    possible = np.bincount(owners, weights=np.minimum(sizes, cap), minlength=shards)
    found = pages * measured.links * (1 - 1 / shards)  # links a second for other shards
    wait = max(LEAST_WAIT, (shards - 1) / BATCHES_PER_SECOND)
    letters = links_a_letter = 0.0
    if shards > 1:
        each = found / (shards - 1)
        # a letter is begun by its first link and closed after `wait`, or when it is full
        links_a_letter = min(MAX_BATCH_LINKS, 1 + each * wait)
        letters = found / links_a_letter
    merge = merge_seconds(shards, measured.delta)
    return Bend(
        shards=shards,
        imbalance=float(full.max() / full.mean()),
        capped=float(possible.max() / possible.mean()),
        letters=letters,
        links_a_letter=links_a_letter,
        wait=wait if shards > 1 else 0.0,
        calls_share=2 * letters * measured.call,
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
    """Bytes for people.

    >>> size(999), size(1.5e9), size(2.34e14)
    ('999 B', '1.5 GB', '234.0 TB')
    """
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:.0f} B"


def needs_table(needs: Sequence[Need]) -> str:
    rows = {
        "cores, all busy as assumed": [f"{one.cores:,.1f}" for one in needs],
        "machines": [f"{one.machines:,} (by {one.by})" for one in needs],
        "received, all machines": [f"{size(one.received)}/s" for one in needs],
        "received, a machine": [f"{size(one.received / one.machines)}/s" for one in needs],
        "links between shards, all": [f"{size(one.exchanged)}/s" for one in needs],
        "frontier on disk": [size(one.frontier) for one in needs],
        "frontier in memory, a machine": [size(one.memory) for one in needs],
        "quad store on disk": [size(one.store) for one in needs],
        "days with ten machines, by CPU": [f"{one.days_on_ten:,.1f}" for one in needs],
    }
    head = ("in 30 days", *(f"{one.pages:,.0f} pages" for one in needs))
    return table(head, [(name, *cells) for name, cells in rows.items()])


def bends_table(bends: Sequence[Bend]) -> str:
    head = (
        "shards",
        "fullest shard, × mean",
        "with hosts capped",
        "letters/s a shard",
        "links a letter",
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
                f"{one.letters:,.1f}",
                f"{one.links_a_letter:,.1f}",
                f"{one.wait:.1f}",
                f"{one.calls_share:.3f}",
                f"{one.reports:,.0f}",
                f"{one.merge:,.0f}",
                f"{size(one.merge_traffic)}/s",
            )
            for one in bends
        ],
    )


def measured_table(measured: Measured, given: Assumptions) -> str:
    rows = [
        ("CPU a page, from the seed to the stored quad", f"{1000 * measured.cpu:.2f} ms", "crawl.md"),
        *((f"— {name}", f"{value:.0f} µs", "crawl.md") for name, value in measured.phases),
        ("quads a page", f"{measured.quads:.1f}", "crawl.md"),
        ("a body, unpacked", size(measured.body), "extract.md"),
        ("a known URL on disk", size(measured.url_bytes), "frontier.md"),
        ("a known URL in memory", size(measured.url_memory), "frontier.md"),
        ("a host in memory", size(measured.host_memory), "frontier.md"),
        ("a quad on disk", size(measured.quad_bytes), "index.md"),
        ("known URLs for each page fetched", f"{measured.known:.1f}", "cluster.json"),
        ("links a page for other domains", f"{measured.links:.2f}", "cluster.json"),
        ("such a link on the wire", size(measured.link_bytes), "cluster.json"),
        ("a call of Ray's", f"{1000 * measured.call:.2f} ms", "cluster.json"),
        ("what three seconds teach, largest policy", size(measured.delta), "cluster.json"),
    ]
    assumed = [
        ("cores of a machine", f"{given.cores}", "assumed"),
        ("disk of a machine", size(given.disk), "assumed"),
        ("memory of a machine for frontiers", size(given.memory), "assumed"),
        ("pages fetched from a host", f"{given.host_pages:.0f}", "assumed"),
        ("network of a machine", f"{size(given.network)}/s", "assumed"),
        ("share of the cores kept busy", f"{given.busy:.0%}", "assumed"),
        ("bodies shrink on their way", f"{given.packed:.0f} times", "assumed"),
        ("delay of a host", f"{given.delay:.0f} s", "assumed"),
    ]
    return table(("figure", "value", "from"), [*rows, *assumed])


def page(measured: Measured, given: Assumptions) -> str:
    needs = [need(pages, measured, given) for pages in (SMALL, LARGE)]
    sizes, keys = host_sizes(200_000, 1), np.random.default_rng(2).integers(0, 2**63, 200_000)
    rate = given.cores * given.busy / measured.cpu / given.cores  # a shard has a core
    bends = [simulate(n, sizes, keys, measured, pages=rate, given=given) for n in (1, 2, 4, 10, 30, 100, 300, 1000)]
    return TEXT.format(
        figures=measured_table(measured, given),
        needs=needs_table(needs),
        bends=bends_table(bends),
        rate=rate,
        hosts=len(sizes),
        largest=100 * sizes.max() / sizes.sum(),
        cap=given.days * DAY / given.delay,
        merge_limit=size(MERGE_BYTES),
        store=size(needs[1].store),
    )


TEXT = """# What the web would take

Written by `tools/scale.py` from `bench/results`; run it again after `make bench`. The figures of a shared machine are
coarse: read them to one digit.

## What was measured, and what is assumed

{figures}

## 100 million and 10 billion pages

    cores     = pages × CPU a page ÷ seconds ÷ share kept busy
    frontier  = pages × known URLs a page × bytes of a known URL
    store     = pages × quads a page × bytes of a quad
    received  = pages × bytes of a body ÷ packing ÷ seconds
    exchanged = pages × links a page for other domains × bytes of such a link ÷ seconds
    memory    = pages × (known URLs a page × memory of a URL + memory of a host ÷ pages a host)
    machines  = the largest of cores, disk, memory and network, each divided by what a machine has

{needs}

Cores are the least of it: frontier and store decide. The store keeps each statement twice, in its page's graph and in
the union, in several orders; small stores weigh more a quad than large ones, so this is an upper end. The frontier's
memory is measured up to ten million URLs a process and taken to grow in proportion, which is an upper end, too. Links
between shards are nothing beside the pages themselves. What no machine mends is politeness: a host with a delay of a
second gives {cap:,.0f} pages in 30 days.

One folder of 10 billion pages ({store} of quads) is not to be had: `merge_shards` is for what fits on one disk. Beyond
that, leave the shards' folders as they are. Each is the folder of a crawl, which `query`, `export` and `stats` read by
itself; joins over all of them are for an engine that is made for it, fed by `export`.

## From 1 to 1,000 shards

A simulation: {hosts:,} domains whose sizes follow a Pareto distribution (exponent 1.2; the largest has {largest:.1f} %
of the pages), owned by the hash that shards use; each shard has a core and fetches {rate:.0f} pages a second; letters,
reports and deltas go by the rules of `motherlode.cluster`.

{bends}

Where it bends:

- **Imbalance** comes first. A domain belongs to one shard, so the largest domain bounds what more shards can bring. In
  a crawl of 10 billion pages politeness caps each host anyway (the column beside it), and most of that goes away; in
  a smaller crawl set `pages_per_host`.
- **Letters** cost the same from ten shards on: a shard closes at most {letters} a second that are not full. What grows
  is the time that a link waits, which matters to nobody while the shard that waits for it has other work. Letters this
  small do not make Ray's call vanish as those of 100 links and more do (bench/results/cluster.md), but bound it.
- **Merging** what was learned bends early. Every delta goes to every other shard through the coordinator, which is
  quadratic; its traffic is bounded to {merge_limit} a second, so the pauses grow instead: seconds for ten shards,
  minutes for a hundred, hours for a thousand. A tree that adds deltas up on the way would be the next thing to build.
- **The coordinator** is one process. Reports are bounded to {reports} a second in all, so beyond a hundred shards
  budgets, leases of addresses and the end of the crawl are agreed on more slowly.
"""
TEXT = TEXT.replace("{letters}", str(BATCHES_PER_SECOND)).replace("{reports}", str(REPORTS_PER_SECOND))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "scale.md")
    options = parser.parse_args()
    options.output.write_text(page(read_measured(RESULTS), Assumptions()))


if __name__ == "__main__":
    main()
