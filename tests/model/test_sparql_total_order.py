"""ORDER BY, MIN and MAX over the mixed terms of real web data.

A failing sort of the engine aborts the process, so each query runs in a child process.
"""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pyoxigraph as ox
import pytest

from motherlode.model.sparql import query_in_order, sort_keys, with_total_order

CIRCLES = {
    "prices": [
        *(f"{number}" for number in range(1, 60)),
        *(f"{number}.5" for number in range(1, 60)),
        *(f'"{number}e0"^^xsd:double' for number in range(1, 30)),
        *(f'"{number}"' for number in range(1, 60)),
        *(f'"{number} EUR"@en' for number in range(1, 60)),
    ],
    "dates": [
        *(
            f'"2020-01-0{day}T{hour:02}:00:00{zone}"^^xsd:dateTime'
            for day in range(1, 4)
            for hour in range(0, 24, 2)
            for zone in ("", "Z", "+09:00", "-08:00")
        ),
        *(f'"2020-01-0{day}{zone}"^^xsd:date' for day in range(1, 4) for zone in ("", "Z", "+09:00")),
        *(f'"2020-01-0{day}"' for day in range(1, 9)),
        *('"2020"^^xsd:gYear', '"2020-01"^^xsd:gYearMonth', '"today"^^xsd:date'),
    ],
    "times": [f'"{hour:02}:00:00{zone}"^^xsd:time' for hour in range(24) for zone in ("", "Z", "+09:00", "-08:00")],
    "durations": [
        *(f'"PT{minutes}M"^^xsd:duration' for minutes in range(1, 200)),
        *(f'"PT{minutes}M"' for minutes in range(1, 200)),
        *('"P1M"^^xsd:duration', '"P1Y"^^xsd:yearMonthDuration', '"PT1S"^^xsd:dayTimeDuration', '"soon"^^xsd:duration'),
    ],
    "large numbers": [
        f'"{number}"^^xsd:{kind}'
        for number in range(2**24 - 20, 2**24 + 20)
        for kind in ("integer", "decimal", "double", "float")
    ],
}
"""Terms whose comparison by the engine is circular."""
OTHERS = ['"NaN"^^xsd:double', '"x"^^xsd:integer', "<http://ex.org/>", "true", "UNDEF"]
SHUFFLES = 6
ROOT = Path(__file__).parents[2]


def _ends_well(code: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], input=stdin, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


ASKED = """
import sys
from functools import partial
import pyoxigraph as ox
from motherlode.model.sparql import query_in_order
from motherlode.model.terms import PREFIXES
ask = partial(ox.Store().query, prefixes=PREFIXES)
for query in sys.stdin:
    print("|".join(str(row["x"] and row["x"].value) for row in query_in_order(ask, query)))
"""


def _sorted(*terms: str, by: str = "?x") -> list[str]:
    query = f"SELECT ?x {{ VALUES ?x {{ {' '.join(terms)} }} }} ORDER BY {by}"
    return _ends_well(ASKED, query).removesuffix("\n").split("|")


@pytest.mark.parametrize(
    ("order", "meant"),
    [
        ("?x", sort_keys("?x")),
        ("DESC(?x)", sort_keys("(?x)", "DESC")),
        ("asc ( ?x ) ?y", f"{sort_keys('( ?x )', 'asc')} {sort_keys('?y')}"),
        ("(?x + 1) LIMIT 3", f"{sort_keys('(?x + 1)')} LIMIT 3"),
        ("xsd:decimal(?x) LCASE(STR(?y))", f"{sort_keys('xsd:decimal(?x)')} {sort_keys('LCASE(STR(?y))')}"),
        ("<u:f>(?x, 1)", sort_keys("<u:f>(?x, 1)")),
        ("COUNT(DISTINCT ?x) OFFSET 1", f"{sort_keys('COUNT(DISTINCT ?x)')} OFFSET 1"),
        ("?x VALUES (?y) { (1) }", f"{sort_keys('?x')} VALUES (?y) {{ (1) }}"),
        ("(?x # )\n)", sort_keys("(?x # )\n)")),
        (
            "?x } SERVICE ex:a { SELECT * {} ORDER BY ?x } }",
            f"{sort_keys('?x')} }} SERVICE ex:a {{ SELECT * {{}} ORDER BY ?x }} }}",
        ),
        ("?x } UNION { } }", f"{sort_keys('?x')} }} UNION {{ }} }}"),
        (
            "(EXISTS { SELECT * {} ORDER BY ?y }) ?x",
            f"{sort_keys('(EXISTS { SELECT * {} ORDER BY ?y })')} {sort_keys('?x')}",
        ),
        ("NOT EXISTS { ?x ?y { (1) } } ?x", f"NOT EXISTS {{ ?x ?y {{ (1) }} }} {sort_keys('?x')}"),
    ],
)
def test_order_by_condition_is_replaced_by_two_keys(order: str, meant: str) -> None:
    assert with_total_order(f"SELECT * {{}} ORDER BY {order}") == f"SELECT * {{}} ORDER BY {meant}"


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT * { ?s ?p ?o }",
        'SELECT * { ?s ?p "ORDER BY ?s" } # ORDER BY ?s',
        'SELECT * { ?s ex:min "MIN(?x)" } # MAX(?x)',
        "SELECT * {} ORDER BY",
        "SELECT * {} ORDER BY (?x",
        "SELECT * {} ORDER BY EXISTS { ?s ?p ?o }",
        "SELECT * {} ORDER",
        "SELECT (MIN AS ?x) {}",
        "SELECT * { SERVICE SILENT <http://ex.org/> { SELECT (MIN(?x) AS ?y) { { ?s ?p ?x } } ORDER BY ?y } }",
        "SELECT (MIN(?x AS ?y {}",
    ],
)
def test_query_without_readable_condition_is_unchanged(sparql: str) -> None:
    assert with_total_order(sparql) == sparql


