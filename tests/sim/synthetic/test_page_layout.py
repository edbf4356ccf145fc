from __future__ import annotations

import pytest

from motherlode.sim.synthetic.host_profiles import Design
from motherlode.sim.synthetic.page_layout import CONTEXTS, SENTENCE_OF, VARIANTS, LinkPosition, context_of, layout


@pytest.mark.parametrize("design", Design)
def test_layouts_have_a_slot_for_every_position(design: Design) -> None:
    for variant in range(VARIANTS):
        slots = layout(design, variant).slots
        assert set(slots) == set(LinkPosition)
        assert slots[LinkPosition.ITEMS].told and slots[LinkPosition.INLINE].told
        assert all(slot.each.count("%s") == 1 + slot.told for slot in slots.values())


def test_layout_variants_differ() -> None:
    paths = {layout(Design.MODERN, variant).slots[LinkPosition.ITEMS].path for variant in range(VARIANTS)}
    assert len(paths) > 3


def test_sentence_of_context_gives_that_context() -> None:
    assert all(context_of(SENTENCE_OF[context]) == context for context in CONTEXTS)
