"""Identity of things: descriptions of one thing on several pages and hosts become one cluster.

Descriptions that share an identifier form a *group*. Only descriptions of compatible types are compared: those of the
same class, or of a class and its subclass. The names decide whether the identifier counts. If most of them agree,
descriptions with agreeing names are joined; a description without a name is joined by a strong identifier only. If a
large part of them disagrees, the identifier belongs to no single thing: it is a *hub*, such as the telephone number of
a shop or a GTIN that was copied into a template, and joins nothing. Each join keeps its evidence.

Joins are edges between descriptions, and clusters are the connected components (union-find). A weak identifier never
joins descriptions with different strong identifiers of one kind.

Descriptions, groups and joins are in an SQLite file, so memory does not grow with their number, except for 8 bytes per
description while clusters are built. Clusters are updated incrementally: `add` marks the groups of a new or changed
description, and only these are compared again, also in a later run with the same file.
"""

import re
import sqlite3
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec
from rapidfuzz import fuzz

from motherlode.quality.identifiers import STRONG_KINDS, Identifier, IdentifierKind, normalize_url
from motherlode.quality.vocabulary import local_name, schema_org

MIN_SIMILARITY = {True: 50.0, False: 75.0}
"""Similarity of two names (0 to 100) from which they agree, for a strong and for a weak identifier."""
MIN_HUB_SIZE = 3
"""Number of different names from which a group may be a hub."""
MAX_HUB_AGREEMENT = 0.5
"""A group is a hub if its largest set of agreeing descriptions is at most this share of it."""
_MAX_NAME_SETS = 50
"""Number of sets of names after which a group is a hub in any case, so that a hub of any size costs little."""
_CACHE_KILOBYTES = 32_000
_FORMAT = 2
"""Version of the file. A file of another version is built again."""


class ThingDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One description of a thing: on one page, or of one IRI."""

    id: str
    """The IRI, or another key that is unique in the crawl."""
    names: tuple[str, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    types: tuple[str, ...] = ()
    """IRIs of its classes. A description without a type is compatible with all."""


class Evidence(msgspec.Struct, frozen=True):
    """The reason of one join: two descriptions share an identifier."""

    one: str
    other: str
    identifier: Identifier
    similarity: float
    """Similarity of their names, 0 to 100; -1 if one has no name."""


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Descriptions of one thing."""

    id: str
    """The smallest id of its members, so that it does not depend on the order of the pages."""
    members: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@lru_cache(maxsize=1 << 12)
def normalize_name(name: str) -> str:
    """Return a name in small letters without accents and punctuation.

    >>> normalize_name("  Crème-Brûlée (6 pcs.) ")
    'creme brulee 6 pcs'
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(re.findall(r"\w+", "".join(char for char in plain if not unicodedata.combining(char))))


def compare_names(one: str, other: str) -> float:
    """Return the similarity of two normalised names, 0 to 100. The order of words and additions count little.

    Numbers are compared first: names with different numbers, such as two models of a series, do not agree.

    >>> compare_names("acme lamp 300", "lamp 300 acme sale") > 90, compare_names("acme lamp 300", "acme lamp 400")
    (True, 0.0)
    """
    numbers, others = set(re.findall(r"\d+", one)), set(re.findall(r"\d+", other))
    if numbers and others and not (numbers <= others or others <= numbers):
        return 0.0
    if not one or not other:
        return 0.0
    shorter, longer = sorted((set(one.split()), set(other.split())), key=len)
    common = len(shorter & longer) / len(shorter)
    return max(100.0 * common if len(shorter) > 1 else 0.0, fuzz.token_sort_ratio(one, other))


def are_compatible(one: Iterable[str], other: Iterable[str]) -> bool:
    """Return whether things of these types may be the same: a type of one is that of the other, or a subclass of it.

    >>> are_compatible(["Car"], ["Product"]), are_compatible(["Product"], ["WebPage"]), are_compatible([], ["Person"])
    (True, False, True)
    """
    ours, theirs = list(one), list(other)
    return not ours or not theirs or any(_is_kind_of(a, b) or _is_kind_of(b, a) for a in ours for b in theirs)


@lru_cache(maxsize=1 << 14)
def _is_kind_of(name: str, ancestor: str) -> bool:
    return name == ancestor or ancestor in schema_org().ancestors(name)


_SCHEMA = """
CREATE TABLE things (number INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, types TEXT, content BLOB,
    mark BLOB);
