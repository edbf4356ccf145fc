"""Motherlode: a focused crawler for the Web of Data.

>>> import motherlode as ml
>>> page = ml.extract('<p itemscope><b itemprop="http://a.example/name">Ada</b>', url="http://a.example/")
>>> [str(quad.object) for quad in page.quads if quad.predicate.value == "http://a.example/name"]
['"Ada"']

Names are imported at their first use, so `import motherlode` is fast. Everything in `__all__` is documented in the API
reference and stable; nothing else is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from motherlode.project import VERSION
from motherlode.runtime import lazy_exports

if TYPE_CHECKING:
    import motherlode.extruct as extruct
    from motherlode.api.crawl import Crawl, crawl
    from motherlode.api.page import ExtractedPage, Quad, extract
    from motherlode.api.results import CrawlResult, open
    from motherlode.api.rows import Rows
    from motherlode.api.simulation import SimulationResult, simulate
    from motherlode.crawler.config.job import Job
    from motherlode.crawler.config.values import JobError
    from motherlode.model import Link, Outcome, Policy, Problem, Rating, Visit
    from motherlode.policies.extensions import policy

__all__ = [
    "Crawl",
    "CrawlResult",
    "ExtractedPage",
    "Job",
    "JobError",
    "Link",
    "Outcome",
    "Policy",
    "Problem",
    "Quad",
    "Rating",
    "Rows",
    "SimulationResult",
    "Visit",
    "__version__",
    "crawl",
    "extract",
    "extruct",
    "open",
    "policy",
    "simulate",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "api.crawl": ["Crawl", "crawl"],
        "api.page": ["ExtractedPage", "Quad", "extract"],
        "api.results": ["CrawlResult", "open"],
        "api.rows": ["Rows"],
        "api.simulation": ["SimulationResult", "simulate"],
        "crawler.config.job": ["Job"],
        "crawler.config.values": ["JobError"],
        "extruct": [],
        "model": ["Link", "Outcome", "Policy", "Problem", "Rating", "Visit"],
        "policies.extensions": ["policy"],
    },
)


__version__ = VERSION


def __dir__() -> list[str]:
    return sorted(__all__)
