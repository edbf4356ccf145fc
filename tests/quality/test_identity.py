"""Identity: clusters on a web with known truth, hubs, conflicts and evidence."""

import random
import tracemalloc
from pathlib import Path

import pytest

from motherlode.quality.identifiers import Identifier, IdentifierKind
from motherlode.quality.identity import IdentityIndex, ThingDescription
from tests.quality.synthetic_things import Web, as_pairs, make_web

GTIN = Identifier(IdentifierKind.GTIN, "04006381333931")


def cluster(things: list[ThingDescription]) -> IdentityIndex:
    index = IdentityIndex()
    for thing in things:
        index.add(thing)
    return index


def measure(web: Web) -> tuple[float, float]:
    """Return pairwise precision and recall."""
    numbers = {}
    for number, found in enumerate(cluster(web.things).clusters()):
        numbers |= dict.fromkeys(found.members, number)
    joined, true = as_pairs(numbers), web.pairs()
    return len(joined & true) / len(joined), len(joined & true) / len(true)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_a_web_with_known_truth_are_precise_and_complete(seed: int) -> None:
    precision, recall = measure(make_web(seed=seed))
    assert precision >= 0.99
    assert recall >= 0.95


@pytest.mark.parametrize(
    "shared",
    [
        Identifier(IdentifierKind.PHONE, "+493012345678"),
        Identifier(IdentifierKind.GTIN, "00000000000000"),
        Identifier(IdentifierKind.SAME_AS, "shop.example"),
    ],
)
def test_identifier_of_a_thousand_different_things_joins_nothing(shared: Identifier) -> None:
    draw = random.Random(1)
    words = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ako", "eli", "iru", "onda", "ussa")]
    things = [
        ThingDescription(id=f"_:{number}", names=(" ".join(draw.sample(words, 3)),), identifiers=(shared,))
        for number in range(1000)
    ]
    assert list(cluster(things).clusters()) == []


def test_one_gtin_with_agreeing_names_on_a_thousand_hosts_is_one_cluster() -> None:
    things = [
        ThingDescription(
            id=f"http://h{number}.example/p",
            names=(f"Acme steel lamp 300 {'new ' * (number % 2)}",),
            identifiers=(GTIN,),
        )
        for number in range(1000)
    ]
    [found] = cluster(things).clusters()
    assert len(found.members) == 1000
    assert len(found.evidence) == 999


def test_same_as_of_a_page_joins_the_thing_with_that_iri() -> None:
    link = Identifier(IdentifierKind.SAME_AS, "b.example/p")
    one = ThingDescription(id="http://a.example/p", names=("Oak table",), identifiers=(link,))
    other = ThingDescription(id="http://b.example/p", names=("Oak table large",))
    [found] = cluster([one, other]).clusters()
    assert found.members == ("http://a.example/p", "http://b.example/p")
    assert found.evidence[0].identifier == link


def test_weak_identifier_does_not_join_things_with_different_gtins() -> None:
    link = Identifier(IdentifierKind.SAME_AS, "maker.example/lamp")
    other = Identifier(IdentifierKind.GTIN, "00012345678905")
    things = [
        ThingDescription(id="_:1", names=("Acme lamp",), identifiers=(GTIN, link)),
        ThingDescription(id="_:2", names=("Acme lamp",), identifiers=(other, link)),
    ]
    assert list(cluster(things).clusters()) == []


def test_clusters_follow_changes_and_do_not_depend_on_the_order() -> None:
    web = make_web(things=60, seed=9)
    index = cluster(web.things)
    first = list(index.clusters())
    gone = first[0].members[0]
    index.remove(gone)
    assert all(gone not in found.members for found in index.clusters())
    index.add(next(thing for thing in web.things if thing.id == gone))
    again = list(index.clusters())
    shuffled = cluster(random.Random(3).sample(web.things, len(web.things))).clusters()
    assert [found.members for found in again] == [found.members for found in first]
    assert [found.members for found in shuffled] == [found.members for found in first]


def test_things_of_different_classes_are_not_joined_by_their_page() -> None:
    page = Identifier(IdentifierKind.URL, "shop.example/lamp")
    types = ("http://schema.org/Product", "https://schema.org/Car", "http://schema.org/WebPage")
    things = [
        ThingDescription(id=f"_:{number}", names=("Acme lamp",), identifiers=(page,), types=(type_,))
        for number, type_ in enumerate(types)
    ]
    [found] = cluster(things).clusters()
    assert found.members == ("_:0", "_:1")


def test_things_that_differ_in_the_fragment_of_their_iris_are_not_joined() -> None:
    things = [ThingDescription(id=f"http://a.example/data#{name}", names=("Set of data",)) for name in ("one", "two")]
    assert list(cluster(things).clusters()) == []


def test_index_in_a_file_goes_on_after_it_was_closed(tmp_path: Path) -> None:
    web = make_web(things=40, seed=5)
    index = IdentityIndex(tmp_path / "identity.db")
    for thing in web.things[:-20]:
        index.add(thing, mark=b"1")
    assert list(index.clusters())
    index.save()
    index.close()
    index = IdentityIndex(tmp_path / "identity.db")
    assert index.is_current(web.things[0].id, b"1")
    assert not index.is_current(web.things[0].id, b"2")
    assert not index.add(web.things[0], mark=b"2")
    assert [index.add(thing) for thing in web.things[-20:]] == [True] * 20
    whole = cluster(web.things)
    assert list(index.clusters()) == list(whole.clusters())
    assert set(index.ids()) == set(whole.ids())


def test_memory_does_not_grow_with_the_number_of_things(tmp_path: Path) -> None:
    def measure_peak(things: int) -> int:
        index = IdentityIndex(tmp_path / f"{things}.db")
        tracemalloc.start()
        for number in range(things):
            index.add(ThingDescription(id=f"_:{number}", names=(f"thing {number}",), identifiers=(GTIN,)))
        assert list(index.clusters()) == []
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    measure_peak(100)
    assert measure_peak(3000) < measure_peak(300) + 1_500_000
