"""Policies by the names that users type: one table, a line for each. A wrong name is met with the nearest right one.

A name is a word, perhaps with arguments after colons: `bandit:success-rate:0.2:1000`. To add a policy, write a factory
beside the others (it imports what it needs when it is called, so that a name costs nothing until it is used) and a
line in the table; command line, tests and benchmarks take their lists from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from random import Random
from typing import TYPE_CHECKING

from motherlode.model import Policy

if TYPE_CHECKING:
    from motherlode.policies.anthelion import Classifier
    from motherlode.policies.targets import Target

DEFAULT_POLICY = "motherlode"
ORACLE = "oracle"
"""Knows every label and every link, which only a simulation can tell it: it is made there, and not by this table."""
GUIDE = "docs/policies.md"
"""Where each policy and what follows its colons is told."""

Arguments = tuple[str, ...]
"""What stands after the word, taken apart at the colons."""
Factory = Callable[[Arguments, int], Policy | None]
"""From the arguments and a seed to a policy. None where the arguments mean nothing, ValueError where one is out of
bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLine:
    """One line of the table."""

    word: str
    """What a name begins with."""
    make: Factory
    usage: str
    """The form of a name."""
    about: str
    """One sentence for a person who chooses."""
    examples: tuple[str, ...]
    """Names that mean something: for lists, hints, tests and benchmarks."""
    parts: str = ""
    """What may stand behind the colons."""
    reads_known_links: bool = False
    """Whether it asks of a page's links what the page says of those, too, that were found before."""


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
        from motherlode.policies.baselines.static_classifier import StaticRater, fit_tree, offline

        if len(arguments) != 1:
            return None
        (pages,) = _whole_numbers(arguments, f"K is the number of pages to train on, as in {kind}-static:1000")
        rater = StaticRater(Features(), fit_tree if kind == "ht" else offline(kind), pages)
        return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))

    return make


def _pld(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.pay_level_domains import SharePolicy

    return None if arguments else SharePolicy()


def _ldspider(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.pay_level_domains import TurnPolicy

    return None if arguments else TurnPolicy()


def _bounded(arguments: Arguments, seed: int) -> Policy | None:
    from motherlode.policies.baselines.bounded_crawl import BoundedPolicy

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
        about="Breadth-first: what was found first is fetched first.",
        examples=("bfs",),
    ),
    PolicyLine(
        word="dfs",
        make=_dfs,
        usage="dfs",
        about="Depth-first: what was found last is fetched first.",
        examples=("dfs",),
    ),
    PolicyLine(
        word="random",
        make=_random,
        usage="random",
        about="Any waiting URL, each as likely as the others.",
        examples=("random",),
    ),
    PolicyLine(
        word="ldcoc",
        make=_ldcoc,
        usage="ldcoc[:SETS[:BITS[:SEED]]]",
        about="A classifier that learns online which URIs give data.",
        parts="SETS of features are letters of trpx; they are hashed to 8 to 28 BITS, with a SEED",
        examples=("ldcoc", "ldcoc:t", "ldcoc:trpx"),
        reads_known_links=True,
    ),
    PolicyLine(
        word="linkanalysis",
        make=_linkanalysis,
        usage="linkanalysis[:literal][:FOLDER]",
        about="Links that look like RDF first, then pages like those that led to RDF.",
        parts="literal reads paths to the letter of the paper, FOLDER holds lists of your own",
        examples=("linkanalysis", "linkanalysis:literal"),
    ),
    PolicyLine(
        word="bandit",
        make=_bandit,
        usage="bandit:FUNCTION[:λ[:m]]",
        about="The host of the highest value, with probability λ any; in it the page that a Naive Bayes likes best.",
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
        about="The page that a Naive Bayes likes best, which learns from every page.",
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
        about="Breadth-first for K pages, then by a Naive Bayes that was trained on them (needs scikit-learn).",
        parts=_TRAINING,
        examples=("nb-static:100",),
    ),
    PolicyLine(
        word="ht-static",
        make=_static("ht"),
        usage="ht-static:K",
        about="Breadth-first for K pages, then by a Hoeffding tree that was trained on them.",
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
        about="Breadth-first for K pages, then by the five nearest of them (needs scikit-learn).",
        parts=_TRAINING,
        examples=("knn-static:100",),
    ),
    PolicyLine(
        word="pld",
        make=_pld,
        usage="pld",
        about="The registered domain with the highest share of finds so far, as in SWSE.",
        examples=("pld",),
    ),
    PolicyLine(
        word="ldspider",
        make=_ldspider,
        usage="ldspider",
        about="Breadth-first, the registered domains taking turns, as in LDSpider.",
        examples=("ldspider",),
    ),
    PolicyLine(
        word="bounded",
        make=_bounded,
        usage="bounded[:DEPTH[:GROWTH]]",
        about="Breadth-first to a depth that grows on a find and shrinks otherwise, as in Swoogle and BioCrawler.",
        parts="DEPTH is that of seeds, GROWTH what a find adds to it, both from 1 to 255",
        examples=("bounded",),
    ),
    PolicyLine(
        word="motherlode",
        make=_motherlode,
        usage="motherlode",
        about="Ours: learns which kinds of links of which hosts lead to finds, and what lies behind them.",
        examples=("motherlode",),
    ),
)

POLICY_TABLE = {line.word: line for line in _LINES}
POLICIES = tuple(name for line in _LINES for name in line.examples)
"""Every policy by name, those with arguments by examples."""


def policy_usage() -> str:
    """The forms of all names in one line, for a user who asks which there are.

    >>> policy_usage().startswith("bfs, dfs, random, ")
    True
    """
    return ", ".join(line.usage for line in _LINES) + f"; in simulations also {ORACLE}"


def reads_known_links(name: str) -> bool:
    """Whether the policy asks what a page says of links that were found before.

    >>> reads_known_links("ldcoc:x"), reads_known_links("bfs")
    (True, False)
    """
    line = POLICY_TABLE.get(name.partition(":")[0])
    return line is not None and line.reads_known_links


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name, or nothing.

    >>> nearest("bsf", ["bfs", "dfs"])
    ' (did you mean bfs?)'
    """
    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def policy_from(name: str, seed: int = 0, *, target: Target | None = None) -> Policy:
    """The policy that a name such as `bfs` or `bandit:success-rate:0.2:1000` means; randomness comes from the seed.

    One that `Aims` knows the target, if there is one.

    >>> policy_from("bsf")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown policy 'bsf' (did you mean bfs?); known: bfs, dfs, random, ...
    """
    word, *arguments = name.split(":")
    if word == ORACLE:
        raise ValueError(f"the policy {ORACLE} is for simulations only: it knows what every page holds; see {GUIDE}")
    line = POLICY_TABLE.get(word)
    if line is None:
        raise ValueError(f"unknown policy {name!r}{nearest(name, POLICIES)}; known: {policy_usage()}; see {GUIDE}")
    try:
        policy = line.make(tuple(arguments), seed)
    except ValueError as error:
        raise ValueError(f"policy {name!r}: {error}") from error
    if policy is None:
        raise ValueError(f"unknown policy {name!r}: it should look like {_form(line, name)}; see {GUIDE}")
    aim = getattr(policy, "aim", None)
    if aim is not None and target is not None:
        aim(target)
    return policy


def _form(line: PolicyLine, name: str) -> str:
    """How a name should look that began right, and what its parts are."""
    hint = nearest(name, line.examples) if ":" in name and line.parts else ""
    return f"{line.usage}{hint}{f', where {line.parts}' if line.parts else ''}"
