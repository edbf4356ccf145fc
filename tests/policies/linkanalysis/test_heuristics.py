"""The concepts, each heuristic, the four steps of Relevancy_R, and their occurrence on real pages."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest

from motherlode.model import Link, LinkSource, Outcome
from motherlode.policies.linkanalysis.heuristics import (
    HEURISTICS,
    NOT_HTTP,
    UNKNOWN_EXTENSION,
    UNLIKELY_EXTENSION,
    LinkClass,
    SimilarUrls,
    concepts_from,
    default_concepts,
    link_properties,
    points_to_rdf,
    predict_class,
    relevancy_r,
)
from motherlode.www.urls import host_of
from tests.policies.webs import real_web


def classify(link: Link, parent: Outcome | None = None, s_hr: SimilarUrls | None = None) -> LinkClass:
    return predict_class(link_properties(link, parent), default_concepts(), s_hr)[0]


def satisfied(link: Link, parent: Outcome | None = None) -> list[str]:
    """Return the names of the heuristics that a link satisfies."""
    properties = link_properties(link, parent)
    return [name for name, heuristic in HEURISTICS.items() if heuristic(properties, default_concepts())]


def test_default_concepts_have_the_members_that_the_paper_names() -> None:
    concepts = default_concepts()
    assert {"application/rdf+xml", "text/n3"} <= concepts.content_types
    assert {"rdf", "owl", "nt"} <= concepts.file_extensions
    assert {"rdf", "triple", "n3", "foaf", "turtle"} <= set(concepts.contained)
    assert {"jpg", "pdf"} <= concepts.other_extensions
    assert "html" in concepts.html_extensions
    sets = (concepts.file_extensions, concepts.html_extensions, concepts.other_extensions)
    assert sum(map(len, sets)) == len(frozenset().union(*sets)), "no extension is in two sets"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Download RDF", True),
        ("application/rdf+xml", True),
        ("/data/foaf_profile", True),
        ("as N-Triples", True),
        ("n triples of them", True),
        ("wordforms, birdfeed", False),
        ("RDFa", False),
        ("", False),
        ("n", False),
    ],
)
def test_terms_match_whole_words(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert concepts_from(whole_words=True).has_term(text) is expected


@pytest.mark.parametrize(("text", "expected"), [("wordforms, birdfeed", True), ("RDFa", True), ("knowledge", False)])
def test_default_terms_are_contained_anywhere(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table
    assert default_concepts().has_term(text) is expected


@pytest.mark.parametrize("whole_words", [False, True])
@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("Данные", "Открытые ДАННЫЕ в RDF"),
        ("связанные данные", "связанные, данные"),
        ("数据", "关联数据集"),
        ("データ", "オープンデータ集"),
        ("ข้อมูล", "ชุดข้อมูลเปิด"),
        ("Données", "DONNE\u0301ES ouvertes"),
        ("δεδομένα", "ανοιχτά δεδομένα"),
    ],
)
def test_terms_in_any_script_are_found(tmp_path: Path, term: str, text: str, *, whole_words: bool) -> None:
    (tmp_path / "terms.txt").write_text(term, encoding="utf-8")
    concepts = concepts_from(tmp_path, whole_words=whole_words)
    if " " not in term or whole_words:
        assert concepts.has_term(text)
    assert not concepts.has_term("something else")
    url = f"http://a.example/{quote(term.split()[0].lower())}/x.html"
    assert HEURISTICS["path:terms"](link_properties(link(url)), concepts) is (" " not in term)


def test_term_without_letters_is_refused_as_whole_word_only(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("::", encoding="utf-8")
    assert concepts_from(tmp_path).has_term("a::b")
    with pytest.raises(ValueError, match="the term '::' has no letter and no digit"):
        concepts_from(tmp_path, whole_words=True)


def test_file_of_user_replaces_ours_and_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("# mine\nLinked  Data # both words\nshacl\n\n", encoding="utf-8")
    concepts = concepts_from(tmp_path, whole_words=True)
    assert concepts.has_term("our linked-data dump")
    assert not concepts.has_term("owl")
    assert concepts.has_term("SHACL")
    assert not concepts.has_term("rdf")
    assert concepts.file_extensions == default_concepts().file_extensions


def test_folder_without_any_of_the_files_raises_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"contains none of the files content_types\.txt"):
        concepts_from(tmp_path)


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
def test_each_heuristic_alone_predicts_class_r(name: str) -> None:
    assert satisfied(ONLY[name], HTML) == [name]
    assert classify(ONLY[name], HTML) is LinkClass.R
    assert classify(link(), HTML) is LinkClass.H


@pytest.mark.parametrize("place", ["type", "title", "anchor", "context"])
def test_content_types_are_found_in_every_text_property(place: str) -> None:
    name = "anchortext" if place == "anchor" else place
    assert f"{name}:content-types" in satisfied(link(**{place: "text/n3"}), HTML)
    assert classify(link(**{place: "application/x-turtle"}), HTML) is LinkClass.R


def test_link_of_rdf_document_without_extension_is_class_r() -> None:
    assert satisfied(link(), RDF) == ["rdf-link:no-extension"]
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
    assert classify(link("http://a.example/x.xml", title="RDF")) is LinkClass.R, "as in the paper's example of .xml"
    assert relevancy_r(link_properties(link("http://a.example/x.xml")), concepts) == (LinkClass.N, UNKNOWN_EXTENSION)


def test_html_link_similar_to_page_in_s_hr_is_class_hr() -> None:
    s_hr = SimilarUrls()
    s_hr.add("http://a.example/staffs/staff1")
    like = link("http://a.example/staffs/staff2")
    assert classify(like, HTML, s_hr=s_hr) is LinkClass.HR
    assert classify(like, HTML) is LinkClass.H
    assert classify(link("http://a.example/staffs/staff2.rdf"), HTML, s_hr=s_hr) is LinkClass.R


def test_points_to_rdf_equals_any_of_all_heuristics() -> None:
    concepts = default_concepts()
    words = ["", "rdf", "json", "ld", "text/n3", "as N-Triples"]
    urls = ["http://a.example/x", "http://a.example/n3/x.html", "http://a.example/x.owl"]
    for url, title, anchor, context in product(urls, words, words, words):
        properties = link_properties(link(url, title=title, anchor=anchor, context=context), HTML)
        every = any(heuristic(properties, concepts) for heuristic in HEURISTICS.values())
        assert points_to_rdf(properties, concepts) == every, properties


def test_priorities_are_those_of_figure_3() -> None:
    assert {found.name: found.value for found in LinkClass} == {"R": 3, "HR": 2, "H": 1, "N": -1}


def test_heuristics_occur_on_real_pages_and_class_r_has_more_rdf(tmp_path: Path) -> None:
    web = real_web(tmp_path, target="rdf")
    fired: Counter[str] = Counter()
    found: dict[str, list[bool]] = {}
    held = {page.url: page for page in web.everything()}
    for page in held.values():
        parent = Outcome(url=page.url, host=host_of(page.url), depth=0, relevant=page.relevant, kind=page.kind)
        for one in page.links:
            fired.update(satisfied(one, parent))
            target = held.get(one.url)
            if target is not None and target.failure is None:
                found.setdefault(classify(one, parent).name, []).append(target.relevant)
    assert {"anchortext:terms", "path:terms", "filename:terms", "extension:file-extensions"} <= set(fired)
    assert {"type:terms", "type:content-types", "context:terms", "rdf-link:no-extension"} <= set(fired)
    share = {name: sum(labels) / len(labels) for name, labels in found.items()}
    assert share["R"] > 10 * share["H"], share
