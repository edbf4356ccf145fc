"""The papers' tables on a tiny web: every part runs, and what is written comes from the runs."""

from __future__ import annotations

import ast
import doctest
import json
import os
from pathlib import Path

import pytest
from tools.papers import __main__ as command
from tools.papers import anthelion_curves, markdown, page, phase_tables, simulated_crawl, web_facts, webs
from tools.papers.anthelion_classifiers import online_accuracy
from tools.papers.anthelion_narrower import narrower
from tools.papers.anthelion_selection import PUBLISHED
from tools.papers.definitions import DEFINITIONS, OPEN, definitions_table
from tools.papers.lab import Lab
from tools.papers.ldcoc_features import offline_quality
from tools.papers.link_analysis import discovery_rate, quality
from tools.papers.phase_workers import transform_rates, worker_times
from tools.papers.phases import PHASES, phase_times
from tools.papers.scale import Scale, Web
from tools.papers.simulated_crawl import crawl, fits, harvest, repetitions
from tools.papers.sites import rdf_sites, site_crawl
from tools.papers.static_crawlers import named_policy

from motherlode.model import Link, LinkSource
from motherlode.sim.runner import Trial, run_trial

TINY = "synthetic:400"


def _lab(folder: Path, *, fresh: bool = False) -> Lab:
    web = Web(
        name="synthetic", web=TINY, requests=120, repeat=1, start="hubs", examples=100, uris=150, uri_draws=1, sites=1
    )
    scale = Scale(webs=(web,), uri_requests=60, hosts=(10, 20), phase_pages=10, methods_repeat=1)
    return Lab(scale, docs=folder / "docs", work=folder, processes=1, fresh=fresh)


def _crawl(policy: str) -> dict[str, object]:
    return {"web": TINY, "target": "any", "policy": policy, "seed": 0, "pages": 120, "start": "homes"}


def test_section_has_table_claims_and_picture(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    text = narrower(lab)
    assert "| Success Rate (λ = 0.2) | 0.12 | " in text
    assert "- success rate with λ = 0.2 beats online classification: " in text
    assert (tmp_path / "docs" / "papers" / "anthelion-8-synthetic.svg").read_text().startswith("<svg")


def test_papers_results_are_cached_and_computed_again_when_fresh(tmp_path: Path) -> None:
    lab = _lab(tmp_path)
    (first,) = lab.run(crawl, [_crawl("bfs")])
    (path,) = (tmp_path / "answers").glob("*.json")
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "answer": "as it was kept"}))
    assert lab.run(crawl, [_crawl("bfs")]) == ["as it was kept"]
    os.utime(path, (1, 1))
    other = path.with_name("of-another-part.json")
    other.write_text("{}")
    assert _lab(tmp_path, fresh=True).run(crawl, [_crawl("bfs")]) == [json.loads(json.dumps(first))]
    assert other.exists(), "results of other parts remain"


@pytest.mark.parametrize("policy", ["pretrained:nb:40", "pretrained:ht:40", "uris:nb:40", "uris:svm:40", "uris:knn:40"])
def test_pretrained_crawlers_choose_from_the_first_page_on(policy: str) -> None:
    if policy.startswith(("uris:svm", "uris:knn")):
        pytest.importorskip("sklearn")
    answer = crawl(**_crawl(policy))
    assert answer["fetched"] == 120
    assert answer["right"], "no page was judged"
    scores = {rating.score for rating in named_policy(policy, web=TINY, target="any", seed=0).rate(_links(), None)}
    assert scores != {0.5}, "the classifier was not trained before the crawl"


def _links() -> list[Link]:
    return [Link(url=f"http://{name}.example/recipes/{name}-1.html", source=LinkSource.SEED) for name in ("a", "shop")]


def test_papers_oracle_finds_at_least_as_much_as_bfs() -> None:
    assert harvest([crawl(**_crawl("oracle"))]) >= harvest([crawl(**_crawl("bfs"))])


@pytest.mark.parametrize("policy", ["ldcoc", "motherlode", "sb-classifier:stop=20", "bandit:success-rate"])
def test_papers_crawl_equals_the_crawl_of_simulate(policy: str) -> None:
    """A policy that is observed keeps its abilities: HEAD requests, rating again and early stop."""
    ours = crawl(**_crawl(policy))
    spec = webs.web_spec(TINY)
    seeds = webs.starts(webs.opened(TINY), "homes")
    theirs = run_trial(spec, Trial(policy=policy, seed=0, pages=120, seeds=seeds))
    assert (ours["fetched"], ours["heads"], ours["relevant"]) == (theirs.fetched, theirs.heads, theirs.relevant)
    assert (ours["heads"] > 0) is (policy == "ldcoc")


def test_slow_policies_are_left_out_on_large_webs_only() -> None:
    webs_of = ("recorded", "synthetic:20000", "synthetic:1000000")
    assert [fits("tres", web) for web in webs_of] == [True, True, False]
    assert [fits("bfs", web) for web in webs_of] == [True, True, True]


def test_phase_times_has_every_page_in_every_phase() -> None:
    found = phase_times(web=TINY, pages=20)
    counts = {phase: len(found["seconds"][phase]) for phase in PHASES}
    assert counts["detect"] >= counts["transform"] == counts["extract"] > 0
    assert all(seconds >= 0 for phase in PHASES for seconds in found["seconds"][phase])


def test_worker_times_divides_the_pages_among_workers() -> None:
    found = worker_times(web=TINY, pages=20, workers=2)
    assert 0 < found["pages"] <= 20
    assert set(found["cpu_per_page"]) == set(PHASES[1:])
    assert found["cpu_per_page"]["transform"] > 0