@pytest.mark.parametrize("terms", CIRCLES.values(), ids=CIRCLES)
def test_terms_with_circular_comparison_are_sorted(terms: list[str]) -> None:
    queries = []
    for seed in range(SHUFFLES):
        some = random.Random(seed).sample(terms + OTHERS, len(terms) + len(OTHERS))
        for order in ("?x", "DESC(?x)", "(?x)", "?none ?x"):
            queries.append(f"SELECT ?x {{ VALUES ?x {{ {' '.join(some)} }} }} ORDER BY {order}")
    answers = _ends_well(ASKED, "\n".join(queries)).splitlines()
    assert len(answers) == len(queries)
    rows = answers[0].split("|")
    assert rows[:2] == ["None", "http://ex.org/"], "what is unbound comes first, then IRIs"
    assert answers[1].split("|")[-1] == "None", "the other way round"


def test_terms_are_sorted_by_kind_then_value() -> None:
    sorted_terms = [
        *("UNDEF", "<http://ex.org/>", '"5 EUR"', '"chat"@fr', '"cheese"', "true"),
        *('"09:00:00+05:00"^^xsd:time', '"05:00:00"^^xsd:time'),
        *('"PT9M"^^xsd:duration', '"PT10M"^^xsd:dayTimeDuration', '"P1M"^^xsd:duration'),
        *('"-0100"^^xsd:gYear', '"-0044-03-15"^^xsd:date', '"2019"^^xsd:gYear', '"2019-06"^^xsd:gYearMonth'),
        *('"2020-01-01T05:00:00+09:00"^^xsd:dateTime', '"2019-12-31T20:30:00Z"^^xsd:dateTime'),
        *('"2020-01-01"^^xsd:date', '"2020-01-01T00:00:00.25Z"^^xsd:dateTime', '"2020-01-01T00:00:00.3"^^xsd:dateTime'),
        *("-1e40", "9", "10.5", "9007199254740992", "9007199254740993", "1e40", '"INF"^^xsd:double'),
    ]
    expected = _sorted(*sorted_terms, by="?none")
    assert _sorted(*reversed(sorted_terms)) == expected
    assert _sorted(*sorted_terms, by="DESC(?x)") == expected[::-1]


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("terms", CIRCLES.values(), ids=CIRCLES)
def test_triple_terms_with_circular_objects_are_sorted(terms: list[str], depth: int) -> None:
    def inside(term: str) -> str:
        return "<<( <u:s> <u:p> " * depth + term + " )>>" * depth

    code = f"""
import sys
from functools import partial
import pyoxigraph as ox
from motherlode.model.sparql import query_in_order
from motherlode.model.terms import PREFIXES
ask = partial(ox.Store().query, prefixes=PREFIXES)
for query in sys.stdin:
    for row in query_in_order(ask, query):
        found = row["x"]
        for _ in range({depth}):
            found = found.object
        print(found, end="|")
    print()
"""
    queries, plain = [], []
    for seed in range(SHUFFLES):
        some = random.Random(seed).sample(terms, len(terms))
        for order in ("?x", "DESC(?x)"):
            queries.append(f"SELECT ?x {{ VALUES ?x {{ {' '.join(map(inside, some))} }} }} ORDER BY {order}")
            plain.append(f"SELECT ?x {{ VALUES ?x {{ {' '.join(some)} }} }} ORDER BY {order}")
    nested = _ends_well(code, "\n".join(queries))
    assert len(nested.splitlines()) == len(queries)
    assert nested == _ends_well(code.replace(f"range({depth})", "range(0)"), "\n".join(plain))


