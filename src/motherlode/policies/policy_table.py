"""The table of policies by the first word of their names: built-in ones, and those of programs and installed packages.

An installed package adds a policy by an entry point of the group `motherlode.policies`. It is imported when its name is
used for the first time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from motherlode.model import Policy

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "motherlode.policies"

Factory = Callable[..., Policy | None]
"""Makes a policy. Returns None if an argument has the wrong form, raises ValueError if one is out of bounds."""
POLICY_TABLE: dict[str, PolicyLine] = {}
"""Each policy by the first word of its name."""


@dataclass(slots=True)
class PolicyLine:
    """One policy in the table. It is used as the decorator of the factory function."""

    usage: str
    """The syntax of the policy's name with its arguments, for help texts."""
    about: str
    """One sentence that helps users to choose."""
    parts: str = ""
    """Explanation of the arguments, for error messages and help texts."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """Arguments that choose a variant of the method, only by name, with the values of each."""
    examples: tuple[str, ...] = ()
    """Valid names, for lists, hints, tests and benchmarks. By default the first word of the name."""
    reads_known_links: bool = False
    """Whether the policy needs the attributes of all links of a page, including links that were found before."""
    reads_element_ids: bool = False
    """Whether the policy needs the ids of the elements around each link."""
    reads_context_graph: bool = False
    """Whether the policy needs the properties and sibling groups of each link."""
    largest_web: int | None = None
    """Number of pages up to which comparisons include the policy; None if there is no limit."""
    make: Factory = field(init=False)

    def __call__(self, make: Factory) -> Factory:
        word = re.split("[:[]", self.usage)[0]
        self.make, self.examples = make, self.examples or (word,)
        POLICY_TABLE[word] = self
        return make


@lru_cache(maxsize=1)
def installed_policies() -> tuple[EntryPoint, ...]:
    """Return the policies of all installed packages. They are not imported."""
    from importlib.metadata import entry_points  # slow to import, and few jobs need it

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def find_line(word: str) -> PolicyLine | None:
    """Return the policy with this first word of its name, or None. A policy of an installed package is imported."""
    line = POLICY_TABLE.get(word)
    if line is not None:
        return line
    point = next((point for point in installed_policies() if point.name == word), None)
    if point is None:
        return None
    from motherlode.policies.extensions import policy  # it imports this module

    try:
        loaded = point.load()
    except Exception as error:  # of a foreign package: anything may be wrong in it
        raise ValueError(f"the package that adds the policy {word!r} cannot be imported: {error}") from error
    if word not in POLICY_TABLE:  # the import may have registered it by the decorator
        policy(word)(loaded)
    return POLICY_TABLE[word]
