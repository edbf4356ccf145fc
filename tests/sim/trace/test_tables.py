"""The files of a trace: chunks, links by column, and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from motherlode.model import Link, LinkSource
from motherlode.sim.trace.tables import (
    LINK_COLUMNS,
    DamagedTableError,
    LinkChunkBuilder,
    LinkTable,
    TableWriter,
    read_chunks,
    read_links,
)


def links(first: int, count: int) -> list[Link]:
    return [
        Link(
            url=f"https://a.example/{number}",
            source=LinkSource.ANCHOR if number % 2 else LinkSource.TRIPLE,
            anchor="näch­ste" if number % 3 else "",
            properties=("http://a.example/p", "http://a.example/q"),
            sibling_groups=(number, 7),
            nofollow=number % 5 == 0,
        )
        for number in range(first, first + count)
    ]


def write_links(path: Path, *chunks: list[list[Link]]) -> LinkTable:
    writer, builder = TableWriter(path), LinkChunkBuilder()
    for pages in chunks:
        for page in pages:
            builder.add(page)
        writer.write(builder.finish())
    writer.finish()
    return read_links(path)


def texts(table: LinkTable, name: str) -> list[str]:
    return [table.texts[name][number] for number in table.numbers[name]]


@pytest.mark.parametrize("count", [0, 1, 200, 300, 70_000])
def test_links_of_several_chunks_are_read_back(tmp_path: Path, count: int) -> None:
    first, second = links(0, count), links(count // 2, 50)
    table = write_links(tmp_path / "links.zst", [first, []], [second])
    expected = first + second
    assert table.links_per_page.tolist() == [count, 0, 50]
    assert table.nofollow.tolist() == [link.nofollow for link in expected]
    assert texts(table, "url") == [link.url for link in expected]
    assert texts(table, "source") == [link.source.value for link in expected]
    assert texts(table, "sibling_groups") == [" ".join(map(str, link.sibling_groups)) for link in expected]
    assert len(set(table.texts["url"])) == len(table.texts["url"])


def test_link_columns_are_the_fields_of_a_link() -> None:
    """A flag of its own stores `nofollow`."""
    assert {*LINK_COLUMNS, "nofollow"} == set(Link.__struct_fields__)


def test_times_of_links_are_read_back_exactly(tmp_path: Path) -> None:
    times = [None, 1_700_000_000.25, 0.0, -1.5, None]
    found = [Link(url=f"http://a.example/{n}", source=LinkSource.SITEMAP, modified=at) for n, at in enumerate(times)]
    table = write_links(tmp_path / "links.zst", [found])
    assert [float(text) if text else None for text in texts(table, "modified")] == times


def test_table_without_the_newest_column_is_read(tmp_path: Path) -> None:
    """As version 5 wrote it. A later chunk of the same file may have the column."""
    path = tmp_path / "links.zst"
    writer, builder = TableWriter(path), LinkChunkBuilder()
    builder.add(links(0, 3))
    old = builder.finish()
    del old.columns["modified"]
    writer.write(old)
    builder.add([Link(url="http://a.example/", source=LinkSource.SITEMAP, modified=5.0)])
    writer.write(builder.finish())
    writer.finish()
    table = read_links(path)
    assert texts(table, "modified") == ["", "", "", "5.0"]
    assert len(texts(table, "url")) == 4


def test_table_without_chunks_is_empty(tmp_path: Path) -> None:
    table = write_links(tmp_path / "links.zst")
    assert table.links_per_page.tolist() == table.nofollow.tolist() == texts(table, "url") == []


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "table.zst"
    writer = TableWriter(path)
    writer.write(["some", "rows"])
    writer.finish()
    whole = path.read_bytes()
    assert list(read_chunks(path, list[str])) == [["some", "rows"]]
    for offset in range(4, len(whole) - 4):
        path.write_bytes(whole[:offset] + bytes((whole[offset] ^ 0x55,)) + whole[offset + 1 :])
        with pytest.raises(DamagedTableError):
            list(read_chunks(path, list[str]))


def test_rows_of_another_type_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "table.zst"
    writer = TableWriter(path)
    writer.write(["text"])
    writer.finish()
    with pytest.raises(DamagedTableError, match="damaged"):
        list(read_chunks(path, list[int]))
