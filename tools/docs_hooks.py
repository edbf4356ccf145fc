"""Hooks of the documentation build: pages of the reference that are generated from the code.

`reference/cli.md` comes from the commands and `reference/job.md` from the fields of `Job`. So neither can be outdated.
"""

import ast
import dataclasses
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.core import TyperCommand, TyperGroup

from motherlode.cli import COMMANDS, application
from motherlode.crawler.config import job as job_module
from motherlode.crawler.config.job import Job


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the files of the site. MkDocs calls this."""
    files.append(File.generated(config, "reference/cli.md", content=describe_commands()))
    files.append(File.generated(config, "reference/job.md", content=describe_job()))
    return files


def describe_commands() -> str:
    """Return the page about the command line: usage, help and options of every command."""
    group = typer.main.get_command(application(COMMANDS))
    assert isinstance(group, TyperGroup)
    parts = ["# Command line", "Every command explains itself with `--help`.", _command_list(group)]
    for name in COMMANDS:
        parts += _describe_command(f"motherlode {name}", group.commands[name])
    return "\n\n".join(parts) + "\n"


def _command_list(group: TyperGroup) -> str:
    rows = [f"| [`{name}`](#motherlode-{name}) | {group.commands[name].get_short_help_str(200)} |" for name in COMMANDS]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def _describe_command(path: str, command: TyperCommand) -> Iterator[str]:
    """Yield the paragraphs about one command and its subcommands."""
    context = typer.Context(command, info_name=path)
    yield f"## {path}"
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    yield _format_help(inspect.cleandoc(command.help or "").replace("\b\n", ""))
    rows = [_describe_parameter(parameter, context) for parameter in command.params]
    yield "\n".join(["| argument or option | meaning |", "|---|---|", *filter(None, rows)])
    if isinstance(command, TyperGroup):
        for name, subcommand in command.commands.items():
            yield from _describe_command(f"{path} {name}", subcommand)


def _format_help(text: str) -> str:
    """Return the help of a command as Markdown: examples become a block of code, names of pages become links."""
    text = re.sub(
        r"((?:^  .*\n?)+)", lambda match: f"\n```text\n{inspect.cleandoc(match[1])}\n```\n", text, flags=re.MULTILINE
    )
    return _link_pages(text)


def _link_pages(text: str) -> str:
    return re.sub(r"docs/([a-z-]+)[.]md", r"[\1](../\1.md)", text)


def _describe_parameter(parameter: Any, context: typer.Context) -> str:
    """Return the row of the table for an argument or option, "" if it is hidden."""
    record = parameter.get_help_record(context)
    if record is None:
        return ""
    name, text = map(_escape_cell, record)
    return f"| `{name}` | {text} |"


def describe_job() -> str:
    """Return the page about job files: every key with its type, default and meaning."""
    texts = _field_docstrings()
    rows = [_describe_key(field, texts.get(field.name, "")) for field in dataclasses.fields(Job)]
    head = [
        "# Job file",
        "A job file is a TOML file for `motherlode crawl --config FILE`; `motherlode.Job` has the same fields. "
        "Flags override keys. An unknown key is an error that names the nearest known one. "
        "[Crawling](../crawl.md#job-files) has an example.",
        "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows]),
    ]
    return "\n\n".join(head) + "\n"


def _describe_key(field: "dataclasses.Field[Any]", text: str) -> str:
    kind = str(field.type if isinstance(field.type, str) else getattr(field.type, "__name__", field.type))
    kind = kind.replace("collections.abc.", "").replace("typing.", "").replace("|", "\\|")
    return f"| `{field.name}` | `{kind}` | {_format_default(field)} | {_escape_cell(text)} |"


def _escape_cell(text: str) -> str:
    return _link_pages(" ".join(text.split()).replace("|", "\\|"))


def _format_default(field: "dataclasses.Field[Any]") -> str:
    if field.default is None or field.default in ("", ()) or field.default is dataclasses.MISSING:
        return ""
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _field_docstrings() -> dict[str, str]:
    """Return the text below each field of `Job`."""
    tree = ast.parse(inspect.getsource(job_module))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Job")
    texts = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            texts[ast.unparse(field.target)] = str(text.value.value)
    return texts
