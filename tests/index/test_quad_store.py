"""Tests of the quad store."""

from __future__ import annotations

import gc
import shutil
from itertools import product
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motherlode.index import quad_store as store_module
from motherlode.index.page_record import CLUSTERS, PROVENANCE, VALIDATION, PageRecord, RunRecord
from motherlode.index.quad_store import QuadStore, graph_copy_path, merge, save_missing_copies, store_bytes
from motherlode.index.rdf_patch import changes_path, read_changes
from motherlode.model import Statement, Syntax
from motherlode.transform.bnodes import BlankNames

from .fakes import A, B, Q, everything, graph, record, rows, says, union

ROWS = [says(name, value) for name, value in (("x", "1"), ("y", "2"), ("z", "3"))]


@pytest.fixture
def store(tmp_path: Path) -> QuadStore:
    return QuadStore(tmp_path / "store")


def test_page_written_twice_gives_same_store(store: QuadStore) -> None:
    store.write([record(A, *ROWS), record(B, *ROWS)])
    once = everything(store)
    store.write([record(A, *ROWS)])
    assert everything(store) == once
    store.write([record(A, *ROWS), record(A, *ROWS)])
    assert everything(store) == once


def test_page_written_again_has_only_new_statements(store: QuadStore) -> None:
    store.write([record(A, *ROWS[:2])])
    store.write([record(A, *ROWS[1:])])
    assert graph(store, A) == union(store) == [f"{s} {p} {o}" for s, p, o, _ in ROWS[1:]]


def test_last_record_of_page_in_batch_is_stored(store: QuadStore) -> None:
    store.write([record(A, ROWS[0]), record(A, ROWS[1])])
    assert union(store) == [" ".join(ROWS[1][:3])]


def test_statement_of_other_page_stays_in_union(store: QuadStore) -> None:
    store.write([record(A, ROWS[0], ROWS[1]), record(B, ROWS[1])])
    store.write([record(A)])
    assert graph(store, A) == []
    assert union(store) == [" ".join(ROWS[1][:3])]
    store.write([record(B)])
    assert union(store) == []


def test_named_graphs_are_replaced_with_page(store: QuadStore) -> None:
    inner = says("x", "1", graph="<http://ex.org/g>")
    store.write([record(A, inner, says("x", "1")), record(B, says("y", "2", graph="<http://ex.org/g>"))])
    assert len(graph(store, f"{A}#graph=http://ex.org/g")) == 1
    store.write([record(A, says("z", "3"))])
    assert graph(store, f"{A}#graph=http://ex.org/g") == []
    assert len(graph(store, f"{B}#graph=http://ex.org/g")) == 1
    assert len(union(store)) == 2


def test_provenance_is_replaced_with_page(store: QuadStore) -> None:
    store.write([record(A, at=1.0, status=200)])
    before = graph(store, PROVENANCE)
    store.write([record(A, at=2.0, status=203)])
    after = graph(store, PROVENANCE)
    assert len(before) == len(after)
    assert any('"203"' in row for row in after)
    assert not any('"200"' in row for row in after)
    store.write([PageRecord(url=A, fetched_at=3.0, status=301, redirects_to=B)])
    assert len(graph(store, PROVENANCE)) == 4


def test_page_that_copies_its_provenance_leaves_no_extra_quads(store: QuadStore) -> None:
    claim = (f"<{A}>", "<urn:motherlode:vocabulary:kind>", '"html"', "")
    store.write([record(A, claim)])
    store.write([record(A)])
    assert union(store) == []
    assert any('"html"' in row for row in graph(store, PROVENANCE))


def test_default_graph_is_union_without_provenance_and_duplicates(store: QuadStore) -> None:
    store.write([record(A, *ROWS), record(B, *ROWS), record("http://c.example/", ROWS[0])])
    assert union(store) == sorted(" ".join(row[:3]) for row in ROWS)


