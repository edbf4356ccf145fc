"""Options of the links phase."""

from __future__ import annotations

import pickle

from motherlode.links.href import LinkOptions
from motherlode.model import ContentKind


def test_link_options_allow_more_links_for_sitemaps() -> None:
    options = LinkOptions()
    assert options.max_links(ContentKind.SITEMAP) > options.max_links(ContentKind.HTML)


def test_link_options_can_be_pickled() -> None:
    options = LinkOptions(kept_extensions=frozenset({"png"}))
    assert pickle.loads(pickle.dumps(options)) == options
