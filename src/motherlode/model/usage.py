"""Preferences of sites about the use of their pages: AI training, AI input, search, text and data mining."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

import msgspec


class Usage(Enum):
    """A use of a page that a site may reserve or permit."""

    TRAIN_AI = "train-ai"
    """Training of generative AI models: `train-ai` of AIPREF, `ai-train` of Content Signals, `noai`."""
    TRAIN_AI_IMAGES = "train-ai-images"
    """Training of generative AI models with the images of the page alone: `noimageai`."""
    AI_USE = "ai-use"
    """Input of AI models, for example in answers: `ai-use` of AIPREF, `ai-input` of Content Signals."""
    SEARCH = "search"
    """Search engines that refer to the page."""
    TDM = "tdm"
    """Text and data mining: `tdm-reservation` of TDMRep."""


USES = tuple(usage.value for usage in Usage)
ALIASES = {"ai-train": Usage.TRAIN_AI.value, "ai-input": Usage.AI_USE.value}
"""Names of uses in Content Signals → names of the same uses here."""


class UsagePreferences(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Which uses of a page a site permits or reserves, by one source (header, HTML, file), or by several combined."""

    uses: dict[str, bool] = {}
    """The value of a `Usage` → True if it is permitted, False if it is reserved. Others are missing."""
    tdm_policy: str = ""
    """URL of a document about licences for text and data mining, if that is reserved."""

    @property
    def reserved(self) -> list[str]:
        return sorted(use for use, is_permitted in self.uses.items() if not is_permitted)

    @property
    def permitted(self) -> list[str]:
        return sorted(use for use, is_permitted in self.uses.items() if is_permitted)

    def reserves(self, uses: Collection[str]) -> str:
        """Return the first of the uses that is reserved, or ""."""
        return next((use for use in uses if self.uses.get(use) is False), "") if self.uses else ""


NO_PREFERENCES = UsagePreferences()


def combine_preferences(sources: Iterable[UsagePreferences]) -> UsagePreferences:
    """Return the preferences of several sources: a use is reserved if one source reserves it.

    For text and data mining the last source with a statement decides, as TDMRep demands (file, then header, then HTML).

    >>> file = UsagePreferences({"search": True, "tdm": False})
    >>> combine_preferences([file, UsagePreferences({"search": False, "tdm": True})]).uses
    {'search': False, 'tdm': True}
    """
    stated = [source for source in sources if source.uses]
    if len(stated) < 2:
        return stated[0] if stated else NO_PREFERENCES
    uses: dict[str, bool] = {}
    policy = ""
    for source in stated:
        for use, is_permitted in source.uses.items():
            uses[use] = is_permitted and (use == Usage.TDM.value or uses.get(use, True))
        if Usage.TDM.value in source.uses:
            policy = source.tdm_policy
    return UsagePreferences(uses, policy)
