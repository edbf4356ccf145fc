"""The ids of the elements from the root of a page to a link, for policies that compare tag paths with ids."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

_MAX_ID_CHARACTERS = 40
_MAX_IDS_CHARACTERS = 120
"""Characters of the ids of one link. Ids further down are left out, except the link's own."""


class ElementIds:
    """Reads the ids around the links of one page. The ids around each parent element are read once."""

    def __init__(self) -> None:
        self._of_parent: dict[int, tuple[int, str]] = {}
        """Number of elements from the root to a node, and their ids, by the identity of the node."""

    def of(self, parent: LexborNode | None, tag_path: str, own: str | None) -> str:
        """Return the value of `Link.element_ids` for a child of `parent` with this tag path and id."""
        ids = self._read(parent)[1]
        return _append_id(ids, tag_path.count(" "), own) if own else ids

    def _read(self, node: LexborNode | None) -> tuple[int, str]:
        """Return the steps and ids down to a node. A loop, because pages may nest too deep for recursion."""
        waiting: list[tuple[int, LexborNode]] = []
        known: tuple[int, str] | None = None
        while node is not None and known is None:
            key = node.mem_id
            known = self._of_parent.get(key)
            if known is None:
                waiting.append((key, node))
                node = node.parent
        steps, ids = known or (0, "")
        for key, node in reversed(waiting):
            if node.is_element_node:
                own = node.attributes.get("id") if len(ids) < _MAX_IDS_CHARACTERS else None
                ids = _append_id(ids, steps, own) if own else ids
                steps += 1
            self._of_parent[key] = steps, ids
        return steps, ids


def _append_id(ids: str, step: int, own: str) -> str:
    """Append an id without white space.

    >>> _append_id("2#content", 4, " item  7 "), _append_id("", 1, " ")
    ('2#content 4#item-7', '')
    """
    name = "-".join(own[:_MAX_ID_CHARACTERS].split())
    return f"{ids} {step}#{name}".lstrip() if name else ids
