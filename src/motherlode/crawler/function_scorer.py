"""Main function of the process in which a scorer function of the user runs: `python -m … python:MODULE:FUNCTION`.

It reads one page per line from stdin and writes one answer per line to stdout, as every command of a scorer does. An
exception of the function is the answer for its page; the process continues.
"""

from __future__ import annotations

import os
import sys

import msgspec

from motherlode.policies.scorers import PageMessage, ScorerError, call_function, load_function, parse_scorer


def main(arguments: list[str]) -> int:
    """Score pages until stdin closes. Return the exit status."""
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of print() must not look like an answer
    try:
        scorer = parse_scorer(arguments[0])
        if scorer is None or not scorer.is_function:
            raise ValueError(f"{arguments[0]!r} is no function")
        function = load_function(scorer)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    decode = msgspec.json.Decoder(PageMessage).decode
    for line in sys.stdin.buffer:
        try:
            answer: object = call_function(function, decode(line))
        except ScorerError as error:
            answer = {"error": str(error)}
        sink.write(msgspec.json.encode(answer) + b"\n")
        sink.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
