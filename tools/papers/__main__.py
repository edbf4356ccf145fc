"""`python -m tools.papers [--only NAME]... [--small] [--fresh]`: run missing jobs and write docs/papers.md."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.papers.lab import Lab
from tools.papers.page import SECTIONS, page
from tools.papers.scale import FULL, SMALL
from tools.papers.webs import ROOT, TRACE, WORK, prepare_recorded


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.papers", description="Measure the tables of the papers again."
    )
    names = ", ".join(SECTIONS)
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="NAME", help=f"a part of it: {names}")
    parser.add_argument("--small", action="store_true", help="small webs, a few minutes, into .papers/small")
    parser.add_argument("--fresh", action="store_true", help="delete the results of earlier runs")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="at the same time (2)")
    options = parser.parse_args(arguments)
    work = WORK / "small" if options.small else WORK
    docs = work if options.small else ROOT / "docs"
    lab = Lab(SMALL if options.small else FULL, docs=docs, work=work, processes=options.processes)
    if options.fresh:
        lab.forget()
        shutil.rmtree(TRACE, ignore_errors=True)
    prepare_recorded()
    sections = work / "sections"
    sections.mkdir(parents=True, exist_ok=True)
    for name in options.only or SECTIONS:
        _make(name, lab, sections)
    paths = {name: sections / f"{name}.md" for name in SECTIONS}
    made = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}
    (docs / "papers.md").write_text(page(made), encoding="utf-8")
    missing = ", ".join(name for name in SECTIONS if name not in made)
    print(f"wrote {docs / 'papers.md'}{' without ' + missing if missing else ''}", file=sys.stderr)
    return 0


def _make(name: str, lab: Lab, sections: Path) -> None:
    """Write one section with its CPU time."""
    print(f"{name} …", file=sys.stderr, flush=True)
    began, before = time.perf_counter(), lab.cpu_seconds
    text = SECTIONS[name](lab)
    spent = lab.cpu_seconds - before
    (sections / f"{name}.md").write_text(f"{text}\n\n<sub>{spent:.0f} s of CPU</sub>\n", encoding="utf-8")
    print(f"{name}: {time.perf_counter() - began:.0f} s, of CPU for all its jobs {spent:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