CREATE TABLE groups (number INTEGER PRIMARY KEY, kind TEXT, value TEXT, is_strong INTEGER, is_hub INTEGER DEFAULT 0,
    is_changed INTEGER DEFAULT 1, UNIQUE (kind, value));
CREATE INDEX changed_groups ON groups (number) WHERE is_changed;
CREATE TABLE members (grp INTEGER, thing INTEGER, PRIMARY KEY (grp, thing)) WITHOUT ROWID;
CREATE INDEX groups_of_things ON members (thing);
CREATE TABLE edges (grp INTEGER, one INTEGER, other INTEGER, similarity REAL);
CREATE INDEX edges_of_groups ON edges (grp);
"""


class IdentityIndex:
    """Things by identifier in a file, and the clusters that follow from them."""

    def __init__(self, path: Path | None = None) -> None:
        """Open or create the file. Without a path it is a temporary one that disappears with the index."""
        self._database = sqlite3.connect("" if path is None else path, check_same_thread=False)
        [version] = self._database.execute("PRAGMA user_version").fetchone()
        if version not in (0, _FORMAT):
            _drop_tables(self._database)
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
        if version != _FORMAT:
            self._database.executescript(f"{_SCHEMA} PRAGMA user_version = {_FORMAT};")

    def is_current(self, id: str, mark: bytes) -> bool:
        """Return whether the description with an id was added with this mark."""
        return self._execute("SELECT 1 FROM things WHERE id = ? AND mark = ?", id, mark).fetchone() is not None

    def add(self, thing: ThingDescription, *, mark: bytes = b"") -> bool:
        """Add a description, or replace that with the same id. Return whether anything changed.

        `mark` is kept for `is_current`: a hash of what the description was made from.
        """
        content = msgspec.msgpack.encode(thing)
        known = self._execute("SELECT content FROM things WHERE id = ?", thing.id).fetchone()
        if known is not None and known[0] == content:
            self._execute("UPDATE things SET mark = ? WHERE id = ?", mark, thing.id)
            return False
        self.remove(thing.id)
        name = next(filter(None, map(normalize_name, thing.names)), "")
        types = " ".join(sorted({local_name(type_) or type_ for type_ in thing.types}))
        insert = "INSERT INTO things (id, name, types, content, mark) VALUES (?, ?, ?, ?, ?)"
        number = self._execute(insert, thing.id, name, types, content, mark).lastrowid
        for identifier in _identify(thing):
            self._execute("INSERT INTO members VALUES (?, ?)", self._mark_group(identifier), number)
        return True

    def remove(self, id: str) -> None:
        """Remove a description, if there is one."""
        found = self._execute("SELECT number FROM things WHERE id = ?", id).fetchone()
        if found is None:
            return
        in_groups = "UPDATE groups SET is_changed = 1 WHERE number IN (SELECT grp FROM members WHERE thing = ?)"
        for statement in (in_groups, "DELETE FROM members WHERE thing = ?", "DELETE FROM things WHERE number = ?"):
            self._execute(statement, found[0])

    def ids(self) -> Iterator[str]:
        """Yield the ids of all descriptions."""
        return (id for (id,) in self._execute("SELECT id FROM things"))

    def save(self) -> None:
        """Write all changes to the file."""
        self._database.commit()

    def close(self) -> None:
        """Close the file. Changes that were not saved are lost."""
        self._database.close()

    def clusters(self) -> Iterator[Cluster]:
        """Yield all clusters with at least two members, by id."""
        self._join_changed_groups()
        self._find_components()
        members = self._execute(
            "SELECT h.id, t.id FROM components c JOIN heads h USING (root) JOIN things t ON t.number = c.thing "
            "ORDER BY h.id, t.id"
        )
        evidence = self._execute(
            "SELECT h.id, a.id, b.id, g.kind, g.value, e.similarity FROM accepted JOIN edges e ON e.rowid = edge "
            "JOIN components c ON c.thing = e.one JOIN heads h USING (root) JOIN groups g ON g.number = e.grp "
            "JOIN things a ON a.number = e.one JOIN things b ON b.number = e.other ORDER BY h.id, a.id, b.id, g.kind"
        )
        first = itemgetter(0)
        for (id, rows), (_, joins) in zip(groupby(members, first), groupby(evidence, first), strict=True):
            found = (
                Evidence(one, other, Identifier(IdentifierKind(kind), value), similarity)
                for _, one, other, kind, value, similarity in joins
            )
            yield Cluster(id=id, members=tuple(member for _, member in rows), evidence=tuple(found))

    def _execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._database.execute(statement, values)

    def _mark_group(self, identifier: Identifier) -> int:
        """Mark the group of an identifier as changed, and return its number."""
        [number] = self._execute(
            "INSERT INTO groups (kind, value, is_strong) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET is_changed = 1 RETURNING number",
            *(identifier.kind, identifier.value, identifier.kind in STRONG_KINDS),
        ).fetchone()
        return int(number)

    def _join_changed_groups(self) -> None:
        """Compare the descriptions of the groups that have changed since the last time."""
        changed = "SELECT number, is_strong FROM groups WHERE is_changed AND number > ? ORDER BY number LIMIT 1"
        group = 0
        while (found := self._execute(changed, group).fetchone()) is not None:
            group, is_strong = found
            self._execute("DELETE FROM edges WHERE grp = ?", group)
            found_hub = False
            for types in self._find_compatible(group):
                joins = self._join(group, types, is_strong=bool(is_strong))
                found_hub = found_hub or joins is None
                rows = ((group, *join) for join in joins or ())
                self._database.executemany("INSERT INTO edges VALUES (?, ?, ?, ?)", rows)
            self._execute("UPDATE groups SET is_changed = 0, is_hub = ? WHERE number = ?", found_hub, group)

    def _find_compatible(self, group: int) -> list[list[str]]:
        """Return the types in a group as sets of compatible ones, the most frequent first, the untyped in the first."""
        rows = self._execute(
            "SELECT types FROM members JOIN things ON number = thing WHERE grp = ? GROUP BY types "
            "HAVING (SELECT COUNT(*) FROM (SELECT 1 FROM members WHERE grp = ? LIMIT 2)) > 1 "
            "ORDER BY types = '', COUNT(*) DESC, types",
            *(group, group),
        )
        found: list[list[str]] = []
        for (types,) in rows:
            own = types.split()
            home = next((one for one in found if are_compatible(own, one[0].split())), None)
            if home is None:
                found.append([types])
            else:
                home.append(types)
        return found

    def _join(self, group: int, types: Sequence[str], *, is_strong: bool) -> "Iterator[_Join] | None":
        """Return the joins of things of these types that share an identifier; None if the identifier is a hub."""
        of_group = f"{_OF_GROUP} AND types IN ({', '.join('?' * len(types))})"
        by_name = f"SELECT name, COUNT(*) {of_group} AND name != '' GROUP BY name ORDER BY COUNT(*) DESC, name"
        agreeing = group_names(self._execute(by_name, group, *types), MIN_SIMILARITY[is_strong])
        if is_hub(agreeing):
            return None

        def numbers_of(name: str) -> Iterator[int]:
            rows = self._execute(f"SELECT number {of_group} AND name = ? ORDER BY id", group, *types, name)
            return (number for (number,) in rows)

        return _join_agreeing(agreeing, numbers_of, joins_nameless=is_strong and len(agreeing) <= 1)

    def _find_components(self) -> None:
        """Fill the temporary tables: accepted edges, the component of each thing, and the smallest id of each."""
        for table in ("accepted (edge INTEGER)", "components (thing INTEGER PRIMARY KEY, root INTEGER)"):
            self._execute(f"DROP TABLE IF EXISTS temp.{table.split()[0]}")
            self._execute(f"CREATE TEMP TABLE {table}")
        [most] = self._execute("SELECT COALESCE(MAX(number), 0) FROM things").fetchone()
        parents = array("q", range(most + 1))
        for edge, one, other in self._accepted_edges():
            self._execute("INSERT INTO accepted VALUES (?)", edge)
            low, high = sorted((_find(parents, one), _find(parents, other)))
            parents[high] = low
        things = self._execute("SELECT one, other FROM accepted JOIN edges e ON e.rowid = edge")
        pairs = ((thing, _find(parents, thing)) for row in things for thing in row)
        self._database.executemany("INSERT OR IGNORE INTO components VALUES (?, ?)", pairs)
        self._execute("DROP TABLE IF EXISTS temp.heads")
        self._execute(
            "CREATE TEMP TABLE heads AS SELECT root, MIN(id) AS id FROM components JOIN things ON number = thing "
            "GROUP BY root"
        )
        self._execute("CREATE UNIQUE INDEX temp.root_of_head ON heads (root)")

    def _accepted_edges(self) -> Iterator[tuple[int, int, int]]:
        """Yield the edges that no conflict rules out."""
        edges = "SELECT e.rowid, one, other, is_strong FROM edges e JOIN groups ON number = grp"
        for edge, one, other, is_strong in self._execute(edges):
            if is_strong or not self._conflict(one, other):
                yield edge, one, other

    def _conflict(self, one: int, other: int) -> bool:
        """Return whether two things have strong identifiers of one kind, and none in common."""
        ours, theirs = self._strong_values(one), self._strong_values(other)
        return any(not ours[kind] & theirs[kind] for kind in ours.keys() & theirs.keys())

    def _strong_values(self, thing: int) -> dict[str, set[str]]:
        rows = self._execute(
            "SELECT kind, value FROM members JOIN groups ON number = grp WHERE thing = ? AND is_strong AND NOT is_hub",
            thing,
        )
        found: dict[str, set[str]] = {}
        for kind, value in rows:
            found.setdefault(kind, set()).add(value)
        return found


_Join = tuple[int, int, float]
"""Numbers of two things, and the similarity of their names."""
_OF_GROUP = "FROM members JOIN things ON number = thing WHERE grp = ?"


def _join_agreeing(
    agreeing: Sequence[Sequence[tuple[str, int]]], numbers_of: Callable[[str], Iterator[int]], *, joins_nameless: bool
) -> Iterator[_Join]:
    """Yield the joins within each set of agreeing names: of its first thing with all others.

    With `joins_nameless` the things without a name are joined to it as well.
    """
    anchor = -1
    for names in agreeing:
        main = names[0][0]
        anchor = next(numbers_of(main))
        for name, _ in names:
            similarity = compare_names(main, name)
            yield from ((anchor, other, similarity) for other in numbers_of(name) if other != anchor)
    if joins_nameless:
        nameless = numbers_of("")
        anchor = next(nameless, -1) if anchor < 0 else anchor
        yield from ((anchor, other, -1.0) for other in nameless)


def _drop_tables(database: sqlite3.Connection) -> None:
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        database.execute(f"DROP TABLE {name}")


def _find(parents: "array[int]", thing: int) -> int:
    """Return the root of a thing's component (union-find), and halve the path to it."""
    while parents[thing] != thing:
        parents[thing] = thing = parents[parents[thing]]
    return thing


