"""What was learned adds up, and what pages led to long ago is forgotten by and by."""

from __future__ import annotations

import msgspec
import pytest

from motherlode.policy.motherlode.evidence import ArmRecord, Evidence


def test_recent_pages_count_more() -> None:
    record = ArmRecord()
    for links in (100, 0, 0, 0, 0, 0, 0, 0):
        record.count(reward=0.0, keep=0.5)
        record.note({"item": links})
    assert record.links_a_page(cautious=0.0)["item"] < 1.0
    assert record.tries == 8


def test_without_forgetting_it_is_the_mean() -> None:
    record = ArmRecord()
    for links in (4, 0, 2):
        record.count(reward=1.0, keep=1.0)
        record.note({"item": links})
    assert record.links_a_page(cautious=0.0) == {"item": 2.0}
    assert record.links_a_page(cautious=1.0) == {"item": 1.5}
    assert record.finds == 3


def test_a_long_crawl_does_not_overflow() -> None:
    record = ArmRecord()
    for _ in range(20_000):
        record.count(reward=1.0, keep=0.8)
        record.note({"item": 3})
    assert record.links_a_page(cautious=0.0)["item"] == pytest.approx(3.0)
    assert record.chance(1.0, tries=1.0) == pytest.approx(1.0)


def test_an_arm_that_has_dried_up_is_soon_known_as_such() -> None:
    record = ArmRecord()
    for reward in (1.0,) * 200 + (0.0,) * 20:
        record.count(reward=reward, keep=0.9)
    assert record.chance(0.5, tries=1.0) < 0.2
    assert record.finds == 200


def test_records_with_other_scales_add_up() -> None:
    old, young = ArmRecord(), ArmRecord()
    for record, pages in ((old, 50), (young, 1)):
        for _ in range(pages):
            record.count(reward=0.5, keep=0.9)
            record.note({"item": 2})
    old.add(young)
    assert old.tries == 51
    assert old.chance(0.5, tries=1.0) == pytest.approx(0.5)
    assert old.links_a_page(cautious=0.0)["item"] == pytest.approx(2.0)


def test_an_untried_record_expects_nothing() -> None:
    assert ArmRecord().links_a_page(cautious=0.0) == {}


def test_few_arms_are_remembered() -> None:
    record = ArmRecord()
    record.count(reward=0.0, keep=1.0)
    record.note({f"arm {number}": number for number in range(1000)})
    assert len(record.led_to) < 50
    assert "arm 999" in record.led_to


def test_evidence_survives_the_way_to_disk() -> None:
    evidence = Evidence()
    evidence.arm("x").count(reward=1.0, keep=0.9)
    evidence.family("f").note({"y": 2})
    evidence.sums("bias")[0] = 0.5
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(evidence), type=Evidence)
    assert again == evidence
