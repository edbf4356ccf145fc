"""The table of policies by the names that users type.

A name is a word, optionally with arguments after colons: `bandit:success-rate:0.2:1000`. An unknown name is an error
that suggests the most similar known name. To add a policy, add a factory function and a line in the table. The command
line, the tests and the benchmarks read the table. A factory imports its policy when it is called, so that unused
policies cost no import time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from motherlode.model import Policy

if TYPE_CHECKING:
    from motherlode.policies.anthelion import Classifier
    from motherlode.policies.targets import Target

DEFAULT_POLICY = "motherlode"
ORACLE = "oracle"
"""A policy that knows the label and the links of every page. Only the simulator can make it, so it is not in the
table."""
GUIDE = "docs/policies.md"
"""The page that documents each policy and its arguments."""

Arguments = tuple[str, ...]
"""The parts of a name after the first colon."""
Factory = Callable[[Arguments, int], Policy | None]
"""Makes a policy from the arguments and a seed. Returns None if the arguments have the wrong form, and raises
ValueError if one is out of bounds."""


@runtime_checkable
class Aims(Protocol):
    """Optional ability of a policy: it adapts to the target of the crawl."""

    def aim(self, target: Target) -> None:
        """Set the target. Called once, before any other method."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLine:
    """One policy in the table."""

    word: str
    """The part of the name before the first colon."""
    make: Factory
    usage: str
    """The syntax of the name."""
    about: str
    """One sentence that helps users to choose."""
    examples: tuple[str, ...]
    """Valid names, for lists, hints, tests and benchmarks."""
    parts: str = ""
    """Explanation of the arguments."""
    reads_known_links: bool = False
    """Whether the policy needs the attributes of all links of a page, including links that were found before."""


