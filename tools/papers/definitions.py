"""What each paper defines, where it is in the code, and a test that holds it: the first table of docs/papers.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OPEN = "open"
"""Where a definition is, if it is not built yet."""


class Definition(NamedTuple):
    """One row of the table."""

    what: str
    module: str
    """Path below src/motherlode, or `OPEN`."""
    test: str
    """Path below tests and name of the test; empty for an open row."""


_BANDIT = "policies/anthelion/bandit.py"
_URLS = "policies/anthelion/url_classifier.py"
_HEURISTICS = "policies/linkanalysis/heuristics.py"
_LDCOC_FEATURES = "policies/ldcoc/ldcoc_features.py"
_LDCOC = "policies/ldcoc/ldcoc_policy.py"
_TEST_URLS = "policies/anthelion/test_url_classifier.py"
_TEST_HEURISTICS = "policies/linkanalysis/test_heuristics.py"

DEFINITIONS: dict[str, Sequence[Definition]] = {
    "MultiCrawler": (
        Definition(
            "detect: content kind by content, header and extension",
            "detect/__init__.py",
            "detect/test_detect.py::test_rdf_and_feeds_with_any_content_type_are_detected_by_content",
        ),
        Definition(
            "transform: XSLT as declarative transformation",
            "transform/xslt/stylesheets.py",
            "transform/xslt/test_stylesheets.py::test_user_stylesheet_is_applied_by_root_element",
        ),
        Definition(
            "transform: external services by media type",
            "transform/plugins.py",
            "transform/test_plugins.py::test_find_service_call_selects_service_by_media_type",
        ),
        Definition(
            "index: quads with their page as graph",
            "index/page_record.py",
            "index/test_page_record.py::test_serialize_page_writes_each_statement_with_its_graph",
        ),
        Definition(
            "index: keyword index",
            "index/fulltext/query_parser.py",
            "index/fulltext/test_query_parser.py::test_parse_words_finds_words_phrases_and_exclusions",
        ),
        Definition(
            "metadata of pages as RDF",
            "index/page_record.py",
            "index/test_page_record.py::test_serialize_provenance_of_page",
        ),
        Definition(
            "metadata of failures, robots decisions and waiting URLs as RDF",
            "crawler/engine/settlement.py",
            "crawler/engine/test_url_describer.py::test_requests_are_described_with_failures_and_robots_decisions",
        ),
        Definition(
            "extract: URIs by a query over the whole index",
            "crawler/engine/index_query.py",
            "crawler/engine/test_index_query.py::test_index_query_join_over_two_pages_gives_url_of_third",
        ),
        Definition(
            "phases over machines: transform workers, queues with back-pressure",
            "cluster/remote_parsers.py",
            "cluster/test_remote_parsers.py::test_callers_wait_while_all_actors_are_full",
        ),
        Definition(
            "pipelines side by side: hosts are divided among machines",
            "cluster/partitioner.py",
            "cluster/test_driver.py::test_sharded_crawl_finds_the_same_pages_and_quads_as_one_process",
        ),
    ),
    "Link analysis": (
        Definition(
            "classes R, HR, H, N and priorities (Fig. 3)",
            _HEURISTICS,
            f"{_TEST_HEURISTICS}::test_priorities_are_those_of_figure_3",
        ),
        Definition(
            "nine link properties Π_L (III.C.1)",
            _HEURISTICS,
            "policies/linkanalysis/test_heuristics_properties.py::test_url_properties_split_path_file_name_and_extension",
        ),
        Definition(
            "S_R: content types, extensions, terms",
            _HEURISTICS,
            f"{_TEST_HEURISTICS}::test_default_concepts_have_the_members_that_the_paper_names",
        ),
        Definition(
            "a property contains a term, in any script",
            _HEURISTICS,
            f"{_TEST_HEURISTICS}::test_default_terms_are_contained_anywhere",
        ),
        Definition(
            "Relevancy_R, four steps in order",
            _HEURISTICS,
            f"{_TEST_HEURISTICS}::test_step_2_comes_before_step_3_and_step_4_is_the_rest",
        ),
        Definition(
            "similarity metric and Relevancy_HR (III.C.3)",
            _HEURISTICS,
            "policies/linkanalysis/test_heuristics_properties.py::test_similar_urls_on_the_example_of_the_paper",
        ),
        Definition(
            "S_HR grows with RDF documents behind HTML pages (Fig. 2)",
            "policies/linkanalysis/linkanalysis_policy.py",
            "policies/linkanalysis/test_linkanalysis_policy.py::test_rdf_document_adds_its_html_parent_to_s_hr",
        ),
    ),
    "Anthelion": (
        Definition(
            "tokens of URLs (3.1)",
            _URLS,
            f"{_TEST_URLS}::test_url_is_split_as_in_the_paper",
        ),
        Definition(
            "tokens as in the authors' program",
            _URLS,
            f"{_TEST_URLS}::test_tokens_of_authors_are_words_and_numbers_behind_the_host",
        ),
        Definition("hash trick (equation 1)", _URLS, f"{_TEST_URLS}::test_java_hash_equals_java"),
        Definition(
            "numbers of relevant parents and siblings",
            _URLS,
            f"{_TEST_URLS}::test_relevant_parents_are_counted_and_counted_again_when_learned",
        ),
        Definition(
            "Naive Bayes of MOA",
            "policies/anthelion/classifiers.py",
            "policies/anthelion/test_classifiers.py::test_moa_smoothing_equals_formula",
        ),
        Definition(
            "Hoeffding tree",
            "policies/anthelion/classifiers.py",
            "policies/anthelion/test_classifiers.py::test_tree_is_as_accurate_as_river_and_splits_by_the_same_features",
        ),
        Definition(
            "seven value functions (3.2)",
            _BANDIT,
            "policies/anthelion/test_bandit_hosts.py::test_value_functions_equal_formulas_of_the_paper",
        ),
        Definition(
            "selection of host and page (algorithm 1)",
            _BANDIT,
            "policies/anthelion/test_bandit.py::test_pick_equals_exhaustive_search_over_all_hosts",
        ),
        Definition(
            "λ-greedy with decay λ·m / (t + m)",
            _BANDIT,
            "policies/anthelion/test_bandit.py::test_lambda_decays_with_number_of_picks",
        ),
        Definition(
            "static classifiers",
            "policies/baselines/static_classifier.py",
            "policies/baselines/test_static_classifier.py"
            "::test_classifier_after_k_pages_separates_classes_and_learns_no_more",
        ),
        Definition(
            "replay of the published web",
            "sim/anthelion_web.py",
            "sim/test_anthelion_web.py::test_simulate_command_crawls_the_files",
        ),
    ),
    "LDCOC": (
        Definition(
            "hard URIs (definition 2)",
            _LDCOC_FEATURES,
            "policies/ldcoc/test_ldcoc_features.py::test_hardness_follows_extension_and_content_type",
        ),
        Definition(
            "context graph: direct properties, siblings (definitions 3-7)",
            "links/context_graph.py",
            "links/test_context_graph.py::test_context_graph_of_random_statements_equals_the_definitions",
        ),
        Definition(
            "intrinsic features F_int (definition 8)",
            _LDCOC_FEATURES,
            "policies/ldcoc/test_ldcoc_features.py::test_intrinsic_features_cover_all_components_of_a_uri",
        ),
        Definition(
            "header features F_head of the target, by HEAD (definitions 9-11)",
            "policies/ldcoc/ldcoc_policy.py",
            "crawler/test_header_requests.py::test_hard_uris_get_a_head_before_their_get_and_redirects_only_a_head",
        ),
        Definition(
            "header features of siblings whose header is known (+x)",
            "policies/ldcoc/ldcoc_policy.py",
            "policies/ldcoc/test_ldcoc_policy.py::test_known_headers_of_siblings_are_crossed",
        ),
        Definition(
            "cross features of siblings (+x)",
            _LDCOC_FEATURES,
            "policies/ldcoc/test_ldcoc_features.py"
            "::test_cross_features_contain_similarity_relevance_and_type_of_siblings",
        ),
        Definition(
            "FTRL-proximal, equation (1)",
            "policies/ftrl.py",
            "policies/test_ftrl.py::test_equation_one_learner_equals_the_equation_solved_for_all_coordinates",
        ),
        Definition(
            "FTRL-proximal, rates per coordinate (McMahan 2013)",
            "policies/ftrl.py",
            "policies/test_ftrl.py::test_learner_equals_pseudo_code_of_the_paper",
        ),
        Definition(
            "threshold τ and ε-sampling of negatives",
            _LDCOC,
            "policies/ldcoc/test_ldcoc_policy.py::test_positive_uris_are_admitted_and_a_share_of_negatives_is_sampled",
        ),
        Definition(
            "weight 1/ε of sampled negatives",
            _LDCOC,
            "policies/ldcoc/test_ldcoc_policy.py::test_sampled_negative_has_importance_of_inverse_share",
        ),
    ),
}
"""The rows of each paper."""


def definitions_table() -> str:
    """Return the table in Markdown."""
    lines = ["## What each paper defines", "", "| paper | what it defines | where | test |", "|---|---|---|---|"]
    for paper, rows in DEFINITIONS.items():
        for row in rows:
            where = row.module if row.module == OPEN else f"`{row.module}`"
            test = f"`{row.test}`" if row.test else "–"
            lines.append(f"| {paper} | {row.what} | {where} | {test} |")
    return "\n".join(lines)
