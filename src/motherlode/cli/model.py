"""The command `model`: show, save and merge the models that crawls have learned."""

from pathlib import Path
from typing import Annotated, Literal

from motherlode.cli.options import OUTPUT, AsJson, argument, option
from motherlode.cli.terminal import print_json, print_table, say, stop
from motherlode.crawler.engine.recovery import now, read_model, write_model
from motherlode.crawler.explain.explanation import PREDICTED_EVENTS
from motherlode.model import Summarizes
from motherlode.policies.model_io import Model, merge_models, policy_of
from motherlode.project import VERSION

ModelAction = Literal["show", "save", "merge"]

_WORDS = {"finds": "relevant", "made_at": "made at"}
"""Names of the JSON of a model, as people read them."""


def model(
    action: Annotated[ModelAction, argument("show|save|merge", "What to do.")],
    sources: Annotated[list[Path], argument("DIR|FILE...", "Folders of crawls, running or not, and model files.")],
    *,
    output: Annotated[Path | None, option("FILE", "For save and merge: the file to write.", *OUTPUT)] = None,
    limit: Annotated[int, option("N", "For show: maximum number of rows per table.", min=1)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show, save and merge the models that crawls have learned.

    \b
    Examples:
      motherlode model show out                             strongest features, best and worst hosts and arms
      motherlode model save out -o recipes.model            then: motherlode crawl --model recipes.model …
      motherlode model merge a.model b.model out -o all.model

    A model belongs to its policy: another policy cannot start from it. A model consists of sums (FTRL's z and n,
    requests, relevant pages), so models of one policy, target and reward can be merged in any order. More in
    docs/models.md.
    """
    try:
        if action == "show":
            if output is not None:
                stop("model show writes no file: leave out -o, or use `motherlode model save`")
            _show(sources, limit=limit, as_json=as_json)
            return
        if output is None:
            stop(f"model {action} needs -o FILE")
        if output.is_dir():
            stop(f"{output} is a folder: name a file with -o")
        if action == "save":
            if len(sources) != 1:
                stop("model save takes one crawl: use `motherlode model merge` for several")
            made = read_model(sources[0])
        else:
            made = merge_models([(str(path), read_model(path)) for path in sources], made_at=now(), version=VERSION)
        write_model(made, output)
    except ValueError as error:
        stop(str(error))
    say(f"{output}: {_describe(made)}")


def _describe(model: Model) -> str:
    crawls = f" of {model.crawls} crawls" if model.crawls > 1 else ""
    return (
        f"a model of {model.policy} for the target {model.target}, "
        f"learned from {model.requests:,} requests with {model.relevant:,} relevant pages{crawls}"
    )


def _show(sources: list[Path], *, limit: int, as_json: bool) -> None:
    if len(sources) != 1:
        stop("model show takes one folder or file")
    found = read_model(sources[0])
    policy = policy_of(found, name=str(sources[0]))
    learned = policy.summary(limit) if isinstance(policy, Summarizes) else ()
    if as_json:
        tables = [
            {"title": one.title, "rows": [dict(zip(one.columns, row, strict=True)) for row in one.rows]}
            for one in learned
        ]
        print_json({**found.label(), "learned": tables})
        return
    print_table(("", ""), [(_WORDS.get(name, name), str(value)) for name, value in found.label().items()])
    for one in learned:
        rows = [[_format_cell(value) for value in row] for row in one.rows]
        title, _, event = one.title.rpartition(": ")
        shown = f"{title}: {PREDICTED_EVENTS[event]}" if event in PREDICTED_EVENTS else one.title
        print_table([_WORDS.get(name, name) for name in one.columns], rows, title=shown)
    if not isinstance(policy, Summarizes):
        say(f"the policy {found.policy} has no summary of what it learned")


def _format_cell(value: str | float) -> str:
    if isinstance(value, str):
        return _WORDS.get(value, value)
    return f"{int(value):,}" if value == int(value) else f"{value:,}"
