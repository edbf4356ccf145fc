"""The things of a table and the pages that describe them, in a temporary file, so that memory does not grow with them.

Things are numbered in the order of their pages. Descriptions of one real thing can be joined; then they are one *row*.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

_CACHE_KILOBYTES = 16_000
_GRAPHS = "SELECT graph FROM pages WHERE thing = ? ORDER BY RTRIM(graph, '>') LIMIT ?"
_MAX_PAGES = 1_000
"""Maximum number of pages of one thing whose statements are read."""


class ListedThing(msgspec.Struct, frozen=True):
    """A thing, and where it is described."""

    term: str
    """Its IRI or blank node, in N-Triples."""
    graphs: tuple[str, ...]
    """The graphs of its first pages, in N-Triples, by name."""
    pages: int
    """Number of all its pages."""


class ThingList:
    """Things on disk. Fill it with `add` and `keep`, then call `number_things`, and then read it."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", check_same_thread=False)
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        self._database.executescript(
            "CREATE TABLE pages (thing TEXT, graph TEXT, PRIMARY KEY (thing, graph)) WITHOUT ROWID;"
            "CREATE TABLE things (number INTEGER PRIMARY KEY, thing TEXT UNIQUE, pages INTEGER, row INTEGER);"
            "CREATE INDEX things_by_row ON things (row, number);"
        )

    def close(self) -> None:
        """Delete the file."""
        self._database.close()

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Add things with the graphs that describe them. A pair may be repeated."""
        self._database.executemany("INSERT OR IGNORE INTO pages VALUES (?, ?)", pairs)

    def keep(self, wanted: Iterable[str]) -> None:
        """Remove all things but the wanted ones."""
        self._database.execute("CREATE TEMP TABLE wanted (thing TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((thing,) for thing in wanted))
        self._database.execute("DELETE FROM pages WHERE thing NOT IN (SELECT thing FROM wanted)")
        self._database.execute("DROP TABLE wanted")

    def number_things(self) -> None:
        """Number the things by their first pages. Each is a row."""
        self._database.execute(
            "INSERT INTO things (thing, pages) SELECT thing, COUNT(*) FROM pages GROUP BY thing "
            "ORDER BY MIN(RTRIM(graph, '>')), thing"
        )
        self._database.execute("UPDATE things SET row = number")

    def join(self, clusters: Iterable[Iterable[str]]) -> None:
        """Make one row of the things of each cluster."""
        for cluster in clusters:
            members = [(term,) for term in cluster]
            marks = ", ".join("?" * len(members[:_MAX_PAGES]))
            [row] = self._database.execute(
                f"SELECT MIN(row) FROM things WHERE thing IN ({marks})", [term for (term,) in members[:_MAX_PAGES]]
            ).fetchone()
            self._database.executemany(f"UPDATE things SET row = {row or 0} WHERE thing = ?", members)

    def __contains__(self, term: str) -> bool:
        return self._database.execute("SELECT 1 FROM things WHERE thing = ?", (term,)).fetchone() is not None

    def __len__(self) -> int:
        """The number of things."""
        return int(self._database.execute("SELECT COUNT(*) FROM things").fetchone()[0])

    def count_rows(self) -> int:
        """Return the number of rows, which is smaller than that of things if some were joined."""
        return int(self._database.execute("SELECT COUNT(DISTINCT row) FROM things").fetchone()[0])

    def __iter__(self) -> Iterator[ListedThing]:
        return (thing for row in self.rows() for thing in row)

    def rows(self, *, offset: int = 0, limit: int = -1) -> Iterator[list[ListedThing]]:
        """Yield the things of each row, from the row `offset` on, at most `limit` rows if that is not negative."""
        found = self._database.execute(
            "SELECT t.row, t.thing, t.pages FROM things t "
            "JOIN (SELECT DISTINCT row FROM things ORDER BY row LIMIT ? OFFSET ?) chosen ON chosen.row = t.row "
            "ORDER BY t.row, t.number",
            (limit, offset),
        )
        for _, things in groupby(found, key=lambda row: row[0]):
            yield [ListedThing(term, self._graphs_of(term), pages) for _, term, pages in things]

    def _graphs_of(self, term: str) -> tuple[str, ...]:
        found = self._database.execute(_GRAPHS, (term, _MAX_PAGES))
        return tuple(graph for (graph,) in found)
