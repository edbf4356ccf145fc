"""The Scrapy add-on that enables scheduler and middlewares, and the settings that they read."""

from __future__ import annotations

from dataclasses import dataclass

from scrapy.settings import BaseSettings

from motherlode.policies.priority_queue import default_wait_threshold

_PACKAGE = "motherlode.integrations.scrapy"
SCHEDULER = f"{_PACKAGE}.MotherlodeScheduler"
LEARNING = f"{_PACKAGE}.LearningMiddleware"
LEARNING_ORDER = 10
"""Order number of `LearningMiddleware`: before Scrapy's HttpErrorMiddleware (50), so that responses with an error
status are reported as well."""
STRUCTURED_DATA_ORDER = 900
_SAVE_SECONDS = 0.25
ITEMS_TARGET = "items"
"""A target for Scrapy only: pages for which the spider yields an item are relevant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MotherlodeSettings:
    """The settings of a Scrapy project that concern Motherlode."""

    policy: str
    """MOTHERLODE_POLICY: the name of a policy, `motherlode` by default."""
    target: str
    """MOTHERLODE_TARGET: a target as in a job, or `items`; `any` by default."""
    reward: str
    """MOTHERLODE_REWARD: a reward as in a job; `target` by default."""
    seed: int
    """MOTHERLODE_SEED: the seed of a policy that draws random numbers; 0 by default."""
    wait_threshold: float
    """MOTHERLODE_WAIT_THRESHOLD: wait for a busy host if the best ready link has less than this share of its value."""

    save_seconds: float
    """MOTHERLODE_SAVE_SECONDS: with JOBDIR, seconds between saves; after a kill, the work of this time is repeated."""

    @classmethod
    def read(cls, settings: BaseSettings) -> MotherlodeSettings:
        wait_threshold = settings.get("MOTHERLODE_WAIT_THRESHOLD")
        if wait_threshold is None:
            wait_threshold = default_wait_threshold(settings.getfloat("DOWNLOAD_DELAY"))
        return cls(
            policy=settings.get("MOTHERLODE_POLICY", "motherlode"),
            target=settings.get("MOTHERLODE_TARGET", "any"),
            reward=settings.get("MOTHERLODE_REWARD", "target"),
            seed=settings.getint("MOTHERLODE_SEED", 0),
            wait_threshold=float(wait_threshold),
            save_seconds=settings.getfloat("MOTHERLODE_SAVE_SECONDS", _SAVE_SECONDS),
        )

    @property
    def page_target(self) -> str:
        """The target that is evaluated on the statements of a page."""
        return "any" if self.target == ITEMS_TARGET else self.target


class MotherlodeAddon:
    """Enables `MotherlodeScheduler` and `LearningMiddleware`, and with MOTHERLODE_ITEMS `StructuredDataMiddleware`."""

    def update_settings(self, settings: BaseSettings) -> None:
        from motherlode.integrations.scrapy.item_middleware import StructuredDataMiddleware
        from motherlode.integrations.scrapy.result_middleware import LearningMiddleware

        settings.set("SCHEDULER", SCHEDULER, "addon")
        enable = settings.setdefault_in_component_priority_dict
        enable("SPIDER_MIDDLEWARES", LearningMiddleware, LEARNING_ORDER)
        if settings.getbool("MOTHERLODE_ITEMS"):
            enable("SPIDER_MIDDLEWARES", StructuredDataMiddleware, STRUCTURED_DATA_ORDER)
