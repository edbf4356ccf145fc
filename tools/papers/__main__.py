"""`python -m tools.papers [--only NAME]... [--small] [--fresh]`: run missing jobs and write docs/papers.md."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence

from tools.papers.lab import Lab
from tools.papers.page import SECTIONS, WITHOUT_CORPUS, page, sections_of
from tools.papers.scale import FULL, SMALL
from tools.papers.webs import ROOT, TRACE, WORK, has_corpus, prepare_recorded


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.papers", description="Measure the tables of the papers again."
    )
    names = ", ".join(SECTIONS)
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="NAME", help=f"a part of it: {names}")
    parser.add_argument("--small", action="store_true", help="small webs, a few minutes, into .papers/small")
    parser.add_argument("--fresh", action="store_true", help="ignore the results of earlier runs")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="at the same time (2)")
    options = parser.parse_args(arguments)
    work = WORK / "small" if options.small else WORK
    docs = work if options.small else ROOT / "docs"
    lab = Lab(SMALL if options.small else FULL, docs=docs, work=work, processes=options.processes, fresh=options.fresh)
    wanted = _possible(options.only or list(SECTIONS))
    if not WITHOUT_CORPUS.issuperset(wanted):
        if options.fresh:
            shutil.rmtree(TRACE, ignore_errors=True)
        prepare_recorded()
    written = docs / "papers.md"
    docs.mkdir(parents=True, exist_ok=True)
    kept = sections_of(written.read_text(encoding="utf-8")) if written.exists() else {}
    if written.exists() and not kept and set(wanted) != set(SECTIONS):
        parser.error(f"{written} has no marks of its parts, so the others would be lost: run without --only")
    for name in wanted:
        kept[name] = _make(name, lab)
        made = {section: kept[section] for section in SECTIONS if section in kept}
        written.write_text(page(made), encoding="utf-8")
    missing = ", ".join(name for name in SECTIONS if name not in kept)
    print(f"wrote {written}{' without ' + missing if missing else ''}", file=sys.stderr)
    return 0


def _possible(names: Sequence[str]) -> list[str]:
    """Return the sections that can be made. Without the corpus, the others are left as they are."""
    if has_corpus():
        return list(names)
    left_out = [name for name in names if name not in WITHOUT_CORPUS]
    if left_out:
        print(f"left as they are, because ../shared/corpus is missing: {', '.join(left_out)}", file=sys.stderr)
    return [name for name in names if name in WITHOUT_CORPUS]


def _make(name: str, lab: Lab) -> str:
    """Return one section with its CPU time."""
    print(f"{name} …", file=sys.stderr, flush=True)
    began, before = time.perf_counter(), lab.cpu_seconds
    text = SECTIONS[name](lab)
    spent = lab.cpu_seconds - before
    print(f"{name}: {time.perf_counter() - began:.0f} s, of CPU for all its jobs {spent:.0f} s", file=sys.stderr)
    return f"{text}\n\n<sub>{spent:.0f} s of CPU</sub>"


if __name__ == "__main__":
    sys.exit(main())
