"""Where remote contexts come from: the caller's own, then the bundled ones. Never the network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from motherlode.transform.jsonld import bundle
from motherlode.transform.jsonld.bundle import Bundle
from motherlode.transform.jsonld.errors import ErrorCode, JsonLdError
from motherlode.transform.jsonld.settings import Json

_LONGEST = 2 * 1024 * 1024
"""Bytes of a remote context; the largest in common use has 0.2 MB."""


@dataclass(frozen=True, slots=True)
class ContextDocument:
    """A remote context that the caller had fetched."""

    context: Json


class ContextLoader:
    """Finds remote contexts for one document."""

    def __init__(self, contexts: Mapping[str, bytes]) -> None:
        self._contexts = contexts

    def given(self, url: str) -> bytes | None:
        """What the caller gave for an address."""
        if not self._contexts:
            return None
        found = self._contexts.get(url)
        return found if found is not None else self._contexts.get(url.partition("#")[0])

    def load(self, url: str) -> Bundle | ContextDocument | None:
        """The context at an address, or None where it is not to be had."""
        content = self.given(url)
        if content is None:
            return bundle.find(url)
        try:
            return _parsed(content)
        except ValueError as error:
            code = error.code if isinstance(error, JsonLdError) else ErrorCode.LOADING_REMOTE_CONTEXT_FAILED
            raise JsonLdError(code, url) from error

    def address_without_scheme(self, reference: str) -> str | None:
        """The address of a bundled context, where a reference is one but for the scheme: `schema.org`."""
        address = "https://" + reference.lstrip("/")
        return address if bundle.is_known(address) else None


@lru_cache(maxsize=4)
def _parsed(content: bytes) -> ContextDocument:
    if len(content) > _LONGEST:
        raise JsonLdError(ErrorCode.LOADING_REMOTE_CONTEXT_FAILED, "the context is too large")
    try:
        document = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise JsonLdError(ErrorCode.LOADING_REMOTE_CONTEXT_FAILED, "the context is nested too deep") from error
    if not isinstance(document, dict) or "@context" not in document:
        raise JsonLdError(ErrorCode.INVALID_REMOTE_CONTEXT)
    return ContextDocument(document["@context"])
