"""The focused crawler of Emamdadi, Kahani and Zarrinkalam: links are fetched in the order of their predicted class.

Links of class R go first, then class HR, then class H; within a class, links go in the order of their discovery. Links
of class N are removed. If a fetched page is an RDF document and the page with the link was HTML, that page is added to
S_HR (Fig. 2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from motherlode.model import Explanation, Link, LinkSource, Outcome, Rating, SummaryLine
from motherlode.policies.linkanalysis.heuristics import (
    Concepts,
    LinkClass,
    SimilarUrls,
    default_concepts,
    is_html_document,
    is_rdf_document,
    link_properties,
    predict_class,
)
from motherlode.policies.priority_queue import BestScorePolicy

_SCORE_PER_PRIORITY = 1e12
"""Difference between the scores of two priorities. It is more than the number of links of any crawl."""
_MAX_SHARED_PAGES = 10_000
_PLAIN, _FROM_HTML = b"", b"h"


class LinkAnalysis(BestScorePolicy):
    """Picks the waiting link with the best class among all ready hosts. The arms are hosts."""

    def __init__(self, concepts: Concepts | None = None, *, new_path_only: bool = False) -> None:
        super().__init__()
        self._concepts = concepts or default_concepts()
        self._new_path_only = new_path_only
        """Whether directories of the linking page are not searched, unlike in the paper: see `link_properties`."""
        self._s_hr = SimilarUrls()
        self._delta: deque[str] = deque(maxlen=_MAX_SHARED_PAGES)
        """Pages that were added to S_HR since the last call of `delta`."""
        self._count = 0

    def rate(self, links: Sequence[Link], parent: Outcome | None) -> Sequence[Rating]:
        policy_state = _FROM_HTML if parent is not None and is_html_document(parent.kind) else _PLAIN
        return [self._rate_link(link, parent, policy_state) for link in links]

    def _rate_link(self, link: Link, parent: Outcome | None, policy_state: bytes) -> Rating:
        self._count += 1
        properties = link_properties(link, parent, new_path_only=self._new_path_only)
        found, reason = predict_class(properties, self._concepts, self._s_hr)
        if parent is None or link.source is LinkSource.REDIRECT:
            # seeds and targets of redirects are never removed: the user or the redirecting link wants them
            found, reason = (LinkClass.H if found is LinkClass.N else found), ""
        if parent is not None and link.source is LinkSource.REDIRECT:
            policy_state = _state_behind_redirect(parent)
        return Rating(
            arm=properties.host,
            score=found.value * _SCORE_PER_PRIORITY - self._count,
            policy_state=policy_state,
            refused=reason,
        )

    def learn(self, outcome: Outcome) -> None:
        if outcome.failure is None and outcome.policy_state and is_rdf_document(outcome.kind):
            page = outcome.policy_state[1:].decode() or outcome.parent_url
            self._s_hr.add(page)
            self._delta.append(page)

    def delta(self) -> bytes:
        """Return the pages that were added to S_HR since the last call: their host may belong to another shard."""
        delta = list(dict.fromkeys(self._delta))
        self._delta.clear()
        return msgspec.msgpack.encode(delta) if delta else b""

    def absorb(self, delta: bytes) -> None:
        for page in msgspec.msgpack.decode(delta, type=list[str]) if delta else ():
            self._s_hr.add(page)

    def merge(self, state: bytes) -> None:
        self._s_hr.merge(msgspec.msgpack.decode(state, type=tuple[int, bytes])[1])

    def explain(self, link: Link, rating: Rating, parent: Outcome | None) -> Explanation:
        found, reason = predict_class(
            link_properties(link, parent, new_path_only=self._new_path_only), self._concepts, self._s_hr
        )
        return Explanation(
            says="Links are fetched in the order of their predicted class: R (is RDF), HR (links to RDF), H (others).",
            value=rating.score,
            record={"priority": found.value, "families_like_pages_that_led_to_rdf": len(self._s_hr)},
            notes=(f"its class is {found.name} now{f': {reason}' if reason else ''}",),
        )

    def summary(self, most: int) -> Sequence[SummaryLine]:
        rows = (("families of pages that linked to RDF", len(self._s_hr)), ("links rated", self._count))
        return [SummaryLine(title="learned", columns=("what", "how many"), rows=rows[:most])]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode((self._count, self._s_hr.dump()))

    def load(self, state: bytes) -> None:
        self._count, similar = msgspec.msgpack.decode(state, type=tuple[int, bytes])
        self._s_hr.load(similar)


def _state_behind_redirect(redirect: Outcome) -> bytes:
    """Return the state of a redirect's target: the HTML page with the link to the (first) redirect."""
    if not redirect.policy_state:
        return _PLAIN
    return redirect.policy_state if len(redirect.policy_state) > 1 else _FROM_HTML + redirect.parent_url.encode()
