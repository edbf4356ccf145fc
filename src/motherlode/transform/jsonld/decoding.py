"""From the text of a block to JSON values: strictly where possible, with repairs where not."""

from __future__ import annotations

import html
import re

import msgspec

from motherlode.transform.jsonld import tolerant
from motherlode.transform.jsonld.tolerant import Reading, Repair

LONGEST = 20_000_000
"""Characters of a block. JSON-LD cannot be read piece by piece, so this bounds memory."""
LONGEST_MENDED = 2_000_000
"""Characters of a block that is worth repairing: the repair is slow."""

_QUOTE_ENTITY = re.compile(r"[{\[,:]\s*(?:&quot;|&#0*34;|&#[xX]0*22;)")


def decode(text: str) -> Reading:
    """The JSON values of a text.

    >>> decode('{"a": 1}').values, decode("{&quot;a&quot;: 1}").values
    ([{'a': 1}], [{'a': 1}])
    """
    if len(text) > LONGEST:
        return Reading(failure=Repair(0, f"longer than {LONGEST} characters"))
    try:
        return Reading(values=[msgspec.json.decode(text)])
    except RecursionError:
        return Reading(failure=Repair(0, "nested too deep"))
    except ValueError:  # also what msgspec raises, and what lone surrogates raise on their way to it
        return _mend(text)


def _mend(text: str) -> Reading:
    if not text.strip("\ufeff\x00 \t\r\n"):
        return Reading(repairs=[Repair(0, "empty block")])
    if len(text) > LONGEST_MENDED:
        return Reading(failure=Repair(0, f"not JSON, and longer than the {LONGEST_MENDED} characters that are mended"))
    entity = _QUOTE_ENTITY.search(text)
    if entity is None:
        return _settled(tolerant.read(text))
    reading = _settled(decode(html.unescape(text)))
    # Offsets no longer point into the page, so all repairs are told at the first entity.
    reading.repairs = [Repair(entity.start() + 1, repair.message) for repair in reading.repairs]
    reading.repairs.insert(0, Repair(entity.start() + 1, "HTML entities in the place of quotation marks"))
    if reading.failure is not None:
        reading.failure = Repair(entity.start() + 1, reading.failure.message)
    return reading


def _settled(reading: Reading) -> Reading:
    """Without any value, what was repaired is the failure."""
    if not reading.values and reading.failure is None:
        reading.failure = Repair(reading.repairs[0].offset if reading.repairs else 0, "no JSON in the block")
        reading.repairs = []
    return reading