@pytest.mark.parametrize("pattern", list(product([True, False], repeat=4)))
def test_match_supports_every_pattern(store: QuadStore, pattern: tuple[bool, ...]) -> None:
    pages = {A: [*ROWS, says("x", "1", predicate=Q)], B: [ROWS[0], says("x", "9")]}
    store.write([record(url, *statements) for url, statements in pages.items()])
    wanted = (*says("x", "1")[:3], f"<{A}>")
    spelled = [term if bound else f"?v{place}" for place, (term, bound) in enumerate(zip(wanted, pattern, strict=True))]
    inside = f"GRAPH {spelled[3]} {{ {spelled[0]} {spelled[1]} {spelled[2]} }}"
    found = len(rows(store, f"SELECT * {{ {inside} FILTER(!STRSTARTS(STR({spelled[3]}), 'urn:')) }}"))
    quads = [(*row[:3], f"<{url}>") for url, statements in pages.items() for row in statements]
    matches = [
        quad for quad in quads if all(a == b for a, b, bound in zip(quad, wanted, pattern, strict=True) if bound)
    ]
    assert found == len(matches)


def test_blank_nodes_keep_labels_when_page_is_written_again(store: QuadStore) -> None:
    def page(url: str) -> PageRecord:
        names = BlankNames(url, Syntax.RDFA)
        first, second = names.fresh(), names.fresh()
        return record(url, (first, "<http://ex.org/p>", second, ""), (second, "<http://ex.org/p>", '"x"', ""))

    store.write([page(A), page(B)])
    once = everything(store)
    store.write([page(A)])
    assert everything(store) == once
    assert len(union(store)) == 4, "blank nodes of two pages are different"


def test_store_is_complete_after_reopening(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.write([record(A, *ROWS)])
    store.flush()
    once = everything(store)
    del store
    gc.collect()
    again = QuadStore(tmp_path / "store")
    assert everything(again) == once
    again.write([record(A, ROWS[0])])
    assert union(again) == [" ".join(ROWS[0][:3])]


def test_reader_can_query_beside_writer(tmp_path: Path) -> None:
    writer = QuadStore(tmp_path / "store")
    writer.write([record(A, *ROWS)])
    writer.flush()
    reader = QuadStore(tmp_path / "store", read_only=True)
    assert union(reader) == union(writer)
    with pytest.raises((OSError, ValueError, RuntimeError)):
        reader.write([record(B, *ROWS)])
    assert len(union(writer)) == 3


def test_open_error_names_path(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file, not a folder")
    with pytest.raises(OSError, match=r"the quad store in .*store cannot be opened"):
        QuadStore(tmp_path / "store")
    with pytest.raises(OSError, match="cannot be opened"):
        QuadStore(tmp_path / "nothing" / "here", read_only=True)


@pytest.mark.parametrize(
    "url", ["http://a.example/?q[0]=1", "http://a.example/100%", "http://[::1]/x", "http://a.example/{x}"]
)
def test_page_with_any_url_can_be_written_again(store: QuadStore, url: str) -> None:
    store.write([record(url, *ROWS)])
    store.write([record(url, ROWS[0])])
    assert union(store) == [" ".join(ROWS[0][:3])]


@pytest.mark.parametrize("many", [1, 5000])
def test_broken_statement_is_skipped(store: QuadStore, many: int) -> None:
    rows = [says(str(number), "fine") for number in range(many)]
    broken: Statement = ("<http://ex.org/broken", "not a term", "at all", "")
    store.write([record(A, rows[0], broken, *rows[1:]), record(B, rows[0])])
    assert len(union(store)) == many
    assert graph(store, B)
    store.write([record(A, rows[0])])
    assert len(union(store)) == 1


def test_bulk_written_pages_are_replaced_like_others(store: QuadStore) -> None:
    rows = [says(str(number), "x") for number in range(6000)]
    store.write([record(A, *rows), record(B, *rows[:10])])
    assert len(union(store)) == 6000
    store.write([record(A, *rows[:5])])
    assert len(union(store)) == 10
    assert len(graph(store, A)) == 5


PAGES = st.lists(
    st.tuples(
        st.sampled_from([A, B, "http://c.example/?x[]=%"]),
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "<http://ex.org/g>", "_:g"])), max_size=4),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pages=PAGES, size=st.integers(1, 4))
def test_store_equals_last_version_of_each_page(
    store: QuadStore, pages: list[tuple[str, list[tuple[int, str]]]], size: int
) -> None:
    store.write([record(url) for url in (A, B, "http://c.example/?x[]=%")])  # as empty as at the start
    last: dict[str, set[Statement]] = {}
    records = []
    for url, said in pages:
        statements = [says(str(number), "v", graph=name) for number, name in said]
        records.append(record(url, *statements))
        last[url] = set(statements)
    for start in range(0, len(records), size):
        store.write(records[start : start + size])
    expected = {" ".join(row[:3]) for rows in last.values() for row in rows}
    assert union(store) == sorted(expected)
    in_graphs = [quad for quad in store.quads() if str(quad.graph_name) != f"<{PROVENANCE}>"]
    assert len(in_graphs) == sum(len(rows) for rows in last.values())