def _identify(thing: ThingDescription) -> Iterator[Identifier]:
    """Yield the identifiers of a thing, and its own IRI, which the sameAs of another thing may name."""
    identifiers = list(thing.identifiers)
    if thing.id.startswith(("http://", "https://")) and (own := normalize_url(thing.id)) is not None:
        identifiers.append(Identifier(IdentifierKind.SAME_AS, own))
    yield from dict.fromkeys(identifiers)


def group_names(counted: Iterable[tuple[str, int]], min_similarity: float) -> list[list[tuple[str, int]]]:
    """Group names that agree. The input has pairs of name and frequency, the most frequent first.

    The groups are sorted by size, and the most frequent name represents its group. Reading ends when there are too
    many groups.
    """
    found: list[list[tuple[str, int]]] = []
    for name, count in counted:
        home = next((names for names in found if compare_names(names[0][0], name) >= min_similarity), None)
        if home is None:
            found.append([(name, count)])
        else:
            home.append((name, count))
        if len(found) > _MAX_NAME_SETS:
            break
    return sorted(found, key=lambda names: -sum(count for _, count in names))


def is_hub(agreeing: Sequence[Sequence[tuple[str, int]]]) -> bool:
    """Return whether an identifier belongs to many different things."""
    if len(agreeing) > _MAX_NAME_SETS:
        return True
    sizes = [sum(count for _, count in names) for names in agreeing]
    return len(sizes) >= MIN_HUB_SIZE and sizes[0] <= MAX_HUB_AGREEMENT * sum(sizes)
