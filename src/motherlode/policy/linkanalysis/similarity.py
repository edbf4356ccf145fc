"""S_HR, the HTML pages that were seen to point to RDF documents, and the similarity metric (Emamdadi et al., III.C.3).

Two URIs of one host are similar if their paths differ in the last directory alone, or if their paths are the same and
their file names differ. So a URI needs to be compared with no other: it has a *family* under each rule (host and all
directories but the last; host and all directories), and it is similar to some URI of S_HR exactly if its family holds a
member other than itself. Two members of a family are enough to know that. Families are kept as hashes: a question costs
the same whatever the size of S_HR, and a family takes about 200 bytes.
"""

from __future__ import annotations

import msgspec
import xxhash

from motherlode.policy.linkanalysis.properties import url_properties

_MOST_FAMILIES = 1_000_000
"""Beyond this S_HR takes no new family; known ones go on to answer."""
_Family = tuple[int, ...]


class SimilarUrls:
    """A set of URIs that can be asked whether it holds one similar to another.

    >>> s_hr = SimilarUrls()
    >>> s_hr.add("http://example.com/staffs/staff1")
    >>> s_hr.similar_to("http://example.com/staffs/staff2"), s_hr.similar_to("http://example.com/staffs/staff1")
    (True, False)
    """

    def __init__(self, most_families: int = _MOST_FAMILIES) -> None:
        self._families: dict[int, _Family] = {}
        """At most two members of each."""
        self._most = most_families

    def __len__(self) -> int:
        """Families, not URIs."""
        return len(self._families)

    def add(self, url: str) -> None:
        _, host, path, filename, _ = url_properties(url)
        for family, member in _places(host, path, filename):
            known = self._families.get(family, ())
            if len(known) < 2 and member not in known and (known or len(self._families) < self._most):
                self._families[family] = (*known, member)

    def similar_to(self, url: str) -> bool:
        _, host, path, filename, _ = url_properties(url)
        return self.has_similar(host, path, filename)

    def has_similar(self, host: str, path: tuple[str, ...], filename: str) -> bool:
        """The set holds a URI that is similar to the one with these properties."""
        if not self._families:
            return False
        for family, member in _places(host, path, filename):
            known = self._families.get(family)
            if known is not None and (len(known) > 1 or known[0] != member):
                return True
        return False

    def merge(self, state: bytes) -> None:
        """Add the families of another set, as a dump of it holds them."""
        for family, members in msgspec.msgpack.decode(state, type=dict[int, _Family]).items():
            known = self._families.get(family, ())
            if known or len(self._families) < self._most:
                self._families[family] = tuple(dict.fromkeys((*known, *members)))[:2]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._families)

    def load(self, state: bytes) -> None:
        self._families = msgspec.msgpack.decode(state, type=dict[int, _Family])


def _places(host: str, path: tuple[str, ...], filename: str) -> list[tuple[int, int]]:
    """Family and member of a URI under each of the two rules."""
    files = (_hash("file", host, *path), _hash(filename))
    if not path:
        return [files]
    return [(_hash("directory", host, *path[:-1]), _hash(path[-1])), files]


def _hash(*parts: str) -> int:
    number: int = xxhash.xxh3_64_intdigest("\n".join(parts).encode("utf-8", "replace"))
    return number
