"""The whole page: all sections in order, each paper with its title."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tools.papers.anthelion_classifiers import table_1
from tools.papers.anthelion_narrower import narrower
from tools.papers.anthelion_selection import table_2
from tools.papers.anthelion_time import figure_9
from tools.papers.definitions import definitions_table
from tools.papers.host_orders import host_orders
from tools.papers.lab import Lab
from tools.papers.ldcoc_crawlers import figure_2b
from tools.papers.ldcoc_features import figure_2a
from tools.papers.ldcoc_headers import headers
from tools.papers.link_analysis import link_analysis
from tools.papers.markdown import note
from tools.papers.online_methods import methods
from tools.papers.phase_tables import phases
from tools.papers.web_facts import webs

SECTIONS: dict[str, Callable[[Lab], str]] = {
    "webs": webs,
    "methods": methods,
    "anthelion-table-1": table_1,
    "anthelion-table-2": table_2,
    "anthelion-host-orders": host_orders,
    "anthelion-figure-8": narrower,
    "anthelion-figure-9": figure_9,
    "ldcoc-figure-2a": figure_2a,
    "ldcoc-headers": headers,
    "ldcoc-figure-2b": figure_2b,
    "link-analysis": link_analysis,
    "phases": phases,
}
"""Sections by the names that `--only` accepts."""
TITLES = {
    "anthelion-table-1": "## Anthelion (Meusel, Mika, Blanco 2014)",
    "ldcoc-figure-2a": "## LDCOC (Huang, Gandon 2020)",
    "link-analysis": "## Link analysis (Emamdadi, Kahani, Zarrinkalam)",
    "phases": "## MultiCrawler (Harth, Umbrich, Decker 2006)",
}
"""Titles of the papers, by their first section."""
WITHOUT_CORPUS = frozenset({"anthelion-figure-9"})
"""Sections that need no recorded web."""
_MARK = "<!-- part: {} -->"
_find_marks = re.compile(r"^<!-- part: (\S+) -->\n", re.MULTILINE).split


def page(made: Mapping[str, str]) -> str:
    """Return the Markdown of the page from the written sections."""
    parts = ["# The tables of the papers, measured again", note("introduction"), definitions_table()]
    for name, text in made.items():
        title = f"{TITLES[name]}\n\n" if name in TITLES else ""
        parts.append(f"{_MARK.format(name)}\n{title}{text.strip()}")
    return "\n\n".join(part for part in parts if part) + "\n"


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a written page by their names, so that `--only` replaces one and keeps the others.

    >>> sections_of(page({"methods": "a", "phases": "b"}))
    {'methods': 'a', 'phases': 'b'}
    """
    _, *found = _find_marks(text)
    named = dict(zip(found[::2], found[1::2], strict=True))
    return {name: text.strip().removeprefix(TITLES.get(name, "")).strip() for name, text in named.items()}
