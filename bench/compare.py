"""CPU time of two revisions of this repository, on the same jobs.

    python bench/compare.py OLD NEW [--runs 7] [--scale 1.0] [--jobs crawl,extract,frontier,select] [--core 0]
                            [--shared-venv PATH] [--json]

OLD and NEW are anything that git can check out. Both are cloned into a temporary folder, and each gets an environment
of its own from its requirements.lock. With --shared-venv both use the given environment, and PYTHONPATH chooses the
sources. The jobs use the command line alone, because modules have other names in other revisions:

- crawl: `crawl --web` of a generated WARC file: fetching from an archive, parsing, store, words, frontier and policy;
- extract: `record` of generated pages in all syntaxes (detection, extraction and links of every page), then `extract`
  of one large page;
- frontier: `crawl --web --policy bfs --index later` of lists of links to pages that are not there: many URLs are
  added to the frontier on disk and many are leased, each with a 404 at once; then `simulate synthetic:N --policy bfs`;
- select: `simulate synthetic:N --policy motherlode`: rating links and picking arms. N is above 200,000, because
  `simulate` adds runs of other policies for smaller webs.

Each job contains more than its name says: start-up, generated pages, and parsing of the lists.

The runs of OLD and NEW alternate, and the one that goes first changes with every pair. A run is pinned to one core by
taskset. Its CPU time is user and system time of all its processes. One run of each revision comes first and does not
count: it compiles the sources and fills the caches. The ratio NEW/OLD is taken pair by pair. Printed are the median of
the ratios and a 95 % bootstrap interval of that median. The exit code is 1 if a median is above 1.03 with an interval
that excludes 1, and 2 if a job fails.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_RATIO = 1.03
RESAMPLES = 10_000
TIMEOUT_SECONDS = 1800
REPOSITORY = Path(__file__).resolve().parents[1]
WORDS = ("open", "data", "annual", "report", "water", "quality", "station", "museum", "history", "garden", "river")
HOSTS = 20

Command = Callable[[Path], list[list[str]]]
"""Returns the arguments of each `motherlode` command of a job that writes to this new folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One of the two revisions: its clone and the Python that runs it."""

    name: str
    commit: str
    clone: Path
    python: Path

    def environment(self) -> dict[str, str]:
        """Return the variables of a run: the sources of the clone, and caches inside it, also of compiled sources."""
        own = {"PYTHONPATH": str(self.clone / "src"), "XDG_CACHE_HOME": str(self.clone / ".cache")}
        return os.environ | own | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """CPU seconds of one job in both revisions, and what follows from them."""

    job: str
    old: list[float]
    new: list[float]
    median: float
    low: float
    high: float

    @property
    def is_slower(self) -> bool:
        return self.median > MAX_RATIO and self.low > 1


def compare_times(job: str, old: list[float], new: list[float]) -> Comparison:
    """Return the median of the ratios of the pairs, with its bootstrap interval."""
    ratios = [after / before for before, after in zip(old, new, strict=True)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    low, high = medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]
    return Comparison(job=job, old=old, new=new, median=statistics.median(ratios), low=low, high=high)


# the two revisions


def prepare(name: str, folder: Path, shared: Path | None) -> Revision:
    """Clone a revision and make its environment."""
    commit = git("rev-parse", "--verify", f"{name}^{{commit}}", cwd=REPOSITORY)
    clone = folder / "clone"
    git("clone", "--quiet", "--shared", "--no-checkout", str(REPOSITORY), str(clone), cwd=folder)
    git("checkout", "--quiet", "--detach", commit, cwd=clone)
    python = make_environment(folder / "venv", clone) if shared is None else shared.absolute() / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"there is no environment at {shared}: {python} does not exist")
    revision = Revision(name=name, commit=commit, clone=clone, python=python)
    check_sources(revision)
    return revision


def check_sources(revision: Revision) -> None:
    """Stop if another copy of the package would run: an editable install may come before PYTHONPATH."""
    command = [str(revision.python), "-c", "import motherlode; print(motherlode.__file__)"]
    done = subprocess.run(command, env=revision.environment(), capture_output=True, text=True, check=False)
    if not Path(done.stdout.strip() or "/").is_relative_to(revision.clone):
        raise SystemExit(f"{revision.name}: the sources of the clone are not used: {done.stdout}{done.stderr}")


def git(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def make_environment(venv: Path, clone: Path) -> Path:
    """Create an environment with what requirements.lock of the clone names."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    install = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--requirement", str(clone / "requirements.lock")], check=True)
    return venv / "bin" / "python"


