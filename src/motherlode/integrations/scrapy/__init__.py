"""Motherlode inside Scrapy: the policy as a scheduler, the extractor as a spider middleware.

In the settings of a project, the add-on sets everything up:

    ADDONS = {"motherlode.integrations.scrapy.MotherlodeAddon": 500}
    MOTHERLODE_TARGET = "type:schema:Product"

`MotherlodeScheduler` hands out the request that the policy picks. `LearningMiddleware` reports the result of each
request to it, and the place of each new link on its page. `StructuredDataMiddleware` yields the things that a page
describes as items; it also works with Scrapy's own scheduler. The extra `scrapy` installs Scrapy.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from motherlode.runtime import lazy_exports

if find_spec("scrapy") is None:
    raise ModuleNotFoundError(
        "motherlode.integrations.scrapy needs Scrapy: pip install 'motherlode[scrapy]'", name="scrapy"
    )

if TYPE_CHECKING:
    from motherlode.integrations.scrapy.addon import MotherlodeAddon
    from motherlode.integrations.scrapy.item_middleware import StructuredDataMiddleware, Thing
    from motherlode.integrations.scrapy.request_scheduler import MotherlodeScheduler
    from motherlode.integrations.scrapy.result_middleware import LearningMiddleware

__all__ = ["LearningMiddleware", "MotherlodeAddon", "MotherlodeScheduler", "StructuredDataMiddleware", "Thing"]

__getattr__ = lazy_exports(
    __name__,
    {
        "addon": ["MotherlodeAddon"],
        "result_middleware": ["LearningMiddleware"],
        "request_scheduler": ["MotherlodeScheduler"],
        "item_middleware": ["StructuredDataMiddleware", "Thing"],
    },
)
