"""Options of the extract phase."""

from __future__ import annotations

import pickle

from motherlode.links import LinkOptions
from motherlode.model import ContentKind


def test_sitemaps_may_have_more_links() -> None:
    options = LinkOptions()
    assert options.most_links(ContentKind.SITEMAP) > options.most_links(ContentKind.HTML)


def test_they_travel_to_other_processes() -> None:
    options = LinkOptions(predicates=frozenset({"http://schema.org/url"}))
    assert pickle.loads(pickle.dumps(options)) == options
