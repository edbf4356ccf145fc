"""What an arm's name says, as features: some that hold on every host, some that hold on its host alone.

The former let a crawl learn what kinds of links are worth a request anywhere; the latter learn fast, because a host is
of one mind: what one page of a template holds, the next will hold, too.
"""

from __future__ import annotations

from motherlode.policy.motherlode.naming import TAB, parsed

GENERAL = 7
"""So many features stand first that hold on every host."""


Features = tuple[str, ...]


def family_of(name: str) -> str:
    """The arms of the same host whose links look alike: what is known of one is expected of the others at first.

    >>> family_of("example.org\\tnews/*\\t2\\t.html\\tanchor@a.org\\tli.item a")
    'example.org .html'
    """
    parts = name.split(TAB, 4)
    return f"{parts[0]} {parts[3]}"


def features_of(name: str) -> Features:
    """The features of an arm: first those that hold on every host.

    >>> features_of("example.org\\tnews/*\\t2\\t.html\\tanchor\\tli.item a")[:GENERAL]
    ('bias', 'ext .html', 'by anchor', 'ext .html by anchor', 'depth 2 .html', 'in li a', 'folder news')
    """
    host, pattern, depth, extension, manner, place, _ = parsed(name)
    source, _, abroad = manner.partition("@")
    if abroad:
        source += "@"
    folder = pattern.partition("?")[0].partition("/")[0]
    elements = " ".join(step.partition(".")[0] for step in place.split(" "))
    general = (
        "bias",
        f"ext {extension}",
        f"by {source}",
        f"ext {extension} by {source}",
        f"depth {depth} {extension}",
        f"in {elements}",
        f"folder {folder}",
    )
    own = (
        f"{host}",
        f"{host} ext {extension}",
        f"{host} folder {folder}",
        f"{host} path {pattern} {depth} {extension}",
        f"{host} in {place} {extension[-1:]}",
    )
    return (*general, *own, f"from {abroad}") if abroad else general + own
