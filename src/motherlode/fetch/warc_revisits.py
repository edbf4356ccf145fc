"""Answers whose body stands in another record: archives write a body that came before only once.

Such a record has the head of its own answer, and the digest by which the body is found, whatever its address was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fastwarc.warc import WarcRecord

from motherlode.fetch.answers import failure_from_status
from motherlode.fetch.warc_records import answer_in, head_of
from motherlode.model import FailureKind, Fetched, Page

_DIGEST = "WARC-Payload-Digest"


class Bodies:
    """Where the responses of one file lie, by the digests of their bodies."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        """Hash of a digest → offset: files have millions of responses, and hardly one of them is asked for."""

    def note(self, response: WarcRecord) -> None:
        digest = response.headers.get(_DIGEST)
        if digest:
            self._places[hash(digest)] = response.stream_pos

    def answer(
        self,
        record: WarcRecord,
        url: str,
        read: Callable[[int], WarcRecord | None],
        *,
        limit: int,
        robots: bool = False,
        useful: tuple[str, ...] = (),
    ) -> Fetched | None:
        """What a record without a body says; None where its body is not in the file. `read` reads the one at a place.

        The record itself cannot be read any more when another has been.
        """
        head, digest = head_of(record), record.headers.get(_DIGEST)
        failure = None if head is None else failure_from_status(url, *head)
        if failure is not None:
            return failure
        place = self._places.get(hash(digest))
        original = None if place is None else read(place)
        if original is None or original.headers.get(_DIGEST) != digest:
            return None
        answer = answer_in(original, url, limit=limit, robots=robots, useful=useful)
        if isinstance(answer, Page):
            return answer if head is None else replace(answer, status=head[0], headers=head[1])
        return answer if answer is not None and answer.kind is FailureKind.USELESS else None