def matching(quads: list[tuple[str, ...]], pattern: tuple[str | None, ...]) -> set[tuple[str, ...]]:
    return {quad for quad in quads if all(b is None or a == b for a, b in zip(quad, pattern, strict=True))}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pages=st.dictionaries(
        st.sampled_from([A, B]),
        st.lists(
            st.tuples(
                st.sampled_from(["<http://ex.org/a>", "_:b", "<http://ex.org/c>"]),
                st.sampled_from(["<http://ex.org/p>", "<http://ex.org/q>"]),
                st.sampled_from(["<http://ex.org/a>", "_:b", '"x"', '"x"@en']),
                st.sampled_from(["", "<http://ex.org/g>"]),
            )
        ),
        min_size=2,
    )
)
def test_match_equals_scan_for_all_sixteen_patterns(store: QuadStore, pages: dict[str, list[Statement]]) -> None:
    store.write([record(url, *statements) for url, statements in pages.items()])
    scan = [tuple(map(str, (q.subject, q.predicate, q.object, q.graph_name))) for q in store.quads()]
    assert len(scan) == len(set(scan))
    wanted = ("<http://ex.org/a>", "<http://ex.org/p>", '"x"', f"<{A}>")
    for bound in product([True, False], repeat=4):
        pattern = tuple(term if is_bound else None for term, is_bound in zip(wanted, bound, strict=True))
        found = [tuple(map(str, (q.subject, q.predicate, q.object, q.graph_name))) for q in store.match(*pattern)]
        assert len(found) == len(set(found))
        assert set(found) == matching(scan, pattern), pattern


def test_match_with_impossible_term_is_empty(store: QuadStore) -> None:
    store.write([record(A, *ROWS)])
    assert list(store.match(subject='"a literal"')) == []
    assert list(store.match(predicate="_:blank")) == []
    assert list(store.match(graph='"a literal"')) == []
    with pytest.raises(ValueError, match="not an N-Triples term"):
        list(store.match(subject="not a term"))


def test_run_is_linked_to_its_pages(store: QuadStore) -> None:
    store.begin(RunRecord(identifier="one", started_at=1.0, version="1.2", target="any", policy="bfs"))
    store.write([record(A, *ROWS)])
    store.begin(RunRecord(identifier="two", started_at=5.0, version="1.3"))
    store.write([record(B, *ROWS)])
    store.finish(9.0)
    query = """SELECT ?page ?version { GRAPH <urn:motherlode:provenance> {
        ?page a ml:Page ; prov:wasGeneratedBy ?run . ?run a prov:Activity ; ml:version ?version } }"""
    assert {(row["page"].value, row["version"].value) for row in rows(store, query)} == {(A, "1.2"), (B, "1.3")}
    ended = rows(store, "SELECT ?run { GRAPH <urn:motherlode:provenance> { ?run prov:endedAtTime ?when } }")
    assert [row["run"].value for row in ended] == ["urn:motherlode:run:two"]
    store.write([record(A, *ROWS)])
    again = rows(store, f"SELECT ?run {{ GRAPH <{PROVENANCE}> {{ <{A}> prov:wasGeneratedBy ?run }} }}")
    assert [row["run"].value for row in again] == ["urn:motherlode:run:two"]


