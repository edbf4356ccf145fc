from __future__ import annotations

from motherlode.sim.synthetic.entity_kinds import KINDS
from motherlode.sim.synthetic.random_draws import mix
from motherlode.sim.synthetic.word_lists import PARAGRAPHS, SENTENCES, TOPICS, date


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
