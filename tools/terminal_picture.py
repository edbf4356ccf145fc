"""Draw the terminal of a command as SVG, for the README and the tutorial.

python tools/terminal_picture.py PICTURE.svg COMMAND...

The command runs in a terminal of 120 columns. Progress that it overwrites is left out: only the final state of each
line is drawn.
"""

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 120


def run_in_terminal(command: list[str]) -> str:
    """Return everything that a command writes to its terminal."""
    process, terminal = pty.fork()
    if not process:
        os.environ |= {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
        os.execvp(command[0], command)
    parts = []
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the command has ended
            break
        if not part:
            break
        parts.append(part)
    os.waitpid(process, 0)
    return b"".join(parts).decode(errors="replace")


def final_lines(output: str) -> list[str]:
    """Return the lines as they look at the end: carriage returns and cursor movements have overwritten earlier text."""
    lines: list[str] = [""]
    for part in output.replace("\r\n", "\n").split("\n"):
        while "\x1b[1A" in part:  # the cursor goes up, and the line is written again
            before, _, part = part.partition("\x1b[1A")
            lines[-1] += before
            if len(lines) > 1:
                lines.pop()
            lines[-1] = ""
        lines[-1] += part.rpartition("\r")[2].rpartition("\x1b[2K")[2]
        lines.append("")
    return [line for line in lines if line.strip()]


def main(picture: Path, command: list[str]) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ {' '.join(command)}", style="bold"))
    for line in final_lines(run_in_terminal(command)):
        console.print(Text.from_ansi(line), soft_wrap=True)
    svg = console.export_svg(title=" ".join(command[:2]))
    picture.write_text(re.sub(r"@font-face *{[^}]*}", "", svg), encoding="utf-8")  # no font is loaded from elsewhere


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
