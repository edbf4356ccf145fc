"""The oracle that knows templates: which pages it takes for relevant, and what its crawls find."""

from __future__ import annotations

from tools.template_oracle import RelabelledWeb, likely_relevant, relevant_pages, template_oracle

from motherlode.policies import policy_from, target_from
from motherlode.sim.synthetic.adapter import SyntheticSimWeb


def small_web() -> SyntheticSimWeb:
    return SyntheticSimWeb(pages=800, seed=3, target=target_from("jsonld"))


def test_likely_relevant_follows_majority_of_template() -> None:
    labels = {f"http://a.example/x/{number}": number < 3 for number in range(4)}
    labels |= {f"http://a.example/y/{number}": number < 1 for number in range(4)}
    assert [url for url, likely in likely_relevant(labels).items() if likely] == list(labels)[:4]


def test_relabelled_web_has_other_labels_and_the_same_links() -> None:
    web = small_web()
    url = next(url for url, relevant in web.labels() if relevant)
    relabelled = RelabelledWeb(web, {})
    assert not relabelled.page(url).relevant
    assert relabelled.page(url).links == web.page(url).links
    assert not any(page.relevant for page in relabelled.everything())


def test_template_oracle_finds_more_than_breadth_first() -> None:
    web = small_web()
    assert relevant_pages(web, template_oracle(web), 0) > relevant_pages(web, policy_from("bfs"), 0)
