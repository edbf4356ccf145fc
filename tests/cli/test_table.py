"""The commands `table` and `clusters`, on a crawl of a small recorded web."""

import csv
import json
import sqlite3
from pathlib import Path

import duckdb
import pandas
import polars
import pytest
from typer.testing import CliRunner, Result

from motherlode.cli import application
from tests.support import write_warc

GTIN = "4006381333931"
HTML = {"Content-Type": "text/html; charset=utf-8"}


def motherlode(*arguments: str | Path) -> Result:
    app = application([str(arguments[0]), "stats"])  # with one command alone, its name would not be expected
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def make_page(path: str, data: object) -> tuple[str, int, dict[str, str], bytes]:
    links = "".join(f'<a href="/{number}">{number}</a>' for number in (1, 2, 3))
    body = f'{links}<script type="application/ld+json">{json.dumps(data)}</script>'
    return f"http://a.example/{path}", 200, HTML, body.encode()


def make_product(name: str, price: object, **more: object) -> dict[str, object]:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    return {"@context": "https://schema.org/", "@type": "Product", "name": name, "offers": offer, **more}


RECIPE = {
    "@context": "https://schema.org/",
    "@type": "Recipe",
    "name": [{"@value": "Brot", "@language": "de"}, {"@value": "Bread", "@language": "en"}],
    "totalTime": "PT1H30M",
    "datePublished": "2026-01-02",
    "isAccessibleForFree": True,
    "url": "http://a.example/3",
    "recipeYield": 4,
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    pages = [
        ("http://a.example/robots.txt", 404, {}, b""),
        make_page("", make_product("Oak table", 240, sku="007", releaseDate="2026-03-04")),
        make_page("1", make_product("Lemon cake", "12.50", gtin13=GTIN, sku="12345", releaseDate="2026-01-02")),
        make_page("2", make_product("Lemon Cake fresh", "11", gtin13=GTIN, sku="12346", releaseDate="2026-02-03")),
        make_page("3", RECIPE),
    ]
    web = write_warc(folder / "web.warc.gz", pages)
    done = motherlode("crawl", "http://a.example/", "--web", web, "-o", folder / "out", "--quiet")
    assert done.exit_code == 0, done.output
    return folder / "out"


def test_table_writes_csv_to_stdout_by_default(crawl: Path) -> None:
    done = motherlode("table", crawl, "Product")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(row["name"], row["offers.price"], row["sku"]) for row in rows] == [
        ("Oak table", "240.0", "007"),
        ("Lemon cake", "12.5", "12345"),
        ("Lemon Cake fresh", "11.0", "12346"),
    ]
    assert rows[0]["source_page"] == "http://a.example/"
    assert rows[0]["source_syntaxes"] == '["jsonld"]'


def test_parquet_is_read_by_duckdb_polars_and_pandas_with_the_right_types(crawl: Path, tmp_path: Path) -> None:
    path = tmp_path / "recipes.parquet"
    done = motherlode("table", crawl, "schema:Recipe", "-o", path)
    assert "1 rows" in done.output
    names = ("totalTime", "datePublished", "isAccessibleForFree", "recipeYield", "name", "source_fetched_at")
    columns = ", ".join(f'typeof("{name}")' for name in names)
    [found] = duckdb.sql(f"SELECT {columns} FROM '{path}'").fetchall()
    assert found[1:] == ("DATE", "BOOLEAN", "DOUBLE", "VARCHAR[]", "TIMESTAMP WITH TIME ZONE")
    schema = polars.read_parquet(path).schema
    assert schema["totalTime"] == polars.Duration("ms")
    assert schema["datePublished"] == polars.Date
    assert schema["name"] == polars.List(polars.String)
    frame = pandas.read_parquet(path)
    assert frame["totalTime"][0] == pandas.Timedelta(minutes=90)
    assert str(frame["source_fetched_at"].dtype) == "datetime64[ms, UTC]"
    assert sorted(zip(frame["name"][0], frame["name@language"][0], strict=True)) == [("Bread", "en"), ("Brot", "de")]


def test_json_and_sqlite_have_the_same_rows(crawl: Path, tmp_path: Path) -> None:
    motherlode("table", crawl, "Recipe", "-o", tmp_path / "t.jsonl")
    row = json.loads((tmp_path / "t.jsonl").read_text())
    assert (row["totalTime"], row["datePublished"], row["isAccessibleForFree"]) == ("PT1H30M", "2026-01-02", True)
    motherlode("table", crawl, "Product", "-o", tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as database:
        rows = database.execute('SELECT name FROM things WHERE "offers.price" > 100').fetchall()
    assert rows == [("Oak table",)]


def test_distinct_and_where_and_profile_change_the_rows(crawl: Path, tmp_path: Path) -> None:
    done = motherlode("table", crawl, "Product", "--distinct")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [(row["sources"], bool(row["conflicts"])) for row in rows] == [("1", False), ("2", True)]
    done = motherlode("table", crawl, "Product", "--where", '?thing schema:name ?n FILTER STRSTARTS(?n, "Oak")')
    assert len(done.stdout.splitlines()) == 2
    profile = tmp_path / "profile.json"
    profile.write_text('{"type": "schema:Product", "columns": ["sku"], "depth": 0, "min_coverage": 1.1}')
    done = motherlode("table", crawl, "Product", "--profile", profile)
    assert done.stdout.splitlines()[0].split(",")[6:] == ["sku", "other_values"]


def test_wrong_usage_of_table_is_explained(crawl: Path, tmp_path: Path) -> None:
    done = motherlode("table", crawl, "schema:Movie")
    assert (done.exit_code, "has nothing of the type" in done.output) == (1, True)
    done = motherlode("table", crawl, "Product", "--where", "?x schema:name ?n")
    assert (done.exit_code, "?thing" in done.output) == (2, True)
    done = motherlode("table", crawl, "Product", "--where", "cheap")
    assert (done.exit_code, "--where 'cheap' is not a SPARQL pattern such as '?thing" in done.output) == (2, True)
    done = motherlode("table", crawl, "Product", "-o", tmp_path / "products.xlsx")
    assert (done.exit_code, "the format is not known from the name" in done.output) == (2, True)
    done = motherlode("table", crawl, "Product", "--format", "parquet")
    assert (done.exit_code, "needs a file" in done.output) == (2, True)
    done = motherlode("table", crawl, "Product", "--profile", tmp_path / "missing.json")
    assert (done.exit_code, "cannot be read" in done.output) == (2, True)