def test_transform_rates_of_free_workers_are_nearly_linear_and_of_hashed_pages_less() -> None:
    found = transform_rates(seconds=[0.001] * 99 + [0.5], handing=1e-6)
    assert 7 < found["queue"][8] / found["queue"][1] <= 8.1
    assert found["hash"][8] / found["hash"][1] < found["queue"][8] / found["queue"][1]


def test_classifiers_are_compared_on_balanced_pages() -> None:
    found = online_accuracy(web=TINY, classifier="NB", attributes="c", examples=60)
    assert found["pages"] % 2 == 0
    assert 0.5 < found["accuracy"] <= found["highest"] <= 1


def test_offline_quality_of_a_feature_set() -> None:
    pytest.importorskip("sklearn")
    found = offline_quality(web="synthetic:4000", sets="trp", split="pages", examples=600, draws=1)
    assert set(found["cells"]) == {"KNN", "NB", "SVM"}
    assert all(0 < cell["f"] <= 1 for cell in found["cells"].values())


def test_link_analysis_counts_no_more_right_predictions_than_predictions() -> None:
    (site,) = rdf_sites(web="synthetic:4000", most=1)
    found = site_crawl(
        web="synthetic:4000", host=site["host"], documents=site["documents"], policy="linkanalysis:literal"
    )
    assert found["rdf"] > 0
    assert sum(found["predicted"].values()) > 0
    for name, count in found["fired"].items():
        assert found["fired_right"].get(name, 0) <= count


def test_papers_repeat_only_random_policies() -> None:
    assert [repetitions(name, 5) for name in ("bfs", "bandit:success-rate:0", "bandit:thompson:0", "ldcoc")] == [
        1,
        1,
        5,
        5,
    ]


@pytest.mark.parametrize("module", [markdown, anthelion_curves, page, phase_tables, simulated_crawl, web_facts])
def test_papers_docstring_examples_pass(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("paper", DEFINITIONS)
def test_every_module_and_test_of_the_definitions_exists(paper: str) -> None:
    root = webs.ROOT
    for row in DEFINITIONS[paper]:
        if row.module == OPEN:
            assert not row.test
            continue
        assert (root / "src" / "motherlode" / row.module).is_file(), row
        path, _, name = row.test.partition("::")
        tree = ast.parse((root / "tests" / path).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert name in functions, row


def test_page_starts_with_the_definitions_of_all_four_papers() -> None:
    assert set(DEFINITIONS) == {"MultiCrawler", "Link analysis", "Anthelion", "LDCOC"}
    written = (webs.ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert definitions_table() in written.partition("<!-- part:")[0]
    assert list(page.sections_of(written)) == list(page.SECTIONS), "every part is on the page, in order"


def test_only_replaces_one_part_and_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "docs" / "papers.md"
    written.parent.mkdir()
    written.write_text(page.page(dict.fromkeys(page.SECTIONS, "as it was")), encoding="utf-8")
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "WORK", tmp_path / "work")
    monkeypatch.setattr(webs, "CORPUS", tmp_path / "no corpus")
    monkeypatch.setitem(page.SECTIONS, "anthelion-figure-9", lambda lab: "new")
    assert command.main(["--only", "anthelion-figure-9"]) == 0, "this part needs no corpus"
    found = page.sections_of(written.read_text(encoding="utf-8"))
    assert found.pop("anthelion-figure-9").startswith("new\n")
    assert set(found) == set(page.SECTIONS) - {"anthelion-figure-9"}
    assert set(found.values()) == {"as it was"}
    assert command.main(["--only", "methods"]) == 0
    assert page.sections_of(written.read_text(encoding="utf-8"))["methods"] == "as it was", "left, without the corpus"


def test_only_refuses_a_page_whose_parts_are_not_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tmp_path / "docs" / "papers.md"
    written.parent.mkdir()
    written.write_text("# of an earlier version\n", encoding="utf-8")
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "WORK", tmp_path / "work")
    with pytest.raises(SystemExit):
        command.main(["--only", "anthelion-figure-9"])
    assert written.read_text(encoding="utf-8") == "# of an earlier version\n"


def test_discovery_rate_and_recall_follow_the_definitions() -> None:
    answer = {
        "rdf": 30,
        "requests": 120,
        "documents": 100,
        "right": {"R": 20, "HR": 4},
        "true": {"R": 30, "HR": 10},
        "fired": {"type:terms": 8, "path-or-filename:similarity": 5},
        "fired_right": {"type:terms": 5, "path-or-filename:similarity": 4},
    }
    assert discovery_rate(answer, "linkanalysis") == 0.2, "NT_R / N"
    assert discovery_rate(answer, "bfs") == 0.3
    assert quality([answer], "type:terms") == (0.25, pytest.approx(1 / 6), 0.625)
    assert quality([answer], "path-or-filename:similarity") == (1.0, 0.4, 0.8), "1 as published"


def test_papers_every_table_has_notes() -> None:
    for path in markdown.NOTES.glob("*.md"):
        assert len(path.read_text(encoding="utf-8").split()) > 40, f"{path.name} says nothing"


def test_figures_draw_rows_of_table_2_and_additional_crawls() -> None:
    known = {*PUBLISHED, *anthelion_curves.ONLY_IN_FIGURES}
    assert all(known.issuperset(shown) for _, shown in anthelion_curves._FIGURES.values())
    functions = {row.partition(" (")[0] for row in anthelion_curves._FIGURES["5"][1]}
    assert functions == {"Success Rate", "Absolute Good · Best Score", "Success Rate · Best Score"}, "as in Figure 5"
