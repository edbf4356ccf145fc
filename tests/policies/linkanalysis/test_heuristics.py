"""Each heuristic by itself, the four steps of Relevancy_R, and what fires on real pages."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.linkanalysis import (
    HEURISTICS,
    SIMILARITY,
    LinkClass,
    SimilarUrls,
    classify,
    default_concepts,
    features,
    link_properties,
)
from motherlode.policies.linkanalysis.heuristics import (
    NOT_HTTP,
    UNKNOWN_EXTENSION,
    UNLIKELY_EXTENSION,
    points_to_rdf,
    relevancy_r,
)
from motherlode.www.urls import host_of
from tests.policies.webs import real_web

HTML = Outcome(url="http://a.example/", host="a.example", depth=0, relevant=False, kind="html")
RDF = Outcome(url="http://a.example/d.ttl", host="a.example", depth=0, relevant=True, kind="turtle")


def link(url: str = "http://a.example/x", **said: str) -> Link:
    return Link(url=url, source=LinkSource.ANCHOR, **said)


ONLY = {
    "title:terms": link(title="my FOAF"),
    "anchortext:terms": link(anchor="as RDF"),
    "context:terms": link(context="one triple each:"),
    "path:terms": link("http://a.example/rdf/1"),
    "filename:terms": link("http://a.example/rdf.html"),
    "extension:file-extensions": link("http://a.example/x.nq"),
}


@pytest.mark.parametrize("name", list(ONLY))
def test_a_heuristic_fires_alone_and_makes_class_r(name: str) -> None:
    assert features(ONLY[name], HTML) == [name]
    assert classify(ONLY[name], HTML) is LinkClass.R
    assert classify(link(), HTML) is LinkClass.H


@pytest.mark.parametrize("place", ["type", "title", "anchor", "context"])
def test_content_types_are_found_wherever_they_are_quoted(place: str) -> None:
    name = "anchortext" if place == "anchor" else place
    assert f"{name}:content-types" in features(link(**{place: "text/n3"}), HTML)
    assert classify(link(**{place: "application/x-turtle"}), HTML) is LinkClass.R


def test_a_link_of_an_rdf_document_without_an_extension_is_class_r() -> None:
    assert features(link(), RDF) == ["rdf-link:no-extension"]
    assert classify(link(), RDF) is LinkClass.R
    assert classify(link("http://a.example/x.html"), RDF) is LinkClass.H
    assert classify(link("http://a.example/x.xyz"), RDF) is LinkClass.N


def test_step_1_comes_before_step_2() -> None:
    concepts = default_concepts()
    assert relevancy_r(link_properties(link("http://a.example/rdf.jpg", title="rdf")), concepts) == (
        LinkClass.N,
        UNLIKELY_EXTENSION,
    )
    assert relevancy_r(link_properties(link("ftp://a.example/x.rdf")), concepts) == (LinkClass.N, NOT_HTTP)


def test_step_2_comes_before_step_3_and_step_4_is_the_rest() -> None:
    concepts = default_concepts()
    assert classify(link("http://a.example/x.html", type="application/rdf+xml")) is LinkClass.R
    assert classify(link("http://a.example/x.xml", title="RDF")) is LinkClass.R, "as the paper says of .xml"
    assert relevancy_r(link_properties(link("http://a.example/x.xml")), concepts) == (LinkClass.N, UNKNOWN_EXTENSION)


def test_html_like_what_led_to_rdf_is_class_hr() -> None:
    s_hr = SimilarUrls()
    s_hr.add("http://a.example/staffs/staff1")
    like = link("http://a.example/staffs/staff2")
    assert classify(like, HTML, s_hr=s_hr) is LinkClass.HR
    assert features(like, HTML, s_hr=s_hr) == [SIMILARITY]
    assert classify(like, HTML) is LinkClass.H
    assert classify(link("http://a.example/staffs/staff2.rdf"), HTML, s_hr=s_hr) is LinkClass.R


def test_the_quick_question_is_that_of_all_heuristics() -> None:
    concepts = default_concepts()
    words = ["", "rdf", "json", "ld", "text/n3", "as N-Triples"]
    urls = ["http://a.example/x", "http://a.example/n3/x.html", "http://a.example/x.owl"]
    for url, title, anchor, context in product(urls, words, words, words):
        properties = link_properties(link(url, title=title, anchor=anchor, context=context), HTML)
        every = any(heuristic(properties, concepts) for heuristic in HEURISTICS.values())
        assert points_to_rdf(properties, concepts) == every, properties


def test_priorities_are_those_of_figure_3() -> None:
    assert {found.name: found.value for found in LinkClass} == {"R": 3, "HR": 2, "H": 1, "N": -1}


def test_heuristics_fire_on_real_pages_and_class_r_is_richer_in_rdf(tmp_path: Path) -> None:
    web = real_web(tmp_path, target="rdf")
    fired: Counter[str] = Counter()
    found: dict[str, list[bool]] = {}
    held = {page.url: page for page in web.everything()}
    for page in held.values():
        parent = Outcome(url=page.url, host=host_of(page.url), depth=0, relevant=page.relevant, kind=page.kind)
        for one in page.links:
            fired.update(features(one, parent))
            target = held.get(one.url)
            if target is not None and target.failure is None:
                found.setdefault(classify(one, parent).name, []).append(target.relevant)
    assert {"anchortext:terms", "path:terms", "filename:terms", "extension:file-extensions"} <= set(fired)
    assert {"type:terms", "type:content-types", "context:terms", "rdf-link:no-extension"} <= set(fired)
    share = {name: sum(labels) / len(labels) for name, labels in found.items()}
    assert share["R"] > 10 * share["H"], share
