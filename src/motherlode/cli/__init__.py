"""The command line: one module per command, named after it. Only the module of the typed command is imported."""

import ast
import errno
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from motherlode.project import VERSION
from motherlode.runtime import MissingExtraError, process_start

COMMANDS = (
    *("crawl", "resume", "stats", "explain", "model", "index", "compact", "query", "search"),
    *("pages", "table", "clusters", "validate", "serve", "export", "changes", "verify", "extract", "filter", "record"),
    *("simulate", "demo", "keys"),
)
"""All commands. Each is a function in the module of this package that has the same name."""
_COMPLETION = "_MOTHERLODE_COMPLETE"
"""The variable that shells set when they ask for completions."""
INTERRUPTED = 130
"""The exit code that shells use after Ctrl-C."""
_STREAMS = (("stdin", 0, os.O_RDONLY), ("stdout", 1, os.O_RDONLY), ("stderr", 2, os.O_WRONLY))
_closed_streams: set[str] = set()


def fill_closed_streams() -> None:
    """Occupy the descriptors of standard streams that were closed before the start, as by `>&-` in a shell.

    A file that is opened later would get them otherwise. Messages to stderr are dropped. Writing to stdout fails with
    EBADF, because a result would be lost: its descriptor is open for reading only.
    """
    for name, descriptor, flags in _STREAMS:
        if getattr(sys, name) is not None:
            continue
        _closed_streams.add(name)
        opened = os.open(os.devnull, flags)
        if opened != descriptor:  # it is in use already
            os.set_inheritable(opened, False)
        mode = "r" if name == "stdin" else "w"
        setattr(sys, name, open(opened, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - open to the end


def is_closed(name: str) -> bool:
    """Return whether a standard stream was closed when the program started, or is missing."""
    return name in _closed_streams or getattr(sys, name) is None


def _show_version(value: bool) -> None:  # noqa: FBT001 - the signature that Typer calls
    if value:
        typer.echo(f"motherlode {VERSION}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),  # noqa: FBT001
) -> None:
    pass


HELP_FLAGS = {"help_option_names": ["-h", "--help"]}


class Application(TyperGroup):
    """The commands, with one style of error messages: `error:`, what is wrong, and where to find help."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001 - the signature of Typer
        windows_expand_args: bool = True,  # noqa: FBT001
        **extra: Any,
    ) -> Any:
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except typer.Abort:
            sys.exit(INTERRUPTED)
        except Exception as error:  # Typer does not export the types of its errors
            if not hasattr(error, "format_message"):
                raise
            _show_usage_error(error)
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)


def _show_usage_error(error: Any) -> None:
    from motherlode.cli.terminal import show_error  # slow to import, and needed for errors only

    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return
    message: str = error.format_message().rstrip(".")
    if type(error).__name__ == "MissingParameter" and error.param.help:
        message = message.partition(". Choose from")[0]  # the name of the argument lists its choices
        message += f": {error.param.help.rstrip('.')}"
    show_error(message[:1].lower() + message[1:])
    if context is not None:
        typer.echo(f"see `{context.command_path} --help`", err=True)


def application(names: Iterable[str], *, listed: Iterable[str] = ()) -> typer.Typer:
    """Return the application with the commands `names`, whose modules are imported.

    Commands that are only `listed` have a name and a summary, which is enough for help and completion, and quick.
    """
    app = typer.Typer(
        cls=Application,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP_FLAGS,
        help="Motherlode: a focused crawler for the Web of Data. It learns during the crawl which links lead to "
        "structured data, spends its requests there, and writes a quad store that you can query and export.",
    )
    app.callback()(_options)
    for name in names:
        from motherlode.cli.options import Command  # slow to import

        command = getattr(import_module(f"motherlode.cli.{name}"), name)
        summary = _first_sentence(command.__doc__)
        app.command(cls=Command, short_help=summary, context_settings=HELP_FLAGS)(_handle_errors(command))
    for name in listed:
        app.command(name, short_help=_first_sentence(_read_docstring(name)))(lambda: None)
    return app


def _read_docstring(name: str) -> str | None:
    """Return the docstring of a command from its source, because the import of all commands takes half a second."""
    module = ast.parse(Path(__file__).with_name(f"{name}.py").read_bytes())
    found = (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return next((ast.get_docstring(node) for node in found), None)


def _first_sentence(docstring: str | None) -> str:
    """Return the first sentence of a command's help for the list of commands. Typer would cut it at the line end."""
    return (docstring or "").partition("\n")[0].partition(". ")[0].removesuffix(".")


def _handle_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with messages instead of tracebacks for errors of the user and of the system.

    JobError and a missing extra of the package are wrong usage. The code is 0 if the reader of the output is gone.
    """

    @wraps(command)
    def run(**arguments: Any) -> None:
        try:
            command(**arguments)
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except (MissingExtraError, ValueError) as error:
            from motherlode.cli.terminal import stop  # slow to import, and needed for errors only
            from motherlode.crawler import JobError

            if not isinstance(error, (MissingExtraError, JobError)):
                raise
            stop(str(error))
        except OSError as error:
            from motherlode.cli.terminal import FAILED, stop  # as above

            if _is_stdout_closed(error):
                _discard_output()
                stop("stdout is closed, so the output is lost: redirect it to a file or a pipe", code=FAILED)
            if error.errno != errno.ENOSPC:
                stop(f"{error.filename}: {error.strerror}" if error.filename else str(error), code=FAILED)
            _discard_output()
            stop(
                "no space is left on the disk, so the output is incomplete: free some space and try again", code=FAILED
            )

    return run


def _is_stdout_closed(error: OSError) -> bool:
    return error.errno == errno.EBADF and is_closed("stdout")


def _discard_output() -> None:
    """Redirect stdout to /dev/null, because Python flushes it at exit and would report the error again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _typed_command() -> str:
    """Return the command that the user typed or completes; "" if there is none yet."""
    words = sys.argv
    if _COMPLETION in os.environ:
        words = (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()
    return words[1] if len(words) > 1 and words[1] in COMMANDS else ""


def main() -> None:
    """Run the command line."""
    # numpy's BLAS would start threads in every process of a crawl, which multiplies no matrices
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # quads and JSON are UTF-8 in every locale
            stream.reconfigure(encoding="utf-8", errors="replace")
    typed = _typed_command()
    try:
        with process_start():
            run = application([typed] if typed else (), listed=() if typed else COMMANDS)
        run()
    except BrokenPipeError:  # of `--version` and `--help`; commands handle their own
        _discard_output()
        raise SystemExit(0) from None
    except OSError as error:
        if not _is_stdout_closed(error):
            raise
        _discard_output()
        raise SystemExit(1) from None
