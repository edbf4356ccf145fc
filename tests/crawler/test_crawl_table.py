"""Tables of a real crawl: columns, types, parts, selections, and rows of joined descriptions."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas
import polars
import pytest

import motherlode as ml
from motherlode.crawler.crawl_table import TableError, open_table
from motherlode.crawler.folder import CrawlFolder
from tests.docs.shop import serve_pages

GTIN = "4006381333931"


def product(name: str, price: str, **more: object) -> str:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    data = {"@context": "https://schema.org/", "@type": "Product", "name": name, "offers": offer, **more}
    return f'<title>{name}</title><script type="application/ld+json">{json.dumps(data)}</script>'


PAGES = {
    "/": "".join(f'<a href="/{path}">{path}</a>' for path in ("1", "2", "3", "car", "place")),
    "/1": product("Lemon cake", "12.50", gtin13=GTIN, sku="007", releaseDate="2026-01-02", color=["red", "blue"]),
    "/2": product("Lemon Cake fresh", "11", gtin13=GTIN, sku="008", releaseDate="2026-02-03"),
    "/3": product("Oak table", "240.00", sku="009", releaseDate="2026-03-04"),
    "/car": "<title>Car</title><div itemscope itemtype='http://schema.org/Car'><b itemprop=name>Old car</b></div>",
    "/place": '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Place", "name": "Mill",'
    '"geo": {"@type": "GeoCoordinates", "latitude": 52.5, "longitude": 13.4}}</script>',
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CrawlFolder]:
    folder = tmp_path_factory.mktemp("crawl") / "out"
    with serve_pages(PAGES) as address:
        ml.crawl([address + "/"], output=folder, allow=["127.0.0.0/8"], delay=0.0).run()
    yield CrawlFolder(folder)


def rows(crawl: CrawlFolder, type_: str, **options: object) -> list[dict[str, object]]:
    with open_table(crawl, type_, **options) as table:  # type: ignore[arg-type]
        return sorted(table.rows(), key=lambda row: str(row["name"]))


def test_table_has_typed_columns_of_things_and_their_parts(crawl: CrawlFolder) -> None:
    with open_table(crawl, "schema:Product") as table:
        kinds = {column.name: column.kind for column in table.columns}
    assert (kinds["offers.price"], kinds["sku"], kinds["releaseDate"], kinds["color"]) == (
        *("number", "string", "date", "list of string"),
    )
    found = rows(crawl, "schema:Product")
    assert [(row["name"], row["offers.price"], row["offers.availability"]) for row in found] == [
        ("Lemon Cake fresh", 11.0, "InStock"),
        ("Lemon cake", 12.5, "InStock"),
        ("Oak table", 240.0, "InStock"),
        ("Old car", None, None),
    ]
    assert found[0]["source_syntaxes"] == ["jsonld"]
    assert str(found[0]["source_page"]).endswith("/2")


def test_subclass_is_included_and_type_can_be_written_in_three_ways(crawl: CrawlFolder) -> None:
    for name in ("Vehicle", "schema:Car", "https://schema.org/Car"):
        assert [row["name"] for row in rows(crawl, name)] == ["Old car"]


def test_where_selects_things(crawl: CrawlFolder) -> None:
    where = '?thing schema:name ?name FILTER STRSTARTS(?name, "Oak")'
    assert [row["name"] for row in rows(crawl, "Product", where=where)] == ["Oak table"]
    with pytest.raises(TableError, match=r"needs the variable [?]thing"):
        rows(crawl, "Product", where="?s schema:name ?name")
    with pytest.raises(TableError, match="not a SPARQL pattern"):
        rows(crawl, "Product", where="?thing schema:name")


def test_distinct_joins_descriptions_with_one_gtin_and_keeps_conflicts(crawl: CrawlFolder) -> None:
    found = rows(crawl, "Product", distinct=True)
    assert [(row["sources"], len(row["source_things"])) for row in found] == [(2, 2), (1, 1), (1, 1)]  # type: ignore[arg-type]
    assert sorted(found[0]["conflicts"]["offers.price"]) == [11.0, 12.5]  # type: ignore[index]


def test_parts_of_the_same_type_are_flattened_by_one_step(tmp_path: Path) -> None:
    def concept(name: str, broader: str) -> str:
        links = f'<div property="skos:broader" resource="#{broader}"></div>' if broader else ""
        return f'<div about="#{name}" typeof="skos:Concept"><b property="skos:notation">{name}</b>{links}</div>'

    html = "".join(concept(name, broader) for name, broader in (("C1", "B1"), ("B1", "A1"), ("A1", "")))
    with serve_pages({"/": f"<title>x</title>{html}"}) as address:
        ml.crawl([address + "/"], output=tmp_path / "out", allow=["127.0.0.0/8"], delay=0.0).run()
    with open_table(CrawlFolder(tmp_path / "out"), "skos:Concept") as table:
        names = {column.name for column in table.columns}
        values = {str(row["skos:notation"]): row["skos:broader.skos:notation"] for row in table.rows()}
    assert values == {"A1": None, "B1": "A1", "C1": "B1"}
    assert not any(name.startswith("skos:broader.skos:broader.") for name in names)


def test_parquet_is_read_by_duckdb_polars_and_pandas_with_its_types(crawl: CrawlFolder, tmp_path: Path) -> None:
    path = tmp_path / "products.parquet"
    with open_table(crawl, "Product") as table:
        assert table.write(path, form="parquet") == 4
    [(total, kind)] = duckdb.sql(
        f"""SELECT sum("offers.price"), typeof(any_value("releaseDate")) FROM '{path}'"""
    ).fetchall()
    assert (total, kind) == (263.5, "DATE")
    assert polars.read_parquet(path).schema["offers.price"] == polars.Float64
    assert pandas.read_parquet(path)["source_pages"].sum() == 4


def test_table_with_coordinates_is_geoparquet(crawl: CrawlFolder, tmp_path: Path) -> None:
    path = tmp_path / "places.parquet"
    with open_table(crawl, "Place") as table:
        table.write(path, form="parquet")
    [(point,)] = duckdb.sql(f"SELECT geometry FROM '{path}'").fetchall()
    assert bytes(point).hex() == "0101000000cdcccccccccc2a400000000000404a40"


def test_sqlite_has_a_table_of_things(crawl: CrawlFolder, tmp_path: Path) -> None:
    with open_table(crawl, "Product") as table:
        table.write(tmp_path / "t.db", form="sqlite")
    connection = sqlite3.connect(tmp_path / "t.db")
    assert connection.execute('SELECT name FROM things WHERE "offers.price" > 100').fetchall() == [("Oak table",)]
    connection.close()


def test_result_table_has_the_same_rows(crawl: CrawlFolder) -> None:
    table = ml.open(crawl.path).table("schema:Product")
    assert len(table) == 4
    assert table.to_pandas()["offers.price"].sum() == 263.5
