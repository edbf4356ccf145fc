"""A process that forks to run the command line with faults: `offspring` with frequent checkpoints.

A small crawl takes about a second, in which the usual interval would allow a single checkpoint. SIGUSR1 prints the
stacks of all threads to stderr.
"""

import faulthandler
import signal
from importlib import import_module

from motherlode.crawler.engine import checkpoint
from motherlode.crawler.report import crawl_report, plot
from motherlode.www.urls import registrable_domain
from tests.crawler.offspring import serve

_USED_MODULES = (
    "encodings.idna",
    "hyperscan",
    "motherlode.cli.export",
    "motherlode.cli.resume",
    "motherlode.cli.verify",
    "motherlode.crawler.verification",
    "motherlode.index.export.streams",
    "motherlode.index.fulltext.searcher",
    "motherlode.index.fulltext.word_index",
    "motherlode.index.query.query_worker",
    "pydantic.type_adapter",
    "rich.progress",
)
"""Modules that the runs import at their first use."""


def warm_up() -> None:
    """Do what each run would otherwise do again: imports, templates, and the list of public suffixes."""
    for module in _USED_MODULES:
        import_module(module)
    registrable_domain("www.example")
    crawl_report._template()
    plot._template()


if __name__ == "__main__":
    checkpoint.MIN_SECONDS = 0.05
    faulthandler.register(signal.SIGUSR1)
    warm_up()
    serve()
