"""Print the table of conformance suites and the failures: `python -m tests.conformance [NAME]... [--brief]`."""

from __future__ import annotations

import sys

from .runner import floors_of, run_suite, run_suite_whole, suites, table


def main(arguments: list[str]) -> int:
    brief = "--brief" in arguments
    names = [a for a in arguments if not a.startswith("--")]
    chosen = {name: suite for name, suite in suites().items() if not names or name in names}
    if not chosen:
        print(f"no such suite; the suites are {', '.join(suites())}", file=sys.stderr)
        return 2
    floors = {row: floor for suite in chosen.values() for row, floor in floors_of(suite).items()}
    rows = [row for suite in chosen.values() for row in (*run_suite(suite), *run_suite_whole(suite))]
    print("\n".join(table(rows, floors)))
    if not brief:
        for row in rows:
            for case, reason in row.failures:
                print(f"{row.name}: {case} {reason[:200]}")
    return 1 if any(row.score < floors.get(row.name, 0.0) for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
