"""What a resumed crawl takes up beside its frontier: the account, what was learned, what was seen of traps.

Each is a note in the ledger. A note that cannot be read costs what it held and nothing else: the account is added up
again from the visits, learning begins anew, traps are met again; and the account's problems say so.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from motherlode.crawl.estimating import Estimator
from motherlode.crawl.totals import Totals
from motherlode.crawl.trapping import TrapWatch
from motherlode.frontier import Ledger
from motherlode.model import Policy, Visit
from motherlode.policy import Reward

_UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError)
"""What a decoder of somebody else's may raise on bytes that are not what they were."""


def take_up(
    ledger: Ledger,
    *,
    policy: Policy,
    traps: TrapWatch,
    estimator: Estimator | None = None,
    reward: Reward | None = None,
) -> Totals:
    """The account of the crawl so far; policy, traps and the rest are where they were."""
    totals = _totals(ledger)
    _load(ledger, "policy", policy.load, totals, lost="what was learned is lost, learning begins anew")
    _load(ledger, "traps", traps.load, totals, lost="what was seen of traps is forgotten")
    if estimator is not None:
        _load(ledger, "tallies", estimator.load, totals, lost="the estimate of what is left begins anew")
    if reward is not None:
        _load(ledger, "statements", reward.seen.load, totals, lost="all statements count as new again")
    return totals


def _totals(ledger: Ledger) -> Totals:
    saved = ledger.note("totals")
    if saved is None:
        return Totals()
    try:
        return msgspec.msgpack.decode(saved, type=Totals)
    except msgspec.DecodeError:
        totals = Totals()
        decode = msgspec.msgpack.Decoder(Visit).decode
        for visit in ledger.visits():
            totals.add(decode(visit))
        totals.note_problem("resume: the account could not be read; it was added up again from the visits")
        return totals


def _load(ledger: Ledger, name: str, load: Callable[[bytes], None], totals: Totals, *, lost: str) -> None:
    saved = ledger.note(name)
    if saved is None:
        return
    try:
        load(saved)
    except _UNREADABLE as error:
        totals.note_problem(f"resume: the note {name!r} could not be read ({type(error).__name__}): {lost}")