def _motherlode(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.motherlode import Motherlode

    return None if arguments else Motherlode()


def _bfs(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.orders import breadth_first

    return None if arguments else breadth_first()


def _dfs(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.orders import depth_first

    return None if arguments else depth_first()


def _random(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.orders import random_order

    return None if arguments else random_order(Random(seed))


def _bandit(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.anthelion import FUNCTIONS, Features, HostBandit, NaiveBayes, OnlineRater

    if not 1 <= len(arguments) <= 3 or arguments[0] not in FUNCTIONS:
        return None
    exploration, decay = _lambda_and_m(arguments[1:])
    return HostBandit(
        rater=OnlineRater(Features(), NaiveBayes()),
        function=FUNCTIONS[arguments[0]],
        random=Random(seed),
        exploration=exploration,
        decay=decay,
    )


def _nb_online(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.anthelion import NaiveBayes

    return _online(NaiveBayes(), arguments, seed)


def _ht_online(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.anthelion import HoeffdingTree

    return _online(HoeffdingTree(), arguments, seed)


def _online(classifier: Classifier, arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.anthelion import DEFAULT_FEATURES, FUNCTIONS, Features, FeatureSet, HostBandit, OnlineRater

    if len(arguments) > 1:
        return None
    using = FeatureSet.named(arguments[0]) if arguments else DEFAULT_FEATURES
    rater = OnlineRater(Features(using), classifier)
    return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))


def _static(kind: str) -> Factory:
    def make(arguments: Arguments, seed: int) -> Policy | None:
        from motherlode.policies.anthelion import FUNCTIONS, Features, HostBandit
        from motherlode.policies.baselines.static_classifier import StaticRater, fit_tree, sklearn_fit

        if len(arguments) != 1:
            return None
        (pages,) = _whole_numbers(arguments, f"K is the number of pages to train on, as in {kind}-static:1000")
        rater = StaticRater(Features(), fit_tree if kind == "ht" else sklearn_fit(kind), pages)
        return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))

    return make


def _pld(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.pay_level_domains import SharePolicy

    return None if arguments else SharePolicy()


def _ldspider(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.pay_level_domains import RoundRobinPolicy

    return None if arguments else RoundRobinPolicy()


def _bounded(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.depth_limit import BoundedPolicy

    if len(arguments) > 2:
        return None
    return BoundedPolicy(*_whole_numbers(arguments, "depth and growth are whole numbers, as in bounded:3:2"))


def _whole_numbers(arguments: Arguments, hint: str) -> list[int]:
    if not all(text.isascii() and text.isdigit() for text in arguments):
        raise ValueError(hint)
    return [int(text) for text in arguments]


def _ldcoc(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.ldcoc import BEST_SETS, Ldcoc, default_learner

    if len(arguments) > 3:
        return None
    hint = "the bits and the seed of the hashed features are whole numbers, as in ldcoc:trp:18:7"
    bits, hash_seed = [*_whole_numbers(arguments[1:], hint), *(20, 0)[len(arguments[1:]) :]]
    if not 8 <= bits <= 28:
        raise ValueError(f"hashed features have 8 to 28 bits; got {bits}")
    learner = default_learner(1 << bits)
    sets = arguments[0] if arguments else BEST_SETS
    return Ldcoc(random=Random(seed), sets=sets, learner=learner, hash_seed=hash_seed)


def _linkanalysis(arguments: Arguments, seed: int) -> Policy | None:
    from pathlib import Path

    from motherlode.policies.linkanalysis import LinkAnalysis, concepts_from

    literal = arguments[:1] == ("literal",)
    folder = ":".join(arguments[literal:])
    return LinkAnalysis(concepts_from(Path(folder)) if folder else None, literal=literal)


def _lambda_and_m(numbers: Arguments) -> tuple[float | None, float | None]:
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        raise ValueError("λ and m are numbers, as in bandit:success-rate:0.2:1000") from None
    return (values[0] if values else None), (values[1] if len(values) > 1 else None)


_FEATURES = "FEATURES are url, parent and sibling, one or several joined by +, as in url+parent"
_TRAINING = "K is the number of pages to train on"
_LINES = (
    PolicyLine(
        word="bfs",
        make=_bfs,
        usage="bfs",
        about="Breadth-first: URLs in the order of their discovery.",
        examples=("bfs",),
    ),
    PolicyLine(
        word="dfs",
        make=_dfs,
        usage="dfs",
        about="Depth-first: URLs in the reverse order of their discovery.",
        examples=("dfs",),
    ),
    PolicyLine(
        word="random",
        make=_random,
        usage="random",
        about="A random waiting URL, each with the same probability.",
        examples=("random",),
    ),
    PolicyLine(
        word="ldcoc",
        make=_ldcoc,
        usage="ldcoc[:SETS[:BITS[:SEED]]]",
        about="An online classifier that predicts which URIs return data.",
        parts="SETS of features are letters of trpx; they are hashed to 8 to 28 BITS, with a SEED",
        examples=("ldcoc", "ldcoc:t", "ldcoc:trpx"),
        reads_known_links=True,
    ),
    PolicyLine(
        word="linkanalysis",
        make=_linkanalysis,
        usage="linkanalysis[:literal][:FOLDER]",
        about="First links that look like RDF, then links similar to pages that led to RDF.",
        parts="literal applies the paper's path rule literally, FOLDER holds your own word lists",
        examples=("linkanalysis", "linkanalysis:literal"),
    ),
    PolicyLine(
        word="bandit",
        make=_bandit,
        usage="bandit:FUNCTION[:λ[:m]]",
        about="The host with the highest value, or with probability λ any host; in it the page that Naive Bayes ranks "
        "first.",
        parts="FUNCTION is best-score, success-rate, thompson, negative-bad, good-best-score, thompson-best-score or "
        "success-best-score; λ is a probability, which is halved after m picks",
        examples=(
            "bandit:success-rate",
            "bandit:best-score",
            "bandit:thompson",
            "bandit:negative-bad",
            "bandit:good-best-score",
            "bandit:thompson-best-score",
            "bandit:success-best-score",
        ),
    ),
    PolicyLine(
        word="nb-online",
        make=_nb_online,
        usage="nb-online[:FEATURES]",
        about="The page that Naive Bayes ranks first; it learns from every page.",
        parts=_FEATURES,
        examples=("nb-online",),
    ),
    PolicyLine(
        word="ht-online",
        make=_ht_online,
        usage="ht-online[:FEATURES]",
        about="The page that a Hoeffding tree likes best, which learns from every page.",
        parts=_FEATURES,
        examples=("ht-online",),
    ),
    PolicyLine(
        word="nb-static",
        make=_static("nb"),
        usage="nb-static:K",
        about="Breadth-first for K pages, then by Naive Bayes trained on them (needs scikit-learn).",
        parts=_TRAINING,
        examples=("nb-static:100",),
    ),
    PolicyLine(
        word="ht-static",
        make=_static("ht"),
        usage="ht-static:K",
        about="Breadth-first for K pages, then by a Hoeffding tree trained on them.",
        parts=_TRAINING,
        examples=("ht-static:100",),
    ),
    PolicyLine(
        word="svm-static",
        make=_static("svm"),
        usage="svm-static:K",
        about="Breadth-first for K pages, then by a linear support vector machine (needs scikit-learn).",
        parts=_TRAINING,
        examples=("svm-static:100",),
    ),
    PolicyLine(
        word="knn-static",
        make=_static("knn"),
        usage="knn-static:K",
        about="Breadth-first for K pages, then by the five nearest neighbours among them (needs scikit-learn).",
        parts=_TRAINING,
        examples=("knn-static:100",),
    ),
    PolicyLine(
        word="pld",
        make=_pld,
        usage="pld",
        about="The pay-level domain with the highest share of relevant pages so far, as in SWSE.",
        examples=("pld",),
    ),
    PolicyLine(
        word="ldspider",
        make=_ldspider,
        usage="ldspider",
        about="Breadth-first, round robin over the pay-level domains, as in LDSpider.",
        examples=("ldspider",),
    ),
    PolicyLine(
        word="bounded",
        make=_bounded,
        usage="bounded[:DEPTH[:GROWTH]]",
        about="Breadth-first to a depth that grows at relevant pages and shrinks at others, as in Swoogle, BioCrawler.",
        parts="DEPTH is the depth of seeds, GROWTH is added to it at a relevant page, both from 1 to 255",
        examples=("bounded",),
    ),
    PolicyLine(
        word="motherlode",
        make=_motherlode,
        usage="motherlode",
        about="Our own: learns which kinds of links lead to relevant pages, directly or over other pages.",
        examples=("motherlode",),
    ),
)

POLICY_TABLE = {line.word: line for line in _LINES}
POLICIES = tuple(name for line in _LINES for name in line.examples)
"""The name of every policy; of policies with arguments, some examples."""


def policy_usage() -> str:
    """Return the syntax of all names in one line, for help texts.

    >>> policy_usage().startswith("bfs, dfs, random, ")
    True
    """
    return ", ".join(line.usage for line in _LINES) + f"; in simulations also {ORACLE}"


def reads_known_links(name: str) -> bool:
    """Return whether the policy needs the attributes of links that were found before.

    >>> reads_known_links("ldcoc:x"), reads_known_links("bfs")
    (True, False)
    """
    line = POLICY_TABLE.get(name.partition(":")[0])
    return line is not None and line.reads_known_links


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint with the most similar known name, or "" if no name is similar.

    >>> nearest("bsf", ["bfs", "dfs"])
    ' (did you mean bfs?)'
    """
    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def policy_from(name: str, seed: int = 0, *, target: Target | None = None) -> Policy:
    """Make the policy with a name such as `bfs` or `bandit:success-rate:0.2:1000`.

    The seed determines all randomness of the policy. A policy that `Aims` gets the target, if there is one.

    >>> policy_from("bsf")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown policy 'bsf' (did you mean bfs?); known: bfs, dfs, random, ...
    """
    word, *arguments = name.split(":")
    if word == ORACLE:
        raise ValueError(
            f"the policy {ORACLE} is for simulations only, because it knows the content of every page; see {GUIDE}"
        )
    line = POLICY_TABLE.get(word)
    if line is None:
        raise ValueError(f"unknown policy {name!r}{nearest(name, POLICIES)}; known: {policy_usage()}; see {GUIDE}")
    try:
        policy = line.make(tuple(arguments), seed)
    except ValueError as error:
        raise ValueError(f"policy {name!r}: {error}") from error
    if policy is None:
        raise ValueError(f"unknown policy {name!r}: it should look like {_form(line, name)}; see {GUIDE}")
    if target is not None and isinstance(policy, Aims):
        policy.aim(target)
    return policy


def _form(line: PolicyLine, name: str) -> str:
    """Return the syntax of a name whose first word is known, with an explanation of its arguments."""
    hint = nearest(name, line.examples) if ":" in name and line.parts else ""
    return f"{line.usage}{hint}{f', where {line.parts}' if line.parts else ''}"
