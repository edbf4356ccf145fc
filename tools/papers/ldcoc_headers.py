"""LDCOC, definitions 9 to 11: what HEAD requests bring and cost, apart for kinds of URIs."""

from __future__ import annotations

from tools.header_features import HEADER, VARIANTS, Counts, requests_by_class, rows_of
from tools.papers.lab import Lab
from tools.papers.markdown import claims, note, section, table
from tools.papers.webs import opened

TARGETS = ("any", "rdf")
SHARE = 0.12
"""Requests of a crawl, GET and HEAD together, as a share of the pages of the web."""
_MAX_REQUESTS = 15_000


def header_crawl(*, web: str, target: str, policy: str, seed: int) -> dict[str, Counts]:
    """Crawl once; return HEADs, GETs and relevant pages by the class of URI."""
    known = opened(web, target)
    budget = min(_MAX_REQUESTS, round(SHARE * known.page_count))
    return requests_by_class(known, policy, target=target, budget=budget, seed=seed)


def headers(lab: Lab) -> str:
    """Return the section: a table for each web and target, summed over the repetitions."""
    keys = [(web, target, policy) for web in lab.scale.webs for target in TARGETS for policy in VARIANTS]
    runs = [(key, seed) for key in keys for seed in range(key[0].repeat)]
    asked = [{"web": web.web, "target": target, "policy": policy, "seed": seed} for (web, target, policy), seed in runs]
    sums: dict[tuple[str, str, str], dict[str, Counts]] = {}
    for ((web, target, policy), _), answer in zip(runs, lab.run(header_crawl, asked), strict=True):
        total = sums.setdefault((web.name, target, policy), dict.fromkeys(answer, (0, 0, 0)))
        for name, (heads, gets, relevant) in answer.items():
            total[name] = (total[name][0] + heads, total[name][1] + gets, total[name][2] + relevant)
    parts = []
    for web in lab.scale.webs:
        for target in TARGETS:
            rows = [row for policy in VARIANTS for row in rows_of(policy, sums[web.name, target, policy])]
            parts.append(
                f"**{web.name} web, target `{target}`** ({f'sum of {web.repeat}' if web.repeat > 1 else 'one crawl'})"
            )
            parts.append(table(HEADER, rows))
    return section(
        "### Header features: what a HEAD brings and costs",
        f"`ldcoc:head=yes` (the bare name, as published) asks for the content type of each hard URI before it is "
        f"predicted, `head=no` does not. Both have the same budget: {100 * SHARE:.0f} % of the pages of the web, at "
        f"most {_MAX_REQUESTS:,} requests, GET and HEAD together. URIs are counted apart if they have a file "
        "extension, if they have none, and if they are the source or the target of a 303 or of another redirect that "
        "the crawl met. *Per GET* is the share of downloads that were relevant, *per request* charges the HEADs.",
        *parts,
        claims(_claims(lab, sums)),
        note("ldcoc-headers"),
    )


def _claims(lab: Lab, sums: dict[tuple[str, str, str], dict[str, Counts]]) -> list[tuple[str, dict[str, bool]]]:
    def rate(web: str, target: str, policy: str, *, with_heads: bool) -> float:
        heads, gets, relevant = sums[web, target, policy]["all"]
        return relevant / max(1, gets + heads * with_heads)

    found = []
    for target in TARGETS:
        for told, with_heads in (("download", False), ("request", True)):
            better = {
                web.name: rate(web.name, target, VARIANTS[1], with_heads=with_heads)
                > rate(web.name, target, VARIANTS[0], with_heads=with_heads)
                for web in lab.scale.webs
            }
            found.append((f"HEAD requests give more relevant pages per {told} (`{target}`)", better))
    return found
