"""The table of policies by the names that users type.

A name is a word, optionally with arguments: in order after colons (`bandit:success-rate:0.2:1000`), or by name
(`bandit:success-rate:exploration=0.2,decay=1000`). A bare name is the method of a paper as published; variants of it
are chosen by further arguments by name (`nb-online:smoothing=m`). To add a policy, write a factory with `@PolicyLine`:
its parameters after `seed` are the arguments of the name, as text. It imports its policy only when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from inspect import signature
from random import Random
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from motherlode.model import Policy
from motherlode.policies.name_arguments import choice, number_between, whole_numbers
from motherlode.policies.policy_table import POLICY_TABLE, PolicyLine, find_line, installed_policies
from motherlode.project import docs_url

if TYPE_CHECKING:
    from motherlode.policies.targets import Target

DEFAULT_POLICY = "motherlode"
ORACLE = "oracle"
"""A policy that knows all labels and links. Only the simulator can make it, so it is not in the table."""
GUIDE = docs_url("policies.md")
"""Address of the page that documents each policy and its arguments."""

RIVALS_LARGEST_WEB = 50_000
"""Largest web, in pages, on which the policies of recent papers (`sb-classifier`, `tres`) are compared by default. They
were published for single sites and for 20,000 steps, and the cost of a pick grows with the number of ready arms."""


@runtime_checkable
class Aims(Protocol):
    """Optional ability of a policy: it adapts to the target of the crawl."""

    def aim(self, target: Target) -> None:
        """Set the target. Called once, before any other method."""
        ...


def _order(order: str, seed: int) -> Policy:
    from motherlode.policies.baselines.orders import OrderPolicy

    return OrderPolicy(order, Random(seed))


PolicyLine("bfs", "Breadth-first: URLs in the order of their discovery.")(partial(_order, "bfs"))
PolicyLine("dfs", "Depth-first: URLs in the reverse order of their discovery.")(partial(_order, "dfs"))
PolicyLine("random", "A random waiting URL, each with the same probability.")(partial(_order, "random"))


@PolicyLine(
    "ldcoc[:SETS[:BITS[:SEED]]][:head=no,ftrl=eq1,crosses=limited]",
    "An online classifier that predicts which URIs return data.",
    parts="SETS of features are letters of trpx; they are hashed to 8 to 28 BITS, with a SEED; "
    "head=no predicts URIs without a HEAD request for their content type; "
    "ftrl is mcmahan (a learning rate per feature) or eq1 (one rate, equation (1) of the paper); "
    "crosses of x are all, or limited to eight siblings and few features",
    examples=("ldcoc", "ldcoc:t", "ldcoc:trpx", "ldcoc:head=no", "ldcoc:ftrl=eq1"),
    reads_known_links=True,
    reads_context_graph=True,
)
def _ldcoc(
    seed: int,
    sets: str = "trp",
    bits: str = "20",
    hash_seed: str = "0",
    *,
    ftrl: str = "mcmahan",
    crosses: str = "all",
    head: str = "yes",
) -> Policy:
    from motherlode.policies.ldcoc.ldcoc_features import CROSSES
    from motherlode.policies.ldcoc.ldcoc_policy import LEARNERS, Ldcoc

    hint = "the bits and the seed of the hashed features are whole numbers, as in ldcoc:trp:18:7"
    size, hash_number = whole_numbers((bits, hash_seed), hint)
    if not 8 <= size <= 28:
        raise ValueError(f"hashed features have 8 to 28 bits; got {size}")
    if ftrl not in LEARNERS:
        raise ValueError(f"ftrl is {' or '.join(LEARNERS)}; got {ftrl!r}")
    if head not in ("yes", "no"):
        raise ValueError(f"head is yes or no; got {head!r}")
    if crosses not in CROSSES:
        raise ValueError(f"crosses is {' or '.join(CROSSES)}; got {crosses!r}")
    return Ldcoc(
        random=Random(seed),
        sets=sets,
        learner=LEARNERS[ftrl](1 << size),
        hash_seed=hash_number,
        crosses=CROSSES[crosses],
        head=head == "yes",
    )


_LINK_ANALYSIS_VARIANTS = {
    "match": "contains (default) or word: where a term is found in a text",
    "path": "whole (default) or new: whether folders that also contain the linking page are searched",
    "lists": "a folder with your own word lists",
}


@PolicyLine(
    "linkanalysis[:literal][:FOLDER]",
    "First links that look like RDF, then links similar to pages that led to RDF.",
    parts="literal is the same as path=whole,match=word, FOLDER holds your own word lists",
    variants=_LINK_ANALYSIS_VARIANTS,
    examples=("linkanalysis", "linkanalysis:literal", "linkanalysis:match=word,path=new"),
)
def _linkanalysis(seed: int, *arguments: str, match: str = "", path: str = "", lists: str = "") -> Policy:
    from pathlib import Path

    from motherlode.policies.linkanalysis.heuristics import concepts_from
    from motherlode.policies.linkanalysis.linkanalysis_policy import LinkAnalysis

    literal = arguments[:1] == ("literal",)
    folder = lists or ":".join(arguments[literal:])
    whole_words = choice("match", match or ("word" if literal else "contains"), "contains", "word") == "word"
    concepts = concepts_from(Path(folder) if folder else None, whole_words=whole_words)
    return LinkAnalysis(concepts, new_path_only=choice("path", path or "whole", "whole", "new") == "new")


_FUNCTIONS = (
    "success-rate",
    "best-score",
    "thompson",
    "negative-bad",
    "good-best-score",
    "thompson-best-score",
    "success-best-score",
)
_TOKEN_VARIANTS = {
    "tokens": "url (default) or authors: path, query and fragment as in the authors' program",
    "hashes": "number of hashes of tokens (10000)",
    "min_token": "fewest characters of a token (3)",
    "max_token": "most characters of a token (0: any number)",
}
_BAYES_VARIANTS = {
    "smoothing": "moa (default, Laplace's estimate as in MOA), laplace (as in textbooks) or m (an m-estimate)",
    **_TOKEN_VARIANTS,
}
_FEATURES = "FEATURES are url, parent, parents and sibling, one or several joined by +, as in url+parent"


@PolicyLine(
    "bandit:FUNCTION[:λ[:m]]",
    "The host with the highest value, or with probability λ any host; in it the page that Naive Bayes ranks first.",
    parts=f"FUNCTION is {', '.join(_FUNCTIONS[:-1])} or {_FUNCTIONS[-1]}; "
    "λ is a probability, which is halved after m picks",
    variants={"classifier": "nb (default) or ht, a Hoeffding tree", "features": "as of nb-online", **_BAYES_VARIANTS},
    examples=tuple(f"bandit:{function}" for function in _FUNCTIONS),
)
def _bandit(
    seed: int,
    function: str,
    exploration: str | None = None,
    decay: str | None = None,
    *,
    classifier: str = "nb",
    smoothing: str | None = None,
    **variants: str,
) -> Policy | None:
    from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
    from motherlode.policies.anthelion.variants import make_rater

    if function not in FUNCTIONS:
        return None
    try:
        probability, halved_after = (None if text is None else float(text) for text in (exploration, decay))
    except ValueError:
        raise ValueError("λ and m are numbers, as in bandit:success-rate:0.2:1000") from None
    return HostBandit(
        rater=make_rater(choice("classifier", classifier, "nb", "ht"), smoothing, variants),
        function=FUNCTIONS[function],
        random=Random(seed),
        exploration=probability,
        decay=halved_after,
    )


def _online(
    kind: str, seed: int, features: str = "url+parent", *, smoothing: str | None = None, **variants: str
) -> Policy:
    from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
    from motherlode.policies.anthelion.variants import make_rater

    rater = make_rater(kind, smoothing, {"features": features, **variants})
    return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))


for _kind, _name in (("nb", "Naive Bayes"), ("ht", "a Hoeffding tree")):
    PolicyLine(
        f"{_kind}-online[:FEATURES]",
        f"The page that {_name} ranks first, which learns from every page.",
        parts=_FEATURES,
        variants=_BAYES_VARIANTS if _kind == "nb" else _TOKEN_VARIANTS,
    )(partial(_online, _kind))


def _static(kind: str, seed: int, pages: str, *, smoothing: str | None = None, **variants: str) -> Policy:
    from motherlode.policies.anthelion.bandit import FUNCTIONS, HostBandit
    from motherlode.policies.anthelion.variants import make_classifier, make_features
    from motherlode.policies.baselines.static_classifier import StaticRater, fit_online, sklearn_fit

    (count,) = whole_numbers((pages,), f"K is the number of pages to train on, as in {kind}-static:1000")
    features = make_features(**variants)
    size = features.rules.size
    if kind in ("nb", "ht"):
        make_classifier(kind, size, smoothing)  # raises if the options are wrong
        fit = fit_online(partial(make_classifier, kind, size, smoothing))
    else:
        fit = sklearn_fit(kind, size)
    rater = StaticRater(features, fit, count)
    return HostBandit(rater=rater, function=FUNCTIONS["best-score"], random=Random(seed))


for _kind, _trained in (
    ("nb", "then by Naive Bayes trained on them"),
    ("ht", "then by a Hoeffding tree trained on them"),
    ("svm", "then by a linear support vector machine (needs scikit-learn)"),
    ("knn", "then by the five nearest neighbours among them (needs scikit-learn)"),
):
    PolicyLine(
        f"{_kind}-static:K",
        f"Breadth-first for K pages, {_trained}.",
        parts="K is the number of pages to train on",
        variants=_BAYES_VARIANTS if _kind == "nb" else _TOKEN_VARIANTS,
        examples=(f"{_kind}-static:100",),
    )(partial(_static, _kind))


@PolicyLine("pld", "The pay-level domain with the highest share of relevant pages so far, as in SWSE.")
def _pld(seed: int) -> Policy:
    from motherlode.policies.baselines.pay_level_domains import SharePolicy

    return SharePolicy()


@PolicyLine("ldspider", "Breadth-first, round robin over the pay-level domains, as in LDSpider.")
def _ldspider(seed: int) -> Policy:
    from motherlode.policies.baselines.pay_level_domains import RoundRobinPolicy

    return RoundRobinPolicy()


@PolicyLine(
    "bounded[:DEPTH[:GROWTH]]",
    "Breadth-first to a depth that grows at relevant pages and shrinks at others, as in Swoogle, BioCrawler.",
    parts="DEPTH is the depth of seeds, GROWTH is added to it at a relevant page, both from 1 to 255",
)
def _bounded(seed: int, depth: str = "3", growth: str | None = None) -> Policy:
    from motherlode.policies.baselines.orders import BoundedPolicy

    numbers = whole_numbers((depth, growth or depth), "depth and growth are whole numbers, as in bounded:3:2")
    return BoundedPolicy(*numbers)


@PolicyLine("motherlode", "Our own: learns which kinds of links lead to relevant pages, directly or over other pages.")
def _motherlode(seed: int) -> Policy:
    from motherlode.policies.motherlode import Motherlode

    return Motherlode()


@PolicyLine(
    "sb-classifier[:KEY=VALUE,…]",
    "Groups of links at similar places in the pages of a site, chosen by a sleeping bandit; likely targets at once.",
    parts="KEY is alpha (weight of exploration), similarity (0 to 1, for joining a group), batch (URLs per training "
    "step), sites (apart or together) or stop (window of the early stop in requests, 0 for none)",
    reads_element_ids=True,
    largest_web=RIVALS_LARGEST_WEB,
)
def _sb_classifier(
    seed: int,
    alpha: str = "2.8284271247461903",
    similarity: str = "0.75",
    batch: str = "10",
    sites: str = "apart",
    stop: str = "0",
) -> Policy:
    from motherlode.policies.sb_classifier import SbClassifier

    if sites not in ("apart", "together"):
        raise ValueError(f"sites is apart or together; got {sites!r}")
    size, window = whole_numbers((batch, stop), "batch and stop are whole numbers, as in sb-classifier:stop=1000")
    if not size:
        raise ValueError("batch is at least 1")
    return SbClassifier(
        random=Random(seed),
        alpha=number_between("alpha", alpha, 0.0, 1000.0),
        threshold=number_between("similarity", similarity, 0.0, 1.0),
        batch=size,
        sites_apart=sites == "apart",
        stop=window,
    )


@PolicyLine(
    "tres[:KEY=VALUE,…]",
    "Deep Q-learning on one sampled link for each leaf of a regression tree over the features of links.",
    parts="KEY is keywords (words joined by +), start (steps before training), discount (0 to 1), copy_every (steps "
    "between copies of the network) or depth (of the tree)",
    largest_web=RIVALS_LARGEST_WEB,
)
def _tres(
    seed: int,
    keywords: str = "",
    start: str = "100",
    discount: str = "0.99",
    copy_every: str = "100",
    depth: str = "18",
) -> Policy:
    from motherlode.policies.tres import Tres

    hint = "start, copy_every and depth are whole numbers, as in tres:start=500,copy_every=500"
    first, period, levels = whole_numbers((start, copy_every, depth), hint)
    if not period:
        raise ValueError("copy_every is at least 1")
    return Tres(
        random=Random(seed),
        keywords=keywords.split("+") if keywords else (),
        start=first,
        discount=number_between("discount", discount, 0.0, 1.0),
        copy_every=period,
        depth=levels,
    )


BUILT_IN = frozenset(POLICY_TABLE)
"""The first words of the names above. Programs and installed packages may add others, see `extensions`."""
POLICIES = tuple(name for line in POLICY_TABLE.values() for name in line.examples)
"""The name of every policy; of policies with arguments, some examples."""


def policy_usage() -> str:
    """Return the syntax of all names in one line, for help texts.

    >>> policy_usage().startswith("bfs, dfs, random, ")
    True
    """
    return (
        ", ".join(POLICY_TABLE[word].usage for word in POLICY_TABLE if word in BUILT_IN)
        + f"; in simulations also {ORACLE}"
    )


def policy_variants() -> str:
    """Return the options by name of each policy that has variants, in one line, for help texts.

    >>> "linkanalysis match, path, lists" in policy_variants()
    True
    """
    by_keys: dict[str, list[str]] = {}
    for word, line in POLICY_TABLE.items():
        if line.variants:
            by_keys.setdefault(", ".join(line.variants), []).append(word)
    found = "; ".join(f"{', '.join(words)} {keys}" for keys, words in by_keys.items())
    return f"Variants are written NAME:key=value,…, as in nb-online:smoothing=m. Keys: {found}"


def reads_known_links(name: str) -> bool:
    """Return whether the policy needs the attributes of links that were found before.

    >>> reads_known_links("ldcoc:x"), reads_known_links("bfs")
    (True, False)
    """
    line = find_line(name.partition(":")[0])
    return line is not None and line.reads_known_links


def reads_context_graph(name: str) -> bool:
    """Return whether the policy needs the properties and sibling groups of each link.

    >>> reads_context_graph("ldcoc:x"), reads_context_graph("motherlode")
    (True, False)
    """
    line = find_line(name.partition(":")[0])
    return line is not None and line.reads_context_graph


def reads_element_ids(name: str) -> bool:
    """Return whether the policy needs the ids of the elements around each link.

    >>> reads_element_ids("sb-classifier:alpha=1"), reads_element_ids("motherlode")
    (True, False)
    """
    line = find_line(name.partition(":")[0])
    return line is not None and line.reads_element_ids


def largest_web(name: str) -> int | None:
    """Return the number of pages up to which comparisons include the policy; None if there is no limit.

    >>> largest_web("tres:depth=5"), largest_web("bfs")
    (50000, None)
    """
    line = find_line(name.partition(":")[0])
    return None if line is None else line.largest_web


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
    word = name.partition(":")[0]
    if word == ORACLE:
        raise ValueError(
            f"the policy {ORACLE} is for simulations only, because it knows the content of every page; see {GUIDE}"
        )
    line = find_line(word)
    if line is None:
        raise ValueError(_describe_unknown(name))
    try:
        policy = _make(line, name, seed)
    except ValueError as error:
        raise ValueError(f"policy {name!r}: {error}") from error
    if policy is None:
        raise ValueError(f"unknown policy {name!r}: it should look like {_form(line, name)}; see {GUIDE}")
    if target is not None and isinstance(policy, Aims):
        policy.aim(target)
    return policy


def _describe_unknown(name: str) -> str:
    known = dict.fromkeys((*POLICIES, *POLICY_TABLE, *(point.name for point in installed_policies())))
    added = [word for word in known if word not in POLICIES and word not in BUILT_IN]
    usage = ", ".join((policy_usage(), *(f"added here: {', '.join(added)}",) * bool(added)))
    return f"unknown policy {name!r}{nearest(name, known)}; known: {usage}; see {GUIDE}"


def _make(line: PolicyLine, name: str, seed: int) -> Policy | None:
    """Call the factory with the arguments in a name; None if the policy does not take these arguments."""
    _, *arguments = name.split(":")
    accepted = signature(line.make)
    named = {key for key, one in accepted.parameters.items() if one.kind is not one.VAR_KEYWORD} | set(line.variants)
    options: dict[str, str] = {}
    if arguments and arguments[-1].partition("=")[0] in named:
        for option in arguments.pop().split(","):
            key, _, value = option.partition("=")
            if key in options or key not in named:
                return None
            options[key] = value
    try:
        call = accepted.bind(seed, *arguments, **options)
    except TypeError:
        return None
    return line.make(*call.args, **call.kwargs)


def _form(line: PolicyLine, name: str) -> str:
    """Return the syntax of a name whose first word is known, with an explanation of its arguments."""
    hint = nearest(name, line.examples) if ":" in name and line.parts else ""
    variants = "; ".join(f"{key} is {values}" for key, values in line.variants.items())
    tail = f"; :key=value,… with: {variants}" if variants else ""
    return f"{line.usage}{hint}{f', where {line.parts}' if line.parts else ''}{tail}"
