"""Options that several commands share, their help, and messages for wrong usage in plain words instead of Typer's."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from motherlode.cli.terminal import stop, typed_flags
from motherlode.crawler import CrawlFolder
from motherlode.project import make_links_absolute


def argument(metavar: str, help: str) -> Any:
    """Return an argument of a command with its name in the usage."""
    return typer.Argument(metavar=metavar, help=help)


def option(metavar: str, help: str, *names: str, **limits: Any) -> Any:
    """Return an option with a value. Its name is that of the parameter, or one of `names`."""
    return typer.Option(*names, metavar=metavar, help=help, **limits)


def flag(name: str, help: str) -> Any:
    """Return an option without a value."""
    return typer.Option(name, help=help)


CrawlDir = Annotated[Path, argument("DIR", "The folder of a crawl, running or finished.")]
IdleCrawlDir = Annotated[Path, argument("DIR", "The folder of a crawl that is not running.")]
OUTPUT = ("-o", "--output")
AsJson = Annotated[bool, flag("--json", "Print the result as JSON.")]
Quiet = Annotated[bool, flag("--quiet", "No progress.")]
Model = Annotated[Path | None, option("FILE|DIR", "Start from the model of another crawl: see docs/models.md.")]
Allow = Annotated[
    list[str] | None, option("RANGE", "Allow requests to a private address range, as in 127.0.0.0/8; repeatable.")
]
TARGET_HELP = (
    "Which pages are relevant: any, rdf, jsonld, microdata>=5, type:schema:Recipe, valid:google, 'ASK {…}', "
    "or a scorer as in --reward."
)
REWARD_HELP = (
    "target, statements, new-statements, new-subjects, new-types, new-hosts, per-request, per-byte, "
    "or a scorer: python:MODULE:FUNCTION, command:COMMAND or a URL."
)


def open_crawl(path: Path) -> CrawlFolder:
    """Return the crawl folder, or exit with an error if it has no crawl."""
    folder = CrawlFolder(path)
    folder.require()
    return folder


_ERROR_MESSAGES: Mapping[str, str] = {
    "int_parsing": "{input!r} is not a whole number",
    "int_from_float": "{input!r} is not a whole number",
    "float_parsing": "{input!r} is not a number",
    "greater_than_equal": "it must be at least {ge}; got {input}",
    "less_than_equal": "it must be at most {le}; got {input}",
    "value_error": "{error}",
}
_RENAMED_FLAGS: Mapping[str, str] = {"--stop-when-dry": "--stop-after", "--dry-below": "--stop-below"}
"""Flags of earlier versions and their names today."""
_SEARCH = "search"
"""The command whose arguments may begin with a minus sign."""


class Command(TyperCommand):
    """A command whose help shows arguments as they are typed, and whose errors name the typed flags."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.help = make_links_absolute(self.help or "")
        for param in self.params:
            if isinstance(param, (TyperArgument, TyperOption)):
                param.help = make_links_absolute(param.help or "")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [param for param in self.params if isinstance(param, TyperArgument) and not param.hidden]
        shown = (_name(one) if one.required else f"[{_name(one)}]" for one in arguments)
        return [self.options_metavar or "", *shown]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options as Typer does, but without the types of arguments."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, TyperArgument):
                rows["Arguments"].append((_name(param), record[1]))
            elif record is not None:
                rows["Options"].append(record)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(args))
        except Exception as error:  # Typer does not export the types of its errors
            if isinstance(getattr(error, "message", None), str):
                error.message = _describe(error, self.name or "", args)  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Error messages can name the flags that were typed."""
        before = typed_flags.set(_find_typed_flags(self, ctx))
        try:
            return super().invoke(ctx)
        finally:
            typed_flags.reset(before)


def _name(argument: TyperArgument) -> str:
    return argument.metavar or argument.name or ""


def _find_typed_flags(command: TyperCommand, ctx: Any) -> dict[str, str]:
    """Return the options that the user typed, by the names of their parameters."""
    return {
        param.name: max(param.opts, key=len)
        for param in command.params
        if isinstance(param, TyperOption) and getattr(ctx.get_parameter_source(param.name), "name", "") == "COMMANDLINE"
    }


def _describe(error: Exception, command: str, args: Sequence[str]) -> str:
    message: str = error.message  # type: ignore[attr-defined]
    option = getattr(error, "option_name", "")
    if option in _RENAMED_FLAGS:
        return f"{option} is now called {_RENAMED_FLAGS[option]}: use that flag"
    if command == _SEARCH and len(option) == 2:  # a short option, and `search` has none
        word = next((arg for arg in args if arg.startswith(option)), option)
        return f"{message}. Write a word to exclude after --, as in motherlode search DIR -- {quote(word)} …"
    list_errors = getattr(error.__cause__, "errors", None)
    for one in list_errors() if list_errors is not None else ():
        template = _ERROR_MESSAGES.get(one["type"])
        if template is not None:
            return template.format(input=one["input"], **one.get("ctx", {}))
    return message


def parse_moment(text: str, name: str) -> datetime:
    """Parse a date or time in ISO 8601, given by the option `name`. Without a time zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        stop(f"{name} {text} is not a date or a time: write 2026-01-31 or 2026-01-31T12:00:00Z")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
