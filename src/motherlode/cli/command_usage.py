"""How a command tells of itself: usage, arguments, and what is wrong with a value, in the words of a person.

Typer shows types of Python (`<list[Path]>`) and passes on what its validator says; neither helps who types a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperOption

from motherlode.cli.terminal import typed_flags

_WORDS: Mapping[str, str] = {
    "int_parsing": "{input!r} is not a whole number",
    "int_from_float": "{input!r} is not a whole number",
    "float_parsing": "{input!r} is not a number",
    "greater_than_equal": "it must be at least {ge}; got {input}",
    "less_than_equal": "it must be at most {le}; got {input}",
    "value_error": "{error}",
}
"""What is wrong with a value, by the name that the validator has for it."""
_RENAMED_FLAGS: Mapping[str, str] = {"--stop-when-dry": "--stop-after", "--dry-below": "--stop-below"}
"""Flags of earlier versions and their names today."""
_BY_WORDS = "search"
"""The command in which a minus may begin a word."""


class Command(TyperCommand):
    """A command that shows its arguments as they are typed, and whose errors name what was typed."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = [param for param in self.params if isinstance(param, TyperArgument) and not param.hidden]
        shown = (_name(one) if one.required else f"[{_name(one)}]" for one in arguments)
        return [self.options_metavar or "", *shown]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """As Typer does it, without the types of arguments: what they are, their names and the help tell."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, TyperArgument):
                rows["Arguments"].append((_name(param), record[1]))
            elif record is not None:
                rows["Options"].append(record)
        for title, told in rows.items():
            if told:
                with formatter.section(title):
                    formatter.write_dl(told)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(args))
        except Exception as error:  # Typer keeps the types of its errors to itself
            if isinstance(getattr(error, "message", None), str):
                error.message = _in_words(error, self.name or "", args)  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run it, and let errors know which flags were typed."""
        before = typed_flags.set(_flags(self, ctx))
        try:
            return super().invoke(ctx)
        finally:
            typed_flags.reset(before)


def _name(argument: TyperArgument) -> str:
    return argument.metavar or argument.name or ""


def _flags(command: TyperCommand, ctx: Any) -> dict[str, str]:
    """The options that the user has typed, by the names of their parameters."""
    return {
        param.name: max(param.opts, key=len)
        for param in command.params
        if isinstance(param, TyperOption) and getattr(ctx.get_parameter_source(param.name), "name", "") == "COMMANDLINE"
    }


def _in_words(error: Exception, command: str, args: Sequence[str]) -> str:
    """What to say of an error of usage."""
    said: str = error.message  # type: ignore[attr-defined]
    option = getattr(error, "option_name", "")
    if option in _RENAMED_FLAGS:
        return f"{option} is now called {_RENAMED_FLAGS[option]}: use that flag"
    if command == _BY_WORDS and len(option) == 2:  # a short one, of which there are none
        word = next((arg for arg in args if arg.startswith(option)), option)
        return f"{said}. A word that must be absent stands behind --, as in motherlode search DIR -- {quote(word)} …"
    found = getattr(error.__cause__, "errors", None)
    for one in found() if found is not None else ():
        words = _WORDS.get(one["type"])
        if words is not None:
            return words.format(input=one["input"], **one.get("ctx", {}))
    return said