def test_small_batches_are_flushed_from_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MAX_MEMORY_QUADS", 100)
    store = QuadStore(tmp_path / "store")
    store.write([record(A, *ROWS)])
    files = set((tmp_path / "store").glob("*.sst"))
    for number in range(20):
        store.write([record(f"{A}{number}", *ROWS)])
    assert set((tmp_path / "store").glob("*.sst")) - files, "flushed to files"


def test_merge_joins_stores(tmp_path: Path) -> None:
    for name in ("1", "2", "all"):
        (tmp_path / name).mkdir()
    one, two = QuadStore(tmp_path / "1" / "store"), QuadStore(tmp_path / "2" / "store")
    one.write([record(A, *ROWS)])
    one.write([record(A, ROWS[0])])
    two.write([record(B, *ROWS, ("_:b", Q, "_:b", ""))])
    for shard in (one, two):
        shard.flush()
    merge([tmp_path / "1" / "store", tmp_path / "2" / "store"], tmp_path / "all" / "store")
    whole = QuadStore(tmp_path / "all" / "store", read_only=True)
    assert {str(quad) for quad in whole.quads()} == {str(quad) for shard in (one, two) for quad in shard.quads()}
    assert union(whole) == sorted({*union(one), *union(two)})
    assert len(list(read_changes(changes_path(tmp_path / "all" / "store")))) == 1
    whole.close()


def test_store_bytes_counts_disk_use(tmp_path: Path) -> None:
    assert store_bytes(tmp_path / "store") == 0
    store = QuadStore(tmp_path / "store")
    store.write([record(A, *(says(str(number), "x" * 100) for number in range(5000)))])
    store.flush()
    assert store_bytes(tmp_path / "store") > 100_000


def test_failed_request_in_the_same_batch_does_not_replace_the_page(store: QuadStore) -> None:
    failed = PageRecord(url=A, fetched_at=2.0, status=None, state="failed", reason="timeout")
    store.write([failed, record(A, ROWS[0]), failed])
    assert store.has(A)
    assert union(store) == [" ".join(ROWS[0][:3])]


REPORT = ox.Quad(ox.BlankNode("r"), ox.NamedNode("http://ex.org/p"), ox.Literal("é\n"), ox.NamedNode(VALIDATION))


def save_report(store: QuadStore) -> None:
    store.update_graph(VALIDATION, added=[REPORT])
    store.save_graph(VALIDATION)


def test_saved_graph_is_loaded_into_new_store_with_the_same_blank_nodes(tmp_path: Path) -> None:
    save_report(QuadStore(tmp_path / "store"))
    shutil.rmtree(tmp_path / "store")
    store = QuadStore(tmp_path / "store")
    store.load_derived_graphs()
    assert list(store.quads()) == [REPORT]
    assert union(store) == []


def test_damaged_copy_of_a_graph_is_reported_and_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    save_report(QuadStore(tmp_path / "store"))
    copy = graph_copy_path(tmp_path / "store", VALIDATION)
    copy.write_bytes(copy.read_bytes()[:-9])
    store = QuadStore(tmp_path / "other")
    store.load_derived_graphs(tmp_path / "store")
    assert list(store.quads()) == []
    assert str(copy) in caplog.text


def test_missing_copies_are_saved_and_others_are_kept(tmp_path: Path) -> None:
    store = QuadStore(tmp_path / "store")
    store.update_graph(VALIDATION, added=[REPORT])
    store.flush()
    copy = graph_copy_path(tmp_path / "store", VALIDATION)
    save_missing_copies(tmp_path / "store")
    saved = copy.read_bytes()
    store.clear_graph(VALIDATION)
    store.flush()
    save_missing_copies(tmp_path / "store")
    assert copy.read_bytes() == saved
    assert not graph_copy_path(tmp_path / "store", CLUSTERS).exists(), "the store has no such graph"
