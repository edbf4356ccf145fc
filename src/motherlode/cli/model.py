"""`model`: what a crawl has learned, shown, kept in a file, and merged with what others have."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from motherlode import __version__
from motherlode.cli.terminal import print_json, print_table, say, stop
from motherlode.crawler.model_files import now, read_model, write_model
from motherlode.model import Summarizes, SummaryLine
from motherlode.policies.model_io import Model, merge_models, policy_of


class ModelAction(Enum):
    SHOW = "show"
    SAVE = "save"
    MERGE = "merge"


def model(
    action: Annotated[ModelAction, typer.Argument(metavar="show|save|merge", help="What to do.")],
    sources: Annotated[
        list[Path], typer.Argument(metavar="DIR|FILE...", help="Folders of crawls, running or not, and model files.")
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="For save and merge: the file to write.")
    ] = None,
    most: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="For show: rows of each table.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="For show: one JSON object.")] = False,
) -> None:
    """Show, save and merge what crawls have learned.

    \b
    Examples:
      motherlode model show out                             strongest features, best and worst hosts and arms
      motherlode model save out -o recipes.model            then: motherlode crawl --model recipes.model …
      motherlode model merge a.model b.model out -o all.model

    A model belongs to its policy: another policy cannot start from it. What is merged are sums (FTRL's z and n, tries
    and finds), so models of one policy, target and reward add up, in any order. More in docs/models.md.
    """
    try:
        if action is ModelAction.SHOW:
            if output is not None:
                stop("model show prints: use `motherlode model save` to write a file")
            _show(sources, most=most, as_json=as_json)
            return
        if output is None:
            stop(f"model {action.value} needs -o FILE")
        if output.is_dir():
            stop(f"{output} is a folder: name a file with -o")
        if action is ModelAction.SAVE:
            if len(sources) != 1:
                stop("model save takes one crawl; `motherlode model merge` makes one model of several")
            made = read_model(sources[0])
        else:
            made = merge_models([(str(path), read_model(path)) for path in sources], made_at=now(), version=__version__)
        write_model(made, output)
    except ValueError as error:
        stop(str(error))
    say(f"{output}: {_about(made)}")


def _about(made: Model) -> str:
    crawls = f" of {made.crawls} crawls" if made.crawls > 1 else ""
    return (
        f"a model of {made.policy} for the target {made.target}, "
        f"learned from {made.requests:,} requests with {made.finds:,} finds{crawls}"
    )


def _show(sources: list[Path], *, most: int, as_json: bool) -> None:
    if len(sources) != 1:
        stop("model show takes one folder or file")
    found = read_model(sources[0])
    policy = policy_of(found, name=str(sources[0]))
    learned: list[SummaryLine] = list(policy.summary(most)) if isinstance(policy, Summarizes) else []
    if as_json:
        tables = [
            {"title": one.title, "rows": [dict(zip(one.columns, row, strict=True)) for row in one.rows]}
            for one in learned
        ]
        print_json({**found.label(), "learned": tables})
        return
    print_table(("", ""), [(name, str(value)) for name, value in found.label().items()])
    for one in learned:
        print_table(one.columns, [[_cell(value) for value in row] for row in one.rows], title=one.title)
    if not isinstance(policy, Summarizes):
        say(f"the policy {found.policy} learns nothing, or does not tell what")


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{int(value):,}" if value == int(value) else f"{value:,}"