# runs


def run_job(revision: Revision, command: Command, core: int) -> float:
    """Run the commands of a job and return the CPU seconds of all their processes."""
    with tempfile.TemporaryDirectory(prefix="compare-run-") as folder:
        return sum(run_command(revision, arguments, core, Path(folder)) for arguments in command(Path(folder) / "out"))


def run_command(revision: Revision, arguments: list[str], core: int, folder: Path) -> float:
    pinned = ["taskset", "-c", str(core)] if shutil.which("taskset") else []
    command = [*pinned, str(revision.python), "-m", "motherlode", *arguments]
    before = os.times()
    done = subprocess.run(
        command, cwd=folder, env=revision.environment(), capture_output=True, timeout=TIMEOUT_SECONDS, check=False
    )
    after = os.times()
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-2000:]
        print(
            f"{revision.name}: motherlode {' '.join(arguments)} ended with {done.returncode}: {said}", file=sys.stderr
        )
        raise SystemExit(2)
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(job: str, command: Command, old: Revision, new: Revision, runs: int, core: int) -> Comparison:
    """Run a job in both revisions, in turns."""
    times: dict[str, list[float]] = {"old": [], "new": []}
    sides = [("old", old), ("new", new)]
    for number in range(runs + 1):
        for side, revision in sides if number % 2 else sides[::-1]:
            seconds = run_job(revision, command, core)
            if number:  # the first pair is the warm-up
                times[side].append(seconds)
        if number:
            print(f"{job} {number}/{runs}: {times['old'][-1]:.2f} s, {times['new'][-1]:.2f} s", file=sys.stderr)
    return compare_times(job, times["old"], times["new"])


# input of the jobs


def html_page(number: int, draw: random.Random, items: int, pages: int) -> str:
    """Return a page with JSON-LD, Microdata, RDFa, microformats and links."""
    words = [" ".join(draw.sample(WORDS, 3)) for _ in range(items)]
    product = {"@context": "https://schema.org/", "@type": "Product", "@id": f"#p{number}", "name": words[0]}
    product["offers"] = [{"@type": "Offer", "price": str(n), "name": text} for n, text in enumerate(words)]
    microdata = "".join(
        f'<div itemscope itemtype="http://schema.org/Recipe"><b itemprop="name">{text}</b>'
        f'<time itemprop="datePublished" datetime="2024-01-{n % 28 + 1:02d}">day</time></div>'
        for n, text in enumerate(words)
    )
    rdfa = "".join(
        f'<p about="#r{n}" typeof="schema:Event" prefix="schema: http://schema.org/">'
        f'<span property="schema:name">{text}</span><a rel="schema:url" href="/e/{n}">more</a></p>'
        for n, text in enumerate(words)
    )
    cards = "".join(
        f'<div class="h-card"><a class="p-name u-url" href="/c/{n}">{t}</a></div>' for n, t in enumerate(words)
    )
    links = "".join(
        f'<li class="x"><a href="{url}">{draw.choice(WORDS)}</a></li>' for url in page_links(number, draw, pages)
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>Page {number} of {words[0]}</title>'
        f'<meta property="og:title" content="{words[0]}">'
        f'<script type="application/ld+json">{json.dumps(product)}</script>'
        f"</head><body><main>{microdata}{rdfa}{cards}</main><ul>{links}</ul></body></html>"
    )


def page_links(number: int, draw: random.Random, pages: int) -> Iterator[str]:
    """Yield links that lead to every page of the web, and some to pages at random."""
    for step in range(1, 16):
        yield page_url((number * 15 + step) % pages)
    for _ in range(10):
        yield page_url(draw.randrange(pages))