def test_triple_terms_are_sorted_last_by_subject_predicate_object() -> None:
    names = ["UNDEF", "<u:z>", '"a"', "10", "<<( <u:a> <u:p> <u:z> )>>", '<<( <u:a> <u:p> "5 EUR" )>>']
    names += ["<<( <u:a> <u:p> 9 )>>", "<<( <u:a> <u:p> 10 )>>", "<<( <u:a> <u:p> <<( <u:a> <u:p> 1 )>> )>>"]
    names += ["<<( <u:a> <u:p> <<( <u:a> <u:q> 1 )>> )>>", "<<( <u:a> <u:q> 1 )>>", "<<( <u:b> <u:p> 1 )>>"]
    for order, expected in (("?x", range(len(names))), ("DESC(?x)", range(len(names) - 1, -1, -1))):
        for seed in range(SHUFFLES):
            some = random.Random(seed).sample(list(enumerate(names)), len(names))
            values = " ".join(f"({name} {number})" for number, name in some)
            query = f"SELECT ?n {{ VALUES (?x ?n) {{ {values} }} }} ORDER BY {order}"
            found = [int(row["n"].value) for row in query_in_order(ox.Store().query, query)]
            assert found == list(expected), order


def test_equal_numbers_are_sorted_by_the_next_condition() -> None:
    rows = " ".join(f'({value} "{letter}")' for value, letter in (("5", "c"), ("5.0", "b"), ("5e0", "a"), ("4.5", "z")))
    query = f"SELECT ?x {{ VALUES (?rating ?x) {{ {rows} }} }} ORDER BY ?rating ?x"
    assert _ends_well(ASKED, query).split() == ["z|a|b|c"]


def test_min_and_max_are_the_ends_of_the_order() -> None:
    for terms in permutations(("9", "10", '"5 EUR"', '"6"@en')):
        query = f"SELECT (MIN(?x) AS ?a) (max( DISTINCT ?x ) AS ?b) {{ VALUES ?x {{ {' '.join(terms)} }} }}"
        (row,) = query_in_order(ox.Store().query, query)
        assert (row["a"].value, row["b"].value) == ("5 EUR", "10"), terms


@pytest.mark.parametrize(
    ("terms", "ends"),
    [
        ("9 10.5 -3", ["-3", "10.5"]),
        ('"b" "a"@en', ["a", "b"]),
        ('<u:b> <u:a> "b"', ["u:a", "b"]),
        ('"-INF"^^<http://www.w3.org/2001/XMLSchema#double>', ["-INF", "-INF"]),
        ("UNDEF 5", ["", ""]),
        ("", ["", ""]),
    ],
)
def test_min_and_max_of_one_kind_equal_those_of_the_engine(terms: str, ends: list[str]) -> None:
    query = f"SELECT (MIN(?x) AS ?a) (MAX(?x) AS ?b) {{ VALUES ?x {{ {terms} }} }}"
    for answer in (ox.Store().query(query), query_in_order(ox.Store().query, query)):
        (row,) = answer
        assert [row[name].value if row[name] else "" for name in "ab"] == ends


def test_min_and_max_work_wherever_aggregates_are_allowed() -> None:
    query = """SELECT ?k (MIN(?x * 2) + 1 AS ?m) { VALUES (?k ?x) { (1 5) (2 7) (2 8) (3 1) } }
               GROUP BY ?k HAVING (MAX(?x) > 4) ORDER BY DESC(MIN(?x))"""
    rows = query_in_order(ox.Store().query, query)
    assert [(row["k"].value, row["m"].value) for row in rows] == [("2", "15"), ("1", "11")]


PRICES = """
from tests.index.fakes import A, facts, record
from motherlode.model import ContentKind
prices = [f'"{n}"' for n in range(1, 80)]
prices += [f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in range(1, 80)]
rows = [(f"<http://ex.org/{n}>", "<http://schema.org/price>", price, "") for n, price in enumerate(prices)]
"""


def test_store_query_sorts_mixed_prices(tmp_path: Path) -> None:
    code = f"""{PRICES}
from pathlib import Path
from motherlode.index.quad_store import QuadStore
store = QuadStore(Path({str(tmp_path / "store")!r}))
store.write([record(A, *rows)])
print(*(row["x"].value for row in store.query("SELECT ?x {{ ?s schema:price ?x }} ORDER BY ?x")))
"""
    assert _ends_well(code).split()[79:] == [str(n) for n in range(1, 80)]


def test_target_and_link_query_may_sort() -> None:
    code = f"""{PRICES}
from motherlode.links.from_quads import LinkRules
from motherlode.links.href import LinkOptions
from motherlode.links.from_quads import statement_links
from motherlode.policies.targets import target_from
judge = target_from("ASK {{ {{ SELECT ?s {{ ?s schema:price ?x }} ORDER BY ?x LIMIT 3 }} }}")
assert judge(facts(*rows), ContentKind.HTML)
links = LinkRules(query="SELECT ?s {{ ?s schema:price ?x }} ORDER BY DESC(?x) LIMIT 3")
print(*(link.url for link in statement_links(facts(*rows), links, page_url=A, options=LinkOptions())))
"""
    assert _ends_well(code).split() == [f"http://ex.org/{n}" for n in (157, 156, 155)]
