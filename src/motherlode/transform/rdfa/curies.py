"""Terms, CURIEs and IRIs in attribute values (RDFa Core 1.1, section 7.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from motherlode.transform.blank import BlankNames
from motherlode.transform.rdfa.context import Context
from motherlode.transform.rdfa.hosts import XHV
from motherlode.transform.rdfa.report import Report, Trouble
from motherlode.www.iri import check, is_absolute, resolve_and_check

INITIAL_TOKENS: dict[str, str] = {}
"""What tokens mean in the initial context, from page to page: `og:title` is `og:title` everywhere."""
_MOST_TOKENS = 4_096
_TERM = re.compile(r"[^\W\d][\w.\-/·]*")


class Resolver:
    """Turns what attributes say into terms. None stands for a value that must be ignored."""

    def __init__(self, *, url: str, terms: Mapping[str, str], names: BlankNames, report: Report) -> None:
        self._url = url
        self._terms = terms
        self._names = names
        self._report = report

    def predicates(self, value: str, context: Context) -> list[str]:
        """The IRIs of a list of TERMorCURIEorAbsIRI. A predicate cannot be a blank node."""
        only = context.tokens.get(value)
        if only is not None:
            return [only]
        tokens = value.split()
        found = (self.token(token, context) for token in tokens)
        return list(dict.fromkeys(term for term in found if term is not None and term[0] == "<"))

    def types(self, value: str, context: Context) -> list[str]:
        found = (self.token(token, context) for token in value.split())
        return list(dict.fromkeys(term for term in found if term is not None))

    def token(self, token: str, context: Context) -> str | None:
        """One TERMorCURIEorAbsIRI."""
        known = context.tokens.get(token)
        if known is not None:
            return known
        found = self._term(token, context) if ":" not in token else self._curie_or_iri(token, context)
        if found is None or found[0] != "<" or self._report.is_faulty(found):  # of which the next page must hear, too
            return found
        if len(context.tokens) < _MOST_TOKENS:
            context.tokens[token] = found
        return found

    def _term(self, token: str, context: Context) -> str | None:
        if _TERM.fullmatch(token):
            if context.vocabulary:
                return self._report.term(check(context.vocabulary + token))
            iri = self._terms.get(token) or self._in_any_case(token.lower())
            if iri is not None:
                return f"<{iri}>"
        self._report.add(Trouble.UNRESOLVED_TERM, f"no such term: {token}")
        return None

    def _in_any_case(self, lowered: str) -> str | None:
        return next((iri for term, iri in self._terms.items() if term.lower() == lowered), None)

    def _curie_or_iri(self, token: str, context: Context) -> str | None:
        term = self._curie(token, context)
        if term is not None:
            return term
        if is_absolute(token):
            return self._report.term(check(token))
        self._report.add(Trouble.UNRESOLVED_CURIE, f"no such prefix: {token}")
        return None

    def _curie(self, token: str, context: Context) -> str | None:
        """The term of a CURIE; None where the token is none, or its prefix is unknown."""
        prefix, colon, reference = token.partition(":")
        if not colon or reference.startswith("//"):
            return None
        if prefix == "_":
            return self._names.named(reference)
        iri = context.prefixes.get(prefix.lower()) if prefix else XHV
        # a relative namespace is resolved against the document: no base element reaches it (test 0319 of the suite)
        return None if iri is None else self._report.term(resolve_and_check(self._url, iri + reference))

    def resource(self, value: str, context: Context) -> str | None:
        """One SafeCURIEorCURIEorIRI."""
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            term = self._curie(value[1:-1].strip(), context)
            if term is None and len(value) > 2:
                self._report.add(Trouble.UNRESOLVED_CURIE, f"no such prefix: {value}")
            return term
        return self._curie(value, context) or self.reference(value, context)

    def reference(self, value: str, context: Context) -> str | None:
        """One IRI, as `href` and `src` hold it."""
        iri = resolve_and_check(context.base, value)
        return self._report.term(iri) if is_absolute(iri.value) else None