def page_url(number: int) -> str:
    return (
        f"http://host{number % HOSTS}.example/{WORDS[number % 11]}/{number}.html" if number else "http://host0.example/"
    )


def write_web(path: Path, pages: int) -> None:
    """Write a web with this number of pages, a third of them with structured data."""
    draw = random.Random(1)
    with path.open("wb") as file:
        for number in range(pages):
            body = plain_page(number, draw, pages) if number % 3 else html_page(number, draw, 4, pages)
            file.write(warc_record(page_url(number), "text/html; charset=utf-8", body))


def write_lists(path: Path, lists: int, links: int) -> None:
    """Write lists. Each has this number of links to pages that are not in the web."""
    with path.open("wb") as file:
        for number in range(lists):
            further = f'<a href="{page_url(number + 1)}">next</a>'
            missing = "".join(
                f'<li><a href="http://host{n % HOSTS}.example/missing/{number}/{n}">{n}</a>' for n in range(links)
            )
            file.write(
                warc_record(page_url(number), "text/html", f"<title>{number}</title>{further}<ul>{missing}</ul>")
            )


def plain_page(number: int, draw: random.Random, pages: int) -> str:
    links = "".join(f'<li><a href="{url}">{draw.choice(WORDS)}</a></li>' for url in page_links(number, draw, pages))
    text = "".join(f"<p>{' '.join(draw.choices(WORDS, k=40))}</p>" for _ in range(20))
    return f"<!DOCTYPE html><html><head><title>{number}</title></head><body>{text}<ul>{links}</ul></body></html>"


def warc_record(url: str, media_type: str, text: str) -> bytes:
    body = text.encode()
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:{record_id(url)}>",
        "WARC-Date": "2026-01-31T12:00:00Z",
        "WARC-Target-URI": url,
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(http)),
    }
    head = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    return gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0)


def record_id(url: str) -> str:
    digits = f"{random.Random(url).getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


MEDIA_TYPES = {
    "html": "text/html",
    "ttl": "text/turtle",
    "trig": "application/trig",
    "n3": "text/n3",
    "nt": "application/n-triples",
    "nq": "application/n-quads",
    "rdf": "application/rdf+xml",
    "jsonld": "application/ld+json",
    "rss": "application/rss+xml",
}


def documents(number: int, draw: random.Random, items: int) -> dict[str, str]:
    """Return one document for each file extension of `MEDIA_TYPES`; the page has all embedded syntaxes."""
    things = [(number * items + n, " ".join(draw.sample(WORDS, 3))) for n in range(items)]
    name, kind = "http://schema.org/name", "http://schema.org/Product"
    turtle = "".join(f'<http://a.example/{n}> a s:Product ; s:name "{t}"@en ; s:price {n}.5 .\n' for n, t in things)
    rdfxml = "".join(f'<s:Product rdf:about="http://a.example/{n}"><s:name>{t}</s:name></s:Product>' for n, t in things)
    linked = [{"@id": f"http://a.example/{n}", "@type": kind, name: [{"@value": t}]} for n, t in things]
    entries = "".join(f"<item><title>{t}</title><link>http://a.example/{n}</link></item>" for n, t in things)
    prefix = "@prefix s: <http://schema.org/> .\n"
    namespaces = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://schema.org/"'
    return {
        "html": html_page(number, draw, items, 1000),
        "ttl": prefix + turtle,
        "trig": f"{prefix}<http://a.example/g> {{ {turtle} }}\n",
        "n3": prefix + turtle,
        "nt": "".join(f'<http://a.example/{n}> <{name}> "{t}" .\n' for n, t in things),
        "nq": "".join(f'<http://a.example/{n}> <{name}> "{t}" <http://a.example/g> .\n' for n, t in things),
        "rdf": f"<rdf:RDF {namespaces}>{rdfxml}</rdf:RDF>",
        "jsonld": json.dumps(linked),
        "rss": f'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>{entries}</channel></rss>',
    }


