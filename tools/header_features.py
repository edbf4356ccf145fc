"""Benefit and cost of the header features of LDCOC: `python -m tools.header_features WEB [--target T] [--share F]`.

Each variant crawls the same web with the same budget of requests, GET and HEAD. The table has its requests and relevant
pages apart for URIs with a file extension, without one, and behind a redirect (its source and its target). *Per GET*
shows what the content type brings: a page is downloaded only if it is promising. *Per request* shows what the HEAD
requests cost.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from motherlode.model import FailureKind
from motherlode.policies import policy_from
from motherlode.sim.runner import WebSpec, open_web
from motherlode.sim.simulator import Simulation
from motherlode.sim.web_protocol import SimulatedWeb
from motherlode.www.media_types import extension_of

VARIANTS = ("ldcoc:head=no", "ldcoc:head=yes")
CLASSES = ("with an extension", "without an extension", "behind a redirect")
_HEADER = ("policy", "URIs", "HEAD", "GET", "relevant", "per GET", "per request")


def redirected_urls(web: SimulatedWeb) -> frozenset[str]:
    """Return the URLs that redirect or that a redirect leads to."""
    redirects = [page for page in web.everything() if page.failure is FailureKind.REDIRECT]
    return frozenset(url for page in redirects for url in (page.url, page.location))


def class_of(url: str, redirected: frozenset[str]) -> str:
    """Return the class of a URI in the table.

    >>> class_of("http://a.example/x.php", frozenset()), class_of("http://a.example/x", frozenset())
    ('with an extension', 'without an extension')
    """
    if url in redirected:
        return CLASSES[2]
    return CLASSES[0] if extension_of(url) else CLASSES[1]


def rows_of(web: SimulatedWeb, policy: str, *, budget: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Crawl with one policy, and yield the rows of the table: one for each class of URIs, and one for all."""
    redirected = redirected_urls(web)
    simulation = Simulation(web, policy_from(policy, seed=seed), scope=lambda url: "", seed=seed)
    result = simulation.run(web.home_pages(), pages=budget, keep_picks=True)
    heads = Counter(class_of(url, redirected) for url in result.headed)
    gets = Counter(class_of(url, redirected) for url in result.picks)
    relevant = Counter(class_of(url, redirected) for url in result.picks if web.page(url).relevant)
    for name in CLASSES:
        yield _row(policy, name, heads[name], gets[name], relevant[name])
    yield _row(policy, "all", heads.total(), gets.total(), relevant.total())


def _row(policy: str, name: str, heads: int, gets: int, relevant: int) -> tuple[str, ...]:
    return (
        policy,
        name,
        f"{heads:,}",
        f"{gets:,}",
        f"{relevant:,}",
        _rate(relevant, gets),
        _rate(relevant, gets + heads),
    )


def _rate(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


def table(web: SimulatedWeb, *, budget: int, seed: int = 0) -> str:
    """Return the table in Markdown."""
    rows = [row for policy in VARIANTS for row in rows_of(web, policy, budget=budget, seed=seed)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (_HEADER, ("---",) * 2 + ("--:",) * 5, *rows))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.header_features", description=__doc__.partition("\n\n")[0])
    parser.add_argument("web", help="a trace, or synthetic:PAGES[:SEED]")
    parser.add_argument("--target", default="any")
    parser.add_argument("--share", type=float, default=0.12, help="requests as a share of the pages of the web")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    web = open_web(WebSpec(web=options.web, target=options.target, keep_missing=False))
    print(table(web, budget=round(options.share * web.page_count), seed=options.seed))


if __name__ == "__main__":
    main()
