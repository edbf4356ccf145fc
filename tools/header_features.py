"""Benefit and cost of the header features of LDCOC: `python -m tools.header_features WEB [--target T] [--share F]`.

Each variant crawls the same web with the same budget of requests, GET and HEAD. The table has its requests and relevant
pages apart for URIs with a file extension, without one, behind a 303 and behind another redirect (the source and the
target of the redirect). *Per GET* shows what the content type brings: a page is downloaded only if it is promising.
*Per request* shows what the HEAD requests cost.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from motherlode.model import FailureKind
from motherlode.policies import policy_from, target_from
from motherlode.sim.runner import WebSpec, open_web
from motherlode.sim.simulator import Simulation
from motherlode.sim.web_protocol import SimulatedWeb
from motherlode.www.media_types import extension_of

VARIANTS = ("ldcoc:head=no", "ldcoc:head=yes")
SEE_OTHER, REDIRECT = "behind a 303", "behind another redirect"
CLASSES = ("with an extension", "without an extension", SEE_OTHER, REDIRECT)
HEADER = ("policy", "URIs", "HEAD", "GET", "relevant", "per GET", "per request")
Counts = tuple[int, int, int]
"""Numbers of HEAD requests, GET requests and relevant pages."""


def redirected_urls(web: SimulatedWeb, requested: Iterable[str]) -> dict[str, str]:
    """Return the class of the requested URLs that redirect, and of the URLs that these redirects lead to.

    A URL belongs to a 303 if one of the redirects to it is a 303.
    """
    found: dict[str, str] = {}
    for page in map(web.page, requested):
        if page.failure is FailureKind.REDIRECT:
            name = SEE_OTHER if page.status == HTTPStatus.SEE_OTHER else REDIRECT
            for url in (page.url, page.location):
                if found.get(url) != SEE_OTHER:
                    found[url] = name
    return found


def class_of(url: str, redirected: Mapping[str, str]) -> str:
    """Return the class of a URI in the table.

    >>> class_of("http://a.example/x.php", {}), class_of("http://a.example/x", {})
    ('with an extension', 'without an extension')
    """
    return redirected.get(url) or (CLASSES[0] if extension_of(url) else CLASSES[1])


def requests_by_class(web: SimulatedWeb, policy: str, *, target: str, budget: int, seed: int) -> dict[str, Counts]:
    """Crawl from every home page, and return the requests and relevant pages of each class of URIs, and of all."""
    made = policy_from(policy, seed=seed, target=target_from(target))
    result = Simulation(web, made, scope=lambda url: "", seed=seed).run(web.home_pages(), pages=budget, keep_picks=True)
    redirected = redirected_urls(web, [*result.picks, *result.headed])
    heads = Counter(class_of(url, redirected) for url in result.headed)
    gets = Counter(class_of(url, redirected) for url in result.picks)
    relevant = Counter(class_of(url, redirected) for url in result.picks if web.page(url).relevant)
    found = {name: (heads[name], gets[name], relevant[name]) for name in CLASSES}
    return {**found, "all": (heads.total(), gets.total(), relevant.total())}


def rows_of(policy: str, found: Mapping[str, Counts]) -> list[tuple[str, ...]]:
    """Return the rows of the table for one policy.

    >>> rows_of("ldcoc", {"all": (10, 20, 15)})
    [('ldcoc', 'all', '10', '20', '15', '0.750', '0.500')]
    """
    return [
        (
            policy,
            name,
            f"{heads:,}",
            f"{gets:,}",
            f"{relevant:,}",
            _rate(relevant, gets),
            _rate(relevant, gets + heads),
        )
        for name, (heads, gets, relevant) in found.items()
    ]


def _rate(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


def table(web: SimulatedWeb, *, target: str, budget: int, seed: int = 0) -> str:
    """Return the table in Markdown."""
    rows = [
        row
        for policy in VARIANTS
        for row in rows_of(policy, requests_by_class(web, policy, target=target, budget=budget, seed=seed))
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (HEADER, ("---",) * 2 + ("--:",) * 5, *rows))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.header_features", description=__doc__.partition("\n\n")[0])
    parser.add_argument("web", help="a trace, or synthetic:PAGES[:SEED]")
    parser.add_argument("--target", default="any")
    parser.add_argument("--share", type=float, default=0.12, help="requests as a share of the pages of the web")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    web = open_web(WebSpec(web=options.web, target=options.target, dead=0.0))
    budget = round(options.share * web.page_count)
    print(table(web, target=options.target, budget=budget, seed=options.seed))


if __name__ == "__main__":
    main()
