"""The models and the rendered pages say the same: held against the real detect, transform and extract."""

from __future__ import annotations

from collections import defaultdict

import pytest
from msgspec import structs

from motherlode.detect import detect
from motherlode.links.collect import collect_links
from motherlode.model import ContentKind, Syntax
from motherlode.sim.synthetic import HOST_PROFILES, PageModel, Role, SyntheticWeb
from motherlode.sim.synthetic.host_profiles import Charset
from motherlode.transform import transform
from motherlode.www.document import Document

PER_ROLE = 8
NOT_MODELLED = frozenset({Syntax.PAGE, Syntax.FEED})
SPECIAL_PATHS = ("/feed.xml", "/sitemap.xml", "/calendar/2026-11", "/calendar/2026-11-07", "/filter", "/private/1")


def _sample(web: SyntheticWeb, profile: str) -> list[PageModel]:
    """Up to PER_ROLE pages of each role, and all that is special, on the first host with the profile."""
    host = web.hosts()[[one.name for one in HOST_PROFILES].index(profile)]
    by_role: dict[Role, list[PageModel]] = defaultdict(list)
    for url in (*web.urls(host), *(f"http://{host}{path}" for path in SPECIAL_PATHS)):
        model = web.page_model(url, attempt=1)
        if model.status == 200:
            by_role[model.role].append(model)
    for model in list(by_role[Role.ITEM]):
        by_role[Role.TRAP] += [web.page_model(link.url) for link in model.links if "sid=" in link.url]
    return [model for models in by_role.values() for model in models[:PER_ROLE]]


def _document(web: SyntheticWeb, model: PageModel) -> Document:
    answer = web.answer(model.url, attempt=1)
    detected = detect(answer.body, url=model.url, content_type=answer.headers["Content-Type"])
    assert detected.kind is model.kind, model.url
    return Document(url=model.url, body=answer.body, detected=detected)


@pytest.mark.parametrize("profile", [profile.name for profile in HOST_PROFILES])
def test_rendered_page_has_the_statements_of_its_model(small: SyntheticWeb, profile: str) -> None:
    sample = _sample(small, profile)
    assert len(sample) > 5
    for model in sample:
        document = _document(small, model)
        facts = transform(document)
        counts = {syntax: count for syntax, count in facts.counts.items() if syntax not in NOT_MODELLED}
        assert counts == dict(model.counts), model.url
        read = collect_links(document, facts)
        assert [link.url for link in read] == [link.url for link in model.links], model.url
        for got, meant in zip(read, model.links, strict=True):
            if model.role in (Role.DATA, Role.FEED):  # which predicate comes first there is the reader's to say
                got = structs.replace(got, predicate=meant.predicate)
            assert got == meant, model.url


def test_page_model_types_equal_types_in_statements(small: SyntheticWeb) -> None:
    for profile in ("recipes", "shop", "library", "friends", "linked data"):
        for model in _sample(small, profile):
            statements = [it for e in transform(_document(small, model)).extractions for it in e.statements]
            named = {value[1:-1] for _, predicate, value, _ in statements if predicate.endswith("#type>")}
            assert named == set(model.types), model.url


def test_rendered_page_sizes_are_close_to_model(web: SyntheticWeb) -> None:
    sizes = []
    for host in web.hosts():
        for url in list(web.urls(host))[:40]:
            model = web.page_model(url, attempt=1)
            if model.status == 200 and model.kind is ContentKind.HTML:
                sizes.append((len(web.answer(url, attempt=1).body), model.size))
    assert sum(abs(real - said) < 0.25 * said + 500 for real, said in sizes) > 0.9 * len(sizes)
    assert min(real for real, _ in sizes) > 1500 and max(real for real, _ in sizes) < 70_000


def test_rendered_page_charset_matches_profile(web: SyntheticWeb) -> None:
    for number, profile in enumerate(HOST_PROFILES):
        if profile.charset is Charset.UTF8:
            continue
        answer = web.answer(web.home(web.hosts()[number]))
        assert "Größe".encode("latin-1") in answer.body
        said = "utf-8" in answer.headers["Content-Type"]
        assert said == (profile.charset is Charset.LATIN1_AS_UTF8)


def test_rendered_page_text_does_not_break_its_markup(web: SyntheticWeb) -> None:
    body = web.answer(web.seeds()[0]).body.decode()
    assert body.count("<body") == body.count("</body>") == 1
