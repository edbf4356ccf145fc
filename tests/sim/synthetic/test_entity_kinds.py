from __future__ import annotations

import pytest

from motherlode.sim.synthetic.entity_kinds import (
    KINDS,
    PARAGRAPHS,
    POOLS,
    SENTENCES,
    TOPICS,
    EntityField,
    EntityKind,
    EntityKindFacts,
    Titles,
    date,
)
from motherlode.sim.synthetic.random_draws import mix


def test_kinds_table_covers_every_kind() -> None:
    assert set(KINDS) == set(EntityKind)


def test_kinds_have_distinct_paths() -> None:
    paths = [path for facts in KINDS.values() for path in facts.paths]
    assert len(paths) == len(set(paths))


def test_kinds_have_at_most_one_property_of_varying_length() -> None:
    several = tuple(EntityField(name=name, pool="topics", least=1, most=2) for name in ("one", "two"))
    with pytest.raises(ValueError, match="more than one"):
        EntityKindFacts(type="T", titles=KINDS[EntityKind.BOOK].titles, paths=(), stems=(), fields=several)


def test_repeated_property_has_enough_distinct_values() -> None:
    for facts in KINDS.values():
        if facts.repeated is not None:
            assert facts.repeated.most <= len(set(POOLS[facts.repeated.pool]))


def test_word_lists_have_many_plain_sentences() -> None:
    assert len(set(SENTENCES)) == 256
    assert all(text.isascii() for text in (*SENTENCES, *PARAGRAPHS))


def test_title_and_slug_have_the_same_words() -> None:
    for facts in KINDS.values():
        for number in range(50):
            bits = mix(1, number)
            title, slug = facts.titles.both(bits)
            assert (title, slug) == (facts.titles.title(bits), facts.titles.slug(bits))
            assert title.lower().replace(" ", "-") == slug


def test_filter_words_are_valid_in_urls() -> None:
    assert all(word.isalpha() and word.islower() for word in TOPICS)


def test_dates_are_valid() -> None:
    for number in range(200):
        year, month, day = map(int, date(mix(2, number)).split("-"))
        assert 2015 <= year <= 2026 and 1 <= month <= 12 and 1 <= day <= 28


def test_titles_on_examples_gives_expected_values() -> None:
    titles = Titles(first=["Red"], second=["Hat"], third=["for Men"])
    assert (titles.title(7), titles.slug(7)) == ("Red Hat for Men", "red-hat-for-men")


def test_date_on_examples_gives_expected_values() -> None:
    assert date(0) == "2015-01-01"
