"""The webs by their short names."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.papers.scale import RECORDED

from motherlode.crawler import canonical_seeds
from motherlode.sim.runner import SYNTHETIC, WebSpec, open_web
from motherlode.sim.synthetic.adapter import SyntheticSimWeb
from motherlode.sim.trace.recorder import record
from motherlode.sim.web_protocol import SimulatedWeb

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
WORK = ROOT / ".papers"
"""Folder of the recorded web and the results; not part of the repository."""
TRACE = WORK / "trace"


def has_corpus() -> bool:
    return (CORPUS / "sites.warc.gz").exists()


def prepare_recorded() -> None:
    """Record the corpus unless it is recorded already."""
    archive = CORPUS / "sites.warc.gz"
    if not archive.exists():
        raise FileNotFoundError(f"{archive} is missing: the tables of the papers need the recorded web")
    TRACE.parent.mkdir(parents=True, exist_ok=True)
    print("the recorded web …", file=sys.stderr, flush=True)
    record([archive], TRACE, progress=lambda *_: None)


def web_spec(web: str, target: str = "any") -> WebSpec:
    """Return the web with every setting written out, so that another default of `simulate` changes no table.

    Links to pages that a web lacks are left out, because the papers' webs have none of them.
    """
    name = f"{web}:1" if web.startswith(SYNTHETIC) and web.count(":") == 1 else web
    return WebSpec(web=str(TRACE) if web == RECORDED else name, target=target, dead=0.0)


def opened(web: str, target: str = "any") -> SimulatedWeb:
    return open_web(web_spec(web, target))


def starts(web: SimulatedWeb, start: str) -> tuple[str, ...]:
    """Return the URLs at which a crawl starts."""
    if start == "homes":
        return tuple(web.home_pages())
    if start == "hubs" and isinstance(web, SyntheticSimWeb):
        return tuple(web.seeds())
    if start == "seeds":
        lines = (CORPUS / "seeds.txt").read_text(encoding="utf-8").splitlines()
        seeds = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
        return tuple(dict.fromkeys(web.spelling(url) for url in canonical_seeds(seeds)))
    raise ValueError(f"a crawl starts at homes, hubs or seeds; got {start!r}")
