"""Rules by which the URLs of a host redirect, so that a crawl can ask for the target at once.

Many redirects of a host only rewrite the URL: `http:` becomes `https:`, a slash or `.rdf` is appended, `index.html` is
dropped, an identifier moves to the host of its document. A rule replaces the beginning and the end of a URL and keeps
the middle:

    https://w3id.org/ex/terms/a1  →  https://ex.github.io/terms/a1.rdf
    begins with https://w3id.org/ex, replaced by https://ex.github.io; the end "" is replaced by ".rdf"

A rule is made from the first redirect that has such a form, and is valid for URLs of the same host with the same
beginning and the same kind of ending. Each further response to a URL of the rule confirms or contradicts it. With a
uniform prior, the probability that the rule holds for the next URL is (confirmed + 1) / (confirmed + contradicted + 2).
A wrong prediction costs one request and a right one saves one, so the rule is used if this is more than 1/2: if it was
confirmed more often than contradicted. The first prediction is a trial: until its target has responded, or a further
redirect has confirmed the rule, nothing else is predicted by it.
"""

from __future__ import annotations

import msgspec

from motherlode.policies.motherlode.arm_key import path_suffix
from motherlode.www.urls import host_of

_MAX_RULES_PER_HOST = 64
"""A host with more rules gets no further ones: its redirects have no common form."""
_INDEX_FILES = ("index.html", "index.htm", "index.php")


class RedirectRule(msgspec.Struct, gc=False):
    """How URLs of one host with the same beginning and kind of ending redirect."""

    beginning: str
    ending: str
    """Kind of ending: the extension, `/` or "" (`path_suffix`), with `?` at the end if there is a query."""
    dropped: str
    """End of the URL that is dropped. A query is always dropped."""
    new_beginning: str
    new_end: str
    confirmed: int = 0
    contradicted: int = 0
    trial: str = ""
    """The target that was predicted first, until it has responded."""

    @property
    def is_active(self) -> bool:
        lead = self.confirmed - self.contradicted
        return lead > 1 or (lead == 1 and not self.trial)

    def apply(self, url: str) -> str:
        """Return the target of a URL; "" if the rule is not about the URL.

        >>> RedirectRule("https://a.org", "", "", "https://a.org", "/").apply("https://a.org/news")
        'https://a.org/news/'
        """
        path = url.partition("?")[0] if self.ending.endswith("?") else url
        if not (path.startswith(self.beginning + "/") and path.endswith(self.dropped)):
            return ""
        middle = path[len(self.beginning) : len(path) - len(self.dropped)]
        return f"{self.new_beginning}{middle}{self.new_end}" if len(middle) > 1 else ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.beginning, self.ending, self.dropped, self.new_beginning, self.new_end


def ending_of(url: str) -> str:
    """Return the kind of a URL's ending.

    >>> ending_of("https://a.org/news/index.html"), ending_of("https://a.org/x?y=1"), ending_of("https://a.org")
    ('.html', '?', '/')
    """
    path, mark, _ = url.partition("?")
    start = path.find("://") + 3
    slash = path.find("/", start)
    last = "" if slash < 0 else path.rpartition("/")[2]
    return path_suffix(last) + mark


def find_rule(url: str, target: str) -> RedirectRule | None:
    """Return the rule of a redirect that keeps the longest possible middle of the URL; None if there is none.

    The middle begins with a slash and contains more than the slash.

    >>> find_rule("https://a.org/x/index.html", "https://a.org/x/").key
    ('https://a.org', '.html', 'index.html', 'https://a.org', '')
    >>> find_rule("https://a.org/x", "https://b.org/")
    """
    path = url.partition("?")[0]
    best: tuple[int, RedirectRule] | None = None
    for dropped in _droppable(path):
        kept = path[: len(path) - len(dropped)] if dropped else path
        start = kept.find("/", kept.find("://") + 3)
        while 0 < start < len(kept) - 1:
            at = target.rfind(kept[start:])
            if at > 0:
                length = len(kept) - start
                if best is None or length > best[0]:
                    new_end = target[at + length :]
                    rule = RedirectRule(kept[:start], ending_of(url), dropped, target[:at], new_end)
                    best = (length, rule)
                break
            start = kept.find("/", start + 1)
    return best[1] if best is not None and best[1].apply(url) == target != url else None


def _droppable(path: str) -> list[str]:
    """Return the ends of a path that a rule may drop: nothing, the extension, a slash, an index file."""
    found = [""]
    last = path.rpartition("/")[2]
    if not last:
        found.append("/")
    suffix = path_suffix(last)
    if suffix.startswith("."):
        found.append(suffix)
    found += [name for name in _INDEX_FILES if last == name]
    return found


class RedirectRules:
    """The rules of all hosts. The table that they are kept in belongs to the caller."""

    def __init__(self, by_host: dict[str, list[RedirectRule]]) -> None:
        self.by_host = by_host

    def learn_redirect(self, url: str, target: str) -> None:
        """Confirm or contradict the rules of a URL that was redirected, and make a rule if none has predicted it."""
        is_predicted = self._judge(url, target)
        if not is_predicted and (rule := find_rule(url, target)) is not None:
            rules = self.by_host.setdefault(host_of(url), [])
            if len(rules) < _MAX_RULES_PER_HOST:
                rules.append(rule)

    def learn_response(self, url: str) -> None:
        """Contradict the rules of a URL whose response was a page."""
        self._judge(url, "")

    def learn_target(self, url: str, target: str, *, is_page: bool) -> None:
        """Confirm or contradict the rule that predicted the target of a URL, by the response of the target."""
        for rule in self.by_host.get(host_of(url), ()):
            if rule.ending == ending_of(url) and rule.apply(url) == target:
                if rule.trial == target:
                    rule.trial = ""
                if is_page:
                    rule.confirmed += 1
                else:
                    rule.contradicted += 1

    def _judge(self, url: str, target: str) -> bool:
        ending, is_predicted = ending_of(url), False
        for rule in self.by_host.get(host_of(url), ()):
            predicted = rule.apply(url) if rule.ending == ending else ""
            if predicted:
                if predicted == target:
                    rule.confirmed += 1
                    is_predicted = True
                else:
                    rule.contradicted += 1
        return is_predicted

    def predict(self, url: str) -> str:
        """Return the target to which a URL redirects by the rule that was confirmed most; "" if no rule is active."""
        rules = self.by_host.get(host_of(url))
        if not rules:
            return ""
        ending = ending_of(url)
        active = [rule for rule in rules if rule.is_active and rule.ending == ending and rule.apply(url)]
        if not active:
            return ""
        best = max(active, key=lambda rule: (rule.confirmed - rule.contradicted, len(rule.beginning)))
        target = best.apply(url)
        if best.confirmed - best.contradicted == 1:
            best.trial = target
        return target

    def merge(self, other: dict[str, list[RedirectRule]]) -> None:
        """Add the counts of another crawl's rules."""
        for host, rules in other.items():
            own = self.by_host.setdefault(host, [])
            known = {rule.key: rule for rule in own}
            for rule in rules:
                same = known.get(rule.key)
                if same is not None:
                    same.confirmed += rule.confirmed
                    same.contradicted += rule.contradicted
                elif len(own) < _MAX_RULES_PER_HOST:
                    own.append(rule)