def write_documents(path: Path, sets: int) -> None:
    """Write this number of documents of each kind, and twenty times as many HTML pages."""
    draw = random.Random(2)
    with path.open("wb") as file:
        for number in range(sets * 20):
            made = documents(number, draw, 20)
            for extension in made if number % 20 == 0 else ["html"]:
                url = f"http://a.example/{number}.{extension}"
                file.write(warc_record(url, MEDIA_TYPES[extension], made[extension]))


def make_jobs(folder: Path, scale: float) -> dict[str, Command]:
    """Write the input of all jobs; return their commands."""
    folder.mkdir()
    web, lists, corpus, page = (folder / name for name in ("web.warc.gz", "l.warc.gz", "d.warc.gz", "page.html"))
    pages = max(60, int(1500 * scale))
    write_web(web, pages)
    write_lists(lists, max(5, int(40 * scale)), 1500)
    write_documents(corpus, max(1, int(50 * scale)))
    page.write_text(html_page(1, random.Random(3), max(10, int(1000 * scale)), pages), encoding="utf-8")
    crawl = ["crawl", page_url(0), "--web", str(web), "--pages", str(pages), "--quiet", "-o"]
    simulate = ["simulate", "synthetic:300000", "--pages", str(max(100, int(20_000 * scale))), "--json", "--policy"]
    seeds = [page_url(number) for number in range(max(5, int(40 * scale)))]
    add = ["crawl", *seeds, "--web", str(lists), "--pages", str(max(100, int(4000 * scale))), "--policy", "bfs"]
    extract = ["extract", str(page), "--base", "http://a.example/page.html"]
    return {
        "crawl": lambda out: [[*crawl, str(out)]],
        "extract": lambda out: [["record", str(corpus), "-o", str(out)], extract],
        "frontier": lambda out: [[*add, "--index", "later", "--quiet", "-o", str(out)], [*simulate, "bfs"]],
        "select": lambda out: [[*simulate, "motherlode"]],
    }


# results


def report(found: Sequence[Comparison]) -> str:
    lines = ["| job | OLD, s | NEW, s | median ratio | 95 % interval | |", "|---|---|---|---|---|---|"]
    for one in found:
        before, after = statistics.median(one.old), statistics.median(one.new)
        verdict = "slower" if one.is_slower else ""
        interval = f"{one.low:.3f} to {one.high:.3f}"
        lines.append(f"| {one.job} | {before:.2f} | {after:.2f} | {one.median:.3f} | {interval} | {verdict} |")
    return "\n".join(lines)


def as_json(old: Revision, new: Revision, found: Sequence[Comparison]) -> str:
    jobs = {
        one.job: {
            "old_seconds": one.old,
            "new_seconds": one.new,
            "median_ratio": one.median,
            "interval": [one.low, one.high],
            "slower": one.is_slower,
        }
        for one in found
    }
    return json.dumps({"old": old.commit, "new": new.commit, "jobs": jobs}, indent=1)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--runs", type=int, default=7, help="pairs of runs of each job [default: 7]")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the size of all jobs")
    parser.add_argument("--jobs", default="crawl,extract,frontier,select", help="jobs to run, joined by commas")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core of all runs")
    parser.add_argument("--shared-venv", type=Path, help="an environment for both, in place of one for each")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error(f"--runs must be at least 1; got {given.runs}")
    return given


def main() -> int:
    given = options()
    with tempfile.TemporaryDirectory(prefix="compare-") as name:
        folder = Path(name)
        for side in ("old", "new"):
            (folder / side).mkdir()
        old = prepare(given.old, folder / "old", given.shared_venv)
        new = prepare(given.new, folder / "new", given.shared_venv)
        jobs = make_jobs(folder / "input", given.scale)
        chosen = given.jobs.split(",")
        if unknown := [job for job in chosen if job not in jobs]:
            raise SystemExit(f"unknown job {unknown[0]!r}; known: {', '.join(jobs)}")
        found = [measure(job, jobs[job], old, new, given.runs, given.core) for job in chosen]
    print(as_json(old, new, found) if given.json else report(found))
    return int(any(one.is_slower for one in found))


if __name__ == "__main__":
    sys.exit(main())
