"""Runs the command `extract` on a file, with detection, prefilter, transform and output.

The command's function runs in this process, because a process per case would take an hour for some thousand cases.
Pyoxigraph parses its standard output.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pyoxigraph as ox
import typer

from motherlode.cli import extract as extracting
from motherlode.cli.extract import ExtractFormat
from motherlode.model import Statement

from .runner import statements_of

_FORMATS = {
    "nquads": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG,
    "turtle": ox.RdfFormat.TURTLE,
    "jsonld": ox.RdfFormat.JSON_LD,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The output of the command."""

    statements: tuple[Statement, ...]
    """Statements of the page's own graph have "" as graph."""
    problems: tuple[str, ...]
    """Lines of stderr about invalid or repaired content."""
    failed: bool
    """The exit code was not 0."""


def extract(
    path: Path,
    *,
    base: str,
    media_type: str = "",
    syntax: str = "",
    form: ExtractFormat = "nquads",
    contexts: Mapping[str, bytes] | None = None,
    strict_jsonld: bool = False,
) -> Extracted:
    """Run `motherlode extract PATH`; `contexts` replaces the remote JSON-LD contexts that `--contexts fetch` loads."""
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="utf-8", newline="")
    err = io.StringIO()
    failed = False
    with redirect_stdout(out), redirect_stderr(err), patch.object(extracting, "Network", _without_network(contexts)):
        try:
            extracting.extract(
                [str(path)],
                base=base,
                media_type=media_type,
                syntax=[syntax] if syntax else None,
                form=form,
                strict_jsonld=strict_jsonld,
                contexts="bundled" if contexts is None else "fetch",
            )
        except typer.Exit as end:
            failed = bool(end.exit_code)
    out.flush()
    quads = ox.parse(written.getvalue(), _FORMATS[form], lenient=True)
    return Extracted(
        statements=tuple(_in_page(statement, f"<{base}>") for statement in statements_of(quads)),
        problems=tuple(line for line in err.getvalue().splitlines() if line.startswith(("problem ", "repaired "))),
        failed=failed,
    )


def _in_page(statement: Statement, page: str) -> Statement:
    subject, predicate, object_, graph = statement
    return subject, predicate, object_, "" if graph == page else graph


def _without_network(contexts: Mapping[str, bytes] | None) -> type[extracting.Network]:
    """Return a replacement of the command's network that reads contexts from the files of the suite."""

    class Network(extracting.Network):
        def contexts(self, urls: Sequence[str]) -> dict[str, bytes]:
            return {url: contexts[url] for url in urls if contexts is not None and url in contexts}

    return Network
