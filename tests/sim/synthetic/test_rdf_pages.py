from __future__ import annotations

from motherlode.model import ContentKind, LinkSource
from motherlode.sim.synthetic import HABITS, Role, SyntheticWeb
from motherlode.sim.synthetic.entities import FOAF, RDFS, WRITERS


def _data(web: SyntheticWeb, habit: str) -> list[str]:
    host = web.hosts()[[one.name for one in HABITS].index(habit)]
    return [url for url in web.urls(host) if web.facts(url).role is Role.DATA]


def test_foaf_documents_link_across_hosts() -> None:
    web = SyntheticWeb(pages=60_000, seed=1)
    models = [web.facts(url) for url in _data(web, "friends")]
    friends = [link for model in models for link in model.links if link.predicate == RDFS + "seeAlso"]
    assert friends and all(web.facts(link.url).kind is ContentKind.RDF_XML for link in friends)
    assert len({link.url.split("/")[2] for link in friends}) > 1
    homepages = [link.url for model in models for link in model.links if link.predicate == FOAF + "homepage"]
    assert len(homepages) == len(models)
    assert all(web.facts(url).role is Role.ITEM for url in homepages)


def test_linked_data_exists_in_every_syntax_with_valid_links(web: SyntheticWeb) -> None:
    models = [web.facts(url) for url in _data(web, "linked data")]
    assert {model.kind for model in models} == set(WRITERS)
    for model in models:
        assert all(link.source is LinkSource.TRIPLE for link in model.links)
        assert all(web.facts(link.url, attempt=1).status in (200, 303) for link in model.links)


def test_mislabelled_data_keeps_its_actual_kind(web: SyntheticWeb) -> None:
    models = [web.facts(url) for url in _data(web, "mislabelled data")]
    assert {model.kind for model in models} == {ContentKind.TURTLE, ContentKind.RDF_XML, ContentKind.N_TRIPLES}
    said = {model.media_type for model in models}
    assert {"text/plain", "text/xml", "application/octet-stream"} <= said
    assert all(model.counts for model in models)
